// The live window: the traffic of the last 15 minutes in intervals, added up over processes and joined to longer ones.
import { expect, test } from 'vitest';
import { addUp, grouped, LiveWindow, quantileMs, LIVE_STEP_MS, LIVE_STEPS, sumOf } from '../../../src/runtime/live-window.ts';
import { ACCESS_ENTRY } from '../../support/access-entry.ts';

const request = (code: string, durationMs = 10) => ({ ...ACCESS_ENTRY, code, durationMs });

/** A window whose clock the test moves. */
function windowAt(startMs: number) {
  const time = { nowMs: startMs, inFlight: 0 };
  const window = new LiveWindow(() => time.nowMs);
  const inFlight = {
    get size() {
      return time.inFlight;
    },
  };
  window.watch(inFlight, new Set(['GET /health']));
  return { window, time };
}

test('intervals of several processes are added up by time, and those without traffic are zeros', () => {
  const [one, other] = [windowAt(1_000_000), windowAt(1_000_000)];
  one.time.inFlight = 3;
  one.window.record(request('ok'));
  other.window.record(request('ok'));
  other.window.record(request('rate_limited'));
  other.window.engineFailures(2);
  const steps = addUp([one.window.snapshot(), other.window.snapshot()], 1_000_000 + LIVE_STEP_MS);
  expect(steps).toHaveLength(LIVE_STEPS);
  expect(steps.at(-2)).toMatchObject({
    atMs: 1_000_000,
    requests: { ok: 2, rate_limited: 1 },
    characters: 15,
    engineFailures: 2,
    inFlight: 3,
  });
  expect(steps.at(-1)).toMatchObject({ atMs: 1_000_000 + LIVE_STEP_MS, requests: {}, inFlight: 0 });
});

test('requests without a caller, such as probes, are not traffic', () => {
  const { window } = windowAt(1_000_000);
  window.record({ ...request('ok'), route: 'GET /health' });
  window.record({ ...request('ok'), route: 'GET /v1/usage' });
  expect(window.snapshot()).toMatchObject([{ requests: { ok: 1 } }]);
});

test('minutes are those of the wall clock; counts are sums, and requests in flight the maximum of the intervals', () => {
  const { window, time } = windowAt(120_000 - LIVE_STEP_MS);
  for (const inFlight of [2, 7, 4]) {
    time.inFlight = inFlight;
    window.record(request('ok'));
    time.nowMs += LIVE_STEP_MS;
  }
  time.inFlight = 0;
  const minutes = grouped(addUp([window.snapshot()], time.nowMs), 60_000);
  expect(minutes.slice(-2)).toMatchObject([
    { atMs: 60_000, requests: { ok: 1 }, inFlight: 2 },
    { atMs: 120_000, requests: { ok: 2 }, inFlight: 7, characters: 10 },
  ]);
});

test('a quantile over a longer time is that of all requests, not of the intervals', () => {
  const { window, time } = windowAt(0);
  for (let i = 0; i < 99; i++) window.record(request('ok', 1));
  time.nowMs = LIVE_STEP_MS;
  window.record(request('ok', 1000));
  const sum = sumOf(window.snapshot());
  expect(quantileMs(sum, 0.5)).toBeLessThan(1.3);
  expect(quantileMs(sum, 0.99)).toBeLessThan(1.3);
  expect(quantileMs(sum, 1)).toBeGreaterThanOrEqual(1000);
});

test('everything older than 15 minutes is removed', () => {
  const { window, time } = windowAt(0);
  window.record(request('ok'));
  time.nowMs = (LIVE_STEPS - 1) * LIVE_STEP_MS;
  expect(sumOf(addUp([window.snapshot()], time.nowMs)).requests).toEqual({ ok: 1 });
  time.nowMs += LIVE_STEP_MS;
  expect(sumOf(addUp([window.snapshot()], time.nowMs)).requests).toEqual({});
});
