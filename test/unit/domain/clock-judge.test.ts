// Which clock is right: by its steps against the monotonic clock, and by the latest time that its store has seen.
import { describe, expect, test } from 'vitest';
import { ClockJudge, FOLLOWED_STEP_MS, stepText } from '../../../src/domain/clock-judge.ts';

const HOUR_MS = FOLLOWED_STEP_MS;

test('steps of up to an hour are followed, also one after the other', () => {
  const judge = new ClockJudge(0);
  for (const offsetMs of [HOUR_MS, 2 * HOUR_MS, HOUR_MS, 0]) {
    judge.look(offsetMs);
    expect([judge.stepMs, judge.offsetMs]).toEqual([0, offsetMs]);
  }
});

test.each([1, -1])('a longer one is wrong for as long as it lasts (%i)', (sign) => {
  const judge = new ClockJudge(0);
  const offsetMs = sign * (HOUR_MS + 1);
  for (let i = 0; i < 3; i++) judge.look(offsetMs);
  expect([judge.stepMs, judge.offsetMs]).toEqual([offsetMs, 0]);
  judge.look(sign * HOUR_MS);
  expect(judge.stepMs).toBe(0);
});

describe('the latest time that the store has seen', () => {
  test('is what a clock may be an hour behind, whenever it comes', () => {
    const judge = new ClockJudge(0);
    judge.compare(500 + HOUR_MS, 500);
    expect(judge.stepMs).toBe(0);
    judge.compare(501 + HOUR_MS, 500);
    expect([judge.stepMs, judge.offsetMs]).toEqual([-HOUR_MS - 1, HOUR_MS + 1]);
  });

  test('says nothing against a clock that is ahead', () => {
    const judge = new ClockJudge(100 * HOUR_MS);
    judge.compare(0, 0);
    expect(judge.stepMs).toBe(0);
  });

  test('accepts a wrong clock only if it has come since and agrees with it', () => {
    const judge = new ClockJudge(0);
    judge.compare(0, 0);
    judge.look(-HOUR_MS - 1000);
    // More than an hour has passed: the clock is no longer an hour behind what was seen before it stepped.
    judge.compare(0, HOUR_MS);
    expect(judge.stepMs).toBe(-HOUR_MS - 1000);
    judge.compare(-1000, HOUR_MS);
    expect(judge.stepMs).toBe(0);
  });
});

test.each([
  [2 * HOUR_MS, '2 hours beyond'],
  [-HOUR_MS, '1 hour behind'],
  [48 * HOUR_MS, '2 days beyond'],
])('%i ms are %s', (byMs, text) => expect(stepText(byMs)).toBe(text));
