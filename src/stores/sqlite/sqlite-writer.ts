// Writes the complete contents of another store to a database file, which is marked as half-written until it is complete.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import type { PeriodCredit } from '../../domain/period-credit.ts';
import type {
  KeyContents,
  LooseContents,
  LooseUsage,
  StoreReader,
  StoreWriter,
  TeamContents,
  ToldRefusal,
} from '../../ports/store-contents.ts';
import { usesByMode } from '../records/charge-sums.ts';
import { recordsToWrite } from '../records/team-records.ts';
import { EventRows } from './event-rows.ts';
import { RateWindow } from './rate-window.ts';
import { tagColumn } from './request-ids.ts';
import { NO_DIGEST, SqliteReader, STATES } from './sqlite-reader.ts';
import { SCHEMA } from './schema-steps.ts';
import { LIMITS, ONLY_USAGE_LEFT, TEST_KEYS, WHOLE_TEAM } from './sqlite-schema.ts';
import { columnOf } from './statements.ts';

/** Teams written per transaction. */
const TEAMS_PIECE = 500;

export class SqliteWriter implements StoreWriter {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #statements = new Map<string, StatementSync>();
  readonly #events: EventRows;
  #inTransaction = 0;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#events = new EventRows(database);
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
    for (const request of contents.requests) {
      const { requestId, state, untilMs, keyId, characters, priceMicro, periodNumber, ofAllowance, tickets, tag } = request;
      // The owner of a settled id does not matter, but the schema requires some key and period.
      const owner = { key: keys.get(keyId ?? '') ?? [...keys.values()][0] ?? 0, periodNo: periodNumber ?? contents.period.number };
      const whose = state === 'released' ? { key: null, periodNo: null } : owner;
      const counted = { ...(tickets === undefined ? {} : { tickets: JSON.stringify(tickets) }), tag: tagColumn(tag) };
      const held = { characters, priceMicro, ofAllowance: ofAllowance ? 1 : 0, ...counted };
      this.#insert('operations', { requestId, team, state: STATES.indexOf(state), untilMs, ...held, ...whose });
    }
    for (const { subject, counts } of contents.windowCounts)
      this.#insert('window_counts', { team, subject, counts: JSON.stringify(counts) });
    for (const { number, percent } of contents.toldPercents) this.#insert('told_percents', { team, periodNo: number, percent });
    for (const one of contents.toldRefusals) {
      const told = one.code === 'quota_exceeded' || one.told ? 1 : 0;
      this.#insert('told_refusals', { team, key: toldKey(one, keys), code: one.code, number: one.number, told });
    }
    for (const { table, id, value } of recordsToWrite(contents)) this.#insert('records', { team, kind: table, id, value });
    for (const [blob, pieces] of entries) {
      this.#insert('blobs', { team, id: blob, pieceCount: pieces.length });
      for (const [place, piece] of pieces.entries()) this.#insert('pieces', { team, blob, place, piece });
    }
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
      case 'usage':
        this.#writeKept(record);
        break;
      case 'audit':
        this.#insert('audit', { id: record.id, teamId: record.teamId ?? null, record: JSON.stringify(record.record) });
        break;
      case 'event':
        this.#events.keep(record);
        break;
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

  #writeTeam(contents: TeamContents): number {
    const {
      team: whole,
      period,
      usedCharacters,
      heldCharacters,
      allowanceUsed,
      allowanceHeld,
      heldMicro,
      window,
      days,
      dayDone,
    } = contents;
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
    const counts = { heldMicro, usedCharacters, heldCharacters, allowanceUsed, allowanceHeld };
    this.#insert('books', { team, balanceMicro, ...counts, ...current, ...packedWindow(window) });
    return team;
  }

  #writeKept({ teamId, createdAtMs, plan, limits, keys, days, periods }: LooseUsage): void {
    const numbers = Object.fromEntries(LIMITS.map((name) => [name, limits[name]]));
    const team = this.#insert('teams', { teamId, name: '', createdAtMs, plan, ...numbers, erasure: ONLY_USAGE_LEFT });
    const keyNumbers = new Map<string, number>();
    for (const { keyId, mode, createdAtMs: madeAtMs } of keys) {
      const erased = { digest: `erased ${keyId}`, display: '', label: '', revokedAtMs: madeAtMs };
      keyNumbers.set(keyId, this.#insert('keys', { keyId, team, ...erased, mode, createdAtMs: madeAtMs }));
    }
    for (const { keyId, day, ...counts } of days) this.#insert('usage_days', { team, day, key: keyNumbers.get(keyId)!, ...counts });
    for (const { number: no, startMs, endMs, characters, allowanceUsed, testCharacters, requests, credit, ...last } of periods) {
      const bounds = { startMs, endMs: Math.max(endMs, startMs + 1), leftMs: endMs };
      const left = { plan: last.plan, limits: JSON.stringify(last.limits), allowanceUsed };
      const counts = { closedCharacters: characters, closedRequests: requests, closedTestCharacters: testCharacters };
      this.#insert('periods', { team, no, ...bounds, ...left, ...counts, ...creditColumns(credit) });
    }
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

  #writePeriods(team: number, numbers: ReadonlyMap<string, number>, { periods, keys }: TeamContents): void {
    for (const period of periods) {
      const { number: no, startMs, endMs, closed, plan, limits, characters, allowanceUsed, testCharacters, requests, credit } = period;
      const left = { leftMs: endMs, plan, limits: JSON.stringify(limits), closedCharacters: closed ? characters : null };
      const tests = { allowanceUsed, closedTestCharacters: closed ? testCharacters : null };
      const money = { closedRequests: closed ? requests : null, ...tests, ...creditColumns(credit) };
      this.#insert('periods', { team, no, startMs, endMs: Math.max(endMs, startMs + 1), ...left, ...money });
      for (const { keyId, ...count } of period.keys ?? (closed ? [] : usesByMode(period, keys)))
        this.#insert('usage', { team, periodNo: no, key: numbers.get(keyId)!, ...count });
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

function toldKey(told: ToldRefusal, keys: ReadonlyMap<string, number>): number {
  if (told.code === 'credit_exhausted') return WHOLE_TEAM;
  if (told.testKeys === true) return TEST_KEYS;
  return told.keyId === undefined ? WHOLE_TEAM : keys.get(told.keyId)!;
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
