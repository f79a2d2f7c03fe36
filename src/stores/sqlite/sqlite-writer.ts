// Writes the complete contents of another store to a database file, which is marked as half-written until it is complete.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import type { PeriodCredit } from '../../domain/period-credit.ts';
import type { KeyContents, LooseContents, StoreReader, StoreWriter, TeamContents } from '../../ports/store-contents.ts';
import { glossaryTableRecords } from '../records/glossary-record.ts';
import { RateWindow } from './rate-window.ts';
import { NO_DIGEST, SqliteReader, STATES } from './sqlite-reader.ts';
import { SCHEMA } from './schema-steps.ts';
import { LIMITS } from './sqlite-schema.ts';
import { columnOf } from './statements.ts';

/** Teams written per transaction. */
const TEAMS_PIECE = 500;

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
    const team = this.#writeTeam(contents);
    const keys = this.#writeKeys(team, contents);
    this.#writePeriods(team, keys, contents);
    const running = runningDay(contents);
    for (const { keyId, day, ...counts } of contents.days) {
      if (day !== running) this.#insert('usage_days', { team, day, key: keys.get(keyId)!, ...counts });
    }
    for (const { requestId, state, untilMs, keyId, characters, priceMicro, periodNumber, tickets } of contents.requests) {
      // The owner of a settled id does not matter, but the schema requires some key and period.
      const owner = { key: keys.get(keyId ?? '') ?? [...keys.values()][0] ?? 0, periodNo: periodNumber ?? contents.period.number };
      const whose = state === 'released' ? { key: null, periodNo: null } : owner;
      const counted = tickets === undefined ? {} : { tickets: JSON.stringify(tickets) };
      const row = { requestId, team, state: STATES.indexOf(state), untilMs, characters, priceMicro, ...whose, ...counted };
      this.#insert('operations', row);
    }
    for (const { subject, counts } of contents.windowCounts)
      this.#insert('window_counts', { team, subject, counts: JSON.stringify(counts) });
    for (const { number, percent } of contents.toldPercents) this.#insert('told_percents', { team, periodNo: number, percent });
    for (const one of contents.toldRefusals) {
      const told = one.code === 'quota_exceeded' || one.told ? 1 : 0;
      const key = one.code === 'quota_exceeded' && one.keyId !== undefined ? keys.get(one.keyId)! : 0;
      this.#insert('told_refusals', { team, key, code: one.code, number: one.number, told });
    }
    for (const [id, value] of contents.refusals) this.#insert('records', { team, kind: 'refusals', id, value });
    this.#writeGlossaries(team, contents, entries);
  }

  async loose(record: LooseContents): Promise<void> {
    this.#begin();
    switch (record.kind) {
      case 'digest':
        this.#run('UPDATE keys SET digest = ? WHERE key_id = ?', record.digest, record.keyId);
        break;
      case 'change': {
        const { teamId, id, request, untilMs } = record;
        const sql = 'INSERT OR REPLACE INTO changes (team, id, request, until_ms) SELECT no, ?, ?, ? FROM teams WHERE team_id = ?';
        this.#run(sql, id, request, untilMs, teamId);
        break;
      }
      case 'record':
        this.#insert('shared_records', { kind: record.table, id: record.id, value: record.value });
        break;
      case 'audit':
        this.#insert('audit', { id: record.id, teamId: record.teamId ?? null, record: JSON.stringify(record.record) });
        break;
      case 'event': {
        const { id, teamId, atMs, facts } = record.event;
        this.#insert('outbox', { eventId: id, teamId, atMs, dueMs: record.dueMs, tries: record.tries, facts: JSON.stringify(facts) });
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
    this.#database.exec(`PRAGMA user_version = ${SCHEMA}; PRAGMA wal_checkpoint(TRUNCATE)`);
  }

  async close(): Promise<void> {
    this.#commit();
    this.#database.close();
  }

  #writeTeam({ team: whole, period, usedCharacters, heldCharacters, heldMicro, window, days, dayDone }: TeamContents): number {
    const { limits, balanceMicro, nextPlan, ...record } = whole;
    const { by } = nextPlan ?? {};
    const next = nextPlan && {
      nextPlan: nextPlan.name,
      nextLimits: JSON.stringify(nextPlan.limits),
      nextBy: by ? JSON.stringify(by) : null,
    };
    const numbers = Object.fromEntries(LIMITS.map((name) => [name, limits[name]]));
    const team = this.#insert('teams', { ...record, ...numbers, ...next });
    const { number, credit, ...bounds } = period;
    this.#insert('periods', { team, no: number, ...bounds, ...creditColumns(credit), balanceMicro: null });
    const current = { periodNo: number, periodEndMs: period.endMs, day: runningDay({ days, dayDone }) };
    this.#insert('books', { team, balanceMicro, heldMicro, usedCharacters, heldCharacters, ...current, ...packedWindow(window) });
    return team;
  }

  /** Returns the row numbers of the keys by id. */
  #writeKeys(team: number, { keys, period, days, dayDone }: TeamContents): Map<string, number> {
    const numbers = new Map<string, number>();
    const running = runningDay({ days, dayDone });
    for (const key of keys) {
      const { keyId, display, label, mode, status, createdAtMs, lastUsedAtMs, characters, requests } = key;
      const revokedAtMs = status === 'revoked' ? (lastUsedAtMs ?? createdAtMs) : null;
      const no = this.#insert('keys', { keyId, team, digest: NO_DIGEST + keyId, display, label, mode, createdAtMs, revokedAtMs });
      numbers.set(keyId, no);
      this.#writeLimits(team, no, key, period.number);
      const today = days.find((one) => one.keyId === keyId && one.day === running);
      const counts = { periodNo: requests > 0 ? period.number : 0, characters, requests };
      const dayCounts = { dayCharacters: today?.characters ?? 0, dayRequests: today?.requests ?? 0 };
      this.#insert('key_books', { team, key: no, lastUsedAtMs: lastUsedAtMs ?? 0, ...counts, ...dayCounts });
    }
    return numbers;
  }

  #writeLimits(team: number, key: number, { status, limits, heldCharacters, window }: KeyContents, periodNo: number): void {
    const disabled = Number(status === 'disabled');
    if (disabled === 0 && !hasLimits(limits)) return;
    const { expiresAtMs = null, requestsPerSecond = null, characters = null, allowedAddresses, scopes: listed, windows = null } = limits;
    const addresses = allowedAddresses === undefined ? null : JSON.stringify(allowedAddresses);
    const scopes = listed === undefined ? null : JSON.stringify(listed);
    const held = { heldPeriodNo: periodNo, heldCharacters: heldCharacters ?? 0, ...packedWindow(window) };
    this.#run('UPDATE keys SET guarded = 1 WHERE no = ?', key);
    this.#insert('key_limits', { key, team, disabled, expiresAtMs, requestsPerSecond, characters, addresses, scopes, windows, ...held });
  }

  /** If only the total of an unclosed period is known, it is assigned to the first key, because nothing reports whose it was. */
  #writePeriods(team: number, keys: ReadonlyMap<string, number>, { team: whole, periods }: TeamContents): void {
    for (const { number: no, startMs, endMs, closed, held, characters, requests, credit, keys: counted } of periods) {
      const { plan, limits } = held ?? whole;
      const left = { leftMs: endMs, plan, limits: JSON.stringify(limits), closedCharacters: closed ? characters : null };
      const money = { closedRequests: closed ? (requests ?? null) : null, ...creditColumns(credit) };
      this.#insert('periods', { team, no, startMs, endMs: Math.max(endMs, startMs + 1), ...left, ...money });
      const [first] = keys.keys();
      const counts =
        counted ??
        (closed || characters === 0 || first === undefined ? [] : [{ keyId: first, characters, requests: Math.max(1, requests ?? 1) }]);
      for (const { keyId, ...count } of counts) this.#insert('usage', { team, periodNo: no, key: keys.get(keyId)!, ...count });
    }
  }

  #writeGlossaries(team: number, { glossaries, glossaryBytes }: TeamContents, entries: ReadonlyMap<string, EntryPieces>): void {
    for (const { table: kind, id, value } of glossaryTableRecords(glossaries, glossaryBytes))
      this.#insert('records', { team, kind, id, value });
    for (const [blob, pieces] of entries) {
      this.#insert('blobs', { team, id: blob, pieceCount: pieces.length });
      for (const [place, piece] of pieces.entries()) this.#insert('pieces', { team, blob, place, piece });
    }
  }

  /** Inserts a row given by property names, which are converted to column names. Returns its number. */
  #insert(table: string, row: Readonly<Record<string, SQLInputValue>>): number {
    const names = Object.keys(row);
    const sql = `INSERT INTO ${table} (${names.map(columnOf).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    return Number(this.#run(sql, ...Object.values(row)).lastInsertRowid);
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

function creditColumns(credit: PeriodCredit | undefined): Readonly<Record<string, number | null>> {
  const { openingMicro = null, addedMicro = 0, deductedMicro = 0, balanceMicro = null } = credit ?? {};
  return { openingMicro, addedMicro, deductedMicro, balanceMicro };
}

function packedWindow(window: TeamContents['window']): { readonly windowNewestMs: number; readonly window: Uint8Array } {
  const packed = new RateWindow(new Uint8Array(), 0);
  for (const { atMs, count } of window) for (let i = 0; i < count; i++) packed.take(atMs);
  return { windowNewestMs: packed.newestMs, window: packed.packed() };
}

/** The last day with usage, unless it is done; 0 for none. */
function runningDay({ days, dayDone }: Pick<TeamContents, 'days' | 'dayDone'>): number {
  const last = days.reduce((most, { day }) => Math.max(most, day), 0);
  return last > dayDone ? last : 0;
}
