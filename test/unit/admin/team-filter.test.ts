// Criteria for teams: by plan and by what is left of their limits; all that are given must hold.
import { describe, expect, test } from 'vitest';
import { readTeamFilter } from '../../../src/admin/team-filter.ts';
import type { TeamCriterionName } from '../../../src/admin/team-filter.ts';
import { DEFAULT_PLANS } from '../../../src/config/schema.ts';
import { toMicro } from '../../../src/domain/money.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { TeamSummary } from '../../../src/ports/team-registry.ts';

function summary(plan: string, characters: number, balanceMicro = 0): TeamSummary {
  const team = { teamId: 'T', name: 'Acme', plan, limits: limitsOf(DEFAULT_PLANS[plan]!), balanceMicro, createdAtMs: 0 };
  return { team, characters, allowanceUsed: 0, activeKeys: 1, lastUsedAtMs: undefined, idlestKey: undefined };
}

function fits(criteria: Partial<Record<TeamCriterionName, string>>, one: TeamSummary): boolean | string {
  const read = readTeamFilter((name) => criteria[name]);
  if ('fault' in read) return `${read.field}: ${read.fault}`;
  return read.filter === undefined || read.filter(one);
}

test('nothing given, or only empty texts, asks for all teams', () => {
  expect(readTeamFilter(() => undefined)).toEqual({ filter: undefined });
  expect(readTeamFilter(() => ' ')).toEqual({ filter: undefined });
});

test('by plan, also one that the configuration does not have', () => {
  expect([fits({ plan: 'pro' }, summary('pro', 0)), fits({ plan: 'gone' }, summary('pro', 0))]).toEqual([true, false]);
});

describe('by standing', () => {
  // `free` has 500,000 characters and no overage; `pro` has 5,000,000, and overage of as many as its cap buys.
  const proWithOverage = 5_000_000 + limitsOf(DEFAULT_PLANS['pro']!).overageCharacters;
  test.each<[standing: string, one: TeamSummary, expected: boolean]>([
    ['over_quota', summary('free', 499_999), false],
    ['over_quota', summary('free', 500_000), true],
    ['over_quota', summary('pro', 5_000_001), true],
    ['over_quota', summary('prepaid', 9_000_000, 0), false],
    ['near_limit', summary('free', 399_999), false],
    ['near_limit', summary('free', 400_000), true],
    ['near_limit', summary('pro', 0.8 * proWithOverage - 1), false],
    ['near_limit', summary('pro', 0.8 * proWithOverage), true],
    // One longest request: 50,000 characters at 25.00 EUR per million, 125 cents.
    ['near_limit', summary('prepaid', 0, toMicro(125)), false],
    ['near_limit', summary('prepaid', 0, toMicro(125) - 1), true],
    // One character costs 2,500 millionths of a cent.
    ['out_of_credit', summary('prepaid', 0, 2500), false],
    ['out_of_credit', summary('prepaid', 0, 2499), true],
    ['out_of_credit', summary('free', 500_000), false],
  ])('%s, case %#', (standing, one, expected) => {
    expect(fits({ standing }, one)).toBe(expected);
  });
});

test('all criteria together', () => {
  const asked = { plan: 'free', standing: 'over_quota' };
  expect([fits(asked, summary('free', 500_000)), fits(asked, summary('pro', 9_000_000)), fits(asked, summary('free', 1))]).toEqual([
    true,
    false,
    false,
  ]);
});

test('a wrong criterion is named, with what would be right', () => {
  expect(fits({ standing: 'broke' }, summary('free', 0))).toBe('standing: must be one of near_limit, over_quota, out_of_credit');
  expect(fits({ plan: 'x'.repeat(101) }, summary('free', 0))).toBe('plan: may be at most 100 characters long');
});
