// Keys as rows. Digests are used for lookups and never read back.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { KeyDigest, KeyMode, KeyOwner } from '../../domain/api-key.ts';
import { hasLimits, keyStatus } from '../../domain/key-limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyWrite } from '../../ports/record-space.ts';
import type { FoundKey, KeyRecord, KeyUsage, TeamSummary } from '../../ports/team-registry.ts';
import { LIMIT_COLUMNS, limitsOfRow } from './key-guard.ts';
import { NOT_ERASED, OPEN } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { SqlRow, Statements } from './statements.ts';

const COLUMNS = `k.*, ${LIMIT_COLUMNS}, t.team_id, t.name AS team_name, u.last_used_at_ms`;
const OWNED = `keys k JOIN teams t ON t.no = k.team LEFT JOIN key_books u ON u.team = k.team AND u.key = k.no
  LEFT JOIN key_limits l ON l.key = k.no`;
const EXISTS = `t.erasure = ${NOT_ERASED}`;
/** With its counts in the team's current period. */
const COUNTED = `SELECT ${COLUMNS}, iif(u.period_no = b.period_no, u.characters, 0) AS characters,
    iif(u.period_no = b.period_no, u.requests, 0) AS requests
  FROM ${OWNED} JOIN books b ON b.team = k.team WHERE ${EXISTS}`;
const FOUND = `SELECT ${COLUMNS} FROM ${OWNED} WHERE ${EXISTS}`;

/** Width of a timestamp in the summary's statement. */
const MOMENT_DIGITS = 16;

/** Neither revoked, disabled nor expired. */
const IS_ACTIVE = 'k.revoked_at_ms IS NULL AND coalesce(l.disabled, 0) = 0 AND coalesce(l.expires_at_ms > $now, 1)';

const SQL = {
  insert: tuples<[no: number]>(`INSERT INTO keys (key_id, team, digest, display, label, mode, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING no`),
  insertAccount: 'INSERT INTO key_books (team, key) VALUES (?, ?)',
  owner: tuples<
    [keyId: string, teamId: string, mode: KeyMode]
  >(`SELECT k.key_id, t.team_id, k.mode FROM keys k JOIN teams t ON t.no = k.team
    WHERE k.digest = ? AND ${EXISTS}`),
  one: `${COUNTED} AND k.key_id = ?`,
  ofTeam: `${COUNTED} AND k.team = ? ORDER BY k.no`,
  numbered: `SELECT ${COLUMNS} FROM ${OWNED} WHERE k.team = ? ORDER BY k.no`,
  // The smallest text made of timestamp and id is that of the key unused for longest.
  summary: tuples<[active: number, lastUsed: number | null, idlest: string | null]>(`SELECT count(*) FILTER (WHERE ${IS_ACTIVE}),
      max(u.last_used_at_ms),
      min(printf('%016d%s', iif(u.last_used_at_ms = 0, k.created_at_ms, u.last_used_at_ms), k.key_id)) FILTER (WHERE ${IS_ACTIVE})
    FROM keys k JOIN key_books u ON u.team = k.team AND u.key = k.no LEFT JOIN key_limits l ON l.key = k.no WHERE k.team = $team`),
  found: `${FOUND} AND k.digest = ?`,
  last: tuples<[no: number]>('SELECT coalesce(max(no), 0) FROM keys'),
  // Not indexed, because an index would cost every key: this scan finds a key among millions within a second.
  shown: `${FOUND} AND k.no > ? AND k.no <= ? AND k.display = ?`,
  change: 'UPDATE keys SET label = ?, revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE key_id = ?',
  setGuarded: 'UPDATE keys SET guarded = ? WHERE no = ?',
  dropLimits: 'DELETE FROM key_limits WHERE key = ?',
  // Recounts what is held, to include reservations made before the limit was set; without a rate, no window is kept.
  setLimits: `INSERT INTO key_limits
      (key, team, disabled, expires_at_ms, requests_per_second, characters, addresses, scopes, windows, held_period_no, held_characters)
    SELECT k.no, k.team, $disabled, $expires, $rate, $characters, $addresses, $scopes, $windows, b.period_no, iif($characters IS NULL, 0, (
        SELECT coalesce(sum(o.characters), 0) FROM operations o
        WHERE o.team = k.team AND o.state = ${OPEN} AND o.key = k.no AND o.period_no = b.period_no))
      FROM keys k JOIN books b ON b.team = k.team WHERE k.no = $key
    ON CONFLICT (key) DO UPDATE SET disabled = excluded.disabled, expires_at_ms = excluded.expires_at_ms,
      requests_per_second = excluded.requests_per_second, characters = excluded.characters, addresses = excluded.addresses,
      scopes = excluded.scopes, windows = excluded.windows,
      held_period_no = excluded.held_period_no, held_characters = excluded.held_characters,
      window = iif(excluded.requests_per_second IS NULL, x'', window)`,
};

export class KeyRows {
  readonly #clock: Clock;
  readonly #sql: Statements<typeof SQL>;

  /** The clock determines which keys have expired. */
  constructor(database: DatabaseSync, clock: Clock) {
    this.#clock = clock;
    this.#sql = prepared(database, SQL);
  }

  /** Includes the team's name. */
  byDigest(digest: KeyDigest): FoundKey[] {
    return this.#sql.found.all(digest).map((row) => this.#foundKeyOf(row));
  }

  /** The highest key number. */
  last(): number {
    return this.#sql.last.get()![0];
  }

  /** Among the keys with numbers above `after`, up to `last`. */
  byDisplay(display: string, after: number, last: number): FoundKey[] {
    return this.#sql.shown.all(after, last, display).map((row) => this.#foundKeyOf(row));
  }

  owner(digest: KeyDigest): KeyOwner | undefined {
    const row = this.#sql.owner.get(digest);
    return row === undefined ? undefined : { keyId: row[0], teamId: row[1], mode: row[2] };
  }

  /** `team`: only if it is one of this team. */
  get(keyId: string, team?: number): KeyRecord | undefined {
    const columns = this.#sql.one.get(keyId);
    return columns === undefined || (team !== undefined && columns['team'] !== team)
      ? undefined
      : keyRecordOf(columns, this.#clock.nowMs());
  }

  ofTeam(team: number): KeyRecord[] {
    const nowMs = this.#clock.nowMs();
    return this.#sql.ofTeam.all(team).map((row) => keyRecordOf(row, nowMs));
  }

  /** With the row numbers that usage rows refer to; also for a team of which only the usage is left. */
  numbered(team: number): [no: number, key: KeyRecord][] {
    const nowMs = this.#clock.nowMs();
    return this.#sql.numbered.all(team).map((columns) => [Number(columns['no']), keyRecordOf(columns, nowMs)]);
  }

  #limit(no: number, { status, limits }: KeyRecord): void {
    const disabled = status === 'disabled';
    const isGuarded = disabled || hasLimits(limits);
    this.#sql.setGuarded.run(Number(isGuarded), no);
    if (!isGuarded) return void this.#sql.dropLimits.run(no);
    const { expiresAtMs, requestsPerSecond, characters, allowedAddresses, scopes, windows } = limits;
    this.#sql.setLimits.run({
      $key: no,
      $disabled: Number(disabled),
      $expires: expiresAtMs ?? null,
      $rate: requestsPerSecond ?? null,
      $characters: characters ?? null,
      $addresses: allowedAddresses === undefined ? null : JSON.stringify(allowedAddresses),
      $scopes: scopes === undefined ? null : JSON.stringify(scopes),
      $windows: windows ?? null,
    });
  }

  /** A key that is revoked stays so. */
  write(team: number, { record, digest }: KeyWrite, nowMs: number): void {
    const { keyId, display, label, mode, status, createdAtMs } = record;
    if (digest !== undefined)
      this.#sql.insertAccount.run(team, this.#sql.insert.get(keyId, team, digest, display, label, mode, createdAtMs)![0]);
    this.#sql.change.run(label, status === 'revoked' ? nowMs : null, keyId);
    this.#limit(Number(this.#sql.one.get(keyId)?.['no']), record);
  }

  summary(team: number): Omit<TeamSummary, 'team' | 'characters' | 'allowanceUsed'> {
    const [activeKeys, lastUsed, idlest] = this.#sql.summary.get({ $team: team, $now: this.#clock.nowMs() })!;
    return {
      activeKeys,
      lastUsedAtMs: usedAt(lastUsed),
      idlestKey: idlest === null ? undefined : { keyId: idlest.slice(MOMENT_DIGITS), sinceMs: Number(idlest.slice(0, MOMENT_DIGITS)) },
    };
  }

  /** In the team's current period. */
  usage(team: number): KeyUsage[] {
    const nowMs = this.#clock.nowMs();
    return this.#sql.ofTeam.all(team).map((columns) => ({
      ...keyRecordOf(columns, nowMs),
      characters: Number(columns['characters']),
      requests: Number(columns['requests']),
    }));
  }

  #foundKeyOf(row: SqlRow): FoundKey {
    return { ...keyRecordOf(row, this.#clock.nowMs()), teamName: String(row['team_name']) };
  }
}

/** 0 stands for never. */
function usedAt(column: SQLOutputValue | undefined): number | undefined {
  return Number(column ?? 0) === 0 ? undefined : Number(column);
}

/** From a row with the columns of `keys` and of its limits, its team's id and its last use. */
export function keyRecordOf(row: SqlRow, nowMs: number): KeyRecord {
  const limits = limitsOfRow(row);
  return {
    keyId: String(row['key_id']),
    teamId: String(row['team_id']),
    display: String(row['display']),
    label: String(row['label']),
    mode: row['mode'] === 'test' ? 'test' : 'live',
    status: row['revoked_at_ms'] === null ? keyStatus(Number(row['disabled']) === 1, limits, nowMs) : 'revoked',
    limits,
    createdAtMs: Number(row['created_at_ms']),
    lastUsedAtMs: usedAt(row['last_used_at_ms']),
  };
}
