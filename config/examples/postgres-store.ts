// A store in PostgreSQL, in one file. Each operation is one transaction that locks the row of its team, reads its account, runs the
// rules (`Account`) and writes what has changed. Every count is a sum over rows, so that nothing can disagree. For operators whose
// numbers must be in the database that they have: exact on any number of gateways, though a transaction costs several round trips,
// so a request is slower than with Redis. Gateways need synchronized clocks.
//
//     store: postgres://lingate@127.0.0.1/lingate
//
// The database must exist; the tables are created in its schema `lingate`. The package `pg` is the plugin's own (npm install pg).
import { DatabaseError, Pool, types as postgresTypes } from 'pg';
import type { PoolClient } from 'pg';
import Type from 'typebox';
import {
  Account,
  auditEntry,
  auditWrites,
  dayOf,
  definePlugin,
  deletionEvent,
  eventNames,
  eventWrites,
  firstCounts,
  forgetTeam,
  FURTHER_TAGS,
  HISTORY_DAYS,
  idBefore,
  isUnavailable,
  keysIn,
  overRecords,
  pruneTags,
  readPairs,
  reportOf,
  rowHistory,
  SHARED_RECORDS,
  Slots,
  slotsOf,
  StoreError,
  teamRegistry,
} from 'lingate';
import type {
  Audited,
  AuditedChange,
  ChargeRow,
  Charges,
  Clock,
  DayRange,
  EndedPeriod,
  GroupChange,
  HeldReservation,
  KeyOwner,
  KeyRecord,
  KeyWrite,
  Ledger,
  NewBlob,
  NewEvent,
  NewTeam,
  RecordName,
  RecordSpace,
  RunningPeriod,
  Store,
  StoredRecord,
  StoreUnavailable,
  Team,
  StoredCounts,
  TeamPage,
  TeamRegistry,
  TeamRows,
  TeamSpace,
  UsageRows,
  UsageSource,
  WholeAccount,
  WholeAccounts,
  WindowSubject,
} from 'lingate';

/** Times are Unix milliseconds, money is millionths of a minor unit. A team that is gone has left its usage only. */
const TABLES = `
create table teams (
  team_id text primary key, created_order bigint generated always as identity, name text not null, plan text not null,
  limits json not null, balance_micro bigint not null, created_at_ms bigint not null, gone boolean not null default false,
  reference text, next_plan json,
  -- The one that runs.
  period json not null,
  -- The requests within the last second.
  slots bytea not null default '', newest_ms bigint not null default 0,
  -- The balance before the first period that is stored.
  opening_micro bigint not null default 0);
create table periods (
  team_id text references teams on delete cascade, number int, ended json not null, primary key (team_id, number));
create table keys (
  key_id text primary key, created_order bigint generated always as identity, team_id text not null references teams on delete cascade,
  digest text unique, display text not null, label text not null, mode text not null, limits json not null,
  revoked boolean not null default false, disabled boolean not null default false, created_at_ms bigint not null, last_used_at_ms bigint,
  slots bytea not null default '', newest_ms bigint not null default 0);
create index keys_of_team on keys (team_id);
-- Open reservations, until they are settled or their lease ends.
create table requests (
  team_id text references teams on delete cascade, request_id text, until_ms bigint not null, key_id text not null,
  characters bigint not null, price_micro bigint not null, period int not null, of_allowance boolean not null, tickets json, tag json,
  primary key (team_id, request_id));
-- What the team (subject 'team') or a key ('key:' and its id) has used of its limits by minute to month.
create table window_counts (
  team_id text references teams on delete cascade, subject text, counts json not null, primary key (team_id, subject));
-- What was charged. All that is shown or limited is a sum over these rows.
create table uses (
  team_id text references teams on delete cascade, key_id text, day int, period int, characters bigint not null, requests bigint not null,
  micro bigint not null, of_allowance bigint not null default 0, primary key (team_id, key_id, day, period));
create table changes (
  team_id text references teams on delete cascade, id text, request text not null, until_ms bigint not null, primary key (team_id, id));
-- A group is a team, or what all gateways share. An id without a value belongs to an index.
create table records (
  group_id text, kind text, id text collate "C", value text not null, primary key (group_id, kind, id));
create index records_by_name on records (kind, id);
create table alive (one int primary key, at timestamptz);
create table pieces (
  team_id text references teams on delete cascade, blob_id text, number int, piece bytea not null, primary key (team_id, blob_id, number));
`;
/** Of these tables, in the comment on their schema. */
const LAYOUT = 'Lingate, layout 2';
/** Any number: gateways that start at the same time create the tables one after another. */
const TABLES_LOCK = 7_146_482;
const SHARED_LOCK = 7_146_483;
const AUDIT_LOCK = 7_146_484;
/** How often what the retention ends is deleted. */
const PRUNE_EVERY_MS = 3_600_000;
/** A transaction that waits longer, for the database or for other changes of its team, is given up. */
const WAIT_MS = 2000;
/** PostgreSQL's type numbers of `bigint`; its values here are exact as numbers. */
const BIGINT = 20;
/** The database or its server takes no writes. */
const READ_ONLY = '25006';
const DAY_MS = 86_400_000;
const ALL_DAYS = { from: 0, to: 2 ** 31 - 1 };

const TEAM = `t.team_id as "teamId", t.name, t.plan, t.limits, t.balance_micro as "balanceMicro", t.created_at_ms as "createdAtMs",
  t.reference, t.next_plan as "nextPlan"`;
const KEY = `k.key_id as "keyId", k.team_id as "teamId", k.display, k.label, k.mode, k.limits, k.created_at_ms as "createdAtMs",
  k.last_used_at_ms as "lastUsedAtMs", case when k.revoked then 'revoked' when k.disabled then 'disabled'
  when (k.limits->>'expiresAtMs')::bigint <= $1 then 'expired' else 'active' end as status`;

/** A team as its transaction sees it: locked, and with everything done that time alone does. */
interface OpenTeam {
  readonly db: Rows;
  readonly nowMs: number;
  readonly team: Team;
  readonly account: Account;
  readonly rows: TeamRows;
  /** Writes what the account has changed. */
  readonly flush: () => Promise<void>;
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
  async team<T>(teamId: string, work: (open: OpenTeam) => Promise<T>, reads: Reads = {}): Promise<T | undefined | StoreUnavailable> {
    const before = this.#last.get(teamId);
    const turn = Promise.withResolvers<void>();
    this.#last.set(teamId, turn.promise);
    await before;
    try {
      return await this.transaction(async (db, nowMs) => {
        const open = await opened(db, teamId, nowMs, reads);
        return open && work(open);
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

// The ledger

/** What an operation reads of an account besides what every operation does. */
interface Reads {
  /** All keys, and changes that are remembered. */
  readonly all?: true;
  readonly keyId?: string;
  readonly tag?: string | undefined;
  readonly glossaryId?: string | undefined;
}

function ledgerOf(database: Database): Ledger {
  /** Runs one of the rules, and writes what it has changed. */
  const run = <T>(teamId: string, reads: Reads, rule: (account: Account, nowMs: number) => T) =>
    database.team(
      teamId,
      async ({ account, nowMs, flush }) => {
        const answer = rule(account, nowMs);
        await flush();
        return answer;
      },
      reads,
    );
  return {
    async admit(request) {
      const { teamId, keyId, tag, glossary } = request;
      const reads = { keyId, tag: tag?.name, glossaryId: glossary?.glossaryId };
      return (await run(teamId, reads, (account, nowMs) => account.admit(request, nowMs))) ?? { kind: 'key_unknown' };
    },
    async check(check) {
      const { teamId, keyId, tag } = check;
      return (await run(teamId, { keyId, tag: tag?.name }, (account, nowMs) => account.check(check, nowMs))) ?? { kind: 'key_unknown' };
    },
    async resolve(teamId, requestId, verdict, characters) {
      const rule = (account: Account, nowMs: number) => account.resolve(requestId, verdict, nowMs, characters);
      return (await run(teamId, {}, rule)) ?? { kind: 'absent' };
    },
  };
}

async function opened(db: Rows, teamId: string, nowMs: number, reads: Reads = {}): Promise<OpenTeam | undefined> {
  const open = await loaded(db, teamId, nowMs, reads);
  if (open === undefined) return undefined;
  open.account.catchUp(nowMs);
  await open.flush();
  return { ...open, team: open.account.shown() };
}

/** As it is stored; `undefined` if there is no such team, or only what it has left. */
async function loaded(db: Rows, teamId: string, nowMs: number, reads: Reads = {}): Promise<OpenTeam | undefined> {
  const [row] = await db<Team & { period: RunningPeriod; gone: boolean; slots: Buffer; newestMs: number }>(
    `select ${TEAM}, t.period, gone, slots, newest_ms as "newestMs" from teams t where team_id = $1 for update`,
    [teamId],
  );
  if (row === undefined || row.gone) return undefined;
  const { period, gone: _gone, slots, newestMs, ...team } = row;
  const reservations = await db<HeldReservation & { requestId: string }>(
    `select request_id as "requestId", until_ms as "untilMs", key_id as "keyId", characters, price_micro as "priceMicro", period,
       of_allowance as "ofAllowance", tickets, tag from requests where team_id = $1`,
    [teamId],
  );
  const uses = await usesIn(db, teamId, period.number);
  const counts = {
    balanceMicro: team.balanceMicro,
    period,
    used: uses.reduce((sum, { characters }) => sum + characters, 0),
    allowanceUsed: uses.reduce((sum, { ofAllowance }) => sum + ofAllowance, 0),
    slots: new Slots(slots, newestMs),
  };
  const rows = await rowsOf(db, teamId, reads, { uses, reservations, period: period.number });
  const account = new Account(team, counts, new Map(reservations.map(({ requestId, ...held }) => [requestId, held])), rows.rows);
  return { db, nowMs, team, account, rows: rows.rows, flush: () => flushed(db, account, rows.writes) };
}

interface UseOfKey extends Pick<ChargeRow, 'keyId' | 'characters' | 'requests'> {
  readonly ofAllowance: number;
}

/** What was charged to each key in a period. */
function usesIn(db: Rows, teamId: string, period: number): Promise<UseOfKey[]> {
  return db<UseOfKey>(
    `select key_id as "keyId", sum(characters)::bigint as characters, sum(requests)::bigint as requests, sum(of_allowance)::bigint as "ofAllowance"
     from uses where team_id = $1 and period = $2 group by key_id`,
    [teamId, period],
  );
}

interface Known {
  readonly uses: readonly UseOfKey[];
  readonly reservations: readonly HeldReservation[];
  readonly period: number;
}

/** The rows that an account asks for, read before: those of its open reservations, and of the operation. What it writes waits. */
async function rowsOf(db: Rows, teamId: string, reads: Reads, { uses, reservations, period }: Known) {
  const writes: (() => Promise<unknown>)[] = [];
  const keyIds = new Set([...reservations.map(({ keyId }) => keyId), ...(reads.keyId === undefined ? [] : [reads.keyId])]);
  const keys = await db<KeyRecord & { slots: Buffer; newestMs: number }>(
    `select ${KEY}, slots, newest_ms as "newestMs" from keys k where team_id = $2 and ($4 or key_id = any($3)) order by created_order`,
    [0, teamId, [...keyIds], reads.all === true],
  );
  const windows = await countsOf(db, teamId);
  const tags = new Set([
    ...reservations.flatMap(({ tag }) => tag?.name ?? []),
    ...(reads.tag === undefined ? [] : [reads.tag]),
    FURTHER_TAGS,
  ]);
  const found = await db<StoredRecord>(
    `select kind as table, id, value from records where group_id = $1
     and (kind in ('tag_limits', 'tag_uses', 'tag_counts', 'tag_days') and id = any($2) or kind = 'pairs' and id = $3)`,
    [teamId, [...tags], reads.glossaryId ?? null],
  );
  const records = new Map(found.map(({ table, id, value }) => [`${table} ${id}`, value]));
  const [tagged] = await db<{ count: number }>(`select count(*) from records where group_id = $1 and kind = 'tag_counts'`, [teamId]);
  let tagCount = tagged!.count;
  const changed = reads.all
    ? await db<WholeAccount['changes'][number]>('select id, request, until_ms as "untilMs" from changes where team_id = $1', [teamId])
    : [];
  const rows: TeamRows = {
    keyIds: () => keys.map(({ keyId }) => keyId),
    changes: () => new Map(changed.map((one) => [one.id, one])),
    putChange: (id, change) =>
      void writes.push(async () => {
        await db('delete from changes where team_id = $1 and id = $2', [teamId, id]);
        if (change !== undefined) await db('insert into changes values ($1, $2, $3, $4)', [teamId, id, change.request, change.untilMs]);
      }),
    key(keyId) {
      const key = keys.find((one) => one.keyId === keyId);
      if (key === undefined) return undefined;
      const { slots, newestMs, lastUsedAtMs, ...record } = key;
      const { characters = 0, requests = 0 } = uses.find((one) => one.keyId === keyId) ?? {};
      return {
        record: { ...record, lastUsedAtMs: undefined },
        use: { lastUsedAtMs, period, characters, requests, slots: new Slots(slots, newestMs) },
      };
    },
    windowCounts: (subject) => windows.get(subject),
    open: (requestId, held) => void writes.push(() => putRequest(db, teamId, requestId, held)),
    close: (requestId) => void writes.push(() => db('delete from requests where team_id = $1 and request_id = $2', [teamId, requestId])),
    charge({ keyId, day, period: of, characters, micro, ofAllowance }) {
      const values = [teamId, keyId, day, of, characters, micro, ofAllowance ? characters : 0];
      writes.push(() =>
        db(
          `insert into uses values ($1, $2, $3, $4, $5, 1, $6, $7) on conflict (team_id, key_id, day, period) do update set
           characters = uses.characters + $5, requests = uses.requests + 1, micro = uses.micro + $6, of_allowance = uses.of_allowance + $7`,
          values,
        ),
      );
    },
    pairs(glossaryId) {
      const text = records.get(`pairs ${glossaryId}`);
      return text === undefined ? undefined : readPairs(text);
    },
    tags: {
      get: (table, tag) => records.get(`${table} ${tag}`),
      put(table, tag, value) {
        if (table === 'tag_counts' && !records.has(`${table} ${tag}`)) tagCount++;
        records.set(`${table} ${tag}`, value);
        writes.push(() => put(db, teamId, { table, id: tag, value }));
      },
      count: () => tagCount,
    },
    isCharged: (number) => number === period && uses.length > 0,
    endPeriod: (ended) =>
      void writes.push(() => db('insert into periods values ($1, $2, $3)', [teamId, ended.number, JSON.stringify(ended)])),
    changed: (before, after, by, atMs) => void writes.push(() => recordChange(db, atMs, by, teamId, ...reportOf(before, after))),
  };
  return { rows, writes };
}

async function putRequest(db: Rows, teamId: string, requestId: string, held: HeldReservation): Promise<void> {
  const { untilMs, keyId, characters, priceMicro, period, ofAllowance, tickets, tag } = held;
  const json = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));
  await db(
    `insert into requests (team_id, request_id, until_ms, key_id, characters, price_micro, period, of_allowance, tickets, tag)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [teamId, requestId, untilMs, keyId, characters, priceMicro, period, ofAllowance, json(tickets), json(tag)],
  );
}

/** What the rules have changed of an account. */
async function flushed(db: Rows, account: Account, writes: (() => Promise<unknown>)[]): Promise<void> {
  for (const written of writes.splice(0)) await written();
  const { team, counts } = account;
  const { teamId } = team;
  if (account.isTeamChanged) await putTeam(db, account.shown());
  if (account.isChanged || account.isPeriodChanged) {
    await db('update teams set balance_micro = $2, period = $3, slots = $4, newest_ms = $5 where team_id = $1', [
      teamId,
      counts.balanceMicro,
      JSON.stringify(counts.period),
      Buffer.from(counts.slots.packed()),
      counts.slots.newestMs,
    ]);
  }
  account.isChanged = account.isTeamChanged = account.isPeriodChanged = false;
  for (const key of account.keys.values()) {
    if (!key.isChanged) continue;
    const { lastUsedAtMs, slots } = key.use;
    await db('update keys set last_used_at_ms = $2, slots = $3, newest_ms = $4 where key_id = $1', [
      key.record.keyId,
      lastUsedAtMs,
      Buffer.from(slots.packed()),
      slots.newestMs,
    ]);
    key.isChanged = false;
  }
  for (const [subject, counted] of account.windowCounts) {
    if (!counted.changed) continue;
    await db('insert into window_counts values ($1, $2, $3) on conflict (team_id, subject) do update set counts = $3', [
      teamId,
      subject,
      JSON.stringify(counted.stored()),
    ]);
    counted.changed = false;
  }
}

/** What subjects have used of their windows, as it is stored. */
async function countsOf(db: Rows, teamId: string): Promise<Map<WindowSubject, StoredCounts>> {
  const rows = await db<{ subject: WindowSubject; counts: StoredCounts }>('select subject, counts from window_counts where team_id = $1', [
    teamId,
  ]);
  return new Map(rows.map(({ subject, counts }) => [subject, counts]));
}

// Teams and keys, as operators manage them

function registryOf(database: Database, { records, idempotency, audit }: Pick<Store, 'records' | 'idempotency' | 'audit'>): TeamRegistry {
  const change = <T>(teamId: string, decide: (open: OpenTeam) => T) =>
    database.team(
      teamId,
      async (open) => {
        const answer = decide(open);
        await open.flush();
        return answer;
      },
      { all: true },
    );
  const space: TeamSpace = {
    view: change,
    change,
    create: (team, begin) => database.transaction((db, nowMs) => createTeam(db, team, nowMs, begin)),
    pageTeams: (page) => database.transaction((db) => pageOf(db, page, 'not gone')),
    page: (page, show) =>
      database.transaction(async (db, nowMs) => {
        const teams = await lockedPageOf(db, page, 'not gone');
        return eachOf(teams, async ({ teamId }) => show((await opened(db, teamId, nowMs, { all: true }))!));
      }),
    findKeys: (search) =>
      database.transaction(async (db, nowMs) => {
        const [column, value] = 'digest' in search ? ['digest', search.digest] : ['display', search.display];
        const found = await db<KeyRecord & { teamName: string }>(
          `select ${KEY}, t.name as "teamName" from keys k join teams t using (team_id) where not t.gone and k.${column} = $2 order by k.created_order`,
          [nowMs, value],
        );
        return found;
      }),
  };
  // Whether a commit waits for a replica is a setting of the server.
  return teamRegistry(space, records, async (teamId, { keepUsage }, by) => {
    const deleted = await database.transaction((db, nowMs) => deleteTeam(db, teamId, keepUsage, nowMs, by));
    // Again by a repetition, after an interruption.
    const failed = isUnavailable(deleted) ? deleted : await forgetTeam(teamId, keepUsage, { records, idempotency, audit });
    return failed ?? deleted;
  });
}

async function createTeam(db: Rows, team: NewTeam, nowMs: number, begin: (open: OpenTeam) => void): Promise<Team> {
  const { teamId, name, reference, plan, limits, balanceMicro } = team;
  const { period } = firstCounts(balanceMicro, nowMs);
  const created = await db<{ teamId: string }>(
    `insert into teams (team_id, name, plan, limits, balance_micro, created_at_ms, period, reference) values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict do nothing returning team_id as "teamId"`,
    [teamId, name, plan, JSON.stringify(limits), balanceMicro, nowMs, JSON.stringify(period), reference],
  );
  const [made] = await db<Team>(`select ${TEAM} from teams t where team_id = $1`, [teamId]);
  if (created.length === 0) return made!;
  const open = (await loaded(db, teamId, nowMs))!;
  begin(open);
  await open.flush();
  return made!;
}

async function putTeam(db: Rows, { teamId, name, reference, plan, limits, balanceMicro, nextPlan }: Team): Promise<void> {
  await db(`update teams set name = $2, reference = $3, plan = $4, limits = $5, balance_micro = $6, next_plan = $7 where team_id = $1`, [
    teamId,
    name,
    reference,
    plan,
    JSON.stringify(limits),
    balanceMicro,
    nextPlan && JSON.stringify(nextPlan),
  ]);
}

/** What stays has no names: periods, days, and the keys that they name. */
async function deleteTeam(db: Rows, teamId: string, keepUsage: boolean, nowMs: number, by?: Audited): Promise<boolean> {
  const open = await opened(db, teamId, nowMs);
  const [known] = await db<{ plan: string }>('select plan from teams where team_id = $1', [teamId]);
  if (known === undefined || (keepUsage && open === undefined)) return false;
  await recordChange(db, nowMs, by, teamId, { before: { plan: known.plan }, after: {} });
  if (open !== undefined) await keepEvent(db, nowMs, teamId, deletionEvent(teamId));
  await db('delete from records where group_id = $1', [teamId]);
  open?.account.endPeriodNow(nowMs);
  await open?.flush();
  const used = await db(
    `select 1 as one from uses where team_id = $1 union
     select 1 from periods where team_id = $1 and (ended ->> 'addedMicro')::bigint + (ended ->> 'deductedMicro')::bigint > 0`,
    [teamId],
  );
  if (!keepUsage || used.length === 0) {
    await db('delete from teams where team_id = $1', [teamId]);
    return true;
  }
  for (const table of ['requests', 'window_counts', 'changes', 'pieces']) await db(`delete from ${table} where team_id = $1`, [teamId]);
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
    [after, Number.isFinite(limit) ? limit : null, search, exact === true],
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

async function keysOf({ db, nowMs, team }: Pick<OpenTeam, 'db' | 'nowMs' | 'team'>, keyId?: string): Promise<KeyRecord[]> {
  const rows = await db<KeyRecord>(
    `select ${KEY} from keys k where team_id = $2 and key_id = coalesce($3, key_id) order by created_order`,
    [nowMs, team.teamId, keyId ?? null],
  );
  return rows;
}

// Usage by day and period

function usageSource(database: Database): UsageSource {
  const read = async (db: Rows, nowMs: number, teamId: string, charges: Charges) => {
    // What time alone does is done first.
    if (charges === 'by period') await opened(db, teamId, nowMs);
    const [team] = await db<Team>(`select ${TEAM} from teams t where team_id = $1`, [teamId]);
    return team && usageRows(db, team, nowMs, charges === 'by period' ? ALL_DAYS : charges);
  };
  return {
    one: (teamId, charges) => database.transaction((db, nowMs) => read(db, nowMs, teamId, charges)),
    page: (page, charges) =>
      database.transaction(async (db, nowMs) => {
        const teams = await (charges === 'by period' ? lockedPageOf : pageOf)(db, page, 'true');
        return (await eachOf(teams, ({ teamId }) => read(db, nowMs, teamId, charges))).filter((rows) => rows !== undefined);
      }),
  };
}

async function usageRows(db: Rows, team: Team, nowMs: number, { from, to }: DayRange): Promise<UsageRows> {
  const { teamId } = team;
  const periods = await db<{ ended: EndedPeriod }>('select ended from periods where team_id = $1 order by number', [teamId]);
  const charges = await db<ChargeRow>(
    `select key_id as "keyId", day, period, characters, requests, micro, of_allowance as "ofAllowance" from uses
     where team_id = $1 and day between $2 and $3`,
    [teamId, from, to],
  );
  const [more] = await db<{ openingMicro: number; period: RunningPeriod; gone: boolean; firstOpen?: number }>(
    `select opening_micro as "openingMicro", period, gone, (select min(period) from requests where team_id = $1) as "firstOpen" from teams where team_id = $1`,
    [teamId],
  );
  return {
    team,
    keys: await keysOf({ db, nowMs, team }),
    charges,
    ended: periods.map(({ ended }) => ended),
    period: more!.gone ? undefined : more!.period,
    openingMicro: more!.openingMicro,
    firstOpen: more!.firstOpen ?? Infinity,
  };
}

/** Periods that exceed the retention go with their charges, and what they have moved into the balance before the next one. */
async function prune(db: Rows, teamId: string, firstDay: number): Promise<void> {
  await db('select from teams where team_id = $1 for update', [teamId]);
  await db(
    `with old as (delete from periods p where team_id = $1 and (ended ->> 'endMs')::bigint < $2
       and not exists (select from requests where team_id = $1 and period <= p.number) returning number, ended)
     update teams set opening_micro = opening_micro
       + (select coalesce(sum((ended ->> 'addedMicro')::bigint - (ended ->> 'deductedMicro')::bigint), 0)::bigint from old)
       - (select coalesce(sum(micro), 0)::bigint from uses where team_id = $1 and period in (select number from old)) where team_id = $1`,
    [teamId, firstDay * DAY_MS],
  );
  await db(
    `delete from uses u using teams t where t.team_id = $1 and u.team_id = $1 and day < $2
     and (gone or u.period < (t.period ->> 'number')::int) and not exists (select from periods where team_id = $1 and number = u.period)`,
    [teamId, firstDay],
  );
  await db(
    `delete from teams where team_id = $1 and gone
     and not exists (select from uses where team_id = $1) and not exists (select from periods where team_id = $1)`,
    [teamId],
  );
}

async function pruneAll(database: Database, records: RecordSpace, nowMs: number, historyDays: number): Promise<void> {
  const firstDay = dayOf(nowMs) - historyDays;
  const teams = await database.transaction((db) => db<{ teamId: string }>('select team_id as "teamId" from teams'));
  if (isUnavailable(teams)) return;
  for (const { teamId } of teams) {
    await pruneTags(records, teamId, firstDay, nowMs);
    await database.transaction((db) => prune(db, teamId, firstDay));
  }
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
  const [latest] = await db<{ id?: string }>("select max(id) as id from records where group_id = $1 and kind = 'audit' and id < $2", [
    SHARED_RECORDS,
    idBefore(nowMs + 1),
  ]);
  const entry = auditEntry(by, { ...change, teamId, ...(keyId && { keyId }) }, nowMs, latest?.id);
  await write(db, SHARED_RECORDS, auditWrites(entry));
}

/** In the transaction of what it tells of, which has the row of the team; not if no gateway sends events. */
async function keepEvent(db: Rows, nowMs: number, teamId: string, event: NewEvent): Promise<void> {
  const values = await valuesOf(db, SHARED_RECORDS, eventNames(teamId));
  await write(db, SHARED_RECORDS, eventWrites(teamId, values, nowMs, event));
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
  // A rate that is set again begins with no requests counted.
  if (limits.requestsPerSecond === undefined) await db(`update keys set slots = '', newest_ms = 0 where key_id = $1`, [keyId]);
}

function recordsOf(database: Database): RecordSpace {
  /** Runs `work` on a group, alone. */
  const inGroup = <T>(
    group: string,
    work: (of: Pick<OpenTeam, 'db' | 'nowMs'> & Partial<Pick<OpenTeam, 'team' | 'account'>>) => Promise<T>,
  ) =>
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
      inGroup(group, async ({ db, nowMs, team, account }) => {
        const [key] = team === undefined || keyId === undefined ? [] : await keysOf({ db, nowMs, team }, keyId);
        const change = decide(await valuesOf(db, group, names), { nowMs, limits: team?.limits, period: account?.counts.period, key });
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
        const [team] = await db<Team & { gone: boolean }>(`select ${TEAM}, gone from teams t where team_id = $1 for update`, [teamId]);
        const change = decide(team && (await wholeOf(db, team, await loaded(db, teamId, nowMs))));
        if (change === undefined) return;
        await putAccount(db, change.account);
        await attach(db, teamId, change.attach);
      }),
    clear: () => database.done(async (db) => void (await db('truncate teams, records cascade'))),
  };
}

const NOTHING = {
  usedCharacters: 0,
  heldCharacters: 0,
  allowanceUsed: 0,
  allowanceHeld: 0,
  balanceMicro: 0,
  heldMicro: 0,
  openReservations: 0,
};

/** `open`: absent for a team that is gone. */
async function wholeOf(db: Rows, { gone: _gone, ...team }: Team & { gone: boolean }, open: OpenTeam | undefined): Promise<WholeAccount> {
  const of = <Row extends object>(sql: string) => db<Row>(sql, [team.teamId]);
  const account = open?.account;
  const { keys: all, firstOpen: _open, ...usage } = await usageRows(db, team, 0, ALL_DAYS);
  const current = keysIn(usage.charges, account?.counts.period.number ?? 0);
  const stored = await of<{ keyId: string; digest?: string; slots: Buffer; newestMs: number }>(
    'select key_id as "keyId", digest, slots, newest_ms as "newestMs" from keys where team_id = $1',
  );
  const keys = all.map(({ teamId: _teamId, ...key }) => {
    const { digest, slots, newestMs } = stored.find(({ keyId }) => keyId === key.keyId)!;
    return {
      ...key,
      ...(current.find(({ keyId }) => keyId === key.keyId) ?? { characters: 0, requests: 0 }),
      digest,
      heldCharacters: key.limits.characters === undefined ? undefined : account?.heldBy(key.keyId),
      window: new Slots(slots, newestMs).entries(),
    };
  });
  return {
    ...usage,
    period: account?.counts.period,
    standing: account?.standing() ?? NOTHING,
    window: account?.counts.slots.entries() ?? [],
    windowCounts: [...(await countsOf(db, team.teamId))].map(([subject, counts]) => ({ subject, counts })),
    keys,
    requests: await of(
      `select request_id as "requestId", until_ms as "untilMs", key_id as "keyId", characters, price_micro as "priceMicro",
       period as "periodNumber", of_allowance as "ofAllowance", tickets, tag from requests where team_id = $1`,
    ),
    changes: await of('select id, request, until_ms as "untilMs" from changes where team_id = $1'),
    records: await of('select kind as table, id, value from records where group_id = $1'),
  };
}

async function putAccount(db: Rows, account: WholeAccount): Promise<void> {
  const { team, period, ended, keys, window } = account;
  const { teamId, name, plan, limits, balanceMicro, createdAtMs } = team;
  await db(
    `insert into teams (team_id, name, plan, limits, balance_micro, created_at_ms, period, gone, opening_micro)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
    [
      teamId,
      name,
      plan,
      JSON.stringify(limits),
      balanceMicro,
      createdAtMs,
      JSON.stringify(period ?? {}),
      period === undefined,
      account.openingMicro,
    ],
  );
  await putTeam(db, team);
  const slots = slotsOf(window);
  await db('update teams set period = $4, slots = $2, newest_ms = $3 where team_id = $1', [
    teamId,
    Buffer.from(slots.packed()),
    slots.newestMs,
    JSON.stringify(period ?? {}),
  ]);
  for (const table of ['keys', 'periods', 'requests', 'window_counts', 'uses', 'changes'])
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
  const states = keys.map((key) => {
    const taken = slotsOf(key.window);
    const used = { slots: `\\x${Buffer.from(taken.packed()).toString('hex')}`, newestMs: taken.newestMs };
    return { ...key, ...used, revoked: key.status === 'revoked', disabled: key.status === 'disabled' };
  });
  await insert('keys', 'keyId digest display label mode limits revoked disabled createdAtMs lastUsedAtMs slots newestMs', states);
  const periods = ended.map((one) => ({ number: one.number, ended: one }));
  await insert('periods', 'number ended', periods);
  const requests = account.requests.map((one) => ({ ...one, period: one.periodNumber }));
  await insert('requests', 'requestId untilMs keyId characters priceMicro period ofAllowance tickets tag', requests);
  await insert('window_counts', 'subject counts', account.windowCounts);
  await insert('uses', 'keyId day period characters requests micro ofAllowance', account.charges);
  await insert('changes', 'id request untilMs', account.changes);
  for (const record of account.records) await put(db, teamId, record);
}

/** `untilMs` is stored in `until_ms`. */
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

/** Says why the database cannot be used, if its schema is of another layout. */
async function createTables(db: Rows): Promise<string | undefined> {
  await db('select pg_advisory_xact_lock($1)', [TABLES_LOCK]);
  const [schema] = await db<{ layout?: string }>(
    `select obj_description(oid, 'pg_namespace') as layout from pg_namespace where nspname = 'lingate'`,
  );
  if (schema === undefined) {
    for (const statement of ['create schema lingate', `comment on schema lingate is '${LAYOUT}'`, ...TABLES.trim().split(';\n')])
      await db(statement);
    return undefined;
  }
  if (schema.layout === LAYOUT) return undefined;
  return `has a schema lingate of another version (${schema.layout ?? 'without a layout'}, this one has ${LAYOUT}): run that version, or name another database`;
}

/** Opens the store; two of them over one database are one store. Rejects with a `StoreError` if the database cannot be used. */
export async function openPostgresStore(url: string, clock: Clock, waitMs = WAIT_MS, historyDays = HISTORY_DAYS): Promise<Store> {
  const database = new Database(url, clock, waitMs);
  const other = await database.transaction(createTables);
  const refusal = isUnavailable(other) ? `cannot be opened: ${other.advice}` : other;
  if (refusal !== undefined) {
    await database.close();
    throw new StoreError(`the store ${new URL(url).host} ${refusal}`);
  }
  const over = overRecords(recordsOf(database), () => clock.nowMs(), historyDays);
  // Every process does so; a wrong clock deletes nothing.
  const pruning = setInterval(() => {
    if ((clock.stepMs ?? 0) !== 0) return;
    void over.audit.prune();
    void over.idempotency.sweep();
    // What the database did not take now is deleted an hour later.
    void pruneAll(database, over.records, clock.nowMs(), historyDays).catch(() => undefined);
  }, PRUNE_EVERY_MS).unref();
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
    history: rowHistory(usageSource(database), () => clock.nowMs(), historyDays),
    async ping() {
      const written = await database.transaction((db) =>
        db('insert into alive values (1, now()) on conflict (one) do update set at = now()'),
      );
      return isUnavailable(written) ? written : undefined;
    },
    close() {
      clearInterval(pruning);
      return database.close();
    },
  };
}

export default definePlugin({
  name: 'postgres-store',
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ stores: { postgres: (url, { clock, historyDays }) => openPostgresStore(url, clock, WAIT_MS, historyDays) } }),
});
