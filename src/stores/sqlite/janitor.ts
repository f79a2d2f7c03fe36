// Cleans up in small batches: expired leases, forgotten ids, past usage of idle teams, old audit entries, requests that
// are forgotten, and leftovers of interrupted deletions.
import { placeOf } from '../../core/error-place.ts';
import { NOT_ERASED, OPEN } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { StoreParts } from './store-parts.ts';

/** The interval does not affect correctness: whatever is due counts as expired from its millisecond on. */
const SWEEP_EVERY_MS = 2000;
/** The pause before the next round if one round does not suffice. */
const SWEEP_ON_MS = 200;
/** The same while many teams have days and periods to end: each period must be closed within seconds. */
const HISTORY_ON_MS = 4;
/** Limits per sweep: teams with open leases checked, teams processed, leases expired per team, ids and audit entries deleted. */
const TEAMS_MAX = 200;
const DUE_TEAMS_MAX = 8;
const LEASES_MAX = 64;
const IDS_MAX = 1024;
const AUDIT_MAX = 1024;

const SQL = {
  // One index step: the next team with an open lease, and the earliest end among its leases.
  nextTeam: tuples<[team: number, untilMs: number, teamId: string]>(`SELECT o.team, o.until_ms, t.team_id
    FROM operations o JOIN teams t ON t.no = o.team AND t.erasure = ${NOT_ERASED}
    WHERE o.state = ${OPEN} AND o.team > ? ORDER BY o.team, o.until_ms LIMIT 1`),
};

type Parts = Pick<
  StoreParts,
  'database' | 'clock' | 'log' | 'group' | 'accounts' | 'periods' | 'ids' | 'history' | 'audit' | 'idempotency' | 'erasure' | 'blobs'
>;

export class Janitor {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** The last team that was checked. */
  #cursor = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
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
      await this.sweep();
      const { history, clock } = this.#parts;
      if (history.hasMore) this.#schedule(HISTORY_ON_MS);
      else this.#schedule(this.#isDue(clock.nowMs()) ? SWEEP_ON_MS : SWEEP_EVERY_MS);
    } catch (error) {
      this.#parts.log.error('cleaning up after idle teams failed and will be retried', { reason: placeOf(error) });
      this.#schedule(SWEEP_EVERY_MS);
    }
  }

  /** Runs one round; resolves when its transaction has ended. Only takes the write lock if there is something to do. */
  async sweep(): Promise<void> {
    const { clock, group, accounts, periods, ids, history, audit, idempotency, erasure, blobs } = this.#parts;
    if (erasure.isDue()) await erasure.finishAll();
    if (blobs.isDue(clock.nowMs())) await blobs.clear();
    await idempotency.sweep();
    const teams = this.#dueTeams(clock.nowMs());
    const isOver = history.look(clock.nowMs());
    if (teams.length === 0 && !isOver && !this.#isDue(clock.nowMs())) return;
    const tidy = (nowMs: number): void => {
      for (const teamId of teams) periods.endLeases(accounts.team(teamId)!, nowMs, LEASES_MAX);
      if (isOver) history.run(nowMs);
      ids.clear(nowMs, IDS_MAX);
      audit.clear(nowMs, AUDIT_MAX);
    };
    // A round may be skipped if the store is busy; the group commit has logged that.
    await group.run(tidy);
  }

  #isDue(nowMs: number): boolean {
    const { ids, audit } = this.#parts;
    return ids.isDue(nowMs) || audit.isDue(nowMs);
  }

  #dueTeams(nowMs: number): string[] {
    const due: string[] = [];
    for (let looked = 0; looked < TEAMS_MAX && due.length < DUE_TEAMS_MAX; looked++) {
      const row = this.#sql.nextTeam.get(this.#cursor);
      this.#cursor = row?.[0] ?? 0;
      if (row === undefined) break;
      if (row[1] <= nowMs) due.push(row[2]);
    }
    return due;
  }
}
