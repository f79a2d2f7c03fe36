// The outbox as rows.
import type { DatabaseSync } from 'node:sqlite';
import { RULES_FOLLOWED_MS } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import { withLimits } from '../../domain/key-limits.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { DueEvent, EventFacts, KeptEvent, Outbox } from '../../ports/outbox.ts';
import { prepared, objects, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { looked } from './store-fault.ts';
import type { StoreParts } from './store-parts.ts';

type Parts = Pick<StoreParts, 'database' | 'path' | 'clock' | 'group'>;

/** An event as stored; `facts` is JSON. */
export interface EventRow {
  readonly event_id: string;
  readonly team_id: string;
  readonly at_ms: number;
  readonly due_ms: number;
  readonly tries: number;
  readonly facts: string;
}

const SQL = {
  count: tuples<[number]>('SELECT count(*) FROM outbox'),
  due: objects<DueEvent>('SELECT event_id AS id, team_id AS teamId, tries FROM outbox WHERE due_ms <= ? ORDER BY due_ms, no LIMIT ?'),
  read: objects<EventRow>('SELECT * FROM outbox WHERE event_id = ?'),
  remove: 'DELETE FROM outbox WHERE event_id = ?',
  postpone: 'UPDATE outbox SET tries = ?, due_ms = ? WHERE event_id = ?',
  lease: `INSERT INTO outbox_lease (no, holder, until_ms, rules) VALUES (1, $holder, $until, $rules)
    ON CONFLICT (no) DO UPDATE SET holder = excluded.holder, until_ms = excluded.until_ms, rules = excluded.rules
    WHERE holder = $holder OR until_ms <= $now RETURNING no`,
  release: 'UPDATE outbox_lease SET until_ms = ? WHERE holder = ? AND until_ms > ?',
};

export class SqliteOutbox implements Outbox {
  readonly #parts: Parts;
  readonly #rules: string;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts, rules: EventRules) {
    this.#parts = parts;
    this.#rules = JSON.stringify(rules);
    this.#sql = prepared(parts.database, SQL);
  }

  async pending(): Promise<number | StoreUnavailable> {
    return looked(this.#parts.path, () => this.#sql.count.get()![0]);
  }

  async due(limit: number): Promise<readonly DueEvent[] | StoreUnavailable> {
    return looked(this.#parts.path, () => this.#sql.due.all(this.#parts.clock.nowMs(), limit));
  }

  async read({ id }: DueEvent): Promise<KeptEvent | undefined | StoreUnavailable> {
    const row = looked(this.#parts.path, () => this.#sql.read.get(id));
    return row === undefined || 'kind' in row ? row : eventOf(row);
  }

  remove({ id }: DueEvent): Promise<StoreUnavailable | undefined> {
    return this.#parts.group.run(() => void this.#sql.remove.run(id));
  }

  postpone({ id, tries }: DueEvent, delayMs: number): Promise<StoreUnavailable | undefined> {
    return this.#parts.group.run((nowMs) => void this.#sql.postpone.run(tries + 1, nowMs + delayMs, id));
  }

  lease(holder: string, forMs: number): Promise<boolean | StoreUnavailable> {
    return this.#parts.group.run(
      ($now) => this.#sql.lease.get({ $holder: holder, $until: $now + forMs, $now, $rules: this.#rules }) !== undefined,
    );
  }

  release(holder: string): Promise<StoreUnavailable | undefined> {
    return this.#parts.group.run((nowMs) => void this.#sql.release.run(nowMs, holder, nowMs));
  }
}

export function eventOf({ event_id: id, team_id: teamId, at_ms: atMs, facts }: EventRow): KeptEvent {
  return { id, teamId, atMs, facts: withLimits(JSON.parse(facts) as EventFacts) };
}

/** The rules of the gateway that sends events from this file, or did so within the last day. */
export function rulesInForce(database: DatabaseSync, nowMs: number): EventRules | undefined {
  const row = database.prepare('SELECT rules FROM outbox_lease WHERE until_ms > ?').get(nowMs - RULES_FOLLOWED_MS);
  return row === undefined ? undefined : (JSON.parse(String(row['rules'])) as EventRules);
}
