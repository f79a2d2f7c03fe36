// Reads all that a database file holds, team by team, each as it stood at one moment.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { nextTurn } from '../../core/turns.ts';
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';
import { NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { AuditRecord } from '../../domain/audit-entry.ts';
import { withLimits } from '../../domain/key-limits.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type {
  DayContents,
  DictionaryContents,
  GlossaryContents,
  KeyContents,
  LooseContents,
  PeriodContents,
  ReportFinding,
  RequestContents,
  RequestState,
  StoreReader,
  TeamContents,
} from '../../ports/store-contents.ts';
import type { EventFacts } from '../../ports/outbox.ts';
import type { SqlRow } from './columns.ts';
import { GUARD_COLUMNS } from './key-guard.ts';
import { keyRecordOf } from './key-rows.ts';
import { assertCurrent, assertOurs, isEmpty } from './migrate.ts';
import { openAlone, openDatabase } from './open-database.ts';
import { unpackedWindow } from './rate-window.ts';
import { judgeFile } from './sqlite-structure.ts';
import { NOT_ERASED, OPEN } from './sqlite-schema.ts';
import { databaseFaultOf, storeFault, storeName } from './store-fault.ts';
import { teamOf } from './team-rows.ts';

/** Teams that are read in one transaction: as long as it lasts, the WAL is not cut. */
const TEAMS_PIECE = 200;
const STATES: readonly RequestState[] = ['open', 'committed', 'released', 'expired'];
/** A key that came without a digest from another store, and has never worked, has this and its id in place of one. */
export const NO_DIGEST = 'none:';

export interface SqliteReaderOptions {
  readonly database: DatabaseSync;
  readonly path: string;
  /** Also reads the ids that are only remembered: all at once, so that it is for a file that nobody serves from. */
  readonly remembered?: boolean;
}

export class SqliteReader implements StoreReader {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #remembered: ReadonlyMap<number, readonly SqlRow[]>;
  readonly #behind: StatementSync;
  readonly #number: StatementSync;
  readonly #team: StatementSync;
  readonly #keys: StatementSync;
  readonly #days: StatementSync;
  readonly #lastDay: StatementSync;
  readonly #periods: StatementSync;
  readonly #uses: StatementSync;
  readonly #open: StatementSync;
  readonly #glossaries: StatementSync;
  readonly #bytes: StatementSync;
  readonly #changes: StatementSync;
  readonly #told: StatementSync;
  readonly #audit: StatementSync;
  readonly #events: StatementSync;
  readonly #pieces: StatementSync;
  readonly #digests: StatementSync;

  constructor({ database, path, remembered = false }: SqliteReaderOptions) {
    this.#database = database;
    this.#path = path;
    this.#behind = database.prepare(`SELECT no FROM teams WHERE no > ? AND erasure = ${NOT_ERASED} ORDER BY no LIMIT ?`);
    this.#number = database.prepare(`SELECT no FROM teams WHERE team_id = ? AND erasure = ${NOT_ERASED}`);
    this.#team = database.prepare(`SELECT t.*, b.*, p.start_ms, p.end_ms, coalesce(p.anchor_ms, t.created_at_ms) AS anchor_ms
      FROM teams t LEFT JOIN books b ON b.team = t.no LEFT JOIN periods p ON p.team = t.no AND p.no = b.period_no WHERE t.no = ?`);
    this.#keys = database.prepare(`SELECT k.*, ${GUARD_COLUMNS}, t.team_id, u.last_used_at_ms, u.period_no, b.period_no AS current_no,
        iif(u.period_no = b.period_no, u.characters, 0) AS characters, iif(u.period_no = b.period_no, u.requests, 0) AS requests
      FROM keys k JOIN teams t ON t.no = k.team JOIN books b ON b.team = k.team LEFT JOIN key_books u ON u.team = k.team AND u.key = k.no
      LEFT JOIN key_limits l ON l.key = k.no WHERE k.team = ? ORDER BY k.no`);
    this.#days = database.prepare(`SELECT day, key_id, sum(characters) AS characters, sum(requests) AS requests FROM (
        SELECT d.day, d.key, d.characters, d.requests FROM usage_days d WHERE d.team = $team
        UNION ALL SELECT b.day, u.key, u.day_characters, u.day_requests FROM key_books u JOIN books b ON b.team = u.team
          WHERE u.team = $team AND u.day_requests > 0
      ) JOIN keys k ON k.no = key GROUP BY key, day ORDER BY key, day`);
    this.#lastDay = database.prepare('SELECT max(day) AS day FROM usage_days WHERE team = ?');
    this.#periods = database.prepare('SELECT * FROM periods WHERE team = ? AND no < ? ORDER BY no');
    this.#uses = database.prepare(`SELECT period_no, key_id, sum(characters) AS characters, sum(requests) AS requests FROM (
        SELECT period_no, key, characters, requests FROM usage WHERE team = $team
        UNION ALL SELECT period_no, key, characters, requests FROM key_books WHERE team = $team AND requests > 0
      ) JOIN keys k ON k.no = key WHERE period_no < $current GROUP BY period_no, key ORDER BY period_no, key`);
    this.#open = database.prepare(`SELECT o.*, k.key_id FROM operations o LEFT JOIN keys k ON k.no = o.key
      WHERE o.team = ? AND o.state = ${OPEN}`);
    this.#glossaries = database.prepare(`SELECT g.*, d.dictionary_id, d.source_lang, d.target_lang, d.entry_count, d.bytes
      FROM glossaries g LEFT JOIN dictionaries d ON d.glossary = g.no WHERE g.team = ? ORDER BY g.no, d.place`);
    this.#bytes = database.prepare('SELECT bytes FROM glossary_bytes WHERE team = ?');
    this.#changes = database.prepare('SELECT t.team_id, c.id, c.request, c.until_ms FROM changes c JOIN teams t ON t.no = c.team');
    this.#told = database.prepare('SELECT period_no, percent FROM told_percents WHERE team = ? AND percent > 0 ORDER BY period_no');
    this.#audit = database.prepare('SELECT id, team_id, record FROM audit ORDER BY id');
    this.#events = database.prepare('SELECT * FROM outbox ORDER BY no');
    this.#pieces = database.prepare('SELECT entries FROM pieces WHERE dictionary_id = ? ORDER BY place');
    this.#digests =
      database.prepare(`SELECT k.no, k.digest, k.key_id, k.mode, t.team_id FROM keys k JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED}
      WHERE k.no > ? ORDER BY k.no LIMIT ${TEAMS_PIECE}`);
    this.#remembered = remembered ? this.#readRemembered() : new Map();
  }

  async *teams(report: ReportFinding): AsyncGenerator<TeamContents> {
    for (let after = 0; ;) {
      const teams = this.#snapshot(() => {
        const numbers = this.#behind.all(after, TEAMS_PIECE).map(({ no }) => Number(no));
        after = numbers.at(-1) ?? Infinity;
        return numbers.map((no) => this.#read(no, report));
      });
      for (const team of teams) if (team !== undefined) yield team;
      if (teams.length < TEAMS_PIECE) return;
      await nextTurn();
    }
  }

  async team(teamId: string, report: ReportFinding): Promise<TeamContents | undefined> {
    return this.#snapshot(() => {
      const row = this.#number.get(teamId);
      return row === undefined ? undefined : this.#read(Number(row['no']), report);
    });
  }

  async entries(_teamId: string, dictionaryId: string): Promise<EntryPieces | undefined> {
    const pieces = this.#pieces.all(dictionaryId).map((row) => row['entries'] as Uint8Array);
    return pieces.length === 0 ? undefined : pieces;
  }

  async *loose(): AsyncGenerator<LooseContents> {
    for (let after = 0; ;) {
      const rows = this.#digests.all(after);
      for (const row of rows) {
        const digest = String(row['digest']);
        const mode = row['mode'] === 'test' ? 'test' : 'live';
        if (!digest.startsWith(NO_DIGEST)) {
          yield { kind: 'digest', digest, keyId: String(row['key_id']), teamId: String(row['team_id']), mode };
        }
      }
      if (rows.length < TEAMS_PIECE) break;
      after = Number(rows.at(-1)!['no']);
      await nextTurn();
    }
    for (const row of this.#changes.all()) {
      const [teamId, id, request] = [String(row['team_id']), String(row['id']), String(row['request'])];
      yield { kind: 'change', teamId, id, request, untilMs: Number(row['until_ms']) };
    }
    for (const row of this.#audit.iterate()) {
      const teamId = row['team_id'] === null ? undefined : String(row['team_id']);
      yield { kind: 'audit', id: String(row['id']), teamId, record: JSON.parse(String(row['record'])) as AuditRecord };
    }
    for (const row of this.#events.iterate()) {
      const facts = withLimits(JSON.parse(String(row['facts'])) as EventFacts);
      const event = { id: String(row['event_id']), teamId: String(row['team_id']), atMs: Number(row['at_ms']), facts };
      yield { kind: 'event', event, dueMs: Number(row['due_ms']), tries: Number(row['tries']) };
    }
  }

  async structure(report: ReportFinding, _settleMs: number): Promise<void> {
    judgeFile(this.#database, this.#path, report);
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #snapshot<T>(read: () => T): T {
    if (this.#database.isTransaction) return read();
    try {
      this.#database.exec('BEGIN');
      const result = read();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      const fault = databaseFaultOf(error);
      throw fault === undefined ? error : storeFault(this.#path, fault, error);
    }
  }

  #read(no: number, report: ReportFinding): TeamContents | undefined {
    const row = this.#team.get(no)!;
    const teamId = String(row['team_id']);
    if (row['team'] === null || row['start_ms'] === null) {
      const isBookless = row['team'] === null;
      const detail = isBookless ? 'it has no books' : `its period ${Number(row['period_no'])} is not there`;
      report({ what: isBookless ? 'team' : 'period', teamId, detail });
      return undefined;
    }
    const current = Number(row['period_no']);
    const [startMs, endMs, anchorMs] = [Number(row['start_ms']), Number(row['end_ms']), Number(row['anchor_ms'])];
    if (Number(row['period_end_ms']) !== endMs)
      report({ what: 'period', teamId, detail: 'its books end at another moment than its period' });
    const requests = [...this.#open.all(no), ...(this.#remembered.get(no) ?? [])].map(requestOf);
    return {
      team: teamOf(row),
      period: { number: current, startMs, endMs, anchorMs },
      usedCharacters: Number(row['used_characters']),
      heldCharacters: Number(row['held_characters']),
      heldMicro: Number(row['held_micro']),
      window: windowOf(row),
      keys: this.#keys.all(no).map(keyOf),
      days: this.#days.all({ $team: no }).map(dayOf),
      dayDone: this.#dayDone(no, Number(row['day'])),
      periods: this.#periodsOf(no, current, requests),
      toldPercents: this.#told.all(no).map((told) => ({ number: Number(told['period_no']), percent: Number(told['percent']) })),
      requests: requests.toSorted((one, other) => (one.requestId < other.requestId ? -1 : 1)),
      glossaries: glossariesOf(this.#glossaries.all(no)),
      glossaryBytes: Number(this.#bytes.get(no)?.['bytes'] ?? 0),
    };
  }

  /** While a day is counted, those before it are done; else all are. */
  #dayDone(no: number, counted: number): number {
    return counted > 0 ? counted - 1 : Number(this.#lastDay.get(no)?.['day'] ?? 0);
  }

  /** Those without use are left out, unless something is open in them: no store has to keep them. */
  #periodsOf(no: number, current: number, requests: readonly RequestContents[]): PeriodContents[] {
    const uses = this.#uses.all({ $team: no, $current: current });
    const periods: PeriodContents[] = [];
    for (const row of this.#periods.all(no, current)) {
      const number = Number(row['no']);
      const keys = uses
        .filter((use) => Number(use['period_no']) === number)
        .map((use) => ({ keyId: String(use['key_id']), characters: Number(use['characters']), requests: Number(use['requests']) }));
      const isOpen = requests.some(({ state, periodNumber }) => state === 'open' && periodNumber === number);
      if (keys.length === 0 && !isOpen && row['closed_characters'] === null) continue;
      const closed = row['closed_characters'];
      periods.push({
        number,
        startMs: Number(row['start_ms']),
        endMs: Number(row['left_ms'] ?? row['end_ms']),
        closed: closed !== null,
        held: row['plan'] === null ? undefined : { plan: String(row['plan']), limits: JSON.parse(String(row['limits'])) as TeamLimits },
        characters: closed === null ? keys.reduce((sum, { characters }) => sum + characters, 0) : Number(closed),
        keys: closed !== null && keys.length === 0 ? undefined : keys,
      });
    }
    return periods;
  }

  #readRemembered(): Map<number, SqlRow[]> {
    const found = new Map<number, SqlRow[]>();
    for (const row of this.#database.prepare(`SELECT o.*, NULL AS key_id FROM operations o WHERE o.state > ${OPEN}`).iterate()) {
      const team = Number(row['team']);
      const rows = found.get(team);
      if (rows === undefined) found.set(team, [row]);
      else rows.push(row);
    }
    return found;
  }
}

function windowOf(row: SqlRow): TeamContents['window'] {
  const newestMs = Number(row['window_newest_ms']);
  return unpackedWindow(row['window'] as Uint8Array, newestMs).filter(({ atMs }) => newestMs - atMs < RATE_WINDOW_MS);
}

function keyOf(row: SqlRow): KeyContents {
  const { teamId: _teamId, ...record } = keyRecordOf(row, -Infinity);
  const digest = String(row['digest']);
  return {
    ...record,
    digest: digest.startsWith(NO_DIGEST) ? undefined : digest,
    characters: Number(row['characters'] ?? 0),
    requests: Number(row['requests'] ?? 0),
    heldCharacters: record.limits.characters === undefined ? undefined : heldOf(row),
    window: row['window'] === null ? [] : windowOf(row),
  };
}

/** What was held in a period that was left does not count. */
function heldOf(row: SqlRow): number {
  return row['held_period_no'] === row['current_no'] ? Number(row['held_characters']) : 0;
}

function dayOf(row: SqlRow): DayContents {
  return {
    keyId: String(row['key_id']),
    day: Number(row['day']),
    characters: Number(row['characters']),
    requests: Number(row['requests']),
  };
}

/** What a resolved one has held does not matter any more. */
function requestOf(row: SqlRow): RequestContents {
  const state = STATES[Number(row['state'])]!;
  const isOpen = state === 'open';
  return {
    requestId: String(row['request_id']),
    state,
    untilMs: Number(row['until_ms']),
    keyId: isOpen && row['key_id'] !== null ? String(row['key_id']) : undefined,
    characters: isOpen ? Number(row['characters']) : 0,
    priceMicro: isOpen ? Number(row['price_micro']) : 0,
    periodNumber: isOpen ? Number(row['period_no']) : undefined,
  };
}

/** Rows of one glossary follow each other. */
function glossariesOf(rows: readonly SqlRow[]): GlossaryContents[] {
  const glossaries = new Map<string, GlossaryContents & { readonly dictionaries: DictionaryContents[] }>();
  for (const row of rows) {
    const glossaryId = String(row['glossary_id']);
    const glossary = glossaries.get(glossaryId) ?? {
      glossaryId,
      name: String(row['name']),
      revision: Number(row['revision']),
      createdAtMs: Number(row['created_at_ms']),
      dictionaries: [],
    };
    glossaries.set(glossaryId, glossary);
    if (row['dictionary_id'] === null) continue;
    glossary.dictionaries.push({
      dictionaryId: String(row['dictionary_id']),
      sourceLang: String(row['source_lang']),
      targetLang: String(row['target_lang']),
      entryCount: Number(row['entry_count']),
      bytes: Number(row['bytes']),
    });
  }
  return [...glossaries.values()];
}

/** Rejects with a `StoreError` when the file cannot be read as it is: nothing is made or migrated. */
export async function openSqliteReader(path: string): Promise<SqliteReader> {
  const database = await openDatabase(path, 'full', { mayCreate: false, mayMigrate: false, anyFaults: true });
  database.exec('PRAGMA busy_timeout = 5000');
  try {
    return new SqliteReader({ database, path });
  } catch (error) {
    database.close();
    const fault = databaseFaultOf(error);
    throw fault === undefined ? error : storeFault(path, fault, error);
  }
}

/** The same, while no other process has the file open, or can open it. */
export async function openSqliteSource(path: string): Promise<SqliteReader> {
  const database = openAlone(path, { mayCreate: false });
  try {
    assertOurs(database, storeName(path));
    if (isEmpty(database)) throw new NoStoreError(storeName(path));
    assertCurrent(database, storeName(path));
    assertCopied(database, path);
    return new SqliteReader({ database, path, remembered: true });
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What a copy has of a file, and what gateways leave there about themselves. Rows of others are not left behind in silence. */
export const COPIED_TABLES: readonly string[] = [
  'teams',
  'books',
  'keys',
  'key_books',
  'key_limits',
  'periods',
  'usage',
  'usage_days',
  'operations',
  'glossaries',
  'glossary_bytes',
  'dictionaries',
  'pieces',
  'unheld',
  'changes',
  'gateways',
  'outbox_lease',
  'outbox',
  'told_percents',
  'audit',
];
function assertCopied(database: DatabaseSync, path: string): void {
  for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()) {
    const table = String(name);
    if (COPIED_TABLES.includes(table) || database.prepare(`SELECT 1 FROM "${table}" LIMIT 1`).get() === undefined) continue;
    throw new StoreError(`${storeName(path)} holds what cannot be copied: rows of ${table}`);
  }
  if (database.prepare(`SELECT 1 FROM teams WHERE erasure <> ${NOT_ERASED} LIMIT 1`).get() !== undefined) {
    throw new StoreError(`${storeName(path)} holds what cannot be copied: deleted teams whose usage was kept`);
  }
}
