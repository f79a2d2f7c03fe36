// The outbox as rows of the file.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventRules } from '../../domain/event-rules.ts';
import { RULES_FOLLOWED_MS } from '../../domain/event-rules.ts';
import { withLimits } from '../../domain/key-limits.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DueEvent, EventFacts, KeptEvent, Outbox } from '../../ports/outbox.ts';
import type { GroupCommit } from './group-commit.ts';
import { databaseFaultOf, unavailable } from './store-fault.ts';

export interface SqliteOutboxParts {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  readonly group: GroupCommit;
  /** For messages to operators. */
  readonly path: string;
  readonly rules: EventRules;
}

export class SqliteOutbox implements Outbox {
  readonly #parts: SqliteOutboxParts;
  readonly #rules: string;
  readonly #count: StatementSync;
  readonly #due: StatementSync;
  readonly #read: StatementSync;
  readonly #remove: StatementSync;
  readonly #postpone: StatementSync;
  readonly #lease: StatementSync;
  readonly #release: StatementSync;

  constructor(parts: SqliteOutboxParts) {
    this.#parts = parts;
    const { database, rules } = parts;
    this.#rules = JSON.stringify(rules);
    this.#count = database.prepare('SELECT count(*) AS pending FROM outbox');
    this.#due = database.prepare('SELECT event_id, team_id, tries FROM outbox WHERE due_ms <= ? ORDER BY due_ms, no LIMIT ?');
    this.#read = database.prepare('SELECT team_id, at_ms, facts FROM outbox WHERE event_id = ?');
    this.#remove = database.prepare('DELETE FROM outbox WHERE event_id = ?');
    this.#postpone = database.prepare('UPDATE outbox SET tries = ?, due_ms = ? WHERE event_id = ?');
    this.#lease = database.prepare(`INSERT INTO outbox_lease (no, holder, until_ms, rules) VALUES (1, $holder, $until, $rules)
      ON CONFLICT (no) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms, rules = excluded.rules
      WHERE holder = $holder OR until_ms <= $now RETURNING no`);
    this.#release = database.prepare('UPDATE outbox_lease SET until_ms = ? WHERE holder = ? AND until_ms > ?');
  }

  async pending(): Promise<number | StoreUnavailable> {
    return this.#look(() => Number(this.#count.get()?.['pending']));
  }

  async due(limit: number): Promise<readonly DueEvent[] | StoreUnavailable> {
    return this.#look(() => {
      const rows = this.#due.all(this.#parts.clock.nowMs(), limit);
      return rows.map((row) => ({ id: String(row['event_id']), teamId: String(row['team_id']), tries: Number(row['tries']) }));
    });
  }

  async read({ id }: DueEvent): Promise<KeptEvent | undefined | StoreUnavailable> {
    return this.#look(() => {
      const row = this.#read.get(id);
      if (row === undefined) return undefined;
      const facts = withLimits(JSON.parse(String(row['facts'])) as EventFacts);
      return { id, teamId: String(row['team_id']), atMs: Number(row['at_ms']), facts };
    });
  }

  remove({ id }: DueEvent): Promise<StoreUnavailable | undefined> {
    return this.#parts.group.run(() => void this.#remove.run(id));
  }

  postpone({ id, tries }: DueEvent, delayMs: number): Promise<StoreUnavailable | undefined> {
    return this.#parts.group.run(() => void this.#postpone.run(tries + 1, this.#parts.clock.nowMs() + delayMs, id));
  }

  lease(holder: string, forMs: number): Promise<boolean | StoreUnavailable> {
    return this.#parts.group.run(() => {
      const $now = this.#parts.clock.nowMs();
      return this.#lease.get({ $holder: holder, $until: $now + forMs, $now, $rules: this.#rules }) !== undefined;
    });
  }

  release(holder: string): Promise<StoreUnavailable | undefined> {
    return this.#parts.group.run(() => {
      const nowMs = this.#parts.clock.nowMs();
      this.#release.run(nowMs, holder, nowMs);
      return undefined;
    });
  }

  /** Without a transaction: in WAL mode readers wait for no writer. */
  #look<T>(read: () => T): T | StoreUnavailable {
    const { database, path } = this.#parts;
    if (!database.isOpen) return unavailable(path, 'closed');
    try {
      return read();
    } catch (error) {
      const cause = databaseFaultOf(error);
      if (cause === undefined) throw error;
      return unavailable(path, cause);
    }
  }
}

/** Those of the gateway that sends events from this file, or did within a day. */
export function rulesInForce(database: DatabaseSync, nowMs: number): EventRules | undefined {
  const row = database.prepare('SELECT rules FROM outbox_lease WHERE until_ms > ?').get(nowMs - RULES_FOLLOWED_MS);
  return row === undefined ? undefined : (JSON.parse(String(row['rules'])) as EventRules);
}
