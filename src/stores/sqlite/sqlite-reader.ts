// Reads the complete contents of a database file, with a consistent snapshot of each team.
import type { DatabaseSync } from 'node:sqlite';
import { nextTurn } from '../../core/turns.ts';
import type { AuditRecord } from '../../domain/audit-entry.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { movedCredit } from '../../domain/period-credit.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';
import type { WindowSubject } from '../../domain/window-limits.ts';
import type {
  KeyContents,
  LooseChange,
  LooseContents,
  LooseDigest,
  LooseUsage,
  PeriodContents,
  ReportFinding,
  RequestContents,
  RequestState,
  StoreReader,
  TeamContents,
  ToldRefusal,
} from '../../ports/store-contents.ts';
import type { KeyDay } from '../../ports/usage-history.ts';
import type { RecordIndex, RecordTable } from '../../ports/record-space.ts';
import { lastSeenMs } from '../records/record-gateways.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { eventContents } from '../records/event-record.ts';
import { COPIED_SHARED_TABLES } from '../records/record-tables.ts';
import { recordContents } from '../records/team-records.ts';
import { storedCounts } from './accounts.ts';
import { GUARD_COLUMNS } from './key-guard.ts';
import { keyRecordOf } from './key-rows.ts';
import { RateWindow } from './rate-window.ts';
import { readTagColumn, readTickets } from './request-ids.ts';
import { NOT_ERASED, ONLY_USAGE_LEFT, OPEN, TEST_KEYS } from './sqlite-schema.ts';
import { judgeFile } from './sqlite-structure.ts';
import { named, prepared, objects, tuples } from './statements.ts';
import type { SqlRow, Statements } from './statements.ts';
import { asStoreFault } from './store-fault.ts';
import { teamOf } from './team-rows.ts';

/** Teams read per transaction: while it is open, the WAL cannot be truncated. */
const TEAMS_PIECE = 200;
/** Indexed by their numbers in the file. */
export const STATES: readonly RequestState[] = ['open', 'committed', 'released', 'expired'];
/** A key copied from another store without a digest, which therefore never works, has this prefix and its id instead. */
export const NO_DIGEST = 'none:';

/** The stored part of a request id; what a settled one held no longer matters. */
interface RequestRow extends Omit<RequestContents, 'state' | 'keyId' | 'periodNumber' | 'ofAllowance' | 'tickets' | 'tag'> {
  readonly team: number;
  readonly state: number;
  readonly keyId: string | null;
  readonly periodNumber: number | null;
  readonly ofAllowance: number;
  readonly tickets: string | null;
  readonly tag: string | null;
}

interface PeriodRow extends Pick<PeriodContents, 'number' | 'startMs' | 'endMs' | 'allowanceUsed'> {
  readonly plan: string;
  /** JSON. */
  readonly limits: string;
  readonly closed: number | null;
  readonly closedRequests: number | null;
  readonly closedTests: number | null;
  readonly openingMicro: number;
  readonly addedMicro: number;
  readonly deductedMicro: number;
  readonly balanceMicro: number;
}

interface UseRow {
  readonly period: number;
  readonly keyId: string;
  readonly mode: string;
  readonly characters: number;
  readonly requests: number;
}

const REQUEST = `${named('o', 'team', 'requestId', 'state', 'untilMs', 'characters', 'priceMicro', 'ofAllowance', 'tickets', 'tag')}, o.period_no AS periodNumber`;

const SQL = {
  behind: tuples<[no: number]>(`SELECT no FROM teams WHERE no > ? AND erasure = ${NOT_ERASED} ORDER BY no LIMIT ?`),
  number: tuples<[no: number]>(`SELECT no FROM teams WHERE team_id = ? AND erasure = ${NOT_ERASED}`),
  team: `SELECT t.*, b.*, p.start_ms, p.end_ms, coalesce(p.anchor_ms, t.created_at_ms) AS anchor_ms,
      p.opening_micro, p.added_micro, p.deducted_micro
    FROM teams t LEFT JOIN books b ON b.team = t.no LEFT JOIN periods p ON p.team = t.no AND p.no = b.period_no WHERE t.no = ?`,
  keys: `SELECT k.*, ${GUARD_COLUMNS}, t.team_id, u.last_used_at_ms, u.period_no, b.period_no AS current_no,
      iif(u.period_no = b.period_no, u.characters, 0) AS characters, iif(u.period_no = b.period_no, u.requests, 0) AS requests
    FROM keys k JOIN teams t ON t.no = k.team JOIN books b ON b.team = k.team LEFT JOIN key_books u ON u.team = k.team AND u.key = k.no
    LEFT JOIN key_limits l ON l.key = k.no WHERE k.team = ? ORDER BY k.no`,
  days: objects<KeyDay>(`SELECT day, key_id AS keyId, sum(characters) AS characters, sum(requests) AS requests FROM (
      SELECT d.day, d.key, d.characters, d.requests FROM usage_days d WHERE d.team = $team
      UNION ALL SELECT b.day, u.key, u.day_characters, u.day_requests FROM key_books u JOIN books b ON b.team = u.team
        WHERE u.team = $team AND u.day_requests > 0
    ) JOIN keys k ON k.no = key GROUP BY key, day ORDER BY key, day`),
  lastDay: tuples<[number | null]>('SELECT max(day) FROM usage_days WHERE team = ?'),
  periods: objects<PeriodRow>(`SELECT no AS number, start_ms AS startMs, coalesce(left_ms, end_ms) AS endMs, plan, limits,
      closed_characters AS closed, closed_requests AS closedRequests, closed_test_characters AS closedTests, allowance_used AS allowanceUsed, opening_micro AS openingMicro, added_micro AS addedMicro,
      deducted_micro AS deductedMicro, balance_micro AS balanceMicro FROM periods WHERE team = ? AND no < ? ORDER BY no`),
  uses: objects<UseRow>(`
    SELECT period_no AS period, key_id AS keyId, k.mode, sum(characters) AS characters, sum(requests) AS requests FROM (
      SELECT period_no, key, characters, requests FROM usage WHERE team = $team
      UNION ALL SELECT period_no, key, characters, requests FROM key_books WHERE team = $team AND requests > 0
    ) JOIN keys k ON k.no = key WHERE period_no < $current GROUP BY period_no, key ORDER BY period_no, key`),
  windowCounts: tuples<[subject: WindowSubject, counts: string]>(
    'SELECT subject, counts FROM window_counts WHERE team = ? ORDER BY subject',
  ),
  open: objects<RequestRow>(`SELECT ${REQUEST}, k.key_id AS keyId FROM operations o LEFT JOIN keys k ON k.no = o.key
    WHERE o.team = ? AND o.state = ${OPEN}`),
  remembered: objects<RequestRow>(`SELECT ${REQUEST}, NULL AS keyId FROM operations o WHERE o.state > ${OPEN}`),
  records: tuples<[id: string, value: string]>('SELECT id, value FROM records WHERE team = ? AND kind = ?'),
  ofTeam: tuples<[id: string, value: string]>(
    'SELECT id, value FROM records WHERE team = (SELECT no FROM teams WHERE team_id = ?) AND kind = ?',
  ),
  sharedTable: tuples<[id: string, value: string]>('SELECT id, value FROM shared_records WHERE kind = ?'),
  blobs: tuples<[id: string]>('SELECT id FROM blobs WHERE team = ? AND gone_ms IS NULL'),
  told: objects<TeamContents['toldPercents'][number]>(
    'SELECT period_no AS number, percent FROM told_percents WHERE team = ? AND percent > 0 ORDER BY period_no',
  ),
  refusals: tuples<[keyId: string | null, code: ToldRefusal['code'], number: number, told: number, key: number]>(
    `SELECT k.key_id, r.code, r.number, r.told, r.key FROM told_refusals r LEFT JOIN keys k ON k.no = r.key
     WHERE r.team = ? AND (r.code = 'credit_exhausted' OR r.number = ?) ORDER BY k.key_id, r.code DESC, r.key DESC`,
  ),
  pieces: tuples<[Uint8Array<ArrayBuffer>]>(`SELECT piece FROM pieces p
    JOIN teams t ON t.no = p.team WHERE t.team_id = ? AND p.blob = ? ORDER BY place`),
  digests: objects<
    Omit<LooseDigest, 'kind'> & { readonly no: number }
  >(`SELECT ${named('k', 'no', 'digest', 'keyId', 'mode')}, t.team_id AS teamId
    FROM keys k JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED} WHERE k.no > ? ORDER BY k.no LIMIT ${TEAMS_PIECE}`),
  changes: objects<Omit<LooseChange, 'kind'>>(
    `SELECT t.team_id AS teamId, ${named('c', 'id', 'request', 'untilMs')} FROM changes c JOIN teams t ON t.no = c.team`,
  ),
  shared: tuples<[table: RecordTable | RecordIndex, id: string, value: string]>(
    `SELECT kind, id, value FROM shared_records WHERE kind IN (${COPIED_SHARED_TABLES.map((name) => `'${name}'`).join(', ')})`,
  ),
  kept: tuples<[no: number]>(`SELECT no FROM teams WHERE erasure = ${ONLY_USAGE_LEFT} ORDER BY no`),
  keptKeys: objects<Pick<KeyContents, 'keyId' | 'mode' | 'createdAtMs'>>(
    `SELECT ${named('k', 'keyId', 'mode', 'createdAtMs')} FROM keys k WHERE team = ? ORDER BY no`,
  ),
  keptDays: objects<KeyDay>(
    `SELECT day, key_id AS keyId, characters, requests FROM usage_days d JOIN keys k ON k.no = d.key WHERE d.team = ? ORDER BY key, day`,
  ),
  audit: tuples<[id: string, teamId: string | null, record: string]>('SELECT id, team_id, record FROM audit ORDER BY id'),
  events: tuples<[id: string, value: string]>("SELECT id, value FROM shared_records WHERE kind = 'events' ORDER BY id"),
  gateways: tuples<[value: string]>("SELECT value FROM shared_records WHERE kind = 'gateways'"),
};

interface SqliteReaderOptions {
  readonly database: DatabaseSync;
  readonly path: string;
  /** Also reads the settled ids, all at once, so only for a file that no gateway uses. */
  readonly remembered?: boolean;
}

export class SqliteReader implements StoreReader {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #sql: Statements<typeof SQL>;
  /** Settled ids by team. */
  readonly #remembered: ReadonlyMap<number, readonly RequestRow[]>;

  constructor({ database, path, remembered = false }: SqliteReaderOptions) {
    this.#database = database;
    this.#path = path;
    this.#sql = prepared(database, SQL);
    this.#remembered = remembered ? Map.groupBy(this.#sql.remembered.iterate(), ({ team }) => team) : new Map();
  }

  async *teams(report: ReportFinding): AsyncGenerator<TeamContents> {
    for (let after = 0; ;) {
      const teams = this.#snapshot(() => {
        const numbers = this.#sql.behind.all(after, TEAMS_PIECE).map(([no]) => no);
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
      const [no] = this.#sql.number.get(teamId) ?? [];
      return no === undefined ? undefined : this.#read(no, report);
    });
  }

  async entries(teamId: string, dictionaryId: string): Promise<EntryPieces | undefined> {
    const pieces = this.#sql.pieces.all(teamId, dictionaryId).map(([piece]) => piece);
    return pieces.length === 0 ? undefined : pieces;
  }

  async records(group: string, table: RecordTable): Promise<ReadonlyMap<string, string>> {
    return new Map(group === SHARED_RECORDS ? this.#sql.sharedTable.all(table) : this.#sql.ofTeam.all(group, table));
  }

  async *loose(): AsyncGenerator<LooseContents> {
    for (let after = 0; ;) {
      const found = this.#sql.digests.all(after);
      for (const { no, ...owner } of found) {
        after = no;
        if (!owner.digest.startsWith(NO_DIGEST)) yield { kind: 'digest', ...owner };
      }
      if (found.length < TEAMS_PIECE) break;
      await nextTurn();
    }
    for (const change of this.#sql.changes.all()) yield { kind: 'change', ...change };
    for (const [table, id, value] of this.#sql.shared.iterate()) yield { kind: 'record', table, id, value };
    for (const [no] of this.#sql.kept.all()) yield this.#kept(no);
    for (const [id, teamId, record] of this.#sql.audit.iterate()) {
      yield { kind: 'audit', id, teamId: teamId ?? undefined, record: JSON.parse(record) as AuditRecord };
    }
    for (const [id, value] of this.#sql.events.iterate()) yield eventContents(id, value);
  }

  #kept(no: number): LooseUsage {
    return this.#snapshot(() => {
      const { teamId, createdAtMs, plan, limits } = teamOf({ ...this.#sql.team.get(no)!, balance_micro: 0 });
      const periods = this.#periodsOf(no, Infinity, []).map(({ keys: _keys, closed: _closed, ...period }) => period);
      const [keys, days] = [this.#sql.keptKeys.all(no), this.#sql.keptDays.all(no)];
      return { kind: 'usage', teamId, createdAtMs, plan, limits, keys, days, periods };
    });
  }

  async nowMs(): Promise<number> {
    return Date.now();
  }

  async lastServedMs(): Promise<number | undefined> {
    return lastSeenMs(this.#sql.gateways.all().map(([value]) => value));
  }

  structure(report: ReportFinding, settleMs: number): Promise<void> {
    return judgeFile(this.#database, this.#path, report, settleMs);
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
      throw asStoreFault(this.#path, error);
    }
  }

  #read(no: number, report: ReportFinding): TeamContents | undefined {
    const row = this.#sql.team.get(no)!;
    const teamId = String(row['team_id']);
    if (row['team'] === null || row['start_ms'] === null) {
      const hasNoAccount = row['team'] === null;
      const detail = hasNoAccount ? 'its row in books is missing' : `its period ${Number(row['period_no'])} is missing`;
      report({ what: hasNoAccount ? 'team' : 'period', teamId, detail });
      return undefined;
    }
    const current = Number(row['period_no']);
    const [startMs, endMs, anchorMs] = [Number(row['start_ms']), Number(row['end_ms']), Number(row['anchor_ms'])];
    if (Number(row['period_end_ms']) !== endMs)
      report({ what: 'period', teamId, detail: 'its row in books ends at a different time than its period' });
    const records = (table: RecordTable): ReadonlyMap<string, string> => new Map(this.#sql.records.all(no, table));
    const blobIds = this.#sql.blobs.all(no).map(([id]) => id);
    const found = (what: string, detail: string): void => report({ what, teamId, detail });
    const requests = [...this.#sql.open.all(no), ...(this.#remembered.get(no) ?? [])].map(requestOf);
    return {
      team: teamOf(row),
      period: { number: current, startMs, endMs, anchorMs, credit: runningCredit(row) },
      usedCharacters: Number(row['used_characters']),
      heldCharacters: Number(row['held_characters']),
      allowanceUsed: Number(row['allowance_used']),
      allowanceHeld: Number(row['allowance_held']),
      heldMicro: Number(row['held_micro']),
      window: windowOf(row),
      windowCounts: this.#sql.windowCounts.all(no).map(([subject, counts]) => ({ subject, counts: storedCounts(counts)! })),
      keys: this.#sql.keys.all(no).map(keyOf),
      days: this.#sql.days.all({ $team: no }),
      dayDone: this.#dayDone(no, Number(row['day'])),
      periods: this.#periodsOf(no, current, requests),
      toldPercents: this.#sql.told.all(no),
      toldRefusals: this.#sql.refusals.all(no, current).map(([keyId, code, number, told, key]): ToldRefusal => {
        if (code === 'credit_exhausted') return { code, number, told: told === 1 };
        if (key === TEST_KEYS) return { code, testKeys: true, number };
        return { code, ...(keyId === null ? {} : { keyId }), number };
      }),
      requests: requests.toSorted((one, other) => (one.requestId < other.requestId ? -1 : 1)),
      ...recordContents(records, blobIds, found),
    };
  }

  /** While a day is being counted, all before it are done; otherwise all are. */
  #dayDone(no: number, counted: number): number {
    return counted > 0 ? counted - 1 : (this.#sql.lastDay.get(no)![0] ?? 0);
  }

  /** Omits periods without usage, unless a reservation of them is open: stores need not keep them. */
  #periodsOf(no: number, current: number, requests: readonly RequestContents[]): PeriodContents[] {
    const uses = Map.groupBy(this.#sql.uses.all({ $team: no, $current: current }), ({ period }) => period);
    return this.#sql.periods.all(no, current).flatMap((row) => {
      const { number, startMs, endMs, plan, limits, closed, closedRequests, closedTests, allowanceUsed } = row;
      const own = uses.get(number) ?? [];
      const keys = own.map(({ period: _period, mode: _mode, ...use }) => use);
      const isOpen = requests.some(({ state, periodNumber }) => state === 'open' && periodNumber === number);
      const credit = creditOf(row);
      if (keys.length === 0 && !isOpen && closed === null && !movedCredit(credit)) return [];
      return {
        number,
        startMs,
        endMs,
        closed: closed !== null,
        plan,
        limits: JSON.parse(limits) as TeamLimits,
        characters: closed ?? keys.reduce((sum, { characters }) => sum + characters, 0),
        allowanceUsed,
        testCharacters: closedTests ?? own.reduce((sum, { mode, characters }) => (mode === 'test' ? sum + characters : sum), 0),
        requests: closedRequests ?? keys.reduce((sum, { requests: count }) => sum + count, 0),
        credit,
        keys: closed !== null && keys.length === 0 ? undefined : keys,
      };
    });
  }
}

function creditOf({ openingMicro, addedMicro, deductedMicro, balanceMicro }: PeriodRow): PeriodContents['credit'] {
  return { openingMicro, addedMicro, deductedMicro, balanceMicro };
}

function runningCredit(row: SqlRow): PeriodContents['credit'] {
  const [openingMicro, addedMicro] = [Number(row['opening_micro']), Number(row['added_micro'])];
  return { openingMicro, addedMicro, deductedMicro: Number(row['deducted_micro']), balanceMicro: Number(row['balance_micro']) };
}

function windowOf(row: SqlRow): TeamContents['window'] {
  const newestMs = Number(row['window_newest_ms']);
  const window = new RateWindow(row['window'] as Uint8Array, newestMs);
  return window.entries().filter(({ atMs }) => newestMs - atMs < RATE_WINDOW_MS);
}

function keyOf(row: SqlRow): KeyContents {
  const { teamId: _teamId, ...record } = keyRecordOf(row, -Infinity);
  const digest = String(row['digest']);
  // Holds of a past period do not count.
  const heldCharacters = row['held_period_no'] === row['current_no'] ? Number(row['held_characters']) : 0;
  return {
    ...record,
    digest: digest.startsWith(NO_DIGEST) ? undefined : digest,
    characters: Number(row['characters'] ?? 0),
    requests: Number(row['requests'] ?? 0),
    heldCharacters: record.limits.characters === undefined ? undefined : heldCharacters,
    window: row['window'] === null ? [] : windowOf(row),
  };
}

function requestOf(row: RequestRow): RequestContents {
  const { team: _team, requestId, state, untilMs, keyId, periodNumber, ofAllowance, tickets, tag, ...held } = row;
  const known = { requestId, state: STATES[state]!, untilMs };
  if (state !== OPEN) return { ...known, keyId: undefined, characters: 0, priceMicro: 0, periodNumber: undefined, ofAllowance: false };
  const counted = {
    ...(tickets === null ? {} : { tickets: readTickets(tickets) }),
    ...(tag === null ? {} : { tag: readTagColumn(tag) }),
  };
  const owner = { keyId: keyId ?? undefined, periodNumber: Number(periodNumber) };
  return { ...known, ...held, ...owner, ofAllowance: ofAllowance === 1, ...counted };
}
