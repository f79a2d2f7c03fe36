// Clears up after teams that nobody asks for any more: their ended leases and forgotten ids, a little at a time.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { CatchUp } from './catch-up.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Remembrance } from './remembrance.ts';
import { OPEN } from './schema.ts';

/** Nothing depends on it in time: whatever is due counts as ended from its millisecond on. */
const SWEEP_EVERY_MS = 2000;
/** Teams with open leases looked at in one sweep, teams tidied, leases ended for each, and ids cleared away. */
const TEAMS_MAX = 200;
const DUE_TEAMS_MAX = 8;
const LEASES_MAX = 64;
const IDS_MAX = 1024;

export interface IdleSweepParts {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  readonly log: Log;
  readonly group: GroupCommit;
  readonly catchUp: CatchUp;
  readonly remembrance: Remembrance;
}

export class IdleSweep {
  readonly #parts: IdleSweepParts;
  readonly #nextTeam: StatementSync;
  readonly #timer: NodeJS.Timeout;
  /** The last team that was looked at. */
  #cursor = 0;

  constructor(parts: IdleSweepParts) {
    this.#parts = parts;
    // One step in the index: the next team that has an open lease, with the earliest end among its leases.
    this.#nextTeam = parts.database.prepare(
      `SELECT team, until_ms FROM operations WHERE state = ${OPEN} AND team > ? ORDER BY team, until_ms LIMIT 1`,
    );
    this.#nextTeam.setReturnArrays(true);
    this.#timer = setInterval(() => {
      this.sweep().catch(() => parts.log.error('clearing up after idle teams failed; it is tried again'));
    }, SWEEP_EVERY_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** One round, resolved when its transaction has ended. Looks before it asks for the write lock. */
  async sweep(): Promise<void> {
    const { clock, group, catchUp, remembrance } = this.#parts;
    const teams = this.#dueTeams(clock.nowMs());
    if (teams.length === 0 && !remembrance.isDue(clock.nowMs())) return;
    const tidy = () => {
      const nowMs = clock.nowMs();
      for (const team of teams) catchUp.endLeases(team, nowMs, LEASES_MAX);
      remembrance.clear(nowMs, IDS_MAX);
    };
    // A sweep that finds the store busy is no loss; the log has heard of it from the group.
    await group.run(tidy, () => undefined);
  }

  #dueTeams(nowMs: number): number[] {
    const due: number[] = [];
    for (let looked = 0; looked < TEAMS_MAX && due.length < DUE_TEAMS_MAX; looked++) {
      const row = this.#nextTeam.get(this.#cursor) as unknown as [team: number, untilMs: number] | undefined;
      this.#cursor = row?.[0] ?? 0;
      if (row === undefined) break;
      if (row[1] <= nowMs) due.push(row[0]);
    }
    return due;
  }
}
