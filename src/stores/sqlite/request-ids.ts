// Request ids: open, settled, and deleted in small batches when they are no longer remembered.
import type { DatabaseSync } from 'node:sqlite';
import type { RequestTag } from '../../domain/request-tag.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { WindowTickets } from '../../domain/window-limits.ts';
import type { TeamAccount } from './accounts.ts';
import { OPEN, RELEASED } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { constraintViolationOf } from './store-fault.ts';

/** Expired ids count as unknown when read. After every `CLEAR_EVERY` new ids, up to twice as many rows are deleted. */
const CLEAR_EVERY = 64;
const CLEAR_MAX = 128;

interface KnownId {
  readonly state: number;
  readonly untilMs: number;
  readonly characters: number;
}

/** What an open reservation holds, and for which key and period. */
export interface Held {
  /** The key's row number. */
  readonly key: number;
  readonly characters: number;
  readonly priceMicro: number;
  readonly periodNo: number;
  /** Whether it is of the allowance for test keys. */
  readonly ofAllowance: boolean;
  /** In the windows of its subjects, if it was counted in any. */
  readonly tickets?: WindowTickets | undefined;
  readonly tag?: RequestTag | undefined;
}

type HeldRow = [
  key: number,
  characters: number,
  priceMicro: number,
  periodNo: number,
  ofAllowance: number,
  tickets: string | null,
  tag: string | null,
];

const ADDED = `INTO operations (request_id, team, state, until_ms, key, characters, price_micro, period_no, of_allowance, tickets, tag)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const NOTHING = { key: null, characters: 0, priceMicro: 0, periodNo: null, ofAllowance: false, tickets: undefined, tag: undefined };
const RANGE = '(request_id, team) > (?, ?) AND (request_id, team) <= (?, ?)';
const FIRST: readonly [string, number] = ['', -1];
const RESOLVED = `UPDATE operations SET state = ?, until_ms = ? WHERE request_id = ? AND team = ? AND state = ${OPEN}`;

const SQL = {
  find: tuples<[state: number, untilMs: number, characters: number]>(
    'SELECT state, until_ms, characters FROM operations WHERE request_id = ? AND team = ?',
  ),
  add: `INSERT ${ADDED}`,
  // Replaces an expired row of the id that has not been deleted yet.
  addOver: `INSERT OR REPLACE ${ADDED}`,
  resolve: tuples<HeldRow>(`${RESOLVED} RETURNING key, characters, price_micro, period_no, of_allowance, tickets, tag`),
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

  /**
   * Writes the row of a new id, open until `untilMs` with what it holds, or released. False if there is a row already, which is
   * kept unless `over` is set.
   */
  add(team: TeamAccount, requestId: string, held: Held | undefined, untilMs: number, nowMs: number, over: boolean): boolean {
    const { key, characters, priceMicro, periodNo, ofAllowance, tickets, tag } = held ?? NOTHING;
    const state = held === undefined ? RELEASED : OPEN;
    const statement = over ? this.#sql.addOver : this.#sql.add;
    try {
      const written = tickets === undefined ? null : JSON.stringify(tickets);
      statement.get(
        requestId,
        team.no,
        state,
        untilMs,
        key,
        characters,
        priceMicro,
        periodNo,
        ofAllowance ? 1 : 0,
        written,
        tagColumn(tag),
      );
    } catch (error) {
      // Ids repeat so rarely that handling an error is cheaper than counting changes every time.
      if (constraintViolationOf(error) === 'exists') return false;
      throw error;
    }
    if (held !== undefined) team.held.add(requestId, held);
    if (++this.#sinceCleared >= CLEAR_EVERY) {
      this.#sinceCleared = 0;
      this.clear(nowMs, CLEAR_MAX);
    }
    return true;
  }

  /** What an open reservation held; `undefined` if the id is not open. */
  resolve(team: TeamAccount, requestId: string, state: number, nowMs: number): Held | undefined {
    const held = team.held.take(requestId);
    if (held !== undefined) {
      // Not with RETURNING, which would double the cost.
      return this.#sql.resolveHeld.run(state, nowMs + REMEMBER_MS, requestId, team.no).changes === 0 ? undefined : held;
    }
    const row = this.#sql.resolve.get(state, nowMs + REMEMBER_MS, requestId, team.no);
    if (row === undefined) return undefined;
    const [key, characters, priceMicro, periodNo, ofAllowance, tickets, tag] = row;
    const carried = { tickets: readTickets(tickets), tag: readTagColumn(tag) };
    return { key, characters, priceMicro, periodNo, ofAllowance: ofAllowance === 1, ...carried };
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
}

/** From its column. */
export function readTickets(column: string | null): WindowTickets | undefined {
  return column === null ? undefined : (JSON.parse(column) as WindowTickets);
}

/** The column of a request's tag. */
export function tagColumn(tag: RequestTag | undefined): string | null {
  return tag === undefined ? null : `${tag.distinctMax} ${tag.name}`;
}

export function readTagColumn(column: string | null): RequestTag | undefined {
  if (column === null) return undefined;
  const at = column.indexOf(' ');
  return { name: column.slice(at + 1), distinctMax: Number(column.slice(0, at)) };
}

interface Entry {
  readonly requestId: string;
  readonly held: Held;
  next: Entry | undefined;
}

const BUCKETS_AT_FIRST = 16;
/** Ids differ in their last characters, because they either count up or are random. */
const HASHED = 4;

/**
 * What a team's open reservations hold, by request id. Not a `Map`: V8 moves a `Map` to a new table every few dozen
 * changes, and the old table refers to the new one. Once the old one is in the old generation, it keeps everything added later
 * alive until a full collection. Here entries only refer to older ones.
 */
export class HeldReservations {
  #buckets = emptyBuckets(BUCKETS_AT_FIRST);
  #size = 0;

  /** The id must not be in it yet. */
  add(requestId: string, held: Held): void {
    if (this.#size === this.#buckets.length * 2) this.#grow();
    const at = this.#bucketOf(requestId);
    this.#buckets[at] = { requestId, held, next: this.#buckets[at] };
    this.#size++;
  }

  /** Removes and returns the entry; `undefined` if there is none. */
  take(requestId: string): Held | undefined {
    const at = this.#bucketOf(requestId);
    let before: Entry | undefined;
    for (let entry = this.#buckets[at]; entry !== undefined; entry = entry.next) {
      if (entry.requestId === requestId) {
        if (before === undefined) this.#buckets[at] = entry.next;
        else before.next = entry.next;
        this.#size--;
        return entry.held;
      }
      before = entry;
    }
    return undefined;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#buckets = emptyBuckets(BUCKETS_AT_FIRST);
    this.#size = 0;
  }

  #bucketOf(requestId: string): number {
    let hash = 0;
    for (let at = Math.max(0, requestId.length - HASHED); at < requestId.length; at++) hash = hash * 31 + requestId.charCodeAt(at);
    return hash & (this.#buckets.length - 1);
  }

  #grow(): void {
    const before = this.#buckets;
    this.#buckets = emptyBuckets(before.length * 2);
    this.#size = 0;
    for (const first of before) for (let entry = first; entry !== undefined; entry = entry.next) this.add(entry.requestId, entry.held);
  }
}

function emptyBuckets(length: number): (Entry | undefined)[] {
  return Array.from({ length }, () => undefined);
}
