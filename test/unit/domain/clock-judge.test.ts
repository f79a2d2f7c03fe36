// The rule by which offsets of a clock are believed; judged-clock.test.ts has the same with clocks and stores.
import { expect, test } from 'vitest';
import { agree, ClockJudge, FOLLOWED_STEP_MS, HELD_STEP_MS } from '../../../src/domain/clock-judge.ts';

test('offsets agree up to an hour', () => {
  expect([agree(0, FOLLOWED_STEP_MS), agree(0, -FOLLOWED_STEP_MS)]).toEqual([true, true]);
  expect([agree(0, FOLLOWED_STEP_MS + 1), agree(-FOLLOWED_STEP_MS - 1, 0)]).toEqual([false, false]);
});

test('a longer step is believed at the first look after ten minutes of the same offset, give or take a minute', () => {
  const judge = new ClockJudge(0, 0);
  const stepMs = 5 * FOLLOWED_STEP_MS;
  judge.look(stepMs, 1000);
  judge.look(stepMs + 60_000, HELD_STEP_MS + 999);
  expect([judge.believedMs, judge.stepMs]).toEqual([0, stepMs]);
  judge.look(stepMs + 60_000, HELD_STEP_MS + 1000);
  expect([judge.believedMs, judge.stepMs]).toEqual([stepMs + 60_000, 0]);
});

test('a step that goes on moving never holds', () => {
  const judge = new ClockJudge(0, 0);
  for (let i = 1; i < 100; i++) judge.look(FOLLOWED_STEP_MS * 5 + i * 61_000, (i * HELD_STEP_MS) / 2);
  expect(judge.believedMs).toBe(0);
});

test('another witness makes an offset believed at once', () => {
  const judge = new ClockJudge(0, 0);
  judge.look(-9 * FOLLOWED_STEP_MS, 1);
  judge.trust(-9 * FOLLOWED_STEP_MS, 2);
  expect([judge.believedMs, judge.stepMs]).toEqual([-9 * FOLLOWED_STEP_MS, 0]);
});
