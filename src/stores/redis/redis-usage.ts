// What Redis has of usage: charges as numbers (`:days`), and the periods that have ended (`:periods`).
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import type { ChargeRow, EndedPeriod } from '../../ports/usage-history.ts';
import type { Charges, UsageRows, UsageSource } from '../records/usage-rows.ts';
import { groupKey, OF_TEAM } from './redis-keys.ts';
import { fieldKey } from './redis-records.ts';
import type { DeletedTeam } from './redis-team-erasure.ts';
import { keyIdsOf } from './team-accounts.ts';
import type { HashDraft } from './hash-draft.ts';
import type { TeamAccounts } from './team-accounts.ts';
import { FIELD, idIn, readBalance, readCharges, readOpen, readPeriod, readTeam } from './team-fields.ts';
import { isFound } from './team-index.ts';
import type { TeamIndex } from './team-index.ts';

export class RedisUsage implements UsageSource {
  readonly #accounts: TeamAccounts;
  readonly #index: TeamIndex;

  constructor(accounts: TeamAccounts, index: TeamIndex) {
    [this.#accounts, this.#index] = [accounts, index];
  }

  one(teamId: string, charges: Charges): Promise<UsageRows | undefined | StoreUnavailable> {
    return answering(() => this.#read(teamId, charges));
  }

  page(page: TeamPage, charges: Charges): Promise<readonly UsageRows[] | StoreUnavailable> {
    return answering(() => this.#index.page(page, (teamId) => this.#read(teamId, charges, page)));
  }

  /** `undefined` for a team that `page` does not find, too. */
  async #read(teamId: string, charges: Charges, page?: TeamPage): Promise<UsageRows | undefined> {
    const { draft, nowMs } = await (charges === 'by period' ? this.#accounts.current(teamId) : this.#accounts.stored(teamId));
    const team = shownTeam(draft);
    if (team === undefined || (page !== undefined && !isFound(team, page))) return undefined;
    const [all, ended] = await Promise.all([
      chargesOf(this.#accounts, teamId),
      charges === 'by period' ? endedOf(this.#accounts, teamId) : [],
    ]);
    const rows = usageRows(draft, all, ended, nowMs);
    if (rows === undefined || charges === 'by period') return rows;
    return { ...rows, charges: all.filter(({ day }) => day >= charges.from && day <= charges.to) };
  }
}

export async function chargesOf({ link }: TeamAccounts, teamId: string): Promise<readonly ChargeRow[]> {
  return readCharges(await link.ask((redis) => redis.hgetall(groupKey(teamId) + OF_TEAM.days)));
}

export async function endedOf({ link }: TeamAccounts, teamId: string): Promise<readonly EndedPeriod[]> {
  return endedPeriods(await link.ask((redis) => redis.hvals(groupKey(teamId) + OF_TEAM.periods)));
}

/** Oldest first. */
export function endedPeriods(texts: readonly string[]): readonly EndedPeriod[] {
  return texts.map((text) => JSON.parse(text) as EndedPeriod).toSorted((one, other) => one.number - other.number);
}

/** `undefined` if there is nothing, or the team is being deleted. */
export function usageRows(
  draft: HashDraft,
  charges: readonly ChargeRow[],
  ended: readonly EndedPeriod[],
  nowMs: number,
): UsageRows | undefined {
  const { read } = draft;
  const [text, runs, left, team] = [read.get(FIELD.team), read.get(FIELD.period), deletedTeam(draft), shownTeam(draft)];
  if (team === undefined) return undefined;
  const running = runs === undefined || text === undefined ? undefined : readPeriod(runs);
  const open = [...read].flatMap(([field, held]) => (idIn(field, 'open:') === undefined ? [] : readOpen(held).period));
  const balanceMicro = left?.balanceMicro ?? readBalance(read.get(FIELD.balance)).micro;
  return {
    team,
    keys: keyIdsOf(read).map((keyId) => fieldKey(read.get(FIELD.key(keyId))!, read, nowMs)),
    charges,
    ended,
    period: running,
    openingMicro: balanceMicro - movedIn(running === undefined ? ended : [...ended, running], charges),
    firstOpen: Math.min(...open),
  };
}

function deletedTeam({ read }: HashDraft): DeletedTeam | undefined {
  const gone = read.get(FIELD.deleted);
  return gone === undefined ? undefined : (JSON.parse(gone) as DeletedTeam);
}

/** The team, or what is shown of a deleted one of which usage is left. */
function shownTeam(draft: HashDraft): Team | undefined {
  const text = draft.read.get(FIELD.team);
  if (text !== undefined) return readTeam(text, draft.read.get(FIELD.balance));
  const left = deletedTeam(draft);
  return left && namelessTeam(left);
}

function namelessTeam({ teamId, plan, limits, createdAtMs, keepUsage }: DeletedTeam): Team | undefined {
  return keepUsage ? { teamId, name: '', plan, limits, balanceMicro: 0, createdAtMs } : undefined;
}

/** By how much these periods have changed the balance. */
function movedIn(periods: readonly Omit<EndedPeriod, 'plan' | 'limits'>[], charges: readonly ChargeRow[]): number {
  const numbers = new Set(periods.map(({ number }) => number));
  const added = periods.reduce((sum, { addedMicro, deductedMicro }) => sum + addedMicro - deductedMicro, 0);
  return charges.reduce((sum, { period, micro }) => sum - (numbers.has(period) ? micro : 0), added);
}
