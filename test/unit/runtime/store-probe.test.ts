// The background probe: what readiness and metrics report about the store, how soon, and the log lines.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { StoreFault } from '../../../src/ports/store.ts';
import { storeAdvice } from '../../../src/domain/store-unavailable.ts';
import { StoreProbe } from '../../../src/runtime/store-probe.ts';

const OOM: StoreFault = { kind: 'unavailable', cause: 'oom' };
const DEAD: StoreFault = { kind: 'unavailable', cause: 'ECONNREFUSED' };

let fault: StoreFault | undefined;
const TIMEOUT: StoreFault = { kind: 'unavailable', cause: 'timeout' };

let hangs: boolean;
/** The sum of the pauses of this process: its clock went on, its timers did not. */
let pausedMs: number;
let answer: (fault: StoreFault | undefined) => void;
let asked: number;
let lines: [string, unknown][];
let probe: StoreProbe;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'setImmediate', 'performance'] });
  [fault, hangs, asked, lines, pausedMs] = [undefined, false, 0, [], 0];
  const log = (text: string, members?: unknown) => void lines.push([text, members]);
  probe = new StoreProbe({
    store: {
      ping() {
        asked++;
        return hangs ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(fault);
      },
    },
    shown: 'redis://store',
    now: () => performance.now() + pausedMs,
    log: { info: log, warn: log, error: log },
  });
});

afterEach(() => {
  probe.close();
  vi.useRealTimers();
});

const standing = () => [probe.serves, probe.answers, probe.takesWrites];
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the probe', () => {
  test('learns at once from an admission that was refused as a write, and then waits a second before its own smaller write counts', async () => {
    await pass(5100);
    probe.failed('full');
    expect(standing()).toEqual([false, true, false]);
    expect(lines).toHaveLength(1);
    await pass(800);
    expect(standing()).toEqual([false, true, false]);
    await pass(1000);
    expect(standing()).toEqual([true, true, true]);
    expect(lines).toHaveLength(2);
  });

  test('logs a flapping state once, and its end after that has lasted for a second', async () => {
    await pass(5000);
    for (let i = 0; i < 20; i++) {
      fault = i % 2 === 0 ? OOM : undefined;
      await pass(500);
    }
    expect(lines).toHaveLength(1);
    fault = undefined;
    await pass(1500);
    expect(lines.map(([text]) => text)).toEqual([expect.stringContaining('takes no writes'), 'the store takes writes again']);
  });
});

describe('a process that stands still while a probe is in flight', () => {
  /** `ranMs` after the probe began. */
  const inFlight = async (ranMs: number) => {
    await pass(4900);
    hangs = true;
    await pass(101 + ranMs);
    expect(standing()).toEqual([true, true, true]);
  };

  test.each([0, 250, 450])('remains ready: the pause is not the time of the store (begun %i ms after the probe)', async (ranMs) => {
    await inFlight(ranMs);
    pausedMs += 60_000;
    expect(standing()).toEqual([true, true, true]);
    hangs = false;
    answer(undefined);
    await pass(1000);
    expect(standing()).toEqual([true, true, true]);
    expect(lines).toEqual([]);
    expect(probe.tookMs).toBeLessThan(500);
  });

  test.each(['timeout', 'busy'])(
    'asks again at once if the driver says %s, because its timer fires before the reply is read',
    async (cause) => {
      await inFlight(250);
      pausedMs += 1000;
      hangs = false;
      const before = asked;
      answer({ kind: 'unavailable', cause });
      await pass(0);
      expect(asked).toBe(before + 1);
      await pass(1000);
      expect(standing()).toEqual([true, true, true]);
      expect(lines).toEqual([]);
    },
  );

  test('takes another cause from the driver as it is', async () => {
    await inFlight(250);
    pausedMs += 1000;
    answer(DEAD);
    await pass(0);
    expect(standing()).toEqual([false, false, false]);
  });

  test('still finds a store that hangs, after half a second of its own time', async () => {
    await inFlight(250);
    pausedMs += 1000;
    answer(TIMEOUT);
    await pass(100);
    expect(standing()).toEqual([true, true, true]);
    await pass(200);
    expect(standing()).toEqual([false, false, false]);
    await pass(1000);
    expect(lines).toEqual([['the store does not answer', { store: 'redis://store', cause: 'timeout', advice: storeAdvice('timeout') }]]);
    answer(TIMEOUT);
    await pass(0);
    expect(standing()).toEqual([false, false, false]);
  });

  test('finds it after a few turns of the event loop if each of them is long', async () => {
    await inFlight(0);
    for (let turns = 0; turns < 5; turns++) {
      expect(standing()).toEqual([true, true, true]);
      pausedMs += 900;
      await pass(100);
    }
    await pass(1);
    expect(standing()).toEqual([false, false, false]);
  });
});
