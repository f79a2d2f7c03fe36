// Texts go first: how long a step of documents waits, by what a pause shows and what is in flight.
import { expect, test } from 'vitest';
import { letTextsGoFirst } from '../../../../src/documents/work/document-load.ts';

interface Machine {
  /** How much later than asked each pause ends; the last goes on. */
  readonly delayMs?: readonly number[];
  readonly inFlight?: (nowMs: number) => number;
  readonly isNeeded?: (nowMs: number) => boolean;
}

/** Milliseconds that a step has waited. */
async function waited({ delayMs = [0], inFlight = () => 0, isNeeded = () => true }: Machine): Promise<number> {
  let nowMs = 0;
  let pauses = 0;
  await letTextsGoFirst(() => !isNeeded(nowMs), {
    inFlight: () => inFlight(nowMs),
    now: () => nowMs,
    async pause(ms) {
      nowMs += ms + (delayMs[pauses++] ?? delayMs.at(-1)!);
    },
  });
  return nowMs;
}

test('a step waits for a pause, also on an idle machine', async () => {
  expect(await waited({})).toBe(10);
});

test('as long as pauses end late, a step waits', async () => {
  expect(await waited({ delayMs: [9] })).toBe(19);
  expect(await waited({ delayMs: [10, 30, 0] })).toBe(20 + 40 + 10);
});

test('a step waits for requests in flight, of which a few are no reason', async () => {
  expect(await waited({ inFlight: (nowMs) => (nowMs < 500 ? 16 : 15) })).toBe(500);
});

test('a step that is late or meets many requests waits for about two seconds at most', async () => {
  expect(await waited({ inFlight: () => 1000 })).toBe(2000);
  expect(await waited({ delayMs: [500] })).toBe(2040);
  expect(await waited({ delayMs: [60_000] })).toBe(60_010);
});

test('a step that is not wanted any more does not wait', async () => {
  expect(await waited({ isNeeded: () => false })).toBe(0);
  expect(await waited({ inFlight: () => 1000, isNeeded: (nowMs) => nowMs < 30 })).toBe(30);
});
