// The team cache of transactions: each team is read once and written once, and operations in between work in memory.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { TeamLimits } from '../../domain/plan.ts';
import { GUARD_COLUMNS, KeyGuard } from './key-guard.ts';
import { RateWindow } from './rate-window.ts';
import { LIMITS, NOT_ERASED, OPEN } from './sqlite-schema.ts';
import { assigned, membersOf, prepared, selected, tuples, valuesOf } from './statements.ts';
import type { Numbers, Statements } from './statements.ts';
import { BOOKS, KEY_BOOKS, KeyBooks, TeamBooks } from './team-books.ts';

/**
 * The other columns are written when a period or day begins: each has a foreign key or an index, which costs lookups on every
 * write.
 */
const { periodNo: _periodNo, periodEndMs: _periodEndMs, day: _day, ...WRITTEN } = BOOKS;

/** About a kilobyte each. The cache is cleared when it grows beyond this. */
const TEAMS_MAX = 10_000;

const KEY = `k.no, k.key_id, k.revoked_at_ms, k.guarded, ${selected(KEY_BOOKS, 'u')}`;
const OF_KEY = 'u.team = k.team AND u.key = k.no';
const TEAM = `t.no, (SELECT min(o.until_ms) FROM operations o WHERE o.team = t.no AND o.state = ${OPEN}),
  b.window_newest_ms, b.window, ${selected(BOOKS, 'b')}, ${selected(LIMITS, 't')}`;

/** Offsets of the columns in `TEAM`. */
const [BOOKS_AT, LIMITS_AT] = [4, 4 + Object.keys(BOOKS).length];
const KEY_AT = LIMITS_AT + Object.keys(LIMITS).length;

const SQL = {
  dataVersion: tuples<[SQLOutputValue]>('PRAGMA data_version'),
  team: tuples<SQLOutputValue[]>(`SELECT ${TEAM}, ${KEY} FROM teams t JOIN books b ON b.team = t.no
    LEFT JOIN keys k ON k.key_id = ? AND k.team = t.no LEFT JOIN key_books u ON ${OF_KEY}
    WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED}`),
  key: tuples<SQLOutputValue[]>(`SELECT ${KEY} FROM keys k JOIN key_books u ON ${OF_KEY} WHERE k.key_id = ? AND k.team = ?`),
  plan: tuples<[string]>('SELECT plan FROM teams WHERE no = ?'),
  keyByNumber: tuples<SQLOutputValue[]>(`SELECT ${KEY} FROM keys k JOIN key_books u ON ${OF_KEY} WHERE k.no = ?`),
  guard: `SELECT ${GUARD_COLUMNS} FROM key_limits l WHERE l.key = ?`,
  guarded: 'SELECT 1 FROM key_limits WHERE team = ? AND characters IS NOT NULL LIMIT 1',
  write: `UPDATE books SET ${assigned(WRITTEN)}, window_newest_ms = ?, window = ? WHERE team = ?`,
  writeKey: `UPDATE key_books SET ${assigned(KEY_BOOKS)} WHERE team = ? AND key = ?`,
  writeGuard: 'UPDATE key_limits SET held_period_no = ?, held_characters = ?, window_newest_ms = ?, window = ? WHERE key = ?',
};

export class Books {
  readonly #sql: Statements<typeof SQL>;
  readonly #teams = new Map<string, TeamBooks>();
  readonly #changed: TeamBooks[] = [];
  readonly #changedKeys: KeyBooks[] = [];
  readonly #changedGuards: KeyBooks[] = [];
  #version: SQLOutputValue = null;

  constructor(database: DatabaseSync) {
    this.#sql = prepared(database, SQL);
  }

  /** Called at the start of a transaction: drops the cache if another connection has changed the file since the last one. */
  begin(): void {
    const version = this.#sql.dataVersion.get()![0];
    if (version !== this.#version || this.#teams.size > TEAMS_MAX) this.forget();
    this.#version = version;
  }

  /** `undefined` if there is no such team. Reads a key that will be needed in the same query. */
  team(teamId: string, keyId = ''): TeamBooks | undefined {
    const known = this.#teams.get(teamId);
    if (known !== undefined) return known;
    const row = this.#sql.team.get(keyId, teamId);
    if (row === undefined) return undefined;
    const team = teamOf(teamId, row);
    if (row[KEY_AT] !== null) team.add(this.#guarding(new KeyBooks(team, row, KEY_AT)));
    this.#teams.set(teamId, team);
    return team;
  }

  /** `undefined` if the team has no such key. */
  key(team: TeamBooks, keyId: string): KeyBooks | undefined {
    const known = team.keys.get(keyId);
    if (known !== undefined) return known;
    const row = this.#sql.key.get(keyId, team.no);
    return row === undefined ? undefined : team.add(this.#guarding(new KeyBooks(team, row, 0)));
  }

  /** Name of the team's plan. Read on first use, because most gateways never need it. */
  planOf(team: TeamBooks): string {
    return (team.planName ??= this.#sql.plan.get(team.no)![0]);
  }

  /** The key of a reservation, which always exists. */
  keyOf(team: TeamBooks, no: number): KeyBooks {
    return team.keys.get(no) ?? team.add(this.#guarding(new KeyBooks(team, this.#sql.keyByNumber.get(no)!, 0)));
  }

  /** Whether any key of the team has a character limit. */
  limitsKeys(team: TeamBooks): boolean {
    return this.#sql.guarded.get(team.no) !== undefined;
  }

  /** Adds to what the key's reservations hold; a negative number frees it. */
  hold(key: KeyBooks, characters: number, periodNo: number): void {
    if (key.guard?.hold(characters, periodNo, key.team.counts) === true) this.touchGuard(key);
  }

  touch(team: TeamBooks): void {
    if (team.changed) return;
    team.changed = true;
    this.#changed.push(team);
  }

  touchKey(key: KeyBooks): void {
    if (key.changed) return;
    key.changed = true;
    this.#changedKeys.push(key);
  }

  touchGuard(key: KeyBooks): void {
    if (key.guard === undefined || key.guard.changed) return;
    key.guard.changed = true;
    this.#changedGuards.push(key);
  }

  /** Called before a COMMIT, and before anything else reads or writes these tables. */
  flush(): void {
    // `get` because `run` builds a result object, which takes a quarter of a microsecond each time.
    for (const team of this.#changed) {
      const { counts, window, no } = team;
      this.#sql.write.get(...valuesOf(WRITTEN, counts), window.newestMs, window.packed(), no);
      team.changed = false;
    }
    this.#changed.length = 0;
    for (const key of this.#changedKeys) {
      this.#sql.writeKey.get(...valuesOf(KEY_BOOKS, key.counts), key.team.no, key.no);
      key.changed = false;
    }
    this.#changedKeys.length = 0;
    for (const { guard, no } of this.#changedGuards) {
      const { heldPeriodNo, heldCharacters, window } = guard!;
      this.#sql.writeGuard.run(heldPeriodNo, heldCharacters, window.newestMs, window.packed(), no);
      guard!.changed = false;
    }
    this.#changedGuards.length = 0;
  }

  /** Called after a rollback, and after anything else wrote these tables: the cache no longer matches the file. */
  forget(): void {
    this.#teams.clear();
    this.#changed.length = 0;
    this.#changedKeys.length = 0;
    this.#changedGuards.length = 0;
  }

  #guarding(key: KeyBooks): KeyBooks {
    const row = key.isGuarded ? this.#sql.guard.get(key.no) : undefined;
    if (row !== undefined) key.guard = new KeyGuard(row);
    return key;
  }
}

function teamOf(teamId: string, row: readonly SQLOutputValue[]): TeamBooks {
  const [no, leaseDueMs, newestMs, packed] = row as unknown as [number, number | null, number, Uint8Array];
  const counts = membersOf(BOOKS, row, BOOKS_AT) as Numbers<typeof BOOKS>;
  const limits = membersOf(LIMITS, row, LIMITS_AT) as unknown as TeamLimits;
  return new TeamBooks(teamId, { no, leaseDueMs }, limits, counts, new RateWindow(packed, newestMs));
}
