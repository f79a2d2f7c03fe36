// Comparing a plan with its teams reads them page by page, and no more of them than the given limit.
import { expect, test } from 'vitest';
import { comparePlan, teamsBehind } from '../../../src/admin/plan-comparison.ts';
import { numberChanges } from '../../../src/admin/plan-numbers.ts';
import { LIMIT_NUMBERS, limitsOf } from '../../../src/domain/plan.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { Team, TeamPage, TeamRegistry } from '../../../src/ports/team-registry.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';

const LIMITS = limitsOf(QUOTA_PLAN);

/** `count` teams: every second one is on `pro`, every tenth one has other limits. */
function registryOf(count: number) {
  const teams = Array.from({ length: count }, (_, index) => {
    const limits = index % 10 === 0 ? { ...LIMITS, requestsPerSecond: 1 } : LIMITS;
    return { teamId: String(index).padStart(8, '0'), name: `Team ${index}`, plan: index % 2 === 0 ? 'pro' : 'free', limits } as Team;
  });
  const limits: number[] = [];
  const pageTeams = async ({ after, limit }: TeamPage): Promise<readonly Team[]> => {
    limits.push(limit);
    return teams.filter(({ teamId }) => after === undefined || teamId > after).slice(0, limit);
  };
  return { teams: { pageTeams } as TeamRegistry, limits };
}

test('reads at most the given number of teams, in pages of 200, and reports that there are more', async () => {
  const { teams, limits } = registryOf(5000);
  const compared = answered(await comparePlan(teams, 'pro', LIMITS, 1000));
  expect(compared).toMatchObject({ looked: 1000, complete: false, members: 500, behind: 100 });
  expect(compared.examples.map(({ team }) => team.name).slice(0, 2)).toEqual(['Team 0', 'Team 10']);
  expect(compared.examples).toHaveLength(10);
  expect(compared.examples[0]!.differences).toEqual([{ number: 'requestsPerSecond', held: 1, plan: LIMITS.requestsPerSecond }]);
  // The last page is read only to learn that there are more.
  expect(limits).toEqual([200, 200, 200, 200, 200, 200]);
});

test.each([0, 199, 200, 1000])('reads all of %i teams', async (count) => {
  const compared = answered(await comparePlan(registryOf(count).teams, 'pro', LIMITS, 1000));
  expect(compared).toMatchObject({ looked: count, complete: true, members: Math.ceil(count / 2), behind: Math.ceil(count / 10) });
});

test('to apply a plan, all teams that differ from it are found', async () => {
  const { members, behind, changes } = answered(await teamsBehind(registryOf(1234).teams, 'pro', LIMITS));
  expect([members, behind.length]).toEqual([617, 124]);
  expect(changes).toEqual([{ number: 'requests_per_second', from: 1, to: LIMITS.requestsPerSecond, teams: 124 }]);
});

test('a store that becomes unreachable midway is the result', async () => {
  const away = { kind: 'unavailable', cause: 'connect' } as const;
  const { teams } = registryOf(1000);
  const pageTeams: TeamRegistry['pageTeams'] = async (page) => (page.after === undefined ? teams.pageTeams(page) : away);
  expect(await comparePlan({ pageTeams } as TeamRegistry, 'pro', LIMITS, 1000)).toBe(away);
  expect(await teamsBehind({ pageTeams } as TeamRegistry, 'pro', LIMITS)).toBe(away);
});

const QUOTA = limitsOf(QUOTA_PLAN);
const CREDIT = limitsOf(CREDIT_PLAN);

test('numbers have their names in the configuration, and are null where the other billing lacks them', () => {
  expect(numberChanges(QUOTA, QUOTA)).toEqual([]);
  for (const plan of [QUOTA_PLAN, CREDIT_PLAN]) {
    const calendar = limitsOf({ ...plan, period_anchor: 'calendar' });
    expect(numberChanges(limitsOf(plan), calendar)).toEqual([{ number: 'period_anchor', from: 'creation', to: 'calendar' }]);
    expect(numberChanges(limitsOf({ ...plan, period_anchor: 'creation' }), limitsOf(plan))).toEqual([]);
  }
  expect(numberChanges(QUOTA, CREDIT)).toEqual([
    { number: 'billing', from: 'quota', to: 'credit' },
    { number: 'credit_minor_per_million', from: null, to: 2500 },
    { number: 'characters', from: 1_000_000, to: null },
    { number: 'period', from: 'P1M', to: null },
    { number: 'overage_cap_minor', from: 0, to: null },
    { number: 'overage_minor_per_million', from: 0, to: null },
  ]);
});

/** The characters that overage covers follow from its cap and price, which are shown. */
const SHOWN = LIMIT_NUMBERS.filter((number) => number !== 'overageCharacters');

test.each(SHOWN)('a change of %s alone is shown', (number) => {
  const [change, ...more] = numberChanges(QUOTA, { ...QUOTA, [number]: QUOTA[number] + 1 });
  expect([change!.to, more]).toEqual([QUOTA[number] + 1, []]);
});
