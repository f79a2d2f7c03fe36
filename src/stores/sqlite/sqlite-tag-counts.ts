// What is charged by tag and day in SQLite: records of the team, written in the ledger's transaction, and dropped by tag-chores.ts.
import type { DatabaseSync } from 'node:sqlite';
import { dayOf } from '../../domain/period.ts';
import type { RequestTag } from '../../domain/request-tag.ts';
import type { TagTable } from '../../ledger/tag-account.ts';
import { countTag } from '../../ledger/tag-account.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

const SQL = {
  get: tuples<[value: string]>('SELECT value FROM records WHERE team = ? AND kind = ? AND id = ?'),
  put: 'INSERT OR REPLACE INTO records (team, kind, id, value) VALUES (?, ?, ?, ?)',
  count: tuples<[number]>("SELECT count(*) FROM records WHERE team = ? AND kind = 'tag_counts'"),
};

export class SqliteTagCounts {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepared(database, SQL);
  }

  /** Counts a charge. `team` is its row number. */
  add(team: number, tag: RequestTag, characters: number, nowMs: number): void {
    const sql = this.#sql;
    const records = {
      get: (table: TagTable, id: string) => sql.get.get(team, table, id)?.[0],
      put: (table: TagTable, id: string, value: string) => void sql.put.run(team, table, id, value),
      count: () => sql.count.get(team)![0],
    };
    countTag(records, tag, characters, dayOf(nowMs));
  }
}
