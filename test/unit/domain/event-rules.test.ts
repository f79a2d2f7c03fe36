// When a percentage is reached, and when a balance has fallen to a threshold, exactly to the character and the millionth.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { charactersAt, creditReached, eventRules, percentsReached } from '../../../src/domain/event-rules.ts';
import { minorRoundedDown } from '../../../src/domain/money.ts';

test('thresholds are sorted in the order in which they are passed', () => {
  expect(eventRules([100, 80, 95], [0, 1000, 50])).toEqual({ percents: [80, 95, 100], creditMinor: [1000, 50, 0] });
});

test.each([
  [80, 100, 80],
  [80, 101, 81],
  [1, 3, 1],
  [95, 1_000_000_000_000, 950_000_000_000],
  [1000, 999_999_999_999, 9_999_999_999_990],
  [33, 999_999_999_999, 330_000_000_000],
])('%i percent of %i are %i characters', (percent, limit, characters) => {
  expect(charactersAt(percent, limit)).toBe(characters);
});

const rules = fc.record({
  percents: fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { maxLength: 6 }),
  creditMinor: fc.uniqueArray(fc.integer({ min: 0, max: 2000 }), { maxLength: 6 }),
});

test('as a count rises each percentage is reached once, by the first count that is at least that much of the limit', () => {
  const steps = fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 40 });
  fc.assert(
    fc.property(rules, fc.integer({ min: 0, max: 3000 }), steps, (drawn, limit, ways) => {
      const made = eventRules(drawn.percents, []);
      let [characters, reported] = [0, 0];
      const reached: number[] = [];
      for (const step of ways) {
        characters += step;
        const now = percentsReached(made, limit, reported, characters);
        reached.push(...now);
        reported = now.at(-1) ?? reported;
      }
      const expected = limit === 0 ? [] : made.percents.filter((percent) => characters * 100 >= percent * limit);
      expect(reached).toEqual(expected);
    }),
  );
});

test('as a balance changes a threshold is reported when the displayed balance falls to it from above', () => {
  const balances = fc.array(fc.integer({ min: 0, max: 2_500_000_000 }), { minLength: 2, maxLength: 30 });
  fc.assert(
    fc.property(rules, balances, (drawn, ways) => {
      const made = eventRules([], drawn.creditMinor);
      for (let i = 1; i < ways.length; i++) {
        const [before, after] = [minorRoundedDown(ways[i - 1]!), minorRoundedDown(ways[i]!)];
        const expected = made.creditMinor.filter((minor) => before > minor && after <= minor);
        expect(creditReached(made, ways[i - 1]!, ways[i]!)).toEqual(expected);
      }
    }),
  );
});
