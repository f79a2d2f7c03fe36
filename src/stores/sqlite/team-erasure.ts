// Deletes a team: it disappears at once, then its rows are deleted in batches and overwritten in the file.
import { setTimeout as delay } from 'node:timers/promises';
import { nextTurn } from '../../core/turns.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { TeamDeletion } from '../../ports/team-registry.ts';
import { outlivesTeam } from '../records/event-record.ts';
import { securely } from './open-database.ts';
import { ERASING, ERASING_BUT_USAGE, NOT_ERASED, ONLY_USAGE_LEFT, OPEN } from './sqlite-schema.ts';
import { prepared, objects, tuples } from './statements.ts';
import type { Statement, Statements } from './statements.ts';
import type { StoreParts } from './store-parts.ts';

type Parts = Pick<StoreParts, 'database' | 'work' | 'accounts' | 'periods' | 'blobs' | 'audit' | 'eventRows' | 'events' | 'idempotency'>;

/** Rows per transaction: a few milliseconds, which is acceptable for the ledger to wait. */
const ROWS_MAX = 500;
/** Request ids scanned per transaction. */
const IDS_MAX = 2000;
/** The WAL still contains the original pages until it is checkpointed, which another process may briefly prevent. */
const TRUNCATIONS_MAX = 20;
const TRUNCATE_AGAIN_MS = 25;

/**
 * A team's data by table and primary key, ordered so that no row loses the one it refers to. `stays` marks history.
 * Blobs are deleted in pieces; request ids have no index by team; the team's own row is deleted last.
 */
const OWNED: readonly { readonly table: string; readonly key: string; readonly stays?: true }[] = [
  { table: 'changes', key: 'team, id' },
  { table: 'told_percents', key: 'team, period_no' },
  { table: 'told_refusals', key: 'team, key, code' },
  { table: 'records', key: 'team, kind, id' },
  { table: 'key_books', key: 'team, key' },
  { table: 'key_limits', key: 'key' },
  { table: 'window_counts', key: 'team, subject' },
  { table: 'usage_days', key: 'team, day, key', stays: true },
  { table: 'usage', key: 'team, period_no, key', stays: true },
  { table: 'periods', key: 'team, no', stays: true },
  { table: 'keys', key: 'no', stays: true },
];

/** Also removes a deleted team that has no usage, or none that is still kept. */
export const ERASE_USELESS = `UPDATE teams SET erasure = ${ERASING} WHERE no = ? AND erasure > ${ERASING}
  AND NOT EXISTS (SELECT 1 FROM usage_days d WHERE d.team = teams.no) AND NOT EXISTS (SELECT 1 FROM periods p WHERE p.team = teams.no)`;

const SQL = {
  team: objects<{ readonly no: number; readonly erasure: number; readonly plan: string }>(
    'SELECT no, erasure, plan FROM teams WHERE team_id = ?',
  ),
  // Without a row it has been completed: its usage stays, and its number may be another team's.
  erasing: tuples<[erasure: number, teamId: string]>(
    `SELECT erasure, team_id FROM teams WHERE no = ? AND erasure BETWEEN ${ERASING} AND ${ERASING_BUT_USAGE}`,
  ),
  mark: "UPDATE teams SET erasure = ?, name = '', reference = NULL, next_plan = NULL, next_limits = NULL, next_by = NULL WHERE no = ?",
  release: `DELETE FROM operations WHERE team = ? AND state = ${OPEN}`,
  dropAccount: 'DELETE FROM books WHERE team = ?',
  useless: ERASE_USELESS,
  unfinished: tuples<[no: number]>(`SELECT no FROM teams WHERE erasure BETWEEN ${ERASING} AND ${ERASING_BUT_USAGE} ORDER BY no LIMIT 1`),
  dropBlobs: 'UPDATE blobs SET gone_ms = 0 WHERE team = ? AND gone_ms IS NOT 0',
  idsEnd: tuples<[id: string, team: number]>(`SELECT request_id, team FROM operations WHERE (request_id, team) > (?, ?)
    ORDER BY request_id, team LIMIT 1 OFFSET ${IDS_MAX - 1}`),
  forgetIds: `DELETE FROM operations WHERE (request_id, team) > ($after, $afterTeam)
    AND ($end IS NULL OR (request_id, team) <= ($end, $endTeam)) AND team = $team`,
  anonymise: `UPDATE keys SET digest = 'erased ' || key_id, display = '', label = '', guarded = 0,
    revoked_at_ms = coalesce(revoked_at_ms, created_at_ms)
    WHERE no IN (SELECT no FROM keys WHERE team = ? AND digest NOT LIKE 'erased %' LIMIT ${ROWS_MAX})`,
  endWhole: `DELETE FROM teams WHERE no = ? AND erasure = ${ERASING}`,
  endButUsage: `UPDATE teams SET erasure = ${ONLY_USAGE_LEFT} WHERE no = ? AND erasure = ${ERASING_BUT_USAGE}`,
};

/** Deletes some rows of a team; returns whether there may be more. */
type Piece = (team: number) => boolean;

export class TeamErasure {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;
  readonly #pieces: readonly { readonly some: Piece; readonly stays: boolean }[];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
    this.#pieces = [
      { some: deletedBy(this.#sql.dropBlobs), stays: false },
      ...OWNED.map(({ table, key, stays = false }) => {
        const some = `SELECT ${key} FROM ${table} WHERE team = ? LIMIT ${ROWS_MAX}`;
        const { piece } = prepared(parts.database, { piece: `DELETE FROM ${table} WHERE (${key}) IN (${some})` });
        return { some: deletedBy(piece), stays };
      }),
    ];
  }

  /** See `TeamRegistry.deleteTeam`. */
  async delete(teamId: string, choice: TeamDeletion, by: Audited | undefined): Promise<boolean | StoreUnavailable> {
    const { work } = this.#parts;
    const no = await work.change(`team ${teamId}`, (nowMs) => this.#begin(teamId, choice, by, nowMs));
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
      const team = await this.#run(() => this.#sql.unfinished.get());
      if (team === undefined || isUnavailable(team) || (await this.#finish(team[0])) !== undefined) return;
    }
  }

  /** The team's number; `undefined` if there is nothing to delete. */
  #begin(teamId: string, { keepUsage }: TeamDeletion, by: Audited | undefined, nowMs: number): number | undefined {
    const { database, eventRows, events, audit } = this.#parts;
    const team = this.#sql.team.get(teamId);
    if (team === undefined || (keepUsage && team.erasure === ONLY_USAGE_LEFT)) return undefined;
    const { no, erasure, plan } = team;
    // A deletion that was begun without keeping usage cannot be reverted.
    if (keepUsage && erasure !== NOT_ERASED) return no;
    if (keepUsage) this.#endHistory(teamId, nowMs);
    if (by !== undefined) audit.add(by, { teamId, before: { plan }, after: {} }, nowMs);
    securely(database, () => {
      this.#sql.dropAccount.run(no);
      eventRows.drop(teamId, (event) => !outlivesTeam(event, keepUsage));
      if (erasure === NOT_ERASED) events?.teamDeleted(teamId, nowMs);
      this.#sql.mark.run(keepUsage ? ERASING_BUT_USAGE : ERASING, no);
    });
    return no;
  }

  /** Turns the current day and period into past ones. */
  #endHistory(teamId: string, nowMs: number): void {
    const { work, accounts, periods } = this.#parts;
    const no = work.current(teamId, nowMs)!;
    this.#sql.release.run(no);
    const team = accounts.team(teamId)!;
    periods.leaveDay(team, nowMs);
    periods.leave(team, nowMs);
    periods.closeAll(team, nowMs);
    accounts.flush();
  }

  /**
   * `undefined` when nothing is left. A janitor of any process may complete the same deletion at the same time, so every transaction
   * that deletes by the team's number checks that it is still being deleted.
   */
  async #finish(no: number): Promise<StoreUnavailable | undefined> {
    const teamId = await this.#run(() => this.#sql.erasing.get(no)?.[1]);
    if (isUnavailable(teamId)) return teamId;
    if (teamId === undefined) return this.#truncateWal();
    const { audit, idempotency } = this.#parts;
    const named = (await idempotency.forgetTeam(teamId)) ?? (await audit.forgetNames(teamId));
    const failed = named ?? (await this.#forget(no)) ?? (await this.#removeAll(no));
    if (failed !== undefined) return failed;
    await this.#parts.blobs.clear();
    const useless = await this.#run(() => this.#sql.useless.run(no).changes > 0);
    if (isUnavailable(useless)) return useless;
    if (useless) return this.#finish(no);
    const ended = await this.#run(() => {
      // Somebody may have decided to delete the usage as well.
      if (this.#removeSome(no)) return false;
      this.#sql.endWhole.run(no);
      this.#sql.endButUsage.run(no);
      return true;
    });
    if (isUnavailable(ended)) return ended;
    return ended ? this.#truncateWal() : this.#finish(no);
  }

  /** Deletes the team's request ids, which are stored among those of all teams. */
  async #forget(no: number): Promise<StoreUnavailable | undefined> {
    let after: readonly [string, number] | undefined = ['', -1];
    while (after !== undefined) {
      const [id, team]: readonly [string, number] = after;
      const next = await this.#run((): readonly [string, number] | undefined => {
        if (this.#sql.erasing.get(no) === undefined) return undefined;
        const end = this.#sql.idsEnd.get(id, team);
        const [endId = null, endTeam = null] = end ?? [];
        this.#sql.forgetIds.run({ $after: id, $afterTeam: team, $end: endId, $endTeam: endTeam, $team: no });
        return end;
      });
      if (isUnavailable(next)) return next;
      after = next;
    }
    return undefined;
  }

  async #removeAll(no: number): Promise<StoreUnavailable | undefined> {
    for (let more = true; more;) {
      const some = await this.#run(() => this.#removeSome(no));
      if (isUnavailable(some)) return some;
      more = some;
      await nextTurn();
    }
    return undefined;
  }

  /** Returns whether there may be more. */
  #removeSome(no: number): boolean {
    const state = this.#sql.erasing.get(no)?.[0];
    if (state === undefined) return false;
    const keeps = state === ERASING_BUT_USAGE;
    const piece = this.#pieces.find((one) => !(keeps && one.stays) && one.some(no));
    return piece !== undefined || (keeps && this.#sql.anonymise.run(no).changes > 0);
  }

  #run<T>(work: () => T): Promise<T | StoreUnavailable> {
    return this.#parts.work.run('a team', () => securely(this.#parts.database, work));
  }

  async #truncateWal(): Promise<undefined> {
    const { database } = this.#parts;
    for (let i = 0; i < TRUNCATIONS_MAX && database.isOpen; i++) {
      if (database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0) return;
      await delay(TRUNCATE_AGAIN_MS);
    }
  }
}

function deletedBy(statement: Statement<unknown>): Piece {
  return (team) => statement.run(team).changes > 0;
}
