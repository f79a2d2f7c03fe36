// The pace of a transfer: bursts are what a system makes of a steady reader, and a trickle ends.
import { expect, onTestFinished, test, vi } from 'vitest';
import { READ_SECONDS, TransferPace } from '../../../src/core/unfinished-bodies.ts';

const SLOWEST = 1000;

/** After how many seconds it is too slow, if so many bytes move at once every so many seconds; at most an hour. */
async function slowAfter(bytes: number, everySeconds: number, overSeconds?: number): Promise<number | undefined> {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ends: number[] = [];
  let seconds = 0;
  const pace = new TransferPace(SLOWEST, () => void ends.push(seconds), overSeconds);
  for (; seconds < 3600; seconds++) {
    if (seconds % everySeconds === 0) pace.moved(bytes);
    await vi.advanceTimersByTimeAsync(1000);
  }
  pace.end();
  expect(ends.length).toBeLessThan(2);
  return ends[0];
}

test('an upload has ten seconds', async () => {
  expect(await slowAfter(1000, 1)).toBeUndefined();
  expect(await slowAfter(900, 1)).toBe(9);
  expect(await slowAfter(0, 1)).toBe(9);
  // What came fast before saves nothing up.
  expect(await slowAfter(1_000_000, 60)).toBe(19);
});

test('a download has three minutes: a reader of ten times the pace gets it in bursts', async () => {
  expect(await slowAfter(1_200_000, 120, READ_SECONDS)).toBeUndefined();
  expect(await slowAfter(5000, 10, READ_SECONDS)).toBeLessThan(400);
  expect(await slowAfter(0, 1, READ_SECONDS)).toBe(179);
});
