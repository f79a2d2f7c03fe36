// Cleans up in small batches: what time alone does to idle teams, what the retention or a time to live ends, and leftovers of
// deletions that were interrupted. None of it affects what anybody is answered.
import { placeOf } from '../../core/error-place.ts';
import { DAY_MS, dayOf } from '../../domain/period.ts';
import type { RecordAudit } from '../records/record-audit.ts';
import { pruneTags } from '../records/record-tags.ts';
import { ERASING, NOT_ERASED, ONLY_USAGE_LEFT } from './schema.ts';
import type { SqliteErasureParts, TeamErasure } from './team-erasure.ts';

const SWEEP_EVERY_MS = 2000;
/** The pause before the next round if one does not suffice. */
const SWEEP_ON_MS = 20;
/** Teams, and rows of other kinds, per round: a few milliseconds while callers wait. */
const TEAMS_MAX = 48;
const ROWS_MAX = 1024;

/** Idle ones, so that what they held is given back, and a period of theirs closed, without any request. */
const DUE = `SELECT team_id FROM teams WHERE erasure = ${NOT_ERASED} AND no IN (
    SELECT no FROM teams WHERE period ->> 'endMs' <= ?1 UNION SELECT team FROM operations WHERE until_ms <= ?1)
  LIMIT ${TEAMS_MAX}`;
/** A period is dropped with its use; what it has moved goes into the balance before the next one. */
const OLD = `SELECT number, ended ->> 'addedMicro' - ended ->> 'deductedMicro'
    - (SELECT coalesce(sum(micro), 0) FROM usage u WHERE u.team = p.team AND u.period_no = p.number) FROM periods p
  WHERE p.team = ? AND ended ->> 'endMs' < ? ORDER BY number LIMIT ${TEAMS_MAX}`;
const DROP_USE = `DELETE FROM usage WHERE (team, key, period_no, day) IN (SELECT team, key, period_no, day FROM usage u
  WHERE u.team = ? AND u.day < ? AND u.period_no IS NOT (SELECT period ->> 'number' FROM teams t WHERE t.no = u.team)
    AND NOT EXISTS (SELECT 1 FROM periods p WHERE p.team = u.team AND p.number = u.period_no) LIMIT ${ROWS_MAX})`;
const ERASE_USELESS = `UPDATE teams SET erasure = ${ERASING} WHERE no = ? AND erasure = ${ONLY_USAGE_LEFT}
  AND NOT EXISTS (SELECT 1 FROM usage WHERE team = no) AND NOT EXISTS (SELECT 1 FROM periods WHERE team = no)`;

type Parts = SqliteErasureParts & {
  readonly audit: RecordAudit;
  /** How many days usage and audit entries are retained. */
  readonly historyDays: number;
};

export class Janitor {
  readonly #parts: Parts;
  readonly #erasure: TeamErasure;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** All teams are looked at once a day for what the retention ends: the day, and the last team. */
  #pass = { day: 0, after: 0 };

  constructor(parts: Parts, erasure: TeamErasure) {
    this.#parts = parts;
    this.#erasure = erasure;
    this.#schedule(SWEEP_EVERY_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#round(), delayMs);
    this.#timer.unref();
  }

  async #round(): Promise<void> {
    try {
      this.#schedule((await this.sweep()) ? SWEEP_ON_MS : SWEEP_EVERY_MS);
    } catch (error) {
      this.#parts.log.error('cleaning up after idle teams failed and will be retried', { reason: placeOf(error) });
      this.#schedule(SWEEP_EVERY_MS);
    }
  }

  /** One round, which only takes the write lock if there is something to do. Returns whether there is more. */
  async sweep(): Promise<boolean> {
    const { sql, clock, group, accounts, audit, idempotency, blobs, records, historyDays } = this.#parts;
    // Nothing is ended or deleted by a wrong clock.
    if ((clock.stepMs ?? 0) !== 0) return false;
    if (this.#erasure.isDue()) await this.#erasure.finishAll();
    if (blobs.isDue(clock.nowMs())) await blobs.clear();
    await idempotency.sweep();
    await audit.prune();
    const nowMs = clock.nowMs();
    const due = sql.rows<[teamId: string]>(DUE, nowMs);
    const today = dayOf(nowMs);
    if (this.#pass.day !== today) this.#pass = { day: today, after: 0 };
    const after = `SELECT no, team_id FROM teams WHERE no > ? ORDER BY no LIMIT ${TEAMS_MAX}`;
    const teams = sql.rows<[no: number, teamId: string]>(after, this.#pass.after);
    if (due.length === 0 && teams.length === 0) return false;
    for (const [, teamId] of teams) await pruneTags(records, teamId, today - historyDays, nowMs);
    await group.run((atMs) => {
      for (const [teamId] of due) accounts.account(teamId, atMs);
      accounts.flush();
      for (const [no] of teams) this.#pass.after = this.#retain(no, atMs) ? no : this.#pass.after;
    });
    return due.length === TEAMS_MAX || teams.length > 0;
  }

  /** Drops what exceeds the retention. Returns false if there is more. */
  #retain(no: number, nowMs: number): boolean {
    const { sql, historyDays } = this.#parts;
    for (const [number, movedMicro] of sql.rows<[number: number, movedMicro: number]>(OLD, no, nowMs - historyDays * DAY_MS)) {
      if (sql.row('SELECT 1 FROM operations WHERE team = ? AND period_no <= ? LIMIT 1', no, number) !== undefined) break;
      sql.write('UPDATE teams SET opening_micro = opening_micro + ? WHERE no = ?', movedMicro, no);
      sql.write('DELETE FROM periods WHERE team = ? AND number = ?', no, number);
    }
    if (sql.changes(DROP_USE, no, dayOf(nowMs) - historyDays) === ROWS_MAX) return false;
    sql.write(ERASE_USELESS, no);
    return true;
  }
}
