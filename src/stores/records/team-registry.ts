// Teams as operators manage them, once for every store: over accounts that a driver opens (`TeamSpace`).
import { teamDifference } from '../../domain/audit-entry.ts';
import type { AuditDifference, Audited } from '../../domain/audit-entry.ts';
import { CHANGE_REMEMBERED_MS } from '../../domain/reservation.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AccountRows } from '../../ledger/account-rows.ts';
import type { Account } from '../../ledger/account.ts';
import { assertPeriod } from '../../ledger/team-change.ts';
import type { NewEvent, RecordSpace } from '../../ports/record-space.ts';
import type { KeyRecord, NewTeam, Team, TeamChange, TeamPage, TeamRegistry, TeamSummary, Usage } from '../../ports/team-registry.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import { keyRegistry } from './key-registry.ts';
import { teamEvent } from './event-record.ts';

/** A change that takes effect once (`TeamChange.once`). */
export type RememberedChange = Omit<WholeAccount['changes'][number], 'id'>;

/** What operators' operations need of a store besides what the account does. */
export interface TeamRows extends AccountRows {
  /** In order of creation. */
  keyIds(): readonly string[];
  changes(): ReadonlyMap<string, RememberedChange>;
  /** Without a change it is forgotten. */
  putChange(id: string, change?: RememberedChange): void;
}

/** A team in an operation: up to date. */
export interface OpenTeam {
  readonly account: Account;
  readonly rows: TeamRows;
  readonly nowMs: number;
}

/** How a driver opens teams. What the callbacks read is of one moment; they may be called again, and have no effects besides. */
export interface TeamSpace extends Pick<TeamRegistry, 'pageTeams' | 'findKeys'> {
  /** `undefined` if there is no such team. */
  view<T>(teamId: string, show: (team: OpenTeam) => T): Promise<T | undefined | StoreUnavailable>;
  /** What is changed of the account and of its rows is written, all of it or nothing. */
  change<T>(teamId: string, decide: (team: OpenTeam) => T): Promise<T | undefined | StoreUnavailable>;
  /** Calls `begin` on the account of a team that was not there. */
  create(team: NewTeam, begin: (team: OpenTeam) => void): Promise<Team | StoreUnavailable>;
  page<T>(page: TeamPage, show: (team: OpenTeam) => T): Promise<readonly T[] | StoreUnavailable>;
}

export function teamRegistry(space: TeamSpace, records: RecordSpace, deleteTeam: TeamRegistry['deleteTeam']): TeamRegistry {
  return {
    ...keyRegistry(records),
    async createTeam(team, by) {
      assertPeriod(team.limits);
      return space.create(team, ({ account, nowMs }) => account.begin(by, nowMs));
    },
    listTeams: () => space.pageTeams({ after: undefined, limit: Infinity, search: undefined }),
    pageTeams: (page) => space.pageTeams(page),
    pageSummaries: (page) => space.page(page, (team) => teamSummary(usageOf(team))),
    findTeam: (teamId) => space.view(teamId, ({ account }) => account.shown()),
    updateTeam: (teamId, change, by) => space.change(teamId, (team) => updateTeam(team, change, by)),
    deleteTeam,
    listKeys: (teamId) => space.view(teamId, keysOf),
    findKeys: (search) => space.findKeys(search),
    usage: (teamId) => space.view(teamId, usageOf),
    standing: (teamId) => space.view(teamId, ({ account }) => account.standing()),
    replicated: () => Promise.resolve(undefined),
  };
}

export function keysOf({ account, rows, nowMs }: OpenTeam): KeyRecord[] {
  return rows.keyIds().map((keyId) => account.key(keyId)!.shown(nowMs));
}

function usageOf({ account, rows, nowMs }: OpenTeam) {
  return account.usage(rows.keyIds(), nowMs);
}

/** A row of the list of teams: how many keys are active, the latest use of any, and the active one that is unused for longest. */
export function teamSummary({ team, characters, allowanceUsed, keys }: Usage): TeamSummary {
  const active = keys.filter(({ status }) => status === 'active');
  const idle = active.map(({ keyId, lastUsedAtMs, createdAtMs }) => ({ keyId, sinceMs: lastUsedAtMs ?? createdAtMs }));
  const [idlestKey] = idle.toSorted((one, other) => one.sinceMs - other.sinceMs || (one.keyId < other.keyId ? -1 : 1));
  const uses = keys.flatMap(({ lastUsedAtMs }) => lastUsedAtMs ?? []);
  const lastUsedAtMs = uses.length === 0 ? undefined : Math.max(...uses);
  return { team, characters, allowanceUsed, activeKeys: active.length, lastUsedAtMs, idlestKey };
}

function updateTeam({ account, rows, nowMs }: OpenTeam, change: TeamChange, by: Audited | undefined) {
  const { once } = change;
  const changes = rows.changes();
  for (const [id, { untilMs }] of changes) if (untilMs <= nowMs) rows.putChange(id);
  const known = once && changes.get(once.id);
  if (known !== undefined && known.untilMs > nowMs)
    return known.request === once!.request ? account.shown() : ({ kind: 'other_request' } as const);
  const answer = account.change(change, by, nowMs);
  if (once !== undefined && !('kind' in answer)) rows.putChange(once.id, { request: once.request, untilMs: nowMs + CHANGE_REMEMBERED_MS });
  return answer;
}

/** What a change of a team, or its creation, is for the audit and the outbox. */
export function reportOf(before: Team | undefined, after: Team): readonly [difference: AuditDifference | undefined, event: NewEvent] {
  return [teamDifference(before, after), teamEvent(before === undefined ? 'team_created' : 'team_updated', after)];
}
