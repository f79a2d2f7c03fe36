// Events among the shared records of a file (records/event-record.ts), for what writes or deletes them in a transaction of its own.
import type { DatabaseSync } from 'node:sqlite';
import type { EventRules } from '../../domain/event-rules.ts';
import type { LooseEvent } from '../../ports/store-contents.ts';
import { dueEntry, eventRecords, readEvent, rulesInForce, SENDER } from '../records/event-record.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

const SQL = {
  put: 'INSERT OR REPLACE INTO shared_records (kind, id, value) VALUES (?, ?, ?)',
  remove: 'DELETE FROM shared_records WHERE kind = ? AND id = ?',
  // Their names begin with the team's id and a space.
  ofTeam: tuples<[id: string, value: string]>(
    "SELECT id, value FROM shared_records WHERE kind = 'events' AND id > $team || ' ' AND id < $team || '!'",
  ),
  sender: tuples<[value: string]>('SELECT value FROM shared_records WHERE kind = ? AND id = ?'),
};

export class EventRows {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepared(database, SQL);
  }

  keep(event: Omit<LooseEvent, 'kind'>): void {
    const { put, index } = eventRecords(event);
    for (const { table, id, value } of put) this.#sql.put.run(table, id, value);
    for (const { index: table, id } of index) this.#sql.put.run(table, id, '');
  }

  /** Deletes the events of a team for whose records `isDropped` returns true. */
  drop(teamId: string, isDropped: (value: string) => boolean): void {
    for (const [id, value] of this.#sql.ofTeam.all({ $team: teamId })) {
      if (!isDropped(value)) continue;
      this.#sql.remove.run('events', id);
      const due = dueEntry({ table: 'events', id }, readEvent(value));
      this.#sql.remove.run(due.index, due.id);
    }
  }

  rulesInForce(nowMs: number): EventRules | undefined {
    return rulesInForce(this.#sql.sender.get(SENDER.table, SENDER.id)?.[0], nowMs);
  }
}
