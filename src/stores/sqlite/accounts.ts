// The team cache of transactions: each team is read once and written once, and operations in between work in memory.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { TeamLimits } from '../../domain/plan.ts';
import { WindowCounts } from '../../ledger/counter.ts';
import type { StoredCounts } from '../../domain/window-limits.ts';
import { tagOfSubject } from '../../domain/window-limits.ts';
import type { WindowSubject, WindowTickets } from '../../domain/window-limits.ts';
import { GUARD_COLUMNS, KeyGuard } from './key-guard.ts';
import { RateWindow } from './rate-window.ts';
import { HeldReservations } from './request-ids.ts';
import type { ThresholdMark } from './sqlite-events.ts';
import { LIMITS, NOT_ERASED, OPEN } from './sqlite-schema.ts';
import { membersOf, prepared, selected, tuples } from './statements.ts';
import type { Numbers, Statements } from './statements.ts';
import { TagAccounts } from './tag-accounts.ts';

/**
 * A team's row in `books`, except for the window. `periodNo` is the number of the current period, `day` the UTC day that the keys'
 * rows currently count; 0 for none.
 */
export const ACCOUNT = [
  'balanceMicro',
  'heldMicro',
  'periodNo',
  'periodEndMs',
  'usedCharacters',
  'heldCharacters',
  'allowanceUsed',
  'allowanceHeld',
  'day',
] as const;

/**
 * A key's row in `key_books`: its last use (0 for never), its counts in the period it was last charged in, and those of the
 * team's current day.
 */
const KEY_ACCOUNT = ['lastUsedAtMs', 'periodNo', 'characters', 'requests', 'dayCharacters', 'dayRequests'] as const;

/** About a kilobyte each. The cache is cleared when it grows beyond this. */
const TEAMS_MAX = 10_000;

const KEY = `k.no, k.key_id, k.revoked_at_ms, k.guarded, k.mode, ${selected(KEY_ACCOUNT, 'u')}`;
const OF_KEY = 'u.team = k.team AND u.key = k.no';
const TEAM = `t.no, (SELECT min(o.until_ms) FROM operations o WHERE o.team = t.no AND o.state = ${OPEN}),
  b.window_newest_ms, b.window, ${selected(ACCOUNT, 'b')}, ${selected(LIMITS, 't')}`;

/** Offsets of the columns in `TEAM`. */
const [ACCOUNT_AT, LIMITS_AT] = [4, 4 + ACCOUNT.length];
const KEY_AT = LIMITS_AT + LIMITS.length;

const SQL = {
  dataVersion: tuples<[SQLOutputValue]>('PRAGMA data_version'),
  team: tuples<SQLOutputValue[]>(`SELECT ${TEAM}, ${KEY} FROM teams t JOIN books b ON b.team = t.no
    LEFT JOIN keys k ON k.key_id = ? AND k.team = t.no LEFT JOIN key_books u ON ${OF_KEY}
    WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED}`),
  key: tuples<SQLOutputValue[]>(`SELECT ${KEY} FROM keys k JOIN key_books u ON ${OF_KEY} WHERE k.key_id = ? AND k.team = ?`),
  plan: tuples<[string]>('SELECT plan FROM teams WHERE no = ?'),
  keyByNumber: tuples<SQLOutputValue[]>(`SELECT ${KEY} FROM keys k JOIN key_books u ON ${OF_KEY} WHERE k.no = ? AND k.team = ?`),
  guard: `SELECT ${GUARD_COLUMNS} FROM key_limits l WHERE l.key = ?`,
  guarded: 'SELECT 1 FROM key_limits WHERE team = ? AND characters IS NOT NULL LIMIT 1',
  writeAllowance: 'UPDATE books SET allowance_used = ?, allowance_held = ? WHERE team = ?',
  // The other columns are written when a period or day begins: each has a foreign key or an index, which costs lookups on every
  // write.
  write: `UPDATE books SET balance_micro = ?, held_micro = ?, used_characters = ?, held_characters = ?, window_newest_ms = ?,
    window = ? WHERE team = ?`,
  writeKey: `UPDATE key_books SET last_used_at_ms = ?, period_no = ?, characters = ?, requests = ?, day_characters = ?,
    day_requests = ? WHERE team = ? AND key = ?`,
  windowCounts: tuples<[counts: string]>('SELECT counts FROM window_counts WHERE team = ? AND subject = ?'),
  writeWindowCounts: 'INSERT OR REPLACE INTO window_counts (team, subject, counts) VALUES (?, ?, ?)',
  writeGuard: 'UPDATE key_limits SET held_period_no = ?, held_characters = ?, window_newest_ms = ?, window = ? WHERE key = ?',
};

export class Accounts {
  readonly #sql: Statements<typeof SQL>;
  readonly #teams = new Map<string, TeamAccount>();
  readonly #changed: TeamAccount[] = [];
  readonly #changedAllowances: TeamAccount[] = [];
  readonly #changedKeys: KeyInFile[] = [];
  readonly #changedGuards: KeyInFile[] = [];
  readonly #changedWindows: { readonly team: number; readonly subject: WindowSubject; readonly counts: WindowCounts }[] = [];
  readonly tags: TagAccounts;
  #version: SQLOutputValue = null;

  constructor(database: DatabaseSync) {
    this.#sql = prepared(database, SQL);
    this.tags = new TagAccounts(database);
  }

  /** Called at the start of a transaction: drops the cache if another connection has changed the file since the last one. */
  begin(): void {
    const version = this.#sql.dataVersion.get()![0];
    if (version !== this.#version || this.#teams.size > TEAMS_MAX) this.forget();
    this.#version = version;
  }

  /** `undefined` if there is no such team. Reads a key that will be needed in the same query. */
  team(teamId: string, keyId = ''): TeamAccount | undefined {
    const known = this.#teams.get(teamId);
    if (known !== undefined) return known;
    const row = this.#sql.team.get(keyId, teamId);
    if (row === undefined) return undefined;
    const team = new TeamAccount(teamId, row);
    if (row[KEY_AT] !== null) team.add(this.#guarding(new KeyInFile(team, row, KEY_AT)));
    this.#teams.set(teamId, team);
    return team;
  }

  /** By its id or row number; `undefined` if the team has no such key. */
  key(team: TeamAccount, key: string | number): KeyInFile | undefined {
    const known = team.keys.get(key);
    if (known !== undefined) return known;
    const row = (typeof key === 'string' ? this.#sql.key : this.#sql.keyByNumber).get(key, team.no);
    return row === undefined ? undefined : team.add(this.#guarding(new KeyInFile(team, row, 0)));
  }

  /** Name of the team's plan. Read on first use, because most gateways never need it. */
  planOf(team: TeamAccount): string {
    return (team.planName ??= this.#sql.plan.get(team.no)![0]);
  }

  /** Whether any key of the team has a character limit. */
  limitsKeys(team: TeamAccount): boolean {
    return this.#sql.guarded.get(team.no) !== undefined;
  }

  /** Adds to what the key's reservations hold; a negative number frees it. */
  hold(key: KeyInFile, characters: number, periodNo: number): void {
    if (key.guard?.hold(characters, periodNo, key.team.counts) === true) this.touchGuard(key);
  }

  /** Adds to what test keys use and hold of the plan's allowance; negative numbers free it. */
  moveAllowance(team: TeamAccount, used: number, held: number): void {
    team.counts.allowanceUsed += used;
    team.counts.allowanceHeld += held;
    if (team.allowanceChanged) return;
    team.allowanceChanged = true;
    this.#changedAllowances.push(team);
  }

  /** What a subject of the team has used of its windows; read on first use. */
  windowCounts(team: TeamAccount, subject: WindowSubject): WindowCounts {
    const known = team.windowCounts.get(subject);
    if (known !== undefined) return known;
    const row = this.#sql.windowCounts.get(team.no, subject);
    const counts = new WindowCounts(storedCounts(row?.[0]));
    team.windowCounts.set(subject, counts);
    return counts;
  }

  /** Characters of a reservation with these tickets, made in that period, are not charged after all. */
  giveBack(team: TeamAccount, tickets: WindowTickets | undefined, periodNo: number, characters: number): void {
    if (tickets === undefined || characters === 0) return;
    for (const [subject, ticket] of Object.entries(tickets) as [WindowSubject, number][]) {
      const tag = tagOfSubject(subject);
      if (tag !== undefined) {
        this.tags.giveBack(team, tag, ticket, periodNo, characters);
        continue;
      }
      this.windowCounts(team, subject).giveBack(ticket, characters);
      this.touchWindows(team, subject);
    }
  }

  touchWindows(team: TeamAccount, subject: WindowSubject): void {
    const counts = this.windowCounts(team, subject);
    if (counts.changed) return;
    counts.changed = true;
    this.#changedWindows.push({ team: team.no, subject, counts });
  }

  touch(team: TeamAccount): void {
    if (team.changed) return;
    team.changed = true;
    this.#changed.push(team);
  }

  touchKey(key: KeyInFile): void {
    if (key.changed) return;
    key.changed = true;
    this.#changedKeys.push(key);
  }

  touchGuard(key: KeyInFile): void {
    if (key.guard === undefined || key.guard.changed) return;
    key.guard.changed = true;
    this.#changedGuards.push(key);
  }

  /** Called before a COMMIT, and before anything else reads or writes these tables. */
  flush(): void {
    // `get` because `run` builds a result object, which takes a quarter of a microsecond each time.
    for (const team of this.#changed) {
      const { balanceMicro, heldMicro, usedCharacters, heldCharacters } = team.counts;
      const { newestMs } = team.window;
      this.#sql.write.get(balanceMicro, heldMicro, usedCharacters, heldCharacters, newestMs, team.window.packed(), team.no);
      team.changed = false;
    }
    this.#changed.length = 0;
    for (const team of this.#changedAllowances) {
      this.#sql.writeAllowance.run(team.counts.allowanceUsed, team.counts.allowanceHeld, team.no);
      team.allowanceChanged = false;
    }
    this.#changedAllowances.length = 0;
    for (const key of this.#changedKeys) {
      const { lastUsedAtMs, periodNo, characters, requests, dayCharacters, dayRequests } = key.counts;
      this.#sql.writeKey.get(lastUsedAtMs, periodNo, characters, requests, dayCharacters, dayRequests, key.team.no, key.no);
      key.changed = false;
    }
    this.#changedKeys.length = 0;
    for (const { guard, no } of this.#changedGuards) {
      const { heldPeriodNo, heldCharacters, window } = guard!;
      this.#sql.writeGuard.run(heldPeriodNo, heldCharacters, window.newestMs, window.packed(), no);
      guard!.changed = false;
    }
    this.#changedGuards.length = 0;
    for (const { team, subject, counts } of this.#changedWindows) {
      this.#sql.writeWindowCounts.run(team, subject, JSON.stringify(counts.stored()));
      counts.changed = false;
    }
    this.#changedWindows.length = 0;
  }

  /** Called after a rollback, and after anything else wrote these tables: the cache no longer matches the file. */
  forget(): void {
    this.#teams.clear();
    this.#changed.length = 0;
    this.#changedAllowances.length = 0;
    this.#changedKeys.length = 0;
    this.#changedGuards.length = 0;
    this.#changedWindows.length = 0;
  }

  #guarding(key: KeyInFile): KeyInFile {
    const row = key.isGuarded ? this.#sql.guard.get(key.no) : undefined;
    if (row !== undefined) key.guard = new KeyGuard(row);
    return key;
  }
}

/** From their column; `undefined` if nothing was counted. */
export function storedCounts(column: string | undefined): StoredCounts | undefined {
  return column === undefined ? undefined : (JSON.parse(column) as StoredCounts);
}

/** A team in memory: limits, counters, window and the keys used so far. */
export class TeamAccount {
  readonly teamId: string;
  readonly no: number;
  limits: TeamLimits;
  readonly counts: Numbers<typeof ACCOUNT>;
  readonly window: RateWindow;
  /** No open lease expires before this time. */
  leaseDueMs: number;
  /** By key id and by number. */
  readonly keys = new Map<string | number, KeyInFile>();
  /** By subject, those that were needed so far. */
  readonly windowCounts = new Map<WindowSubject, WindowCounts>();
  /** What open reservations made since the team was read hold; others are looked up in the file. */
  readonly held = new HeldReservations();
  /** `undefined` until it is computed. */
  thresholdMark: ThresholdMark | undefined = undefined;
  /** What is known of refusals told (SqliteEvents): the last period of one for the quota, and of one for credit since some was added. */
  quotaToldIn = 0;
  /** The last period in which a refusal for the allowance of test keys is known to have been told. */
  allowanceToldIn = 0;
  isCreditTold = false;
  /** `undefined` until it is read. */
  planName: string | undefined = undefined;
  /** Whether `counts` or `window` differ from the file. */
  changed = false;
  /** Whether those of the allowance differ from the file. */
  allowanceChanged = false;

  /** From a row with the columns of `TEAM`. */
  constructor(teamId: string, row: readonly SQLOutputValue[]) {
    const [no, leaseDueMs, newestMs, packed] = row as unknown as [number, number | null, number, Uint8Array];
    this.teamId = teamId;
    this.no = no;
    this.leaseDueMs = leaseDueMs ?? Infinity;
    this.window = new RateWindow(packed, newestMs);
    this.counts = membersOf(ACCOUNT, row, ACCOUNT_AT) as Numbers<typeof ACCOUNT>;
    this.limits = membersOf(LIMITS, row, LIMITS_AT) as unknown as TeamLimits;
  }

  setPlan(name: string, limits: TeamLimits): void {
    this.planName = name;
    this.limits = limits;
  }

  add(key: KeyInFile): KeyInFile {
    this.keys.set(key.keyId, key);
    this.keys.set(key.no, key);
    return key;
  }
}

export class KeyInFile {
  readonly team: TeamAccount;
  readonly no: number;
  readonly keyId: string;
  readonly isRevoked: boolean;
  /** Whether it has its own limits, or is disabled. */
  readonly isGuarded: boolean;
  readonly isTest: boolean;
  readonly counts: Numbers<typeof KEY_ACCOUNT>;
  guard: KeyGuard | undefined = undefined;
  /** The last period in which a refusal by its own limit is known to have been told. */
  quotaToldIn = 0;
  changed = false;

  /** From a row: number, id, time of revocation, whether it is guarded, mode, and the columns of `KEY_ACCOUNT`. */
  constructor(team: TeamAccount, row: readonly SQLOutputValue[], first: number) {
    this.team = team;
    this.no = row[first] as number;
    this.keyId = row[first + 1] as string;
    this.isRevoked = row[first + 2] !== null;
    this.isGuarded = row[first + 3] === 1;
    this.isTest = row[first + 4] === 'test';
    this.counts = membersOf(KEY_ACCOUNT, row, first + 5) as Numbers<typeof KEY_ACCOUNT>;
  }
}
