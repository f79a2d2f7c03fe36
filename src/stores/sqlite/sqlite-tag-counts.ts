// What is charged by tag and day in SQLite: records of the team, written in the ledger's transaction, and dropped by the janitor.
import type { DatabaseSync } from 'node:sqlite';
import { dayOf } from '../../domain/period.ts';
import type { RequestTag } from '../../domain/request-tag.ts';
import type { TagTable } from '../records/record-tables.ts';
import { countTag, readTagCount, tagDaysSince } from '../records/tag-counts.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

const SQL = {
  get: tuples<[value: string]>('SELECT value FROM records WHERE team = ? AND kind = ? AND id = ?'),
  put: 'INSERT OR REPLACE INTO records (team, kind, id, value) VALUES (?, ?, ?, ?)',
  remove: 'DELETE FROM records WHERE team = ? AND kind = ? AND id = ?',
  count: tuples<[number]>("SELECT count(*) FROM records WHERE team = ? AND kind = 'tag_counts'"),
  list: tuples<[id: string, value: string]>('SELECT id, value FROM records WHERE team = ? AND kind = ?'),
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

  /** Drops what was counted before this day, and tags of which nothing is left. */
  drop(team: number, first: number): void {
    const listed = new Set<string>();
    for (const [tag, text] of this.#sql.list.all(team, 'tag_days')) {
      const left = tagDaysSince(text, first);
      if (left !== '') listed.add(tag);
      if (left === '') this.#sql.remove.run(team, 'tag_days', tag);
      else if (left !== text) this.#sql.put.run(team, 'tag_days', tag, left);
    }
    for (const [tag, text] of this.#sql.list.all(team, 'tag_counts')) {
      if (readTagCount(text)!.day < first && !listed.has(tag)) this.#sql.remove.run(team, 'tag_counts', tag);
    }
  }
}
