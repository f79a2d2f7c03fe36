// Deletes a team: it disappears at once, then its rows are deleted in batches and overwritten in the file.
import { setTimeout as delay } from 'node:timers/promises';
import { nextTurn } from '../../core/turns.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { TeamDeletion } from '../../ports/team-registry.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { forgetTeam } from '../records/forget-team.ts';
import { deletionEvent } from '../records/event-record.ts';
import { securely } from './open-database.ts';
import { ERASING, ERASING_BUT_USAGE, NOT_ERASED, ONLY_USAGE_LEFT } from './schema.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import { prepared, tuples } from './statements.ts';
import type { Statement, Statements } from './statements.ts';

/** Rows per transaction: a few milliseconds, which is acceptable for the ledger to wait. */
const ROWS_MAX = 500;
/** The WAL still contains the original pages until it is checkpointed, which another process may briefly prevent. */
const TRUNCATIONS_MAX = 20;
const TRUNCATE_AGAIN_MS = 25;

/** What a team has, by table and primary key. `stays`: usage that is to be left. Blobs are deleted in pieces; settled ids are soon forgotten. */
const OWNED: readonly { readonly table: string; readonly key: string; readonly but?: string; readonly stays?: true }[] = [
  { table: 'records', key: 'team, kind, id', but: "AND kind <> 'periods'" },
  { table: 'key_accounts', key: 'team, key' },
  { table: 'usage', key: 'team, key, period_no, day', stays: true },
  { table: 'records', key: 'team, kind, id', stays: true },
  { table: 'keys', key: 'no', stays: true },
];

const SQL = {
  team: tuples<[no: number, erasure: number, record: string]>('SELECT no, erasure, record FROM teams WHERE team_id = ?'),
  erasing: tuples<[teamId: string, erasure: number]>(
    `SELECT team_id, erasure FROM teams WHERE no = ? AND erasure IN (${ERASING}, ${ERASING_BUT_USAGE})`,
  ),
  unfinished: tuples<[no: number]>(`SELECT no FROM teams WHERE erasure BETWEEN 1 AND 2 ORDER BY no LIMIT 1`),
  // Without a name, a reference and a plan that waits.
  mark: `UPDATE teams SET erasure = ?, name = '', reference = NULL,
    record = json_set(json_remove(record, '$.reference', '$.nextPlan'), '$.name', '') WHERE no = ?`,
  release: 'DELETE FROM operations WHERE team = ?',
  dropAccount: 'DELETE FROM accounts WHERE team = ?',
  dropBlobs: 'UPDATE blobs SET gone_ms = 0 WHERE team = ? AND gone_ms IS NOT 0',
  hasUsage: 'SELECT 1 FROM usage WHERE team = ? LIMIT 1',
  hasCredit: `SELECT 1 FROM records WHERE team = ? AND kind = 'periods' AND value ->> 'addedMicro' + value ->> 'deductedMicro' > 0 LIMIT 1`,
  dropUnusedKeys: 'DELETE FROM keys WHERE team = $team AND no NOT IN (SELECT key FROM usage WHERE team = $team)',
  anonymise: `UPDATE keys SET digest = NULL, display = '',
    record = json_set(record, '$.label', '', '$.display', '', '$.limits', json('{}'), '$.status', 'revoked') WHERE team = ?`,
  end: 'DELETE FROM teams WHERE no = ?',
  left: `UPDATE teams SET erasure = ${ONLY_USAGE_LEFT} WHERE no = ?`,
};

type Parts = Pick<SqliteParts, 'database' | 'group' | 'accounts' | 'blobs' | 'audit' | 'writes' | 'idempotency'> & {
  readonly records: RecordSpace;
};

export class TeamErasure {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;
  readonly #pieces: readonly { readonly some: Statement<unknown>; readonly stays: boolean }[];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
    this.#pieces = OWNED.map(({ table, key, but = '', stays = false }) => {
      const some = `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE team = ? ${but} LIMIT ${ROWS_MAX})`;
      return { some: prepared(parts.database, { some }).some, stays };
    });
  }

  /** See `TeamRegistry.deleteTeam`. */
  async delete(teamId: string, choice: TeamDeletion, by: Audited | undefined): Promise<boolean | StoreUnavailable> {
    const no = await this.#parts.group.run((nowMs) => this.#begin(teamId, choice, by, nowMs));
    if (no === undefined) return false;
    return isUnavailable(no) ? no : ((await this.#finish(no)) ?? true);
  }

  /** Whether a deletion was interrupted; only reads. */
  isDue(): boolean {
    return this.#sql.unfinished.get() !== undefined;
  }

  /** Completes interrupted deletions. */
  async finishAll(): Promise<void> {
    for (;;) {
      const team = await this.#parts.group.run(() => this.#sql.unfinished.get());
      if (team === undefined || isUnavailable(team) || (await this.#finish(team[0])) !== undefined) return;
    }
  }

  /** The team's number; `undefined` if there is nothing to delete. From here on the team does not exist. */
  #begin(teamId: string, { keepUsage }: TeamDeletion, by: Audited | undefined, nowMs: number): number | undefined {
    const { database, accounts, writes } = this.#parts;
    const open = accounts.account(teamId, nowMs);
    accounts.flush();
    const found = this.#sql.team.get(teamId);
    if (found === undefined || (keepUsage && found[1] === ONLY_USAGE_LEFT)) return undefined;
    const [no, erasure, record] = found;
    // A deletion that was begun without keeping usage cannot be reverted.
    if (keepUsage && erasure !== NOT_ERASED) return no;
    this.#sql.release.run(no);
    open?.account.endPeriodNow(nowMs);
    const { plan } = JSON.parse(record) as { readonly plan: string };
    if (by !== undefined) writes.audit(by, { teamId, before: { plan }, after: {} }, nowMs);
    accounts.flush();
    accounts.forget();
    securely(database, () => {
      if (erasure === NOT_ERASED) writes.event(teamId, deletionEvent(teamId), nowMs);
      this.#sql.dropAccount.run(no);
      this.#sql.mark.run(keepUsage ? ERASING_BUT_USAGE : ERASING, no);
    });
    return no;
  }

  /** `undefined` when nothing is left. Another process may complete the same deletion at the same time. */
  async #finish(no: number): Promise<StoreUnavailable | undefined> {
    const team = await this.#parts.group.run(() => this.#sql.erasing.get(no));
    if (team === undefined) return this.#truncateWal();
    if (isUnavailable(team)) return team;
    const { blobs } = this.#parts;
    const named = await forgetTeam(team[0], team[1] === ERASING_BUT_USAGE, this.#parts);
    if (named !== undefined) return named;
    // Before the team's own row goes: blobs that were left behind then would be nobody's.
    const dropped = await this.#parts.group.run(() => securely(this.#parts.database, () => void this.#sql.dropBlobs.run(no)));
    if (dropped !== undefined) return dropped;
    await blobs.clear();
    for (let more = true; more;) {
      const some = await this.#parts.group.run(() => this.#removeSome(no));
      if (isUnavailable(some)) return some;
      more = some;
      await nextTurn();
    }
    return this.#truncateWal();
  }

  /** Whether there may be more. The team's own row is the last. */
  #removeSome(no: number): boolean {
    const erasing = this.#sql.erasing.get(no);
    if (erasing === undefined) return false;
    return securely(this.#parts.database, () => {
      const keeps = erasing[1] === ERASING_BUT_USAGE && (this.#sql.hasUsage.get(no) ?? this.#sql.hasCredit.get(no)) !== undefined;
      for (const { some, stays } of this.#pieces) if (!(stays && keeps) && some.run(no).changes > 0) return true;
      if (keeps) {
        this.#sql.dropUnusedKeys.run({ $team: no });
        this.#sql.anonymise.run(no);
        this.#sql.left.run(no);
      } else this.#sql.end.run(no);
      return false;
    });
  }

  async #truncateWal(): Promise<undefined> {
    const { database } = this.#parts;
    for (let i = 0; i < TRUNCATIONS_MAX && database.isOpen; i++) {
      if (database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0) return;
      await delay(TRUNCATE_AGAIN_MS);
    }
  }
}
