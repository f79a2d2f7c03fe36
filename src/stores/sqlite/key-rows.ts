// Keys as rows. Digests are looked up and never read back.
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { KeyDigest, KeyMode, KeyOwner } from '../../domain/api-key.ts';
import type { FoundKey, KeyRecord, KeyUsage, NewKey, TeamSummary } from '../../ports/team-registry.ts';
import type { SqlRow } from './columns.ts';
import { NOT_ERASED } from './sqlite-schema.ts';

const SELECT = `SELECT k.*, t.team_id, u.last_used_at_ms, iif(u.period_no = b.period_no, u.characters, 0) AS characters,
    iif(u.period_no = b.period_no, u.requests, 0) AS requests
  FROM keys k JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED} JOIN books b ON b.team = k.team JOIN key_books u ON u.team = k.team AND u.key = k.no`;

const FOUND = `SELECT k.*, t.team_id, t.name AS team_name, u.last_used_at_ms
  FROM keys k JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED} JOIN key_books u ON u.team = k.team AND u.key = k.no`;

/** The width of a moment in the summary's statement. */
const MOMENT_DIGITS = 16;

export class KeyRows {
  readonly #insert: StatementSync;
  readonly #insertBooks: StatementSync;
  readonly #owner: StatementSync;
  readonly #one: StatementSync;
  readonly #ofTeam: StatementSync;
  readonly #numbered: StatementSync;
  readonly #summary: StatementSync;
  readonly #revoke: StatementSync;
  readonly #found: StatementSync;
  readonly #last: StatementSync;
  readonly #shown: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(`INSERT INTO keys (key_id, team, digest, display, label, mode, created_at_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING no`);
    this.#insertBooks = database.prepare('INSERT INTO key_books (team, key) VALUES (?, ?)');
    this.#owner = database.prepare(`SELECT k.key_id, t.team_id, k.mode FROM keys k JOIN teams t ON t.no = k.team
      WHERE k.digest = ? AND t.erasure = ${NOT_ERASED}`);
    this.#owner.setReturnArrays(true);
    this.#one = database.prepare(`${SELECT} WHERE k.key_id = ?`);
    this.#ofTeam = database.prepare(`${SELECT} WHERE k.team = ? ORDER BY k.no`);
    this.#numbered = database.prepare(`SELECT k.*, t.team_id, u.last_used_at_ms FROM keys k JOIN teams t ON t.no = k.team
      LEFT JOIN key_books u ON u.team = k.team AND u.key = k.no WHERE k.team = ? ORDER BY k.no`);
    // The smallest text of moment and id is the oldest moment, with the key that it belongs to.
    this.#summary = database.prepare(`SELECT count(*) FILTER (WHERE k.revoked_at_ms IS NULL) AS active, max(u.last_used_at_ms) AS last_used,
        min(printf('%016d%s', iif(u.last_used_at_ms = 0, k.created_at_ms, u.last_used_at_ms), k.key_id))
          FILTER (WHERE k.revoked_at_ms IS NULL) AS idlest
      FROM keys k JOIN key_books u ON u.team = k.team AND u.key = k.no WHERE k.team = ?`);
    // A repeated revocation keeps the first one's moment.
    this.#revoke = database.prepare('UPDATE keys SET revoked_at_ms = ? WHERE key_id = ? AND revoked_at_ms IS NULL');
    this.#found = database.prepare(`${FOUND} WHERE k.digest = ?`);
    this.#last = database.prepare('SELECT coalesce(max(no), 0) AS no FROM keys');
    // Without an index, which every key would have to pay for: looked for this way, a key is found within a second among millions.
    this.#shown = database.prepare(`${FOUND} WHERE k.no > ? AND k.no <= ? AND k.display = ?`);
  }

  /** With its team's name. */
  byDigest(digest: KeyDigest): FoundKey[] {
    return this.#found.all(digest).map(foundKeyOf);
  }

  /** The highest number. */
  last(): number {
    return Number(this.#last.get()?.['no']);
  }

  /** Of the keys with numbers above `after`, up to `last`. */
  byDisplay(display: string, after: number, last: number): FoundKey[] {
    return this.#shown.all(after, last, display).map(foundKeyOf);
  }

  insert(team: number, { keyId, digest, display, label, mode }: NewKey, createdAtMs: number): void {
    const row = this.#insert.get(keyId, team, digest, display, label, mode, createdAtMs);
    this.#insertBooks.run(team, Number(row?.['no']));
  }

  owner(digest: KeyDigest): KeyOwner | undefined {
    const row = this.#owner.get(digest) as unknown as [keyId: string, teamId: string, mode: KeyMode] | undefined;
    return row === undefined ? undefined : { keyId: row[0], teamId: row[1], mode: row[2] };
  }

  get(keyId: string): KeyRecord | undefined {
    const columns = this.#one.get(keyId);
    return columns === undefined ? undefined : keyRecordOf(columns);
  }

  ofTeam(team: number): KeyRecord[] {
    return this.#ofTeam.all(team).map(keyRecordOf);
  }

  /** With the numbers that rows of usage name them by; also of a team of which only its usage is left. */
  numbered(team: number): [no: number, key: KeyRecord][] {
    return this.#numbered.all(team).map((columns) => [Number(columns['no']), keyRecordOf(columns)]);
  }

  /** False where there is no such key, or one that is revoked already. */
  revoke(keyId: string, nowMs: number): boolean {
    return this.#revoke.run(nowMs, keyId).changes > 0;
  }

  summary(team: number): Omit<TeamSummary, 'team' | 'characters'> {
    const columns = this.#summary.get(team)!;
    const idlest = columns['idlest'] as string | null;
    return {
      activeKeys: Number(columns['active']),
      lastUsedAtMs: usedAt(columns['last_used']),
      idlestKey: idlest === null ? undefined : { keyId: idlest.slice(MOMENT_DIGITS), sinceMs: Number(idlest.slice(0, MOMENT_DIGITS)) },
    };
  }

  /** Of the team's current period. */
  usage(team: number): KeyUsage[] {
    return this.#ofTeam.all(team).map((columns) => ({
      ...keyRecordOf(columns),
      characters: Number(columns['characters']),
      requests: Number(columns['requests']),
    }));
  }
}

/** 0 stands for never. */
function usedAt(column: SQLOutputValue | undefined): number | undefined {
  return Number(column ?? 0) === 0 ? undefined : Number(column);
}

function foundKeyOf(row: SqlRow): FoundKey {
  return { ...keyRecordOf(row), teamName: String(row['team_name']) };
}

/** From a row with the columns of `keys`, its team's id and its last use. */
export function keyRecordOf(row: SqlRow): KeyRecord {
  return {
    keyId: String(row['key_id']),
    teamId: String(row['team_id']),
    display: String(row['display']),
    label: String(row['label']),
    mode: row['mode'] === 'test' ? 'test' : 'live',
    status: row['revoked_at_ms'] === null ? 'active' : 'revoked',
    limits: {},
    createdAtMs: Number(row['created_at_ms']),
    lastUsedAtMs: usedAt(row['last_used_at_ms']),
  };
}
