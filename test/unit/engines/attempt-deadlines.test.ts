// One timer for many deadlines: each passes once, in order, not early, and not at all if it was removed.
import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { Deadlines } from '../../../src/engines/attempt.ts';
import type { Deadlined } from '../../../src/engines/attempt.ts';

const AFTER_MS = 20;

class Sample implements Deadlined {
  dueMs = 0;
  earlier: Deadlined | undefined = undefined;
  later: Deadlined | undefined = undefined;
  readonly passedAtMs: number[] = [];
  readonly onPassed: () => void;

  constructor(onPassed: () => void = () => undefined) {
    this.onPassed = onPassed;
  }

  deadlinePassed(): void {
    this.passedAtMs.push(performance.now());
    this.onPassed();
  }
}

test('deadlines pass in order, once each and not early; removed ones do not, at either end and in the middle', async () => {
  const deadlines = new Deadlines(AFTER_MS);
  const order: number[] = [];
  const samples = Array.from({ length: 200 }, (_, i) => new Sample(() => order.push(i)));
  for (const sample of samples) deadlines.add(sample);
  const removed = new Set([0, 1, 77, 78, 198, 199]);
  for (const i of removed) {
    deadlines.remove(samples[i]!);
    deadlines.remove(samples[i]!);
  }
  const expected = [...samples.keys()].filter((i) => !removed.has(i));
  await expect.poll(() => order).toEqual(expected);
  for (const { passedAtMs, dueMs } of samples) {
    expect(passedAtMs.length).toBeLessThanOrEqual(1);
    if (passedAtMs[0] !== undefined) expect(passedAtMs[0]).toBeGreaterThanOrEqual(dueMs);
  }
});

test('one that is added while others pass gets its own time', async () => {
  const deadlines = new Deadlines(AFTER_MS);
  const late = new Sample();
  for (let i = 0; i < 5; i++) deadlines.add(new Sample(i === 2 ? () => deadlines.add(late) : undefined));
  await expect.poll(() => late.passedAtMs).toHaveLength(1);
  expect(late.passedAtMs[0]).toBeGreaterThanOrEqual(late.dueMs);
});

test('promises that one settles run before the next passes', async () => {
  const deadlines = new Deadlines(AFTER_MS);
  const second = new Sample();
  deadlines.add(
    new Sample(() => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => deadlines.remove(second));
    }),
  );
  deadlines.add(second);
  const third = new Sample();
  deadlines.add(third);
  await expect.poll(() => third.passedAtMs).toHaveLength(1);
  expect(second.passedAtMs).toEqual([]);
});

test('none passes after closing', async () => {
  const deadlines = new Deadlines(AFTER_MS);
  const sample = new Sample();
  deadlines.add(sample);
  deadlines.close();
  const startedAtMs = performance.now();
  await expect.poll(() => performance.now() - startedAtMs).toBeGreaterThan(2 * AFTER_MS);
  expect(sample.passedAtMs).toEqual([]);
});
