// The live window: what happened within 15 minutes, by steps, added up over processes and joined to longer spans.
import { expect, test } from 'vitest';
import { addUp, grouped, LiveWindow, quantileMs, LIVE_STEP_MS, LIVE_STEPS, sumOf } from '../../../src/runtime/live-window.ts';
import type { AccessEntry } from '../../../src/ports/access-entry.ts';

const request = (code: string, durationMs = 10): AccessEntry => ({ code, durationMs, characters: 5 }) as AccessEntry;

/** A window whose clock the test moves. */
function windowAt(startMs: number) {
  const time = { nowMs: startMs, inFlight: 0 };
  const window = new LiveWindow(() => time.nowMs);
  window.watch(() => time.inFlight);
  return { window, time };
}

test('steps of several processes are added up moment by moment, quiet moments are zeros', () => {
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

test('minutes are those of the wall clock; counts are sums, what was under way is the most of any step', () => {
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

test('the quantile of a longer span is of all of its requests, not of its steps', () => {
  const { window, time } = windowAt(0);
  for (let i = 0; i < 99; i++) window.record(request('ok', 1));
  time.nowMs = LIVE_STEP_MS;
  window.record(request('ok', 1000));
  const sum = sumOf(window.snapshot());
  expect(quantileMs(sum, 0.5)).toBeLessThan(1.3);
  expect(quantileMs(sum, 0.99)).toBeLessThan(1.3);
  expect(quantileMs(sum, 1)).toBeGreaterThanOrEqual(1000);
});

test('what is older than 15 minutes is gone', () => {
  const { window, time } = windowAt(0);
  window.record(request('ok'));
  time.nowMs = (LIVE_STEPS - 1) * LIVE_STEP_MS;
  expect(sumOf(addUp([window.snapshot()], time.nowMs)).requests).toEqual({ ok: 1 });
  time.nowMs += LIVE_STEP_MS;
  expect(sumOf(addUp([window.snapshot()], time.nowMs)).requests).toEqual({});
});
