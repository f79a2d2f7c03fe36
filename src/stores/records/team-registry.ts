// Teams and keys as operators manage them, once for every store: over accounts that a driver opens (`TeamSpace`), and for changes of keys over
// the record space, with the audit entry and the event that belong to each.
import { keyDifference, newKeyDifference, teamDifference } from '../../domain/audit-entry.ts';
import { changedLimits, keyStatus } from '../../domain/key-limits.ts';
import type { AuditDifference, Audited } from '../../domain/audit-entry.ts';
import { CHANGE_REMEMBERED_MS } from '../../domain/admission.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AccountRows } from '../../ledger/account-rows.ts';
import type { Account } from '../../ledger/account.ts';
import { assertPeriod } from '../../ledger/team-change.ts';
import type { GroupChange, GroupHead, NewEvent, RecordSpace } from '../../ports/record-space.ts';
import type { KeyChange, KeyRecord, NewKey, NewTeam, Team, TeamChange } from '../../ports/team-registry.ts';
import type { TeamPage, TeamRegistry, TeamSummary, Usage } from '../../ports/team-registry.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import { keyEvent, teamEvent } from './event-record.ts';

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

// Keys

function keyRegistry(space: RecordSpace): Pick<TeamRegistry, 'createKey' | 'updateKey' | 'revokeKey'> {
  const changing = async (
    keyId: string,
    decide: (key: KeyRecord, nowMs: number) => GroupChange<KeyRecord>,
  ): Promise<KeyRecord | undefined | StoreUnavailable> => {
    const teamId = await space.teamOf(keyId);
    if (teamId === undefined || isUnavailable(teamId)) return teamId;
    const decided = (_values: unknown, { key, nowMs }: GroupHead): GroupChange<KeyRecord | undefined> =>
      key === undefined ? { result: undefined } : decide(key, nowMs);
    return space.change(teamId, [], decided, keyId);
  };
  return {
    createKey: (key, by) => space.change(key.teamId, [], (_values, head) => creation(key, head, by), key.keyId),
    updateKey: (keyId, change, by) => changing(keyId, (key, nowMs) => update(key, change, nowMs, by)),
    revokeKey: (keyId, by) => changing(keyId, (key) => revocation(key, by)),
  };
}

/** A key that exists already stays unchanged: a creation whose outcome is unknown may be repeated. */
function creation(key: NewKey, { key: known, nowMs }: GroupHead, by: Audited | undefined): GroupChange<KeyRecord> {
  if (known !== undefined) return { result: known };
  const { digest, limits = {}, ...named } = key;
  const status = keyStatus(false, limits, nowMs);
  const result: KeyRecord = { ...named, limits, status, createdAtMs: nowMs, lastUsedAtMs: undefined };
  return { result, key: { record: result, digest }, event: keyEvent('key_created', result), audit: by && { by, ...newKeyDifference(key) } };
}

function update(key: KeyRecord, change: KeyChange, nowMs: number, by: Audited | undefined): GroupChange<KeyRecord> {
  const { label = key.label, disabled = key.status === 'disabled' } = change;
  const limits = changedLimits(key.limits, change.limits ?? {});
  const result: KeyRecord = { ...key, label, limits, status: key.status === 'revoked' ? 'revoked' : keyStatus(disabled, limits, nowMs) };
  const difference = keyDifference(key, result);
  if (difference === undefined) return { result: key };
  return { result, key: { record: result }, event: keyEvent('key_updated', result), audit: by && { by, ...difference } };
}

/** Writes nothing if the key is revoked already; without an audit entry if nobody ordered it. */
function revocation(key: KeyRecord, by?: Audited): GroupChange<KeyRecord> {
  if (key.status === 'revoked') return { result: key };
  const result: KeyRecord = { ...key, status: 'revoked' };
  return { result, key: { record: result }, event: keyEvent('key_revoked', result), audit: by && { by, ...keyDifference(key, result)! } };
}
