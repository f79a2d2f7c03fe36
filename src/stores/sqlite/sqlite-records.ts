// What an open file consists of, and how its parts run; the record space in it: a table for all records. A change is one operation of
// the group commit, with the audit entry and the event that belong to it.
import { auditEntry, idBefore } from '../../domain/audit-entry.ts';
import type { AuditedChange, Audited } from '../../domain/audit-entry.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { DecideChange, GroupChange, KeyWrite, NewEvent, RecordName, RecordSpace } from '../../ports/record-space.ts';
import { eventNames, eventWrites } from '../records/event-record.ts';
import { auditWrites } from '../records/record-audit.ts';
import type { GroupCommit } from './group-commit.ts';
import { securely } from './open-database.ts';
import { NOT_ERASED, SHARED } from './schema.ts';
import type { Sql } from './sql.ts';
import type { OpenAccount, SqliteAccounts } from './sqlite-accounts.ts';
import type { SqliteBlobs } from './sqlite-blobs.ts';
import { looked, unavailable } from './store-fault.ts';

/** What an open file consists of. */
export interface SqliteParts {
  readonly sql: Sql;
  /** The file, for messages to operators. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly group: GroupCommit;
  readonly accounts: SqliteAccounts;
  readonly writes: SharedWrites;
}

/** Runs `work` after everything that is only in memory has been written. */
export function onRows<T>({ group, accounts }: SqliteParts, work: (nowMs: number) => T): Promise<T | StoreUnavailable> {
  return group.run((nowMs) => {
    accounts.flush();
    return work(nowMs);
  });
}

const NAMED = 'WHERE team = ? AND kind = ? AND id = ?';
const PUT = 'INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)';

type Written = Omit<GroupChange<unknown>, 'result'>;

/** Records, events and audit entries, within the transaction of whatever causes them. */
export class SharedWrites {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  value(team: number, { table, id }: RecordName): string | undefined {
    return this.#sql.row<[value: string]>(`SELECT value FROM records ${NAMED}`, team, table, id)?.[0];
  }

  write(team: number, { remove = [], unindex = [], put = [], index = [] }: Written): void {
    const sql = this.#sql;
    const removed = [...remove.map(({ table, id }) => [table, id] as const), ...unindex.map((entry) => [entry.index, entry.id] as const)];
    const removeAll = (): void => removed.forEach(([kind, id]) => sql.write(`DELETE FROM records ${NAMED}`, team, kind, id));
    // It may be about a team that is being deleted.
    if (removed.length > 0) securely(sql, removeAll);
    for (const { table, id, value } of put) sql.write(PUT, team, table, id, value);
    for (const entry of index) sql.write(PUT, team, entry.index, entry.id, '');
  }

  event(teamId: string, event: NewEvent, nowMs: number): void {
    const values = eventNames(teamId).map((name) => this.value(SHARED, name));
    this.write(SHARED, eventWrites(teamId, values, nowMs, event));
  }

  audit(by: Audited, change: AuditedChange, nowMs: number): void {
    const newest = `SELECT max(id) FROM records WHERE team = ${SHARED} AND kind = 'audit' AND id < ?`;
    const [last] = this.#sql.row<[string | null]>(newest, idBefore(nowMs + 1))!;
    this.write(SHARED, auditWrites(auditEntry(by, change, nowMs, last ?? undefined)));
  }
}

export function sqliteRecords({ sql, path, group, accounts, writes }: SqliteParts, blobs: SqliteBlobs): RecordSpace {
  const teamNo = (teamId: string): number | undefined => (teamId === SHARED_RECORDS ? SHARED : accounts.numberOf(teamId));

  /** Stored without whether it has expired. */
  const putKey = ({ account, rows }: OpenAccount, { record, digest }: KeyWrite): void => {
    const { lastUsedAtMs: _used, ...rest } = record;
    const stored = { ...rest, status: record.status === 'expired' ? ('active' as const) : record.status };
    if (digest === undefined) sql.write('UPDATE keys SET record = ? WHERE key_id = ?', JSON.stringify(stored), record.keyId);
    else rows.addKey(stored, digest);
    account.key(record.keyId)?.setRecord({ ...stored, lastUsedAtMs: undefined });
  };
  const teamIn = (from: string, value: string): string | undefined =>
    sql.row<[teamId: string]>(`SELECT t.team_id FROM ${from} AND t.erasure = ${NOT_ERASED}`, value)?.[0];

  return {
    prepare: (teamId, all) => blobs.prepare(teamId, all),
    abandon: (teamId, all) => blobs.abandon(teamId, all),
    readBlob: (teamId, blobId) => blobs.read(teamId, blobId),
    read: (teamId, names) =>
      group.run(() => {
        const team = teamNo(teamId);
        return names.map((name) => (team === undefined ? undefined : writes.value(team, name)));
      }),
    list: (teamId, table) =>
      group.run(() => {
        const team = teamNo(teamId);
        const all = 'SELECT id, value FROM records WHERE team = ? AND kind = ?';
        return new Map(team === undefined ? [] : sql.rows<[id: string, value: string]>(all, team, table));
      }),
    /** Sees what is committed, and needs no lock: the janitor looks often. */
    page: async (teamId, { index, from, below, limit }) =>
      looked(path, () => {
        const team = teamNo(teamId);
        const some = 'SELECT id FROM records WHERE team = ? AND kind = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?';
        return team === undefined ? [] : sql.rows<[id: string]>(some, team, index, from, below, limit).map(([id]) => id);
      }),
    async change<Result>(teamId: string, names: readonly RecordName[], decide: DecideChange<Result>, keyId?: string) {
      let detaches = false;
      const answer = await group.run((nowMs): Result | undefined | StoreUnavailable => {
        const open = teamId === SHARED_RECORDS ? undefined : accounts.account(teamId, nowMs);
        if (open === undefined && teamId !== SHARED_RECORDS) return undefined;
        const team = open?.rows.no ?? SHARED;
        const account = open?.account;
        const values = names.map((name) => writes.value(team, name));
        const key = keyId === undefined ? undefined : account?.key(keyId)?.shown(nowMs);
        const change = decide(values, { nowMs, limits: account?.team.limits, period: account?.counts.period, key });
        const { result, attach = [], detach = [], audit, event } = change;
        if (open !== undefined && !blobs.arePrepared(team, attach, nowMs)) return unavailable(path, 'busy');
        writes.write(team, change);
        if (open !== undefined) {
          blobs.attach(team, attach);
          blobs.detach(team, detach);
          if (change.key !== undefined) putKey(open, change.key);
        }
        detaches = detach.length > 0;
        if (audit !== undefined) writes.audit(audit.by, { teamId, keyId, before: audit.before, after: audit.after }, nowMs);
        if (event !== undefined) writes.event(teamId, event, nowMs);
        return result;
      });
      if (detaches) void blobs.clear();
      return answer;
    },
    teamOf: (keyId) => group.run(() => teamIn('keys k JOIN teams t ON t.no = k.team WHERE k.key_id = ?', keyId)),
    // The kind is in the text, because a partial index is not used for a value.
    groupOf: ({ table, id }) =>
      group.run(() => teamIn(`records r JOIN teams t ON t.no = r.team WHERE r.kind = '${table}' AND r.id = ?`, id)),
  };
}
