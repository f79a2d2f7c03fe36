// Deletes a team: it disappears at once, then its rows are deleted in batches and overwritten in the file.
import { setTimeout as delay } from 'node:timers/promises';
import { nextTurn } from '../../core/turns.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Store } from '../../ports/store.ts';
import type { TeamDeletion } from '../../ports/team-registry.ts';
import { forgetTeam } from '../records/over-records.ts';
import { deletionEvent } from '../records/event-record.ts';
import { securely } from './open-database.ts';
import { ERASING, ERASING_BUT_USAGE, NOT_ERASED, ONLY_USAGE_LEFT } from './schema.ts';
import type { SqliteBlobs } from './sqlite-blobs.ts';
import { onRows } from './sqlite-records.ts';
import type { SqliteParts } from './sqlite-records.ts';

/** Rows per transaction: a few milliseconds, which is acceptable for the ledger to wait. */
const ROWS_MAX = 500;
/** The WAL still contains the original pages until it is checkpointed, which another process may briefly prevent. */
const TRUNCATIONS_MAX = 20;
const TRUNCATE_AGAIN_MS = 25;

/** What a team has besides its blobs, by table and primary key; `stays`: with usage that is to be left. */
const OWNED: readonly { readonly table: string; readonly key: string; readonly stays: boolean }[] = [
  { table: 'records', key: 'team, kind, id', stays: false },
  { table: 'key_accounts', key: 'team, key', stays: false },
  { table: 'usage', key: 'team, key, period_no, day', stays: true },
  { table: 'periods', key: 'team, number', stays: true },
  { table: 'keys', key: 'no', stays: true },
];

const HAS_USAGE = `SELECT 1 WHERE EXISTS (SELECT 1 FROM usage WHERE team = ?1)
  OR EXISTS (SELECT 1 FROM periods WHERE team = ?1 AND ended ->> 'addedMicro' + ended ->> 'deductedMicro' > 0)`;
const NAMELESS_KEY = "json_set(record, '$.label', '', '$.display', '', '$.limits', json('{}'), '$.status', 'revoked')";
const NAMELESS_TEAM = "json_set(json_remove(record, '$.reference', '$.nextPlan'), '$.name', '')";

export type SqliteErasureParts = SqliteParts & Pick<Store, 'records' | 'audit' | 'idempotency'> & { readonly blobs: SqliteBlobs };

export class TeamErasure {
  readonly #parts: SqliteErasureParts;

  constructor(parts: SqliteErasureParts) {
    this.#parts = parts;
  }

  /** See `TeamRegistry.deleteTeam`. */
  delete(teamId: string, choice: TeamDeletion, by: Audited | undefined): Promise<boolean | StoreUnavailable> {
    return answering(async () => {
      const no = answered(await onRows(this.#parts, (nowMs) => this.#begin(teamId, choice, by, nowMs)));
      if (no !== undefined) await this.#finish(no);
      return no !== undefined;
    });
  }

  /** Whether a deletion was interrupted; only reads. */
  isDue(): boolean {
    return this.#unfinished() !== undefined;
  }

  /** Completes interrupted deletions. */
  finishAll(): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      for (let team: readonly [number] | undefined; ;) {
        team = answered(await this.#parts.group.run(() => this.#unfinished()));
        if (team === undefined) return undefined;
        await this.#finish(team[0]);
      }
    });
  }

  #unfinished(): readonly [no: number] | undefined {
    return this.#parts.sql.row<[no: number]>('SELECT no FROM teams WHERE erasure BETWEEN 1 AND 2 ORDER BY no LIMIT 1');
  }

  /** The team's number; `undefined` if there is nothing to delete. From here on the team does not exist. */
  #begin(teamId: string, { keepUsage }: TeamDeletion, by: Audited | undefined, nowMs: number): number | undefined {
    const { sql, accounts, writes } = this.#parts;
    const open = accounts.account(teamId, nowMs);
    accounts.flush();
    const [no, erasure, plan] =
      sql.row<[no: number, erasure: number, plan: string]>("SELECT no, erasure, record ->> 'plan' FROM teams WHERE team_id = ?", teamId) ??
      [];
    if (no === undefined || (keepUsage && erasure === ONLY_USAGE_LEFT)) return undefined;
    // A deletion that was begun without keeping usage cannot be reverted.
    if (keepUsage && erasure !== NOT_ERASED) return no;
    sql.write('DELETE FROM operations WHERE team = ?', no);
    open?.account.endPeriodNow(nowMs);
    if (by !== undefined) writes.audit(by, { teamId, before: { plan: plan! }, after: {} }, nowMs);
    accounts.flush();
    accounts.forget();
    securely(sql, () => {
      if (erasure === NOT_ERASED) writes.event(teamId, deletionEvent(teamId), nowMs);
      sql.write('DELETE FROM accounts WHERE team = ?', no);
      const next = keepUsage ? ERASING_BUT_USAGE : ERASING;
      sql.write(`UPDATE teams SET erasure = ?, record = ${NAMELESS_TEAM}, period = NULL WHERE no = ?`, next, no);
    });
    return no;
  }

  /** Until nothing is left. Another process may complete the same deletion at the same time. Rejects if the store does not answer. */
  async #finish(no: number): Promise<void> {
    const { sql, group, blobs } = this.#parts;
    const team = answered(await group.run(() => this.#erasing(no)));
    if (team !== undefined) {
      answered(await forgetTeam(team[0], team[1] === ERASING_BUT_USAGE, this.#parts));
      // Before the team's own row goes: blobs that were left behind then would be nobody's.
      const drop = (): void => sql.write('UPDATE blobs SET gone_ms = 0 WHERE team = ? AND gone_ms IS NOT 0', no);
      answered((await group.run(() => securely(sql, drop))) ?? true);
      await blobs.clear();
      while (answered(await group.run(() => this.#removeSome(no)))) await nextTurn();
    }
    await this.#truncateWal();
  }

  #erasing(no: number): readonly [teamId: string, erasure: number] | undefined {
    const { sql } = this.#parts;
    return sql.row<[string, number]>('SELECT team_id, erasure FROM teams WHERE no = ? AND erasure BETWEEN 1 AND 2', no);
  }

  /** Whether there may be more. The team's own row is the last. */
  #removeSome(no: number): boolean {
    const { sql } = this.#parts;
    const erasing = this.#erasing(no);
    if (erasing === undefined) return false;
    return securely(sql, () => {
      const keeps = erasing[1] === ERASING_BUT_USAGE && sql.row(HAS_USAGE, no) !== undefined;
      for (const { table, key } of OWNED.filter(({ stays }) => !(stays && keeps))) {
        const some = `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE team = ? LIMIT ${ROWS_MAX})`;
        if (sql.changes(some, no) > 0) return true;
      }
      if (keeps) {
        sql.write('DELETE FROM keys WHERE team = ?1 AND no NOT IN (SELECT key FROM usage WHERE team = ?1)', no);
        sql.write(`UPDATE keys SET digest = NULL, record = ${NAMELESS_KEY} WHERE team = ?`, no);
        sql.write(`UPDATE teams SET erasure = ${ONLY_USAGE_LEFT} WHERE no = ?`, no);
      } else sql.write('DELETE FROM teams WHERE no = ?', no);
      return false;
    });
  }

  async #truncateWal(): Promise<void> {
    const { database } = this.#parts.sql;
    for (let i = 0; i < TRUNCATIONS_MAX && database.isOpen; i++) {
      if (database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0) return;
      await delay(TRUNCATE_AGAIN_MS);
    }
  }
}
