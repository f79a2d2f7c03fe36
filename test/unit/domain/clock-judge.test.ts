// Which clock is right: by its steps against the monotonic clock, and by the latest time that its store has seen.
import { describe, expect, test } from 'vitest';
import { ClockJudge, FOLLOWED_STEP_MS, stepText } from '../../../src/domain/clock-judge.ts';

const HOUR_MS = FOLLOWED_STEP_MS;

test('steps of up to an hour are followed, also one after the other', () => {
  const judge = new ClockJudge(0);
  for (const offsetMs of [HOUR_MS, 2 * HOUR_MS, HOUR_MS, 0]) {
    judge.look(offsetMs);
    expect([judge.stepOf(offsetMs), judge.offsetMs]).toEqual([0, offsetMs]);
  }
});

test.each([1, -1])('a longer one is wrong for as long as it lasts (%i)', (sign) => {
  const judge = new ClockJudge(0);
  const offsetMs = sign * (HOUR_MS + 1);
  for (let i = 0; i < 3; i++) judge.look(offsetMs);
  expect([judge.stepOf(offsetMs), judge.offsetMs]).toEqual([offsetMs, 0]);
  judge.look(sign * HOUR_MS);
  expect(judge.offsetMs).toBe(sign * HOUR_MS);
});

describe('the latest time that the store has seen', () => {
  test('is what a clock may be an hour behind, whenever it comes', () => {
    const judge = new ClockJudge(0);
    judge.compare(500 + HOUR_MS, [0], 500);
    expect(judge.offsetMs).toBe(0);
    judge.compare(501 + HOUR_MS, [0], 500);
    expect([judge.stepOf(0), judge.offsetMs]).toEqual([-HOUR_MS - 1, HOUR_MS + 1]);
  });

  test('says nothing against a clock that is ahead', () => {
    const judge = new ClockJudge(100 * HOUR_MS);
    judge.compare(0, [100 * HOUR_MS], 0);
    expect(judge.offsetMs).toBe(100 * HOUR_MS);
  });

  test('accepts a wrong clock only if it has come since and agrees with it', () => {
    const judge = new ClockJudge(0);
    judge.compare(0, [0], 0);
    const stepped = -HOUR_MS - 1000;
    judge.look(stepped);
    // More than an hour has passed: the clock is no longer an hour behind what was seen before it stepped.
    judge.compare(0, [stepped], HOUR_MS);
    expect(judge.stepOf(stepped)).toBe(stepped);
    judge.compare(-1000, [stepped], HOUR_MS);
    expect(judge.stepOf(stepped)).toBe(0);
  });
});

test.each([
  [2 * HOUR_MS, '2 hours beyond'],
  [-HOUR_MS, '1 hour behind'],
  [48 * HOUR_MS, '2 days beyond'],
])('%i ms are %s', (byMs, text) => expect(stepText(byMs)).toBe(text));
