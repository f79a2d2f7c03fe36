// The clock of a database file: its row has the latest time that a process has believed, by which all processes of the file judge
// the machine's clock.
import type { DatabaseSync } from 'node:sqlite';
import { JudgedClock } from '../../domain/judged-clock.ts';
import type { ClockMark } from '../../domain/judged-clock.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AcceptedClock, Clock, ClockStep, StoreClock } from '../../ports/clock.ts';
import { objects, prepared } from './statements.ts';
import type { Statements } from './statements.ts';
import { looked } from './store-fault.ts';
import type { StoreParts } from './store-parts.ts';

const SQL = {
  read: objects<{ readonly latest_ms: number; readonly boot: string; readonly monotonic_ms: number }>(
    'SELECT latest_ms, boot, monotonic_ms FROM clock',
  ),
  write: 'INSERT OR REPLACE INTO clock (no, latest_ms, boot, monotonic_ms) VALUES (1, ?, ?, ?)',
};

/** Judges the clock by the file before anything else reads it; a clock that tests move freely is not judged. */
export function compareAtOpen(database: DatabaseSync, clock: Clock): void {
  if (clock instanceof JudgedClock) clock.compare(markIn(prepared(database, SQL)));
}

export class SqliteClock implements StoreClock {
  readonly #parts: Pick<StoreParts, 'path' | 'group'>;
  readonly #clock: JudgedClock;
  readonly #sql: Statements<typeof SQL>;

  constructor({ database, path, group }: Pick<StoreParts, 'database' | 'path' | 'group'>, clock: JudgedClock) {
    this.#parts = { path, group };
    this.#clock = clock;
    this.#sql = prepared(database, SQL);
  }

  step(): ClockStep | undefined {
    const byMs = this.#clock.stepMs;
    return byMs === 0 ? undefined : { byMs };
  }

  async look(): Promise<StoreUnavailable | undefined> {
    const { path, group } = this.#parts;
    const due = looked(path, () => this.#clock.compare(markIn(this.#sql)));
    if (due === undefined || isUnavailable(due)) return due;
    return group.run(() => {
      this.#write(due);
      return undefined;
    });
  }

  accept(): Promise<AcceptedClock | StoreUnavailable> {
    const steppedMs = this.#clock.stepMs;
    return this.#parts.group.run(() => {
      this.#clock.accept();
      const mark = this.#clock.mark();
      this.#write(mark);
      return { kind: 'accepted', nowMs: mark.latestMs, steppedMs };
    });
  }

  #write({ latestMs, boot, monotonicMs }: ClockMark): void {
    this.#sql.write.run(latestMs, boot, monotonicMs);
  }
}

function markIn(sql: Statements<typeof SQL>): ClockMark | undefined {
  const row = sql.read.get();
  return row && { latestMs: row.latest_ms, boot: row.boot, monotonicMs: row.monotonic_ms };
}
