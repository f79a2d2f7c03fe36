// What Redis has of usage: charges as numbers (`:days`), and the periods that have ended (`:periods`).
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import type { ChargeRow, EndedPeriod } from '../../ports/usage-history.ts';
import type { Charges, UsageRows, UsageSource } from '../records/usage-rows.ts';
import type { RedisGroups } from './redis-groups.ts';
import { OF_TEAM } from './redis-keys.ts';
import type { DeletedTeam } from './redis-team-erasure.ts';
import type { TeamAccounts } from './team-accounts.ts';
import { FIELD, fieldKey, fieldsWith, keyIdsOf, readBalance, readCharges, readOpen, readPeriod, readTeam } from './team-fields.ts';
import { isFound } from './team-index.ts';
import type { TeamIndex } from './team-index.ts';

export function redisUsage(accounts: TeamAccounts, index: TeamIndex): UsageSource {
  const { groups } = accounts;
  /** `undefined` for a team that `page` does not find, too. */
  const read = async (teamId: string, charges: Charges, page?: TeamPage): Promise<UsageRows | undefined> => {
    const byPeriod = charges === 'by period';
    const { read: fields } = byPeriod ? (await accounts.current(teamId)).draft : await accounts.read(teamId);
    const team = shownTeam(fields);
    if (team === undefined || (page !== undefined && !isFound(team, page))) return undefined;
    const [all, ended] = await Promise.all([chargesOf(groups, teamId), byPeriod ? endedOf(groups, teamId) : []]);
    const isAsked = ({ day }: ChargeRow): boolean => byPeriod || (day >= charges.from && day <= charges.to);
    const rows = usageRows(fields, all, ended, groups.link.nowMs(teamId));
    return rows && { ...rows, charges: all.filter(isAsked) };
  };
  return {
    one: (teamId, charges) => read(teamId, charges),
    page: (page, charges) => index.page(page, (teamId) => read(teamId, charges, page)),
  };
}

export async function chargesOf(groups: RedisGroups, teamId: string): Promise<readonly ChargeRow[]> {
  return readCharges(await groups.hash(teamId, OF_TEAM.days));
}

export async function endedOf(groups: RedisGroups, teamId: string): Promise<readonly EndedPeriod[]> {
  return endedPeriods(await groups.hash(teamId, OF_TEAM.periods));
}

/** Oldest first. */
export function endedPeriods(periods: ReadonlyMap<string, string>): readonly EndedPeriod[] {
  return [...periods.values()].map((text) => JSON.parse(text) as EndedPeriod).toSorted((one, other) => one.number - other.number);
}

/** By the fields of a team's hash; `undefined` if there is nothing, or the team is being deleted. */
export function usageRows(
  fields: ReadonlyMap<string, string>,
  charges: readonly ChargeRow[],
  ended: readonly EndedPeriod[],
  nowMs: number,
): UsageRows | undefined {
  const [runs, left, team] = [fields.get(FIELD.period), deletedTeam(fields), shownTeam(fields)];
  if (team === undefined) return undefined;
  const period = runs === undefined || !fields.has(FIELD.team) ? undefined : readPeriod(runs);
  const balanceMicro = left?.balanceMicro ?? readBalance(fields.get(FIELD.balance)).micro;
  return {
    team,
    keys: keyIdsOf(fields).map((keyId) => fieldKey(fields.get(FIELD.key(keyId))!, fields, nowMs)),
    charges,
    ended,
    period,
    openingMicro: balanceMicro - movedIn(period === undefined ? ended : [...ended, period], charges),
    firstOpen: Math.min(...fieldsWith(fields, FIELD.open('')).map(([, held]) => readOpen(held).period)),
  };
}

export function deletedTeam(fields: ReadonlyMap<string, string>): DeletedTeam | undefined {
  const left = fields.get(FIELD.deleted);
  return left === undefined ? undefined : (JSON.parse(left) as DeletedTeam);
}

/** The team, or what is shown of a deleted one of which usage is left. */
function shownTeam(fields: ReadonlyMap<string, string>): Team | undefined {
  const text = fields.get(FIELD.team);
  if (text !== undefined) return readTeam(text, fields.get(FIELD.balance));
  const left = deletedTeam(fields);
  if (left?.keepUsage !== true) return undefined;
  const { teamId, plan, limits, createdAtMs } = left;
  return { teamId, name: '', plan, limits, balanceMicro: 0, createdAtMs };
}

/** By how much these periods have changed the balance. */
function movedIn(periods: readonly Omit<EndedPeriod, 'plan' | 'limits'>[], charges: readonly ChargeRow[]): number {
  const numbers = new Set(periods.map(({ number }) => number));
  const added = periods.reduce((sum, { addedMicro, deductedMicro }) => sum + addedMicro - deductedMicro, 0);
  return charges.reduce((sum, { period, micro }) => sum - (numbers.has(period) ? micro : 0), added);
}
