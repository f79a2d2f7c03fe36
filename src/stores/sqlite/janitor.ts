// Cleans up in small batches: what time alone does to idle teams, what the retention or a time to live ends, and leftovers of
// deletions that were interrupted. None of it affects what anybody is answered.
import { placeOf } from '../../core/error-place.ts';
import { DAY_MS, dayOf } from '../../domain/period.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { pruneTags } from '../records/record-tags.ts';
import { NOT_ERASED, ONLY_USAGE_LEFT } from './schema.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { TeamErasure } from './team-erasure.ts';

const SWEEP_EVERY_MS = 2000;
/** The pause before the next round if one does not suffice. */
const SWEEP_ON_MS = 20;
/** Teams, and rows of other kinds, per round: a few milliseconds while callers wait. */
const TEAMS_MAX = 48;
const ROWS_MAX = 1024;

const SQL = {
  // Of idle teams, so that what they held is given back, and a period of theirs closed, without any request.
  due: tuples<[teamId: string]>(`SELECT t.team_id FROM teams t WHERE t.erasure = ${NOT_ERASED} AND t.no IN (
      SELECT team FROM accounts WHERE period_end_ms <= $now UNION SELECT team FROM operations WHERE until_ms <= $now)
    LIMIT ${TEAMS_MAX}`),
  // A period is dropped with its use; what it has moved goes into the balance before the next one.
  old: tuples<[id: string, movedMicro: number]>(`SELECT id, value ->> 'addedMicro' - value ->> 'deductedMicro'
      - (SELECT coalesce(sum(micro), 0) FROM usage u WHERE u.team = r.team AND u.period_no = CAST(r.id AS INTEGER)) FROM records r
    WHERE r.team = ? AND r.kind = 'periods' AND value ->> 'endMs' < ? ORDER BY CAST(id AS INTEGER) LIMIT ${TEAMS_MAX}`),
  openIn: 'SELECT 1 FROM operations WHERE team = ? AND period_no <= ? LIMIT 1',
  moveOpening: 'UPDATE teams SET opening_micro = opening_micro + ? WHERE no = ?',
  dropPeriod: "DELETE FROM records WHERE team = ? AND kind = 'periods' AND id = ?",
  dropUse: `DELETE FROM usage WHERE (team, key, period_no, day) IN (SELECT team, key, period_no, day FROM usage u
    WHERE u.team = ? AND u.day < ? AND u.period_no NOT IN (SELECT period_no FROM accounts a WHERE a.team = u.team)
      AND NOT EXISTS (SELECT 1 FROM records r WHERE r.team = u.team AND r.kind = 'periods' AND r.id = CAST(u.period_no AS TEXT)) LIMIT ${ROWS_MAX})`,
  teamsAfter: tuples<[no: number, teamId: string]>(`SELECT no, team_id FROM teams WHERE no > ? ORDER BY no LIMIT ${TEAMS_MAX}`),
  eraseUseless: `UPDATE teams SET erasure = 1 WHERE no = $team AND erasure = ${ONLY_USAGE_LEFT}
    AND NOT EXISTS (SELECT 1 FROM usage WHERE team = $team) AND NOT EXISTS (SELECT 1 FROM records WHERE team = $team AND kind = 'periods')`,
};

type Parts = Pick<SqliteParts, 'database' | 'clock' | 'log' | 'group' | 'accounts' | 'audit' | 'idempotency' | 'blobs' | 'historyDays'> & {
  readonly records: RecordSpace;
};

export class Janitor {
  readonly #parts: Parts;
  readonly #erasure: TeamErasure;
  readonly #sql: Statements<typeof SQL>;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** All teams are looked at once a day for what the retention ends: the day, and the last team. */
  #pass = { day: 0, after: 0 };

  constructor(parts: Parts, erasure: TeamErasure) {
    this.#parts = parts;
    this.#erasure = erasure;
    this.#sql = prepared(parts.database, SQL);
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
    const { clock, group, accounts, audit, idempotency, blobs, records, historyDays } = this.#parts;
    // Nothing is ended or deleted by a wrong clock.
    if ((clock.stepMs ?? 0) !== 0) return false;
    if (this.#erasure.isDue()) await this.#erasure.finishAll();
    if (blobs.isDue(clock.nowMs())) await blobs.clear();
    await idempotency.sweep();
    await audit.prune();
    const nowMs = clock.nowMs();
    const due = this.#sql.due.all({ $now: nowMs });
    const today = dayOf(nowMs);
    if (this.#pass.day !== today) this.#pass = { day: today, after: 0 };
    const teams = this.#sql.teamsAfter.all(this.#pass.after);
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
    const { historyDays } = this.#parts;
    const first = dayOf(nowMs) - historyDays;
    for (const [number, movedMicro] of this.#sql.old.all(no, nowMs - historyDays * DAY_MS)) {
      if (this.#sql.openIn.get(no, Number(number)) !== undefined) break;
      this.#sql.moveOpening.run(movedMicro, no);
      this.#sql.dropPeriod.run(no, number);
    }
    if (this.#sql.dropUse.run(no, first).changes === ROWS_MAX) return false;
    this.#sql.eraseUseless.run({ $team: no });
    return true;
  }
}
