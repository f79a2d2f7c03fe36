// The background probe: what readiness and metrics report about the store, how soon, and the log lines.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { StoreFault } from '../../../src/ports/store.ts';
import { StoreProbe } from '../../../src/runtime/store-probe.ts';

const OOM: StoreFault = { kind: 'unavailable', cause: 'oom' };
const DEAD: StoreFault = { kind: 'unavailable', cause: 'ECONNREFUSED' };

let fault: StoreFault | undefined;
let hangs: boolean;
let asked: number;
let lines: [string, unknown][];
let probe: StoreProbe;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'performance'] });
  [fault, hangs, asked, lines] = [undefined, false, 0, []];
  const log = (text: string, members?: unknown) => void lines.push([text, members]);
  probe = new StoreProbe({
    store: {
      ping() {
        asked++;
        return hangs ? new Promise(() => undefined) : Promise.resolve(fault);
      },
    },
    shown: 'redis://store',
    now: () => performance.now(),
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
  test.each([
    ['that takes no writes', OOM, [false, true, false], 'the store takes no writes: what it should serve is answered 503'],
    ['that does not answer', DEAD, [false, false, false], 'the store does not answer'],
  ])('detects a store %s within a second, and logs its beginning and its end once', async (_what, found, away, words) => {
    await pass(5000);
    expect(standing()).toEqual([true, true, true]);
    fault = found;
    await pass(500);
    expect(standing()).toEqual(away);
    await pass(9500);
    expect(lines).toEqual([[words, { store: 'redis://store', cause: found.cause }]]);
    fault = undefined;
    await pass(10_000);
    expect(standing()).toEqual([true, true, true]);
    expect(lines.slice(1)).toEqual([['the store takes writes again', { store: 'redis://store', after_seconds: 10 }]]);
  });

  test('treats a store that hangs as unreachable, with one probe at a time', async () => {
    await pass(1100);
    hangs = true;
    const before = asked;
    await pass(1000);
    expect(standing()).toEqual([false, false, false]);
    await pass(10_000);
    expect(asked).toBe(before + 1);
    expect(lines).toEqual([['the store does not answer', { store: 'redis://store', cause: 'timeout' }]]);
  });

  test('stays ready while a part of a cluster fails, and logs which', async () => {
    fault = { ...OOM, partly: true, server: '127.0.0.1:7001' };
    await pass(500);
    expect(standing()).toEqual([true, true, false]);
    const members = { store: 'redis://store', cause: 'oom', server: '127.0.0.1:7001' };
    expect(lines).toEqual([['a part of the store takes no writes: what it should serve is answered 503', members]]);
  });

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

  test('does not treat a store as slow because of an admission', async () => {
    await pass(5000);
    probe.failed('timeout');
    expect(standing()).toEqual([true, true, true]);
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
