// Writes all that another store holds into a database file, which says that it is half-written until all of it is there.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import { HALF_WRITTEN_SCHEMA, halfWritten, StoreError } from '../../domain/store-unavailable.ts';
import type { KeyContents, LooseContents, RequestState, StoreReader, StoreWriter, TeamContents } from '../../ports/store-contents.ts';
import { valuesOf } from './columns.ts';
import { isEmpty, versionOf } from './migrate.ts';
import { openAlone, openDatabase } from './open-database.ts';
import { RateWindow } from './rate-window.ts';
import { NO_DIGEST, SqliteReader } from './sqlite-reader.ts';
import { LIMITS, MIGRATIONS } from './sqlite-schema.ts';
import { storeName } from './store-fault.ts';

/** Teams that are written in one transaction. */
const TEAMS_PIECE = 500;
const STATES: readonly RequestState[] = ['open', 'committed', 'released', 'expired'];
/** What a file may hold and be empty all the same: gateways leave it about themselves. */
export const WRITTEN_BY_GATEWAYS: readonly string[] = ['gateways', 'outbox_lease'];

/** Rejects with a `StoreError` where the file is not empty, or half-written and `restart` is not set. */
export async function openSqliteWriter(path: string, restart: boolean): Promise<SqliteWriter> {
  const location = resolve(path);
  const found = openAlone(path, { mayCreate: true });
  const isHalf = versionOf(found) === HALF_WRITTEN_SCHEMA;
  const isNew = isEmpty(found);
  const rows = isHalf || isNew ? [] : tablesWithRows(found);
  found.close();
  if (isHalf && !restart) throw halfWritten(storeName(path));
  if (rows.length > 0)
    throw new StoreError(`${storeName(path)} is not empty (it has rows in ${rows.join(', ')}): name a store that holds nothing`);
  if (isHalf) for (const ending of ['', '-wal', '-shm']) rmSync(location + ending, { force: true });
  (await openDatabase(path, 'normal')).close();
  const database = openAlone(path, { mayCreate: false });
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA user_version = ${HALF_WRITTEN_SCHEMA}`);
  for (const table of WRITTEN_BY_GATEWAYS) database.exec(`DELETE FROM ${table}`);
  return new SqliteWriter(database, path);
}

export function tablesOf(database: DatabaseSync): string[] {
  return database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
    .map(({ name }) => String(name));
}

function tablesWithRows(database: DatabaseSync): string[] {
  return tablesOf(database).filter(
    (table) => !WRITTEN_BY_GATEWAYS.includes(table) && database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined,
  );
}

export class SqliteWriter implements StoreWriter {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #statements = new Map<string, StatementSync>();
  #inTransaction = 0;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  async team(contents: TeamContents, entries: ReadonlyMap<string, EntryPieces>): Promise<void> {
    this.#begin();
    const no = this.#writeTeam(contents);
    const keys = this.#writeKeys(no, contents);
    this.#writePeriods(no, keys, contents);
    this.#writeDays(no, keys, contents);
    for (const { requestId, state, untilMs, keyId, characters, priceMicro, periodNumber } of contents.requests) {
      const isReleased = state === 'released';
      // Whose it was does not matter once it is resolved; the schema asks for some key and period.
      const key = isReleased ? null : (keys.get(keyId ?? '') ?? [...keys.values()][0] ?? 0);
      const period = isReleased ? null : (periodNumber ?? contents.period.number);
      this.#run(
        'INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        requestId,
        no,
        STATES.indexOf(state),
        untilMs,
        key,
        characters,
        priceMicro,
        period,
      );
    }
    for (const { number, percent } of contents.toldPercents) this.#run('INSERT INTO told_percents VALUES (?, ?, ?)', no, number, percent);
    this.#writeGlossaries(no, contents, entries);
  }

  async loose(record: LooseContents): Promise<void> {
    this.#begin();
    switch (record.kind) {
      case 'digest':
        this.#run('UPDATE keys SET digest = ? WHERE key_id = ?', record.digest, record.keyId);
        break;
      case 'change':
        this.#run(
          'INSERT OR REPLACE INTO changes (team, id, request, until_ms) SELECT no, ?, ?, ? FROM teams WHERE team_id = ?',
          record.id,
          record.request,
          record.untilMs,
          record.teamId,
        );
        break;
      case 'audit':
        this.#run('INSERT INTO audit VALUES (?, ?, ?)', record.id, record.teamId ?? null, JSON.stringify(record.record));
        break;
      case 'event': {
        const { id, teamId, atMs, facts } = record.event;
        const sql = 'INSERT INTO outbox (event_id, team_id, at_ms, due_ms, tries, facts) VALUES (?, ?, ?, ?, ?, ?)';
        this.#run(sql, id, teamId, atMs, record.dueMs, record.tries, JSON.stringify(facts));
        break;
      }
    }
  }

  reader(): StoreReader {
    this.#commit();
    return new SqliteReader({ database: this.#database, path: this.#path, remembered: true });
  }

  async finish(): Promise<void> {
    this.#commit();
    this.#database.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)');
    this.#database.exec(`PRAGMA user_version = ${MIGRATIONS.length}; PRAGMA wal_checkpoint(TRUNCATE)`);
  }

  async close(): Promise<void> {
    this.#commit();
    this.#database.close();
  }

  #writeTeam({ team, period, usedCharacters, heldCharacters, heldMicro, window, days, dayDone }: TeamContents): number {
    const { lastInsertRowid } = this.#run(
      `INSERT INTO teams (team_id, name, created_at_ms, plan, ${Object.values(LIMITS).join(', ')}) VALUES (?, ?, ?, ?${', ?'.repeat(Object.keys(LIMITS).length)})`,
      team.teamId,
      team.name,
      team.createdAtMs,
      team.plan,
      ...valuesOf(LIMITS, team.limits),
    );
    const no = Number(lastInsertRowid);
    this.#run(
      'INSERT INTO periods (team, no, start_ms, end_ms, anchor_ms) VALUES (?, ?, ?, ?, ?)',
      no,
      period.number,
      period.startMs,
      period.endMs,
      period.anchorMs,
    );
    const packed = packedWindow(window);
    this.#run(
      `INSERT INTO books (team, balance_micro, held_micro, period_no, period_end_ms, used_characters, held_characters, window_newest_ms, window, day)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      no,
      team.balanceMicro,
      heldMicro,
      period.number,
      period.endMs,
      usedCharacters,
      heldCharacters,
      packed.newestMs,
      packed.packed(),
      runningDay(days, dayDone),
    );
    return no;
  }

  #writeKeys(no: number, { keys, period, days, dayDone }: TeamContents): Map<string, number> {
    const numbers = new Map<string, number>();
    const running = runningDay(days, dayDone);
    for (const key of keys) {
      const { keyId, display, label, mode, status, createdAtMs, lastUsedAtMs, characters, requests } = key;
      const revokedAtMs = status === 'revoked' ? (lastUsedAtMs ?? createdAtMs) : null;
      const { lastInsertRowid } = this.#run(
        'INSERT INTO keys (key_id, team, digest, display, label, mode, created_at_ms, revoked_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        keyId,
        no,
        NO_DIGEST + keyId,
        display,
        label,
        mode,
        createdAtMs,
        revokedAtMs,
      );
      numbers.set(keyId, Number(lastInsertRowid));
      this.#writeLimits(no, Number(lastInsertRowid), key, period.number);
      const today = days.find((one) => one.keyId === keyId && one.day === running);
      this.#run(
        `INSERT INTO key_books (team, key, last_used_at_ms, period_no, characters, requests, day_characters, day_requests) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        no,
        Number(lastInsertRowid),
        lastUsedAtMs ?? 0,
        requests > 0 ? period.number : 0,
        characters,
        requests,
        today?.characters ?? 0,
        today?.requests ?? 0,
      );
    }
    return numbers;
  }

  #writeLimits(team: number, key: number, { status, limits, heldCharacters, window }: KeyContents, periodNo: number): void {
    if (status !== 'disabled' && !hasLimits(limits)) return;
    const { expiresAtMs, requestsPerSecond, characters, allowedAddresses } = limits;
    const packed = packedWindow(window);
    this.#run('UPDATE keys SET guarded = 1 WHERE no = ?', key);
    this.#run(
      'INSERT INTO key_limits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      key,
      team,
      Number(status === 'disabled'),
      expiresAtMs ?? null,
      requestsPerSecond ?? null,
      characters ?? null,
      allowedAddresses === undefined ? null : JSON.stringify(allowedAddresses),
      periodNo,
      heldCharacters ?? 0,
      packed.newestMs,
      packed.packed(),
    );
  }

  /** Where only the sum of a period is known that is not closed, its first key gets it: nobody is told whose it was. */
  #writePeriods(no: number, keys: ReadonlyMap<string, number>, { team, periods }: TeamContents): void {
    for (const { number, startMs, endMs, closed, held, characters, keys: counted } of periods) {
      const { plan, limits } = held ?? team;
      this.#run(
        'INSERT INTO periods (team, no, start_ms, end_ms, left_ms, plan, limits, closed_characters) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        no,
        number,
        startMs,
        Math.max(endMs, startMs + 1),
        endMs,
        plan,
        JSON.stringify(limits),
        closed ? characters : null,
      );
      const [first] = keys.keys();
      const counts = counted ?? (closed || characters === 0 || first === undefined ? [] : [{ keyId: first, characters, requests: 1 }]);
      for (const count of counts) {
        this.#run('INSERT INTO usage VALUES (?, ?, ?, ?, ?)', no, number, keys.get(count.keyId)!, count.characters, count.requests);
      }
    }
  }

  #writeDays(no: number, keys: ReadonlyMap<string, number>, { days, dayDone }: TeamContents): void {
    const running = runningDay(days, dayDone);
    for (const { keyId, day, characters, requests } of days) {
      if (day !== running) this.#run('INSERT INTO usage_days VALUES (?, ?, ?, ?, ?)', no, day, keys.get(keyId)!, characters, requests);
    }
  }

  #writeGlossaries(team: number, { glossaries }: TeamContents, entries: ReadonlyMap<string, EntryPieces>): void {
    for (const { glossaryId, name, revision, createdAtMs, dictionaries } of glossaries) {
      const { lastInsertRowid: glossary } = this.#run(
        'INSERT INTO glossaries (glossary_id, team, name, created_at_ms, revision) VALUES (?, ?, ?, ?, ?)',
        glossaryId,
        team,
        name,
        createdAtMs,
        revision,
      );
      for (const [place, { dictionaryId, sourceLang, targetLang, entryCount, bytes }] of dictionaries.entries()) {
        const pieces = entries.get(dictionaryId) ?? [];
        for (const [i, piece] of pieces.entries())
          this.#run('INSERT INTO pieces (dictionary_id, place, entries) VALUES (?, ?, ?)', dictionaryId, i, piece);
        this.#run(
          `INSERT INTO dictionaries (dictionary_id, glossary, place, source_lang, target_lang, entry_count, piece_count, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          dictionaryId,
          glossary,
          place,
          sourceLang,
          targetLang,
          entryCount,
          pieces.length,
          bytes ?? 0,
        );
      }
    }
  }

  #run(sql: string, ...values: SQLInputValue[]): ReturnType<StatementSync['run']> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement.run(...values);
  }

  #begin(): void {
    if (this.#inTransaction >= TEAMS_PIECE) this.#commit();
    if (this.#inTransaction++ === 0) this.#database.exec('BEGIN IMMEDIATE');
  }

  #commit(): void {
    if (this.#inTransaction > 0) this.#database.exec('COMMIT');
    this.#inTransaction = 0;
  }
}

function packedWindow(window: TeamContents['window']): RateWindow {
  const packed = new RateWindow(new Uint8Array(), 0);
  for (const { atMs, count } of window) for (let i = 0; i < count; i++) packed.take(atMs);
  return packed;
}

/** The last day with use, while it is not done; 0 for none. */
function runningDay(days: TeamContents['days'], dayDone: number): number {
  const last = days.reduce((most, { day }) => Math.max(most, day), 0);
  return last > dayDone ? last : 0;
}
