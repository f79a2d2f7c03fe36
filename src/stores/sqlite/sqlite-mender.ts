// Changes the periods and counts of teams in a database file: a team at a time, in one transaction each, while gateways may serve.
import type { DatabaseSync } from 'node:sqlite';
import { dayOf } from '../../domain/period.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { MendedTeam, MendTeam, StoreMender, TeamContents } from '../../ports/store-contents.ts';
import { readEvent } from '../records/event-record.ts';
import { TAG_TABLES } from '../records/record-tables.ts';
import { tagRecords } from '../records/tag-counts.ts';
import { EventRows } from './event-rows.ts';
import { openDatabase } from './open-database.ts';
import { ADDED } from './periods.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { NOT_ERASED, OPEN } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { asStoreFault } from './store-fault.ts';

const SQL = {
  number: tuples<[no: number]>(`SELECT no FROM teams WHERE team_id = ? AND erasure = ${NOT_ERASED}`),
  // What the keys' own rows still count of earlier periods, and of the day that is being counted.
  keepUsage: `INSERT INTO usage (team, period_no, key, characters, requests)
    SELECT team, period_no, key, characters, requests FROM key_books WHERE team = ? AND period_no < ? AND requests > 0
    ON CONFLICT (team, period_no, key) ${ADDED}`,
  keepDay: `INSERT INTO usage_days (team, day, key, characters, requests)
    SELECT u.team, b.day, u.key, u.day_characters, u.day_requests FROM key_books u JOIN books b ON b.team = u.team
    WHERE u.team = ? AND b.day > 0 AND u.day_requests > 0
    ON CONFLICT (team, day, key) ${ADDED}`,
  dropDays: 'DELETE FROM usage_days WHERE team = ? AND day >= ?',
  dropUsage: 'DELETE FROM usage WHERE team = ? AND period_no >= ?',
  dropPeriods: 'DELETE FROM periods WHERE team = ? AND no >= ?',
  dropPercents: 'DELETE FROM told_percents WHERE team = ? AND period_no >= ?',
  dropTags: `DELETE FROM records WHERE team = ? AND kind IN (${TAG_TABLES.map((table) => `'${table}'`).join(', ')})`,
  addTag: 'INSERT OR REPLACE INTO records (team, kind, id, value) VALUES (?, ?, ?, ?)',
  dropRefusals: "DELETE FROM told_refusals WHERE team = ? AND code = 'quota_exceeded' AND number > ?",
  addPeriod: `INSERT INTO periods (team, no, start_ms, end_ms, anchor_ms, opening_micro, added_micro, deducted_micro)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  setBooks: `UPDATE books SET period_no = ?, period_end_ms = ?, used_characters = ?, held_characters = ?, allowance_used = ?,
    allowance_held = ?, day = ? WHERE team = ?`,
  setKey: `UPDATE key_books SET last_used_at_ms = ?, period_no = ?, characters = ?, requests = ?, day_characters = ?, day_requests = ?
    WHERE team = ? AND key = (SELECT no FROM keys WHERE key_id = ?)`,
  setHeld: `UPDATE key_limits SET held_period_no = ?, held_characters = ? WHERE key = (SELECT no FROM keys WHERE key_id = ?)`,
  setPercent: 'INSERT INTO told_percents (team, period_no, percent) VALUES (?, ?, ?)',
  setOpen: `UPDATE operations SET until_ms = ?, period_no = ? WHERE request_id = ? AND team = ? AND state = ${OPEN}`,
  // A settled id that is remembered for years would keep the janitor from clearing those after it.
  forgetSooner: `UPDATE operations SET until_ms = $until WHERE state <> ${OPEN} AND until_ms > $until`,
};

/** Rejects with a `StoreError` if there is no file, or none of this version. */
export async function openSqliteMender(path: string): Promise<StoreMender> {
  const database = await openDatabase(path, 'full', { mayCreate: false, mayMigrate: false });
  database.exec('PRAGMA busy_timeout = 5000');
  return new SqliteMender(database, path);
}

class SqliteMender implements StoreMender {
  readonly reader: SqliteReader;
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #sql: Statements<typeof SQL>;
  readonly #events: EventRows;

  constructor(database: DatabaseSync, path: string) {
    this.reader = new SqliteReader({ database, path });
    this.#database = database;
    this.#path = path;
    this.#sql = prepared(database, SQL);
    this.#events = new EventRows(database);
  }

  mend<Mended extends MendedTeam>(teamId: string, nowMs: number, mend: MendTeam<Mended>): Promise<Mended | undefined> {
    return this.#transaction(async () => {
      const [no] = this.#sql.number.get(teamId) ?? [];
      const contents = no === undefined ? undefined : await this.reader.team(teamId, () => undefined);
      const mended = contents && mend(contents);
      if (mended !== undefined) this.#write(no!, mended, nowMs);
      return mended;
    });
  }

  async finish(nowMs: number): Promise<void> {
    await this.#transaction(async () => void this.#sql.forgetSooner.run({ $until: nowMs + REMEMBER_MS }));
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #write(no: number, mended: MendedTeam, nowMs: number): void {
    const { contents } = mended;
    const { team, period, toldPercents, requests } = contents;
    const { number } = period;
    this.#sql.keepUsage.run(no, number);
    this.#sql.keepDay.run(no);
    this.#sql.dropDays.run(no, dayOf(nowMs));
    this.#sql.dropUsage.run(no, number);
    this.#sql.dropPeriods.run(no, number);
    this.#sql.dropPercents.run(no, number);
    this.#sql.dropRefusals.run(no, number);
    const { openingMicro, addedMicro, deductedMicro } = period.credit;
    this.#sql.addPeriod.run(no, number, period.startMs, period.endMs, period.anchorMs, openingMicro, addedMicro, deductedMicro);
    this.#writeCounts(no, contents, dayOf(nowMs));
    for (const { number: of, percent } of toldPercents) if (of === number) this.#sql.setPercent.run(no, of, percent);
    for (const { state, requestId, untilMs, periodNumber } of requests) {
      if (state === 'open') this.#sql.setOpen.run(untilMs, periodNumber!, requestId, no);
    }
    this.#sql.dropTags.run(no);
    for (const { table, id, value } of tagRecords(contents.tags)) this.#sql.addTag.run(no, table, id, value);
    this.#events.drop(team.teamId, (event) => mended.isUndone(readEvent(event).facts));
  }

  #writeCounts(no: number, contents: TeamContents, today: number): void {
    const { period, usedCharacters, heldCharacters, allowanceUsed, allowanceHeld, keys, days } = contents;
    const { number, endMs } = period;
    const ofToday = new Map(days.filter(({ day }) => day === today).map((one) => [one.keyId, one]));
    const counts = [usedCharacters, heldCharacters, allowanceUsed, allowanceHeld];
    this.#sql.setBooks.run(number, endMs, ...counts, ofToday.size > 0 ? today : 0, no);
    for (const { keyId, lastUsedAtMs = 0, characters, requests, heldCharacters: held = 0 } of keys) {
      const day = ofToday.get(keyId);
      const ofKey = [requests > 0 ? number : 0, characters, requests, day?.characters ?? 0, day?.requests ?? 0];
      this.#sql.setKey.run(lastUsedAtMs, ...ofKey, no, keyId);
      this.#sql.setHeld.run(number, held, keyId);
    }
  }

  async #transaction<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      const done = await work();
      this.#database.exec('COMMIT');
      return done;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw asStoreFault(this.#path, error);
    }
  }
}
