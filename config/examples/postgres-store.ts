// A store in PostgreSQL, in one file. Each operation is one transaction that locks the row of its team, and every count is a sum over
// rows, so that nothing can disagree. For operators whose numbers must be in the database that they have: exact on any number of
// gateways, though a transaction costs several round trips, so a request is slower than with Redis. Gateways need synchronized clocks.
//
//     store: postgres://lingate@127.0.0.1/lingate
//
// The database must exist; the tables are created in its schema `lingate`. The package `pg` is the plugin's own (npm install pg).
import { DatabaseError, Pool, types as postgresTypes } from 'pg';
import type { PoolClient } from 'pg';
import Type from 'typebox';
import {
  allowsAddress,
  auditEntry,
  chargeSums,
  costMicro,
  countInWindows,
  countTag,
  dayOf,
  decideTeamChange,
  definePlugin,
  deletionEvent,
  dictionaryFor,
  eventNames,
  eventWrites,
  FURTHER_TAGS,
  HISTORY_DAYS,
  idBefore,
  isInSpan,
  isUnavailable,
  keyRegistry,
  minorRoundedDown,
  minorRoundedUp,
  momentOf,
  movedCredit,
  nextTickets,
  outlivesTeam,
  overRecords,
  periodBy,
  RATE_WINDOW_MS,
  readPairs,
  readTagSettings,
  RecordOutbox,
  REMEMBER_MS,
  sameLength,
  SHARED_RECORDS,
  StoreError,
  TagAccount,
  tagOfSubject,
  TagUses,
  teamDifference,
  teamEvent,
  tooSmallWindow,
  WindowCounts,
  windowedSubjects,
  windowRefusal,
  windowStandings,
  withNextPlan,
  withoutNames,
  withWindowUses,
} from 'lingate';
import type {
  Admission,
  AdmissionRequest,
  Audited,
  AuditedChange,
  AuditEntry,
  AuditLog,
  AuditRecord,
  CallerCheck,
  CheckedCaller,
  Clock,
  CreditExhausted,
  DayRange,
  GlossaryReference,
  GroupChange,
  KeyDay,
  KeyOwner,
  KeyRecord,
  KeyUsage,
  KeyWrite,
  Ledger,
  NewBlob,
  NewEvent,
  NewTeam,
  PeriodUse,
  Placed,
  QuotaExceeded,
  RecordName,
  RecordSpace,
  RequestTag,
  Resolution,
  Standing,
  Store,
  StoredRecord,
  StoreUnavailable,
  Team,
  TeamChange,
  TeamDays,
  StoredCounts,
  TeamLimits,
  TeamPage,
  TeamRegistry,
  TeamSummary,
  Usage,
  UsageHistory,
  WholeAccount,
  WholeAccounts,
  WindowedSubject,
  WindowSubject,
  WindowTickets,
} from 'lingate';

/** Times are Unix milliseconds, money is millionths of a minor unit. A team that is gone has left its usage only. */
const TABLES = `
create schema if not exists lingate;
set search_path to lingate;
create table if not exists teams (
  team_id text primary key, created_order bigint generated always as identity, name text not null, plan text not null,
  limits json not null, balance_micro bigint not null, created_at_ms bigint not null, gone boolean not null default false,
  reference text, next_plan json,
  -- Periods are counted from here: the creation, or the last change of their length.
  anchor_ms bigint not null);
-- The balance before the first period that was copied from another store.
alter table teams add column if not exists opening_micro bigint not null default 0;
create table if not exists periods (
  team_id text references teams on delete cascade, number int, start_ms bigint not null, end_ms bigint not null, plan text, limits json,
  added_micro bigint not null default 0, deducted_micro bigint not null default 0, primary key (team_id, number));
create table if not exists keys (
  key_id text primary key, created_order bigint generated always as identity, team_id text not null references teams on delete cascade,
  digest text unique, display text not null, label text not null, mode text not null, limits json not null,
  revoked boolean not null default false, disabled boolean not null default false, created_at_ms bigint not null, last_used_at_ms bigint);
create index if not exists keys_of_team on keys (team_id);
-- What is known of a request's id: an open reservation until its lease ends, or a result until it is forgotten.
create table if not exists requests (
  team_id text references teams on delete cascade, request_id text, state text not null, until_ms bigint not null,
  key_id text, characters bigint not null default 0, price_micro bigint not null default 0, period int,
  of_allowance boolean not null default false, tickets json, tag json,
  primary key (team_id, request_id));
alter table requests add column if not exists tag json;
-- The requests within the last second: of the team where key_id is empty, otherwise of a key with a rate of its own.
create table if not exists places (team_id text references teams on delete cascade, key_id text not null, at_ms bigint not null);
create index if not exists places_in_order on places (team_id, key_id, at_ms);
-- What the team (subject 'team') or a key ('key:' and its id) has used of its limits by minute to month.
create table if not exists window_counts (
  team_id text references teams on delete cascade, subject text, counts json not null, primary key (team_id, subject));
-- What was charged. All that is shown or limited is a sum over these rows. What was copied from another store is summed up by day, with
-- the period 0, and again by period, with the day -1.
create table if not exists uses (
  team_id text references teams on delete cascade, key_id text, day int, period int, characters bigint not null, requests bigint not null,
  micro bigint not null, of_allowance bigint not null default 0, primary key (team_id, key_id, day, period));
create table if not exists changes (
  team_id text references teams on delete cascade, id text, request text not null, at_ms bigint not null, primary key (team_id, id));
-- Changes by operators. Ids are in the order of time, and entries outlive their team.
create table if not exists audit (id text collate "C" primary key, team_id text, record json not null);
create index if not exists audit_of_team on audit (team_id, id);
-- A group is a team, or what all gateways share. An id without a value belongs to an index.
create table if not exists records (
  group_id text, kind text, id text collate "C", value text not null, primary key (group_id, kind, id));
create index if not exists records_by_name on records (kind, id);
create table if not exists alive (one int primary key, at timestamptz);
create table if not exists pieces (
  team_id text references teams on delete cascade, blob_id text, number int, piece bytea not null, primary key (team_id, blob_id, number));
`;
/** Any number: gateways that start at the same time create the tables one after another. */
const TABLES_LOCK = 7_146_482;
const SHARED_LOCK = 7_146_483;
const AUDIT_LOCK = 7_146_484;
/** A transaction that waits longer, for the database or for other changes of its team, is given up. */
const WAIT_MS = 2000;
/** PostgreSQL's type numbers of `bigint`; its values here are exact as numbers. */
const BIGINT = 20;
/** The database or its server takes no writes. */
const READ_ONLY = '25006';
const DAY_MS = 86_400_000;
const DAY_MAX = 2 ** 31 - 1;

const TEAM = `t.team_id as "teamId", t.name, t.plan, t.limits, t.balance_micro as "balanceMicro", t.created_at_ms as "createdAtMs",
  t.reference, t.next_plan as "nextPlan"`;
const KEY = `k.key_id as "keyId", k.team_id as "teamId", k.display, k.label, k.mode, k.limits, k.created_at_ms as "createdAtMs",
  k.last_used_at_ms as "lastUsedAtMs", case when k.revoked then 'revoked' when k.disabled then 'disabled'
  when (k.limits->>'expiresAtMs')::bigint <= $1 then 'expired' else 'active' end as status`;

/** A team as its transaction sees it: locked, and with everything done that time alone does. */
interface Account {
  readonly db: Rows;
  readonly nowMs: number;
  readonly team: Team;
  readonly anchorMs: number;
  readonly period: { readonly number: number; readonly startMs: number; readonly endMs: number };
}

/** Values are $1, $2 and so on. What is null in a row is absent. Rejects with PostgreSQL's error. */
type Rows = <Row extends object>(sql: string, values?: unknown[]) => Promise<Row[]>;

class Database {
  readonly #pool: Pool;
  readonly #clock: Clock;
  /** By team: resolves when the latest operation that was called has ended. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(url: string, clock: Clock, waitMs: number) {
    const types = { getTypeParser: typeParser };
    const waits = { connectionTimeoutMillis: waitMs, statement_timeout: waitMs, query_timeout: 2 * waitMs };
    this.#pool = new Pool({ connectionString: url, ...waits, options: '-c search_path=lingate', application_name: 'lingate', types });
    // When a connection breaks, its transaction fails, and the next one gets another connection: there is no more to do.
    this.#pool.on('error', () => undefined).on('connect', (connection) => connection.on('error', () => undefined));
    this.#clock = clock;
  }

  /** All of `work` or nothing. What PostgreSQL could not do is an answer; after it the transaction may have been made or not. */
  async transaction<T>(work: (db: Rows, nowMs: number) => Promise<T>): Promise<T | StoreUnavailable> {
    let connection: PoolClient | undefined;
    try {
      const held = (connection = await this.#pool.connect());
      const db: Rows = async (sql, values) => (await held.query<object>(sql, values)).rows.map(withoutNulls) as never;
      await db('begin');
      const result = await work(db, this.#clock.nowMs());
      await db('commit');
      connection.release();
      return result;
    } catch (error) {
      // Ends the connection, and with it the transaction.
      connection?.release(true);
      return unavailable(error);
    }
  }

  /** The same, without a result. */
  async done(work: (db: Rows, nowMs: number) => Promise<void>): Promise<StoreUnavailable | undefined> {
    const failed = await this.transaction(work);
    return isUnavailable(failed) ? failed : undefined;
  }

  /**
   * Runs `work` on a team, alone; `undefined` if there is none. Operations of a team wait for each other here before they do so in the
   * database: in the order of their calls, and so that a busy team does not take all connections.
   */
  async team<T>(teamId: string, work: (account: Account) => Promise<T>): Promise<T | undefined | StoreUnavailable> {
    const before = this.#last.get(teamId);
    const turn = Promise.withResolvers<void>();
    this.#last.set(teamId, turn.promise);
    await before;
    try {
      return await this.transaction(async (db, nowMs) => {
        const account = await opened(db, teamId, nowMs);
        return account && work(account);
      });
    } finally {
      turn.resolve();
      if (this.#last.get(teamId) === turn.promise) this.#last.delete(teamId);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** Of a team that is gone there may only be days. */
const NO_PERIOD = { number: 0, startMs: 0, endMs: 0 };

/** As it is stored. */
async function locked(db: Rows, teamId: string, nowMs: number): Promise<(Account & { readonly gone: boolean }) | undefined> {
  const [found] = await db<Team & { anchorMs: number; gone: boolean }>(
    `select ${TEAM}, t.anchor_ms as "anchorMs", gone from teams t where team_id = $1 for update`,
    [teamId],
  );
  if (found === undefined) return undefined;
  const { anchorMs, gone, ...team } = found;
  const [period] = await db<Account['period']>(
    'select number, start_ms as "startMs", end_ms as "endMs" from periods where team_id = $1 order by number desc limit 1',
    [teamId],
  );
  return { db, nowMs, team, anchorMs, period: period ?? NO_PERIOD, gone };
}

async function opened(db: Rows, teamId: string, nowMs: number): Promise<Account | undefined> {
  const account = await locked(db, teamId, nowMs);
  if (account === undefined || account.gone) return undefined;
  const { team, period } = account;
  const ended = await db<EndedRequest>(
    `update requests set state = 'expired', until_ms = until_ms + $3 where team_id = $1 and state = 'open' and until_ms <= $2
     returning characters, tickets, period`,
    [teamId, nowMs, REMEMBER_MS],
  );
  for (const held of ended) await giveBack(account, held, held.characters);
  await db(`delete from requests where team_id = $1 and state <> 'open' and until_ms <= $2`, [teamId, nowMs]);
  if (nowMs < period.endMs) return account;
  await leavePeriod(account);
  const next = await followed(account);
  await recordChange(db, nowMs, team.nextPlan?.by, teamId, teamDifference(team, next.team), teamEvent('team_updated', next.team));
  return { ...account, ...next, period: await startPeriod(db, next.team, period.number + 1, next.anchorMs, nowMs, period.endMs) };
}

/** The team in its next period: with the plan that waits for it. Another length is counted from the end of the period. */
async function followed({ db, team, anchorMs, period }: Account): Promise<Pick<Account, 'team' | 'anchorMs'>> {
  const { nextPlan } = team;
  if (nextPlan === undefined) return { team, anchorMs };
  const next = { team: withNextPlan(team), anchorMs: sameLength(nextPlan.limits.period, team.limits.period) ? anchorMs : period.endMs };
  await putTeam(db, next.team, next.anchorMs);
  return next;
}

/** The current period ends, perhaps early, with the plan that it has. */
async function leavePeriod({ db, nowMs, team, period }: Account): Promise<void> {
  await db('update periods set end_ms = greatest(start_ms, least(end_ms, $3)), plan = $4, limits = $5 where team_id = $1 and number = $2', [
    team.teamId,
    period.number,
    nowMs,
    team.plan,
    JSON.stringify(team.limits),
  ]);
}

/** One by the calendar may begin before `fromMs`, if the one before it was counted differently. */
async function startPeriod(
  db: Rows,
  team: Team,
  number: number,
  anchorMs: number,
  nowMs: number,
  fromMs: number,
): Promise<Account['period']> {
  const { startMs, endMs } = periodBy(team.limits.period, anchorMs, nowMs);
  const period = { number, startMs: Math.max(startMs, fromMs), endMs };
  await db('insert into periods (team_id, number, start_ms, end_ms) values ($1, $2, $3, $4)', [team.teamId, number, period.startMs, endMs]);
  return period;
}

// The ledger

interface RequestRow {
  readonly state: 'open' | 'committed' | 'released' | 'expired';
  readonly untilMs: number;
  readonly keyId: string;
  readonly characters: number;
  readonly priceMicro: number;
  readonly period: number;
  readonly ofAllowance: boolean;
  readonly tickets: WindowTickets | undefined;
  readonly tag: RequestTag | undefined;
}

type EndedRequest = Pick<RequestRow, 'characters' | 'tickets' | 'period'>;

function ledgerOf(database: Database): Ledger {
  return {
    admit: async (request) => (await database.team(request.teamId, (account) => admit(account, request))) ?? { kind: 'key_unknown' },
    check: async (check) =>
      (await database.team(check.teamId, async (account): Promise<CheckedCaller> => (await caller(account, check)).answer)) ?? {
        kind: 'key_unknown',
      },
    resolve: async (teamId, requestId, verdict, characters) =>
      (await database.team(teamId, (account) => resolve(account, requestId, verdict, characters))) ?? { kind: 'absent' },
  };
}

async function admit(account: Account, request: AdmissionRequest): Promise<Admission> {
  const { db, nowMs, team, period } = account;
  const { requestId, teamId, keyId, leaseMs } = request;
  const plan = request.reportPlan === true ? { plan: team.plan } : {};
  const known = await requestOf(account, requestId);
  if (known?.state === 'open') {
    const { characters, untilMs } = known;
    return { kind: 'admitted', reservation: { requestId, teamId, characters, leaseUntilMs: untilMs }, ...plan };
  }
  if (known !== undefined) return { kind: 'repeated' };
  const asked = request.reserve && request.characters !== undefined ? (request.charged ?? request.characters) : undefined;
  const { answer: refusal, key, tag, windowed } = await caller(account, request, asked);
  if (refusal.kind !== 'admitted') return refusal;
  const ownRate = key!.limits.requestsPerSecond;
  const windows = ownRate === undefined ? [''] : ['', keyId];
  await db('delete from places where team_id = $1 and key_id = any($2) and at_ms <= $3', [teamId, windows, nowMs - RATE_WINDOW_MS]);
  await db('insert into places select $1, unnest($2::text[]), $3', [teamId, windows, nowMs]);
  const placed = await judge(account, request, key!, tag, windowed);
  const ofAllowance = usesAllowance(team, key!);
  const reserved = placed.kind === 'admitted' ? placed.reservation : undefined;
  const tickets = nextTickets(windowed) ?? null;
  countInWindows(windowed, reserved?.characters ?? 0, nowMs);
  for (const { of, subject, counts } of windowed) if (of !== 'tag') await storeCounts(db, teamId, subject, counts);
  if (tag !== undefined) {
    tag.takePlace(reserved?.characters ?? 0, nowMs);
    await storeUses(account, tag.name, tag.uses);
  }
  await db(
    `insert into requests (team_id, request_id, state, until_ms, key_id, characters, price_micro, period, of_allowance, tickets, tag)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    reserved === undefined
      ? [teamId, requestId, 'released', nowMs + REMEMBER_MS, null, 0, 0, null, false, null, null]
      : [
          teamId,
          requestId,
          'open',
          nowMs + leaseMs,
          keyId,
          reserved.characters,
          ofAllowance ? 0 : priceMicroOf(team.limits, reserved.characters),
          period.number,
          ofAllowance,
          tickets === null ? null : JSON.stringify(tickets),
          request.tag === undefined ? null : JSON.stringify(request.tag),
        ],
  );
  if (request.reportRate !== true) return { ...placed, ...plan };
  const limit = team.limits.requestsPerSecond;
  const left = limit - (await places(account, '')).length;
  const leftOfKey = ownRate === undefined ? Infinity : ownRate - (await places(account, keyId)).length;
  const nearer = leftOfKey < left ? { limit: ownRate!, remaining: leftOfKey, of: 'key' as const } : { limit, remaining: left };
  const rate = tag === undefined ? nearer : tag.nearer(nearer);
  const standings = windowStandings(windowed, nowMs);
  return { ...placed, ...plan, rate, ...(standings.length === 0 ? {} : { windows: standings }) };
}

/** What subjects have used of their windows, as it is stored. */
async function countsOf(db: Rows, teamId: string): Promise<Map<WindowSubject, StoredCounts>> {
  const rows = await db<{ subject: WindowSubject; counts: StoredCounts }>('select subject, counts from window_counts where team_id = $1', [
    teamId,
  ]);
  return new Map(rows.map(({ subject, counts }) => [subject, counts]));
}

async function storeCounts(db: Rows, teamId: string, subject: string, counts: WindowCounts): Promise<void> {
  await db('insert into window_counts values ($1, $2, $3) on conflict (team_id, subject) do update set counts = $3', [
    teamId,
    subject,
    JSON.stringify(counts.stored()),
  ]);
}

/** What is not charged comes back to the windows in which it was counted, and to its tag. */
async function giveBack(account: Account, { tickets, period }: Omit<EndedRequest, 'characters'>, characters: number): Promise<void> {
  if (tickets === undefined || characters === 0) return;
  const { db, team } = account;
  const stored = await countsOf(db, team.teamId);
  for (const [subject, ticket] of Object.entries(tickets) as [WindowSubject, number][]) {
    const tag = tagOfSubject(subject);
    if (tag === undefined) {
      const counts = new WindowCounts(stored.get(subject));
      counts.giveBack(ticket, characters);
      await storeCounts(db, team.teamId, subject, counts);
      continue;
    }
    const text = await valueOf(db, team.teamId, { table: 'tag_uses', id: tag });
    // Its settings may have been removed.
    if (text === undefined) continue;
    const uses = new TagUses(text, account.period.number, account.nowMs);
    uses.giveBack(ticket, period, characters);
    await storeUses(account, tag, uses);
  }
}

/** A request's tag, if it has settings. */
async function tagOf({ db, nowMs, team: { teamId }, period }: Account, tag: RequestTag | undefined): Promise<TagAccount | undefined> {
  if (tag === undefined) return undefined;
  const settings = await valueOf(db, teamId, { table: 'tag_limits', id: tag.name });
  if (settings === undefined) return undefined;
  const uses = new TagUses(await valueOf(db, teamId, { table: 'tag_uses', id: tag.name }), period.number, nowMs);
  return new TagAccount(tag.name, readTagSettings(settings), uses);
}

async function storeUses({ db, team }: Account, tag: string, uses: TagUses): Promise<void> {
  await put(db, team.teamId, { table: 'tag_uses', id: tag, value: uses.written() });
}

/** Counts a charge by tag and day. */
async function countByTag({ db, nowMs, team: { teamId } }: Account, tag: RequestTag, characters: number): Promise<void> {
  const rows = await db<StoredRecord>(
    `select kind as table, id, value from records where group_id = $1 and kind in ('tag_counts', 'tag_days') and id in ($2, $3)`,
    [teamId, tag.name, FURTHER_TAGS],
  );
  const isKnown = rows.some(({ table, id }) => table === 'tag_counts' && id === tag.name);
  const [all] = isKnown
    ? []
    : await db<{ count: number }>(`select count(*) from records where group_id = $1 and kind = 'tag_counts'`, [teamId]);
  const written: StoredRecord[] = [];
  const records = {
    get: (table: string, id: string) => rows.find((row) => row.table === table && row.id === id)?.value,
    put: (table: StoredRecord['table'], id: string, value: string) => void written.push({ table, id, value }),
    count: () => all?.count ?? 0,
  };
  countTag(records, tag, characters, dayOf(nowMs));
  for (const one of written) await put(db, teamId, one);
}

async function windowedOf({ db, team }: Account, key: KeyRecord, tag: TagAccount | undefined): Promise<readonly WindowedSubject[]> {
  const stored =
    team.limits.windows === '' && key.limits.windows === undefined
      ? new Map<WindowSubject, StoredCounts>()
      : await countsOf(db, team.teamId);
  return windowedSubjects(team.limits.windows, key.keyId, key.limits.windows, (subject) => new WindowCounts(stored.get(subject)), tag);
}

type CallerAsked = Pick<CallerCheck, 'keyId' | 'address' | 'scope' | 'tag'>;

/** The rules that need no text: the key's state, its addresses, the tag, the rates, and the windows. `reserved`: the characters that it would reserve. */
async function caller(account: Account, { keyId, address, scope, tag: sent }: CallerAsked, reserved?: number) {
  const { db, nowMs, team } = account;
  const [key] = await keysOf(account, keyId);
  const ended = (answer: CheckedCaller, tag?: TagAccount, windowed: readonly WindowedSubject[] = []) => ({ answer, key, tag, windowed });
  if (key === undefined) return ended({ kind: 'key_unknown' });
  if (key.status === 'revoked') return ended({ kind: 'key_revoked' });
  if (key.status !== 'active') return ended({ kind: 'key_revoked', reason: key.status });
  const { expiresAtMs = Infinity, requestsPerSecond, allowedAddresses, scopes } = key.limits;
  if (allowedAddresses !== undefined && address === undefined) return ended({ kind: 'address_wanted' });
  if (allowedAddresses !== undefined && !allowsAddress(allowedAddresses, address!)) return ended({ kind: 'address_refused' });
  if (scopes !== undefined && scope === undefined) return ended({ kind: 'scope_wanted' });
  if (scopes?.includes(scope!) === false) return ended({ kind: 'scope_missing' });
  const tag = await tagOf(account, sent);
  if (tag?.settings.disabled === true) return ended({ kind: 'tag_disabled' });
  await db('update keys set last_used_at_ms = greatest(last_used_at_ms, $2) where key_id = $1', [keyId, nowMs]);
  const full = async (keyOfWindow: string, limit: number) => {
    // The place that must become free before another fits: the oldest, unless the limit was lowered meanwhile.
    const decisive = (await places(account, keyOfWindow)).at(-limit);
    if (decisive === undefined) return undefined;
    const freeAtMs = decisive + RATE_WINDOW_MS;
    const fullForMs = Math.max(0, Math.min(freeAtMs, expiresAtMs) - nowMs - 1);
    return { kind: 'rate_limited', limit, retryAfterMs: freeAtMs - nowMs, fullForMs } as const;
  };
  const tooFast = await full('', team.limits.requestsPerSecond);
  if (tooFast !== undefined) return ended(tooFast);
  const keyTooFast = requestsPerSecond === undefined ? undefined : await full(keyId, requestsPerSecond);
  if (keyTooFast !== undefined) return ended({ ...keyTooFast, of: 'key' });
  const tagTooFast = tag?.rateRefusal(nowMs, expiresAtMs);
  // Places that moved back with the clock stay there.
  if (tag?.settings.requestsPerSecond !== undefined) await storeUses(account, tag.name, tag.uses);
  if (tagTooFast !== undefined) return ended(tagTooFast);
  const windowed = await windowedOf(account, key, tag);
  return ended(windowRefusal(windowed, reserved, nowMs, expiresAtMs) ?? { kind: 'admitted', reservation: undefined }, tag, windowed);
}

/** When the requests of the last second came, oldest first. If the clock has stepped back, they are moved back with it. */
async function places({ db, nowMs, team: { teamId } }: Account, keyId: string): Promise<number[]> {
  await db(
    `update places set at_ms = at_ms - (newest - $3) from (select max(at_ms) as newest from places where team_id = $1 and key_id = $2) as latest
     where team_id = $1 and key_id = $2 and newest > $3`,
    [teamId, keyId, nowMs],
  );
  const live = await db<{ atMs: number }>(
    'select at_ms as "atMs" from places where team_id = $1 and key_id = $2 and at_ms > $3 order by at_ms',
    [teamId, keyId, nowMs - RATE_WINDOW_MS],
  );
  return live.map(({ atMs }) => atMs);
}

async function judge(
  account: Account,
  request: AdmissionRequest,
  key: KeyRecord,
  tag: TagAccount | undefined,
  windowed: readonly WindowedSubject[],
): Promise<Placed> {
  const { team, period, nowMs } = account;
  const { requestId, teamId, keyId, characters: all, reserve, leaseMs, glossary } = request;
  const maxCharacters = team.limits.maxCharactersPerRequest;
  if (all !== undefined && all > maxCharacters) return { kind: 'text_too_long', maxCharacters };
  if (!reserve || all === undefined) return { kind: 'admitted', reservation: undefined };
  const characters = request.charged ?? all;
  const dictionary = glossary && (await dictionaryOf(account, glossary));
  if (dictionary?.kind !== undefined) return { kind: dictionary.kind };
  const { limits } = team;
  const tooSmall = tooSmallWindow(windowed, characters, nowMs);
  if (tooSmall !== undefined) return tooSmall;
  const characterLimit = key.limits.characters ?? Infinity;
  if ((await usedBy(account, keyId)) + (await heldIn(account, keyId)).characters + characters > characterLimit) {
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs: period.endMs, of: 'key' };
  }
  const tagRefusal = tag?.refusal(period.endMs, characters);
  if (tagRefusal !== undefined) return tagRefusal;
  const now = await standing(account);
  const refusal = usesAllowance(team, key)
    ? allowanceRefusal(limits.testAllowance, now, period.endMs, characters)
    : priceRefusal(limits, now, period.endMs, characters);
  return (
    refusal ?? {
      kind: 'admitted',
      reservation: { requestId, teamId, characters, leaseUntilMs: nowMs + leaseMs },
      ...(dictionary === undefined ? {} : { dictionaryId: dictionary.dictionaryId }),
    }
  );
}

/** Whether what the key uses is of the plan's allowance for test keys. */
function usesAllowance({ limits }: Team, { mode }: KeyRecord): boolean {
  return mode === 'test' && limits.testAllowance > 0;
}

function allowanceRefusal(characterLimit: number, now: Standing, periodEndMs: number, characters: number): QuotaExceeded | undefined {
  if (now.allowanceUsed + now.allowanceHeld + characters <= characterLimit) return undefined;
  return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs, of: 'test_keys' };
}

function priceRefusal(
  limits: TeamLimits,
  now: Standing,
  periodEndMs: number,
  characters: number,
): QuotaExceeded | CreditExhausted | undefined {
  if (limits.billing === 'quota') {
    const { characterLimit, overageCharacters, overageCapMinor } = limits;
    const charged = now.usedCharacters - now.allowanceUsed + now.heldCharacters - now.allowanceHeld;
    if (charged + characters <= characterLimit + overageCharacters) return undefined;
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor, periodEndMs };
  }
  const freeMicro = now.balanceMicro - now.heldMicro;
  const requiredMicro = priceMicroOf(limits, characters);
  if (requiredMicro <= freeMicro) return undefined;
  const [balanceMinor, requiredMinor] = [minorRoundedDown(freeMicro), minorRoundedUp(requiredMicro)];
  return { kind: 'credit_exhausted', balanceMinor, requiredMinor, currency: limits.currency };
}

/** The credit that a reservation holds; with quota billing none. */
function priceMicroOf({ billing, minorPerMillion }: TeamLimits, characters: number): number {
  return billing === 'credit' ? costMicro(characters, minorPerMillion) : 0;
}

async function dictionaryOf({ db, team }: Account, reference: GlossaryReference) {
  const pairs = await valueOf(db, team.teamId, { table: 'pairs', id: reference.glossaryId });
  if (pairs === undefined) return { kind: 'glossary_missing' } as const;
  const found = dictionaryFor(readPairs(pairs), reference);
  return found === undefined ? ({ kind: 'glossary_mismatch' } as const) : { dictionaryId: found.dictionaryId };
}

async function resolve(account: Account, requestId: string, verdict: 'commit' | 'release', asked = Infinity): Promise<Resolution> {
  const { db, nowMs, team } = account;
  const known = await requestOf(account, requestId);
  if (known !== undefined && known.state !== 'open') return { kind: known.state };
  if (known === undefined && verdict === 'commit') return { kind: 'absent' };
  if (known !== undefined && verdict === 'commit') {
    const characters = Math.min(asked, known.characters);
    // The price of a character is a whole number, so this division has no remainder.
    const costs = known.characters === 0 ? 0 : Number((BigInt(known.priceMicro) * BigInt(characters)) / BigInt(known.characters));
    await db(
      `insert into uses values ($1, $2, $3, $4, $5, 1, $6, $7) on conflict (team_id, key_id, day, period) do update set
       characters = uses.characters + $5, requests = uses.requests + 1, micro = uses.micro + $6, of_allowance = uses.of_allowance + $7`,
      [team.teamId, known.keyId, dayOf(nowMs), known.period, characters, costs, known.ofAllowance ? characters : 0],
    );
    await db('update teams set balance_micro = balance_micro - $2 where team_id = $1', [team.teamId, costs]);
    if (known.tag !== undefined) await countByTag(account, known.tag, characters);
  }
  if (known !== undefined) {
    const charged = verdict === 'commit' ? Math.min(asked, known.characters) : 0;
    await giveBack(account, known, known.characters - charged);
  }
  const kind = verdict === 'commit' ? 'committed' : 'released';
  await db(
    `insert into requests (team_id, request_id, state, until_ms) values ($1, $2, $3, $4)
     on conflict (team_id, request_id) do update set state = $3, until_ms = $4`,
    [team.teamId, requestId, kind, nowMs + REMEMBER_MS],
  );
  return { kind };
}

async function requestOf({ db, team }: Account, requestId: string): Promise<RequestRow | undefined> {
  const [row] = await db<RequestRow>(
    `select state, until_ms as "untilMs", key_id as "keyId", characters, price_micro as "priceMicro", period,
       of_allowance as "ofAllowance", tickets, tag from requests where team_id = $1 and request_id = $2`,
    [team.teamId, requestId],
  );
  return row;
}

async function usedBy(account: Account, keyId?: string): Promise<number> {
  return (await chargedTo(account, keyId)).characters;
}

async function chargedTo({ db, team, period }: Account, keyId?: string): Promise<{ characters: number; ofAllowance: number }> {
  const [row] = await db<{ characters: number; ofAllowance: number }>(
    `select coalesce(sum(characters), 0)::bigint as characters, coalesce(sum(of_allowance), 0)::bigint as "ofAllowance" from uses where team_id = $1 and period = $2 and key_id = coalesce($3, key_id)`,
    [team.teamId, period.number, keyId ?? null],
  );
  return row!;
}

interface Held {
  readonly characters: number;
  readonly ofAllowance: number;
  readonly micro: number;
  readonly count: number;
}

/** What an ended period holds counts only in `count` and in credit. */
async function heldIn({ db, team, period }: Account, keyId?: string): Promise<Held> {
  const [row] = await db<Held>(
    `select coalesce(sum(characters) filter (where period = $2), 0)::bigint as characters,
     coalesce(sum(characters) filter (where period = $2 and of_allowance), 0)::bigint as "ofAllowance", coalesce(sum(price_micro), 0)::bigint as micro,
     count(*) from requests where team_id = $1 and state = 'open' and key_id = coalesce($3, key_id)`,
    [team.teamId, period.number, keyId ?? null],
  );
  return row!;
}

async function standing(account: Account): Promise<Standing> {
  const [used, held] = [await chargedTo(account), await heldIn(account)];
  return {
    usedCharacters: used.characters,
    heldCharacters: held.characters,
    allowanceUsed: used.ofAllowance,
    allowanceHeld: held.ofAllowance,
    balanceMicro: account.team.balanceMicro,
    heldMicro: held.micro,
    openReservations: held.count,
  };
}

// Teams and keys, as operators manage them

function registryOf(database: Database, { records, idempotency }: Pick<Store, 'records' | 'idempotency'>): TeamRegistry {
  return {
    ...keyRegistry(records),
    createTeam: (team, by) => database.transaction((db, nowMs) => createTeam(db, team, nowMs, by)),
    listTeams: () => database.transaction((db) => db<Team>(`select ${TEAM} from teams t where not gone order by created_order`)),
    pageTeams: (page) => database.transaction((db) => pageOf(db, page, 'not gone')),
    pageSummaries: (page) =>
      database.transaction(async (db, nowMs) => {
        const teams = await lockedPageOf(db, page, 'not gone');
        return eachOf(teams, async ({ teamId }) => summaryOf((await opened(db, teamId, nowMs))!));
      }),
    findTeam: (teamId) => database.team(teamId, async ({ team }) => team),
    updateTeam: (teamId, change, by) => database.team(teamId, (account) => updateTeam(account, change, by)),
    async deleteTeam(teamId, { keepUsage }, by) {
      const deleted = await database.transaction((db, nowMs) => deleteTeam(db, teamId, keepUsage, nowMs, by));
      // Answers to operators' requests name the team.
      if (deleted === true) await idempotency.forgetTeam(teamId);
      return deleted;
    },
    listKeys: (teamId) => database.team(teamId, (account) => keysOf(account)),
    // Whether a commit waits for a replica is a setting of the server.
    replicated: async () => undefined,
    findKeys: (search) =>
      database.transaction(async (db, nowMs) => {
        const [column, value] = 'digest' in search ? ['digest', search.digest] : ['display', search.display];
        const found = await db<KeyRecord & { teamName: string }>(
          `select ${KEY}, t.name as "teamName" from keys k join teams t using (team_id) where not t.gone and k.${column} = $2 order by k.created_order`,
          [nowMs, value],
        );
        return found;
      }),
    usage: (teamId) => database.team(teamId, usageOf),
    standing: (teamId) => database.team(teamId, standing),
  };
}

async function createTeam(db: Rows, team: NewTeam, nowMs: number, by?: Audited): Promise<Team> {
  const { teamId, name, reference, plan, limits, balanceMicro } = team;
  const created = await db<{ teamId: string }>(
    `insert into teams (team_id, name, plan, limits, balance_micro, created_at_ms, anchor_ms, reference) values ($1, $2, $3, $4, $5, $6, $6, $7)
     on conflict do nothing returning team_id as "teamId"`,
    [teamId, name, plan, JSON.stringify(limits), balanceMicro, nowMs, reference],
  );
  const [made] = await db<Team>(`select ${TEAM} from teams t where team_id = $1`, [teamId]);
  if (created.length === 0) return made!;
  const period = await startPeriod(db, made!, 1, nowMs, nowMs, -Infinity);
  await moveCredit(db, teamId, period.number, balanceMicro);
  await recordChange(db, nowMs, by, teamId, teamDifference(undefined, team), teamEvent('team_created', made!));
  return made!;
}

async function updateTeam(account: Account, change: TeamChange, by?: Audited) {
  const { db, nowMs, period } = account;
  const { addMicro = 0, once } = change;
  const { teamId } = account.team;
  if (once !== undefined) await db('delete from changes where team_id = $1 and at_ms < $2', [teamId, nowMs - DAY_MS]);
  const [known] = await db<{ request: string }>('select request from changes where team_id = $1 and id = $2', [teamId, once?.id]);
  const found = { team: account.team, heldMicro: (await heldIn(account)).micro, known: known?.request };
  const { answer, write: becomes } = decideTeamChange(found, change, by);
  if (becomes === undefined) return answer;
  if (once !== undefined) await db('insert into changes values ($1, $2, $3, $4)', [teamId, once.id, once.request, nowMs]);
  if (becomes.beginsPeriod) await leavePeriod(account);
  await putTeam(db, becomes.team, becomes.beginsPeriod ? nowMs : account.anchorMs);
  const current = becomes.beginsPeriod ? await startPeriod(db, becomes.team, period.number + 1, nowMs, nowMs, nowMs) : period;
  await moveCredit(db, teamId, current.number, addMicro);
  await recordChange(db, nowMs, by, teamId, becomes.difference, teamEvent('team_updated', becomes.team));
  return answer;
}

async function putTeam(db: Rows, { teamId, name, reference, plan, limits, balanceMicro, nextPlan }: Team, anchorMs: number): Promise<void> {
  await db(
    `update teams set name = $2, reference = $3, plan = $4, limits = $5, balance_micro = $6, next_plan = $7, anchor_ms = $8 where team_id = $1`,
    [teamId, name, reference, plan, JSON.stringify(limits), balanceMicro, nextPlan && JSON.stringify(nextPlan), anchorMs],
  );
}

async function moveCredit(db: Rows, teamId: string, period: number, micro: number): Promise<void> {
  await db(
    `update periods set added_micro = added_micro + greatest($3::bigint, 0), deducted_micro = deducted_micro - least($3::bigint, 0)
     where team_id = $1 and number = $2`,
    [teamId, period, micro],
  );
}

/** What is kept has no names: periods, days, and the keys that they name. */
async function deleteTeam(db: Rows, teamId: string, keepUsage: boolean, nowMs: number, by?: Audited): Promise<boolean> {
  const account = await opened(db, teamId, nowMs);
  const [known] = await db<{ plan: string }>('select plan from teams where team_id = $1', [teamId]);
  if (known === undefined || (keepUsage && account === undefined)) return false;
  await recordChange(db, nowMs, by, teamId, { before: { plan: known.plan }, after: {} });
  await forgetNames(db, teamId);
  await forgetEvents(db, teamId, keepUsage);
  if (account !== undefined) await keepEvent(db, nowMs, teamId, deletionEvent(teamId));
  await db('delete from records where group_id = $1', [teamId]);
  const used = keepUsage ? await periodsOf(db, account!.team, true) : [];
  if (used.length === 0) {
    await db('delete from teams where team_id = $1', [teamId]);
    return true;
  }
  await leavePeriod(account!);
  for (const table of ['requests', 'places', 'window_counts', 'changes', 'pieces'])
    await db(`delete from ${table} where team_id = $1`, [teamId]);
  await db(
    `update keys set digest = null, display = '', label = '', limits = '{}', revoked = true, last_used_at_ms = null where team_id = $1`,
    [teamId],
  );
  await db('delete from keys k where team_id = $1 and not exists (select from uses u where u.key_id = k.key_id)', [teamId]);
  await db(`update teams set gone = true, name = '', reference = null, next_plan = null, balance_micro = 0 where team_id = $1`, [teamId]);
  return true;
}

/** In order of creation. If the team before the page is gone by now, the page begins after where it was: ids are ULIDs. */
async function pageOf(db: Rows, { after, limit, search = '', exact }: TeamPage, which: string): Promise<Team[]> {
  return db<Team>(
    `select ${TEAM} from teams t where ${which}
     and ($1::text is null or created_order > coalesce((select created_order from teams where team_id = $1 and ${which}),
       (select min(created_order) - 1 from teams where team_id > $1 and ${which}), ${Number.MAX_SAFE_INTEGER}))
     and case when $4 then lower($3 collate "C") in (lower(name collate "C"), lower(reference collate "C"))
       else strpos(lower(concat_ws(E'\\n', name, reference, team_id) collate "C"), lower($3 collate "C")) > 0 end
     order by created_order limit $2`,
    [after, limit, search, exact === true],
  );
}

/**
 * The same, with the rows of its teams locked before anything else is, in one order: whoever keeps an entry of the audit has the row of
 * its team already, so no two wait for each other. Read again, because a team may be gone by then.
 */
async function lockedPageOf(db: Rows, page: TeamPage, which: string): Promise<Team[]> {
  const teams = await pageOf(db, page, which);
  await db('select from teams where team_id = any($1) order by created_order for update', [teams.map(({ teamId }) => teamId)]);
  return pageOf(db, page, which);
}

async function keysOf({ db, nowMs, team }: Pick<Account, 'db' | 'nowMs' | 'team'>, keyId?: string): Promise<KeyRecord[]> {
  const rows = await db<KeyRecord>(
    `select ${KEY} from keys k where team_id = $2 and key_id = coalesce($3, key_id) order by created_order`,
    [nowMs, team.teamId, keyId ?? null],
  );
  return rows;
}

async function usageOf(account: Account): Promise<Usage> {
  const { db, team, period } = account;
  const sums = await db<{ keyId: string; characters: number; requests: number }>(
    `select key_id as "keyId", sum(characters)::bigint as characters, sum(requests)::bigint as requests from uses
     where team_id = $1 and period = $2 group by key_id`,
    [team.teamId, period.number],
  );
  const keys = (await keysOf(account)).map((key): KeyUsage => {
    const { characters = 0, requests = 0 } = sums.find(({ keyId }) => keyId === key.keyId) ?? {};
    return { ...key, characters, requests };
  });
  const { characters, ofAllowance: allowanceUsed } = await chargedTo(account);
  const usage = { team, periodStartMs: period.startMs, periodEndMs: period.endMs, characters, allowanceUsed, keys };
  const counts = await countsOf(db, team.teamId);
  return withWindowUses(usage, (subject) => counts.get(subject), account.nowMs);
}

async function summaryOf(account: Account): Promise<TeamSummary> {
  const { team, characters, allowanceUsed, keys } = await usageOf(account);
  const active = keys.filter(({ status }) => status === 'active');
  const idle = active.map(({ keyId, lastUsedAtMs, createdAtMs }) => ({ keyId, sinceMs: lastUsedAtMs ?? createdAtMs }));
  const [idlestKey] = idle.toSorted((a, b) => a.sinceMs - b.sinceMs || (a.keyId < b.keyId ? -1 : 1));
  const uses = keys.flatMap(({ lastUsedAtMs }) => lastUsedAtMs ?? []);
  const lastUsedAtMs = uses.length === 0 ? undefined : Math.max(...uses);
  return { team, characters, allowanceUsed, activeKeys: active.length, lastUsedAtMs, idlestKey };
}

// Usage by day and period

function historyOf(database: Database): UsageHistory {
  return {
    days: (teamId, range) =>
      database.transaction(async (db, nowMs) => {
        const [team] = await db<Team>(`select ${TEAM} from teams t where team_id = $1`, [teamId]);
        return team && daysOf({ db, nowMs, team }, range);
      }),
    pageDays: (page, range) =>
      database.transaction(async (db, nowMs) => eachOf(await pageOf(db, page, 'true'), (team) => daysOf({ db, nowMs, team }, range))),
    periods: (teamId) =>
      database.transaction(async (db, nowMs) => {
        const [team] = await db<Team & { gone: boolean }>(`select ${TEAM}, gone from teams t where team_id = $1`, [teamId]);
        const account = team && (await opened(db, teamId, nowMs));
        return team && periodsOf(db, account?.team ?? team, team.gone);
      }),
    pagePeriods: (page, span) =>
      database.transaction(async (db, nowMs) =>
        eachOf(await lockedPageOf(db, page, 'true'), async (team) => {
          const account = await opened(db, team.teamId, nowMs);
          const periods = await periodsOf(db, account?.team ?? team, account === undefined);
          return { team, deleted: account === undefined, periods: periods.filter((period) => isInSpan(period, span)).toReversed() };
        }),
      ),
  };
}

/** Newest first. Only those that charged something or moved credit, if the team is gone. */
async function periodsOf(db: Rows, { teamId }: Team, gone: boolean): Promise<PeriodUse[]> {
  const found = await db<Omit<PeriodUse, 'credit'> & { addedMicro: number; deductedMicro: number; micro: number; balanceMicro: number }>(
    `select number, start_ms as "startMs", end_ms as "endMs", coalesce(p.plan, t.plan) as plan, coalesce(p.limits, t.limits) as limits,
       -- In order: what is settled late changes the balances since.
       p.plan is not null and not exists (select from requests r where r.team_id = $1 and state = 'open' and period <= number) as closed,
       coalesce(u.characters, 0) as characters, coalesce(u.requests, 0) as requests, coalesce(u.micro, 0) as micro,
       coalesce(u.of_allowance, 0) as "allowanceUsed", coalesce(u.of_tests, 0) as "testCharacters",
       added_micro as "addedMicro", deducted_micro as "deductedMicro",
       (t.opening_micro + sum(added_micro - deducted_micro - coalesce(u.micro, 0)) over (order by number))::bigint as "balanceMicro"
     from periods p join teams t using (team_id) left join
       (select period, sum(characters)::bigint as characters, sum(requests)::bigint as requests, sum(micro)::bigint as micro,
         sum(of_allowance)::bigint as of_allowance, coalesce(sum(characters) filter (where mode = 'test'), 0)::bigint as of_tests
        from uses join keys using (key_id) where uses.team_id = $1 group by period) as u on period = number
     where team_id = $1 order by number desc`,
    [teamId],
  );
  const periods = found.map(({ addedMicro, deductedMicro, micro, balanceMicro, ...period }) => {
    const openingMicro = balanceMicro - addedMicro + deductedMicro + micro;
    return { ...period, credit: { openingMicro, addedMicro, deductedMicro, balanceMicro } };
  });
  return gone ? periods.filter(({ characters, credit }) => characters > 0 || movedCredit(credit)) : periods;
}

async function daysOf(of: Pick<Account, 'db' | 'nowMs' | 'team'>, { from, to }: DayRange): Promise<TeamDays> {
  const days = await of.db<KeyDay>(
    `select day, key_id as "keyId", sum(characters)::bigint as characters, sum(u.requests)::bigint as requests
     from uses u join keys k using (key_id) where u.team_id = $1 and day between $2 and $3
     group by day, key_id, created_order order by day, created_order`,
    [of.team.teamId, from, to],
  );
  const keys = (await keysOf(of)).filter((key) => days.some(({ keyId }) => keyId === key.keyId));
  return { team: of.team, keys, days };
}

// The audit

/** Keeps entry and event of a change, in its transaction. All gateways do so one after another: ids are in the order of the entries. */
async function recordChange(
  db: Rows,
  nowMs: number,
  by: Audited | undefined,
  teamId: string,
  change: Pick<AuditedChange, 'before' | 'after'> | undefined,
  event?: NewEvent,
  keyId?: string,
): Promise<void> {
  if (change === undefined) return;
  if (event !== undefined) await keepEvent(db, nowMs, teamId, event);
  if (by === undefined) return;
  await db('select pg_advisory_xact_lock($1)', [AUDIT_LOCK]);
  const [latest] = await db<{ id?: string }>('select max(id) as id from audit where id < $1', [idBefore(nowMs + 1)]);
  await keepEntry(db, auditEntry(by, { ...change, teamId, ...(keyId && { keyId }) }, nowMs, latest?.id));
}

async function keepEntry(db: Rows, { id, atMs: _atMs, teamId, ...rest }: AuditEntry): Promise<void> {
  await db('insert into audit values ($1, $2, $3) on conflict do nothing', [id, teamId, JSON.stringify(rest)]);
}

async function forgetNames(db: Rows, teamId: string): Promise<void> {
  const entries = await db<{ id: string; record: AuditRecord }>('select id, record from audit where team_id = $1', [teamId]);
  for (const entry of entries)
    await db('update audit set record = $2 where id = $1', [entry.id, JSON.stringify(withoutNames(entry.record))]);
}

/** In the transaction of what it tells of, which has the row of the team; not if no gateway sends events. */
async function keepEvent(db: Rows, nowMs: number, teamId: string, event: NewEvent): Promise<void> {
  const values = await valuesOf(db, SHARED_RECORDS, eventNames(teamId));
  await write(db, SHARED_RECORDS, eventWrites(teamId, values, nowMs, event));
}

async function forgetEvents(db: Rows, teamId: string, keepUsage: boolean): Promise<void> {
  // What others are writing to the shared records is seen, or comes later.
  await db('select pg_advisory_xact_lock($1)', [SHARED_LOCK]);
  const events = await db<{ id: string; value: string }>(
    `select id, value from records where group_id = $1 and kind = 'events' and starts_with(id, $2)`,
    [SHARED_RECORDS, teamId],
  );
  const gone = events.filter(({ value }) => !outlivesTeam(value, keepUsage)).map(({ id }) => id);
  await db(`delete from records where group_id = $1 and (kind = 'events' and id = any($2) or kind = 'told' and starts_with(id, $3))`, [
    SHARED_RECORDS,
    gone,
    teamId,
  ]);
}

function auditOf(database: Database, historyDays: number): AuditLog {
  return {
    page: ({ teamId, after, sinceMs = 0, limit }) =>
      database.transaction(async (db, nowMs) => {
        const expired = idBefore(nowMs - historyDays * DAY_MS);
        await db('delete from audit where id < $1', [expired]);
        const rows = await db<{ id: string; teamId?: string; record: AuditRecord }>(
          `select id, team_id as "teamId", record from audit where ($1::text is null or team_id = $1) and id >= $2
           and ($3::text is null or id < $3) order by id desc limit $4`,
          [teamId, idBefore(sinceMs), after, limit],
        );
        return rows.map(({ id, teamId: of, record: { keyId, ...rest } }) => ({ id, atMs: momentOf(id), teamId: of, keyId, ...rest }));
      }),
    forgetNames: (teamId) => database.done((db) => forgetNames(db, teamId)),
    restore: (entries) =>
      database.done(async (db) => {
        for (const entry of entries) await keepEntry(db, entry);
      }),
  };
}

// Records: everything that no admission writes

async function valueOf(db: Rows, group: string, { table, id }: RecordName): Promise<string | undefined> {
  const [found] = await db<{ value: string }>('select value from records where group_id = $1 and kind = $2 and id = $3', [
    group,
    table,
    id,
  ]);
  return found?.value;
}

/** `table` may be an index, whose values are empty. */
async function put(db: Rows, group: string, { table, id, value }: { readonly table: string; readonly id: string; readonly value: string }) {
  await db('insert into records values ($1, $2, $3, $4) on conflict (group_id, kind, id) do update set value = $4', [
    group,
    table,
    id,
    value,
  ]);
}

async function valuesOf(db: Rows, group: string, names: readonly RecordName[]): Promise<(string | undefined)[]> {
  return eachOf(names, (name) => valueOf(db, group, name));
}

async function write(db: Rows, group: string, change: Omit<GroupChange<unknown>, 'result'>): Promise<void> {
  const unindexed = (change.unindex ?? []).map(({ index, id }) => ({ table: index, id }));
  const indexed = (change.index ?? []).map(({ index, id }) => ({ table: index, id, value: '' }));
  for (const { table, id } of [...(change.remove ?? []), ...unindexed])
    await db('delete from records where group_id = $1 and kind = $2 and id = $3', [group, table, id]);
  for (const one of [...(change.put ?? []), ...indexed]) await put(db, group, one);
}

async function attach(db: Rows, teamId: string, blobs: readonly NewBlob[] = []): Promise<void> {
  for (const { blobId, pieces } of blobs) {
    for (const [number, piece] of pieces.entries()) await db('insert into pieces values ($1, $2, $3, $4)', [teamId, blobId, number, piece]);
  }
}

async function putKey(db: Rows, { record, digest }: KeyWrite): Promise<void> {
  const { keyId, teamId, display, label, mode, limits, status, createdAtMs } = record;
  const changing = [keyId, label, JSON.stringify(limits), status === 'disabled', status === 'revoked'];
  if (digest === undefined) await db('update keys set label = $2, limits = $3, disabled = $4, revoked = $5 where key_id = $1', changing);
  else
    await db(
      `insert into keys (key_id, label, limits, disabled, revoked, team_id, digest, display, mode, created_at_ms)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [...changing, teamId, digest, display, mode, createdAtMs],
    );
  if (limits.requestsPerSecond === undefined) await db('delete from places where team_id = $1 and key_id = $2', [teamId, keyId]);
}

function recordsOf(database: Database): RecordSpace {
  /** Runs `work` on a group, alone. */
  const inGroup = <T>(group: string, work: (of: Pick<Account, 'db' | 'nowMs'> & Partial<Pick<Account, 'team' | 'period'>>) => Promise<T>) =>
    group === SHARED_RECORDS
      ? database.transaction(async (db, nowMs) => {
          await db('select pg_advisory_xact_lock($1)', [SHARED_LOCK]);
          return work({ db, nowMs });
        })
      : database.team(group, work);
  return {
    read: async (group, names) => (await inGroup(group, ({ db }) => valuesOf(db, group, names))) ?? names.map(() => undefined),
    async list(group, table) {
      const rows = await database.transaction((db) =>
        db<{ id: string; value: string }>('select id, value from records where group_id = $1 and kind = $2', [group, table]),
      );
      return isUnavailable(rows) ? rows : new Map(rows.map(({ id, value }) => [id, value]));
    },
    async page(group, { index, from, below, limit }) {
      const rows = await inGroup(group, ({ db }) =>
        db<{ id: string }>('select id from records where group_id = $1 and kind = $2 and id >= $3 and id < $4 order by id limit $5', [
          group,
          index,
          from,
          below,
          limit,
        ]),
      );
      return isUnavailable(rows) ? rows : (rows ?? []).map(({ id }) => id);
    },
    change: (group, names, decide, keyId) =>
      inGroup(group, async ({ db, nowMs, team, period }) => {
        const [key] = team === undefined || keyId === undefined ? [] : await keysOf({ db, nowMs, team }, keyId);
        const change = decide(await valuesOf(db, group, names), { nowMs, limits: team?.limits, period, key });
        await write(db, group, change);
        await attach(db, group, change.attach);
        for (const blobId of change.detach ?? []) await db('delete from pieces where team_id = $1 and blob_id = $2', [group, blobId]);
        if (change.key !== undefined) await putKey(db, change.key);
        await recordChange(db, nowMs, change.audit?.by, group, change.audit, undefined, keyId);
        if (change.event !== undefined) await keepEvent(db, nowMs, group, change.event);
        return change.result;
      }),
    async teamOf(keyId) {
      const found = await database.transaction((db) =>
        db<{ teamId: string }>('select team_id as "teamId" from keys where key_id = $1', [keyId]),
      );
      return isUnavailable(found) ? found : found[0]?.teamId;
    },
    groupOf: async ({ table, id }) => {
      const found = await database.transaction((db) =>
        db<{ group: string }>('select group_id as "group" from records where kind = $1 and id = $2', [table, id]),
      );
      return isUnavailable(found) ? found : found[0]?.group;
    },
    // The change that attaches them writes all pieces: a transaction is as large as it has to be.
    prepare: async () => undefined,
    abandon: async () => undefined,
    async readBlob(teamId, blobId) {
      const found = await database.transaction((db) =>
        db<{ piece: Buffer }>('select piece from pieces where team_id = $1 and blob_id = $2 order by number', [teamId, blobId]),
      );
      if (isUnavailable(found)) return found;
      return found.length === 0 ? undefined : found.map(({ piece }) => piece);
    },
  };
}

// Whole accounts, for checks and copies

function accountsOf(database: Database): WholeAccounts {
  return {
    change: (teamId, decide) =>
      database.done(async (db, nowMs) => {
        const account = await locked(db, teamId, nowMs);
        const change = decide(account && (await wholeOf(account)));
        if (change === undefined) return;
        await putAccount(db, change.account);
        await attach(db, teamId, change.attach);
      }),
    clear: () => database.done(async (db) => void (await db('truncate teams, audit, records cascade'))),
  };
}

type KeyUse = Pick<KeyUsage, 'keyId' | 'characters' | 'requests'>;

async function wholeOf(account: Account & { readonly gone: boolean }): Promise<WholeAccount> {
  const { db, team, anchorMs, gone } = account;
  const of = <Row extends object>(sql: string) => db<Row>(sql, [team.teamId]);
  const uses = await of<KeyUse & { period: number }>(
    `select period, key_id as "keyId", sum(characters)::bigint as characters, sum(requests)::bigint as requests
     from uses where team_id = $1 group by period, key_id`,
  );
  const usesIn = (number: number) => uses.filter(({ period }) => period === number).map(({ period: _period, ...use }) => use);
  const slots = await of<{ keyId: string; atMs: number; count: number }>(
    'select key_id as "keyId", at_ms as "atMs", count(*) from places where team_id = $1 group by key_id, at_ms order by at_ms',
  );
  const window = (id: string) => slots.filter(({ keyId }) => keyId === id).map(({ keyId: _keyId, ...slot }) => slot);
  const digests = await of<{ keyId: string; digest?: string }>('select key_id as "keyId", digest from keys where team_id = $1');
  const periods = (await periodsOf(db, team, gone)).toReversed();
  const running = gone ? undefined : periods.pop();
  const keys = await eachOf(await keysOf({ db, nowMs: 0, team }), async ({ teamId: _teamId, ...key }) => ({
    ...key,
    ...(usesIn(account.period.number).find(({ keyId }) => keyId === key.keyId) ?? { characters: 0, requests: 0 }),
    digest: digests.find(({ keyId }) => keyId === key.keyId)?.digest,
    heldCharacters: key.limits.characters === undefined ? undefined : (await heldIn(account, key.keyId)).characters,
    window: window(key.keyId),
  }));
  return {
    team,
    period: running && { ...account.period, anchorMs, credit: running.credit },
    standing: await standing(account),
    window: window(''),
    windowCounts: [...(await countsOf(db, team.teamId))].map(([subject, counts]) => ({ subject, counts })),
    keys,
    days: (await daysOf(account, { from: 0, to: DAY_MAX })).days,
    periods: periods.map((period) => ({ ...period, keys: usesIn(period.number) })),
    requests: await of(
      `select request_id as "requestId", state, until_ms as "untilMs", key_id as "keyId", characters, price_micro as "priceMicro",
       period as "periodNumber", of_allowance as "ofAllowance", tickets, tag from requests where team_id = $1`,
    ),
    changes: await of(`select id, request, at_ms + ${DAY_MS} as "untilMs" from changes where team_id = $1`),
    records: await of('select kind as table, id, value from records where group_id = $1'),
  };
}

async function putAccount(db: Rows, account: WholeAccount): Promise<void> {
  const { team, period, periods, keys, window } = account;
  const { teamId, name, plan, limits, balanceMicro, createdAtMs } = team;
  const all = [...periods, ...(period === undefined ? [] : [{ ...period, plan: null, limits: null }])];
  const [anchorMs, openingMicro] = [period?.anchorMs ?? createdAtMs, all[0]?.credit.openingMicro ?? 0];
  await db(
    `insert into teams (team_id, name, plan, limits, balance_micro, created_at_ms, anchor_ms, gone, opening_micro)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    [teamId, name, plan, JSON.stringify(limits), balanceMicro, createdAtMs, anchorMs, period === undefined, openingMicro],
  );
  await putTeam(db, team, anchorMs);
  for (const table of ['keys', 'periods', 'requests', 'places', 'window_counts', 'uses', 'changes'])
    await db(`delete from ${table} where team_id = $1`, [teamId]);
  await db('delete from records where group_id = $1', [teamId]);
  const insert = async (table: string, members: string, rows: readonly object[]): Promise<void> => {
    const names = members.split(' ');
    const list = ['teamId', ...names].map(columnOf).join(', ');
    const objects = rows.map((row) =>
      Object.fromEntries(Object.entries({ ...row, teamId }).map(([member, value]): [string, unknown] => [columnOf(member), value])),
    );
    await db(`insert into ${table} (${list}) select ${list} from json_populate_recordset(null::${table}, $1)`, [JSON.stringify(objects)]);
  };
  const states = keys.map((key) => ({ ...key, revoked: key.status === 'revoked', disabled: key.status === 'disabled' }));
  await insert('keys', 'keyId digest display label mode limits revoked disabled createdAtMs lastUsedAtMs', states);
  const bounds = all.map(({ credit, ...one }) => ({ ...one, ...credit }));
  await insert('periods', 'number startMs endMs plan limits addedMicro deductedMicro', bounds);
  const requests = account.requests.map((one) => ({ ...one, period: one.periodNumber }));
  await insert('requests', 'requestId state untilMs keyId characters priceMicro period ofAllowance tickets tag', requests);
  const windows = [{ keyId: '', window }, ...keys];
  const slots = windows.flatMap(({ keyId, window: of }) =>
    of.flatMap(({ atMs, count }) => Array.from({ length: count }, () => ({ keyId, atMs }))),
  );
  await insert('places', 'keyId atMs', slots);
  await insert('window_counts', 'subject counts', account.windowCounts);
  const uses = chargeSums(account).map((one) => ({ ...one, day: one.day ?? -1, period: one.period ?? 0 }));
  await insert('uses', 'keyId day period characters requests micro ofAllowance', uses);
  const changes = account.changes.map((one) => ({ ...one, atMs: one.untilMs - DAY_MS }));
  await insert('changes', 'id request atMs', changes);
  for (const record of account.records) await put(db, teamId, record);
}

/** `untilMs` is kept in `until_ms`. */
function columnOf(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

// PostgreSQL itself

async function eachOf<One, Result>(all: readonly One[], work: (one: One) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (const one of all) results.push(await work(one));
  return results;
}

function withoutNulls(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}

function typeParser(oid: number, format?: 'text' | 'binary') {
  return oid === BIGINT ? Number : (postgresTypes.getTypeParser(oid, format) as (value: string) => unknown);
}

/** PostgreSQL's own refusals of a statement are bugs and thrown; everything else means that it cannot serve now. */
function unavailable(error: unknown): StoreUnavailable {
  const code = (error as { code?: unknown }).code;
  const isStatement = error instanceof DatabaseError && /^(?:2[1-9]|42|0A)/.test(String(code)) && code !== READ_ONLY;
  if (!(error instanceof Error) || isStatement || error instanceof TypeError || error instanceof RangeError) throw error;
  const cause = typeof code === 'string' ? code.toLowerCase() : 'postgres';
  return {
    kind: 'unavailable',
    cause,
    advice: `PostgreSQL does not take this transaction (${error.message}): check that it runs, takes writes and has room`,
  };
}

/** Opens the store; two of them over one database are one store. Rejects with a `StoreError` if the database cannot be used. */
export async function openPostgresStore(url: string, clock: Clock, waitMs = WAIT_MS, historyDays = HISTORY_DAYS): Promise<Store> {
  const database = new Database(url, clock, waitMs);
  const created = await database.transaction(async (db) => {
    await db('select pg_advisory_xact_lock($1)', [TABLES_LOCK]);
    for (const statement of TABLES.trim().split(';\n')) await db(statement);
  });
  if (isUnavailable(created)) {
    await database.close();
    throw new StoreError(`the store ${new URL(url).host} cannot be opened: ${created.advice}`);
  }
  const over = overRecords(recordsOf(database), () => clock.nowMs());
  return {
    keys: {
      async find(digest) {
        const found = await database.transaction((db) =>
          db<KeyOwner>('select key_id as "keyId", team_id as "teamId", mode from keys where digest = $1', [digest]),
        );
        return isUnavailable(found) ? found : found[0];
      },
    },
    ledger: ledgerOf(database),
    teams: registryOf(database, over),
    accounts: accountsOf(database),
    ...over,
    outbox: new RecordOutbox(over.records),
    history: historyOf(database),
    audit: auditOf(database, historyDays),
    async ping() {
      const written = await database.transaction((db) =>
        db('insert into alive values (1, now()) on conflict (one) do update set at = now()'),
      );
      return isUnavailable(written) ? written : undefined;
    },
    close: () => database.close(),
  };
}

export default definePlugin({
  name: 'postgres-store',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ stores: { postgres: (url, { clock, historyDays }) => openPostgresStore(url, clock, WAIT_MS, historyDays) } }),
});
