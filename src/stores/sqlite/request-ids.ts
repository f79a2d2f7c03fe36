// Request ids: open, settled, and deleted in small batches when they are no longer remembered.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { Held } from './held-reservations.ts';
import { constraintViolationOf } from './store-fault.ts';
import { OPEN, RELEASED } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statement, Statements } from './statements.ts';
import type { TeamBooks } from './team-books.ts';

/** Expired ids count as unknown when read. After every `CLEAR_EVERY` new ids, up to twice as many rows are deleted. */
const CLEAR_EVERY = 64;
const CLEAR_MAX = 128;

export interface KnownId {
  readonly state: number;
  readonly untilMs: number;
  readonly characters: number;
}

export interface NewReservation {
  readonly requestId: string;
  readonly untilMs: number;
  readonly characters: number;
  readonly priceMicro: number;
}

const OPENED = `INTO operations (request_id, team, state, until_ms, key, characters, price_micro, period_no)
  VALUES (?, ?, ${OPEN}, ?, ?, ?, ?, ?)`;
const CLOSED = `INTO operations (request_id, team, state, until_ms, characters, price_micro) VALUES (?, ?, ${RELEASED}, ?, 0, 0)`;
const RANGE = '(request_id, team) > (?, ?) AND (request_id, team) <= (?, ?)';
const FIRST: readonly [string, number] = ['', -1];
const RESOLVED = `UPDATE operations SET state = ?, until_ms = ? WHERE request_id = ? AND team = ? AND state = ${OPEN}`;

const SQL = {
  find: tuples<[state: number, untilMs: number, characters: number]>(
    'SELECT state, until_ms, characters FROM operations WHERE request_id = ? AND team = ?',
  ),
  open: `INSERT ${OPENED}`,
  close: `INSERT ${CLOSED}`,
  // Replaces an expired row of the id that has not been deleted yet.
  openOver: `INSERT OR REPLACE ${OPENED}`,
  closeOver: `INSERT OR REPLACE ${CLOSED}`,
  resolve: tuples<[key: number, characters: number, priceMicro: number, periodNo: number]>(
    `${RESOLVED} RETURNING key, characters, price_micro, period_no`,
  ),
  resolveHeld: RESOLVED,
  rangeEnd: tuples<[string, number]>(`SELECT request_id, team FROM operations WHERE (request_id, team) > (?, ?)
    ORDER BY request_id, team LIMIT 1 OFFSET ?`),
  last: tuples<[string, number]>('SELECT request_id, team FROM operations ORDER BY request_id DESC, team DESC LIMIT 1'),
  clear: `DELETE FROM operations WHERE ${RANGE} AND state > ${OPEN} AND until_ms <= ?`,
  later: `SELECT 1 FROM operations WHERE ${RANGE} AND state > ${OPEN} LIMIT 1`,
  firstResolved: tuples<[untilMs: number]>(`SELECT until_ms FROM operations WHERE state > ${OPEN} ORDER BY request_id, team LIMIT 1`),
};

export class RequestIds {
  readonly #sql: Statements<typeof SQL>;
  #sinceCleared = 0;
  /** The id after which clearing continues. */
  #cursor = FIRST;

  constructor(database: DatabaseSync) {
    this.#sql = prepared(database, SQL);
  }

  /** `undefined` if the id is unknown or no longer remembered. */
  find(team: number, requestId: string, nowMs: number): KnownId | undefined {
    const row = this.#sql.find.get(requestId, team);
    return row === undefined || nowMs >= row[1] ? undefined : { state: row[0], untilMs: row[1], characters: row[2] };
  }

  /** False if there is a row already, which is kept unless `over` is set. */
  addOpen(team: TeamBooks, key: number, reservation: NewReservation, nowMs: number, over: boolean): boolean {
    const { requestId, untilMs, characters, priceMicro } = reservation;
    const statement = over ? this.#sql.openOver : this.#sql.open;
    const { periodNo } = team.counts;
    if (!isAdded(statement, requestId, team.no, untilMs, key, characters, priceMicro, periodNo)) return false;
    team.held.add(requestId, { key, characters, priceMicro, periodNo });
    this.#tick(nowMs);
    return true;
  }

  /** Adds an id that holds nothing; its state is released. */
  addReleased(team: number, requestId: string, nowMs: number, over: boolean): boolean {
    const statement = over ? this.#sql.closeOver : this.#sql.close;
    if (!isAdded(statement, requestId, team, nowMs + REMEMBER_MS)) return false;
    this.#tick(nowMs);
    return true;
  }

  /** What an open reservation held; `undefined` if the id is not open. */
  resolve(team: TeamBooks, requestId: string, state: number, nowMs: number): Held | undefined {
    const held = team.held.take(requestId);
    if (held !== undefined) {
      // Not with RETURNING, which would double the cost.
      return this.#sql.resolveHeld.run(state, nowMs + REMEMBER_MS, requestId, team.no).changes === 0 ? undefined : held;
    }
    const row = this.#sql.resolve.get(state, nowMs + REMEMBER_MS, requestId, team.no);
    return row === undefined ? undefined : { key: row[0], characters: row[1], priceMicro: row[2], periodNo: row[3] };
  }

  /**
   * Checks the next `rowsMax` ids of all teams and deletes those that are due. Ids grow with time, so the first ones are due
   * first: it restarts from the beginning at the first settled id that is not due yet, and skips open ones, however many there
   * are.
   */
  clear(nowMs: number, rowsMax: number): void {
    const end = this.#sql.rangeEnd.get(...this.#cursor, rowsMax - 1) ?? this.#sql.last.get();
    if (end === undefined) return;
    this.#sql.clear.run(...this.#cursor, ...end, nowMs);
    const isLast = this.#sql.rangeEnd.get(...end, 0) === undefined;
    this.#cursor = isLast || this.#sql.later.get(...this.#cursor, ...end) !== undefined ? FIRST : end;
  }

  /** Whether clearing justifies taking the write lock. */
  isDue(nowMs: number): boolean {
    const row = this.#sql.firstResolved.get();
    return row !== undefined && row[0] <= nowMs;
  }

  /** Called for each new id, so that clearing keeps up. */
  #tick(nowMs: number): void {
    if (++this.#sinceCleared < CLEAR_EVERY) return;
    this.#sinceCleared = 0;
    this.clear(nowMs, CLEAR_MAX);
  }
}

/** False if the row exists. Ids repeat so rarely that handling an error is cheaper than counting changes every time. */
function isAdded(statement: Statement<unknown>, ...values: SQLInputValue[]): boolean {
  try {
    statement.get(...values);
    return true;
  } catch (error) {
    if (constraintViolationOf(error) === 'exists') return false;
    throw error;
  }
}
