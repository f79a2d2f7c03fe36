// Remembered requests as rows: claimed, finished and forgotten in transactions of their own.
import type { DatabaseSync } from 'node:sqlite';
import { REQUEST_REMEMBERED_MS, REQUESTS_MAX } from '../../domain/reservation.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Claimed, HeldRequest, IdempotencyRecords, RequestClaim } from '../../ports/idempotency-records.ts';
import type { GroupCommit } from './group-commit.ts';
import { NOT_ERASED } from './sqlite-schema.ts';
import { objects, prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

interface RequestRow {
  readonly request: string;
  readonly recordId: string;
  /** Null if nobody runs it. */
  readonly holder: string | null;
  readonly leaseUntilMs: number;
  readonly answer: string | null;
}

const SQL = {
  find: objects<RequestRow>(`SELECT request, record_id AS recordId, holder, lease_until_ms AS leaseUntilMs, answer
    FROM requests WHERE id = ? AND until_ms > ?`),
  add: `INSERT OR REPLACE INTO requests (id, request, record_id, team_id, holder, lease_until_ms, until_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  hold: 'UPDATE requests SET holder = ?, lease_until_ms = ? WHERE id = ?',
  // A negative limit would be none. The one just added may be the oldest after a clock has gone back.
  dropOldest: `DELETE FROM requests WHERE id IN
    (SELECT id FROM requests WHERE id <> ? ORDER BY until_ms LIMIT (SELECT max(0, count(*) - ${REQUESTS_MAX}) FROM requests))`,
  finish: 'UPDATE requests SET holder = NULL, answer = ?, team_id = coalesce(?, team_id) WHERE id = ? AND holder = ?',
  isTeam: tuples<[1]>(`SELECT 1 FROM teams WHERE team_id = ? AND erasure = ${NOT_ERASED}`),
  forget: 'DELETE FROM requests WHERE id = ? AND holder = ?',
  release: 'UPDATE requests SET holder = NULL WHERE id = ? AND holder = ?',
  oldest: tuples<[untilMs: number | null]>('SELECT min(until_ms) FROM requests'),
  clear: 'DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE until_ms <= ? ORDER BY until_ms LIMIT ?)',
};

export class SqliteIdempotency implements IdempotencyRecords {
  readonly #group: GroupCommit;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, group: GroupCommit) {
    this.#group = group;
    this.#sql = prepared(database, SQL);
  }

  claim({ id, request, recordId, teamId, holder, leaseMs }: RequestClaim): Promise<Claimed | StoreUnavailable> {
    return this.#group.run((nowMs) => {
      const found = this.#sql.find.get(id, nowMs);
      if (found === undefined) {
        this.#sql.add.run(id, request, recordId, teamId ?? null, holder, nowMs + leaseMs, nowMs + REQUEST_REMEMBERED_MS);
        this.#sql.dropOldest.run(id);
        return { kind: 'claimed', recordId };
      }
      if (found.request !== request) return { kind: 'other_request' };
      if (found.answer !== null) return { kind: 'answered', answer: found.answer };
      if (found.holder !== null && found.holder !== holder && found.leaseUntilMs > nowMs) return { kind: 'running' };
      this.#sql.hold.run(holder, nowMs + leaseMs, id);
      return { kind: 'claimed', recordId: found.recordId };
    });
  }

  finish({ id, holder }: HeldRequest, answer: string, teamId: string | undefined): Promise<StoreUnavailable | undefined> {
    return this.#group.run(() => {
      if (teamId !== undefined && this.#sql.isTeam.get(teamId) === undefined) this.#sql.forget.run(id, holder);
      else this.#sql.finish.run(answer, teamId ?? null, id, holder);
      return undefined;
    });
  }

  release({ id, holder }: HeldRequest, next: 'forget' | 'repeat'): Promise<StoreUnavailable | undefined> {
    return this.#group.run(() => void (next === 'forget' ? this.#sql.forget : this.#sql.release).run(id, holder));
  }

  isDue(nowMs: number): boolean {
    const [untilMs] = this.#sql.oldest.get()!;
    return untilMs !== null && untilMs <= nowMs;
  }

  /** Deletes those whose time is over, at most `most`. */
  clear(nowMs: number, most: number): void {
    this.#sql.clear.run(nowMs, most);
  }
}
