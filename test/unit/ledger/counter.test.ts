// What a subject has used of its windows: kept as it was, told of once, and shown with a team's usage.
import { describe, expect, test } from 'vitest';
import { WindowCounts, withWindowUses } from '../../../src/ledger/counter.ts';
import { windowLimits } from '../../../src/domain/window-limits.ts';

const NOW = Date.parse('2026-11-24T10:30:30Z');
const LIMITS = windowLimits('requests=2/minute characters=50/day');

describe('the counts of a subject', () => {
  test('are the same after they were stored', () => {
    const counts = new WindowCounts();
    counts.count(LIMITS, NOW);
    counts.hold(30);
    const again = new WindowCounts(counts.stored());
    expect(again.stored()).toEqual(counts.stored());
    expect(again.exceeded(LIMITS, 21, NOW)).toEqual({ per: 'day', counts: 'characters', limit: 50, endMs: Date.parse('2026-11-25') });
    expect(again.exceeded(LIMITS, 20, NOW)).toBeUndefined();
    expect(again.exceeded(LIMITS, undefined, NOW)).toBeUndefined();
  });

  test('a ticket gives back once to the windows that counted it, and never below nothing', () => {
    const counts = new WindowCounts();
    const first = counts.count(LIMITS, NOW);
    counts.hold(30);
    counts.count(LIMITS, NOW + 60_000);
    counts.hold(5);
    counts.giveBack(first, 30);
    expect(counts.uses(LIMITS, NOW + 60_000)).toMatchObject([
      { usedRequests: 1, usedCharacters: 5 },
      { usedRequests: 2, usedCharacters: 5 },
    ]);
    counts.giveBack(first, 30);
    expect(counts.uses(LIMITS, NOW + 60_000)[1]).toMatchObject({ usedCharacters: 0 });
  });

  test('a window that is no longer limited counts until it ends', () => {
    const counts = new WindowCounts();
    counts.count(LIMITS, NOW);
    const [minute] = [windowLimits('requests=9/minute')];
    counts.count(minute, NOW);
    expect(counts.stored().windows.map(({ per, requests }) => [per, requests])).toEqual([
      ['minute', 2],
      ['day', 2],
    ]);
    counts.count(minute, NOW + 86_400_000);
    expect(counts.stored().windows.map(({ per, requests }) => [per, requests])).toEqual([['minute', 1]]);
  });
});

test('a usage has the windows of the team and of those keys that are limited', () => {
  const usage = {
    team: { limits: { windows: 'requests=2/minute' } },
    keys: [
      { keyId: 'A', limits: {} },
      { keyId: 'B', limits: { windows: 'characters=5/hour' } },
    ],
  };
  const shown = withWindowUses(usage, () => undefined, NOW);
  expect(shown).toMatchObject({
    windows: [{ per: 'minute', usedRequests: 0 }],
    keys: [{ keyId: 'A' }, { windows: [{ per: 'hour', characters: 5 }] }],
  });
  expect(shown.keys[0]).not.toHaveProperty('windows');
});
