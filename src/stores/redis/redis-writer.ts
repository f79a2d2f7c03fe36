// Writes the contents of another store to Redis; the data is marked as half-written until it is complete.
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { PeriodCredit } from '../../domain/period-credit.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import { HALF_WRITTEN_LAYOUT, halfWritten, StoreError } from '../../domain/store-unavailable.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import type { LooseContents, StoreReader, StoreWriter, TeamContents } from '../../ports/store-contents.ts';
import { NO_TEAM, packEntry } from './audit-codec.ts';
import { writeEvent } from './event-codec.ts';
import { keptCommands } from './kept-usage.ts';
import { RedisFunctions } from './functions.ts';
import { isIndex } from '../records/record-tables.ts';
import { recordsToWrite } from '../records/team-records.ts';
import { packNextPlan } from './next-plan-codec.ts';
import { isServed, scanned, together } from './keyspace.ts';
import type { RedisWords } from './keyspace.ts';
import { markPlanNumbers, VERSION } from './layout-version.ts';
import { creditField, packBooks, packClosed, guardFields, packDays, packKey } from './packed-team.ts';
import type { RedisConnection } from './redis-connection.ts';
import { AUDIT_KEY, blobKey, digestKey, INDEX_KEYS, LAYOUT_KEY, LEFT_BY_GATEWAYS, ownerKey, tableKey, teamKeys } from './redis-keys.ts';
import { connected, RedisReader } from './redis-reader.ts';
import { FLEETING } from './redis-structure.ts';
import { requestIdBytes } from './request-id-bytes.ts';
import { serverTime } from './store-round.ts';
import { lineOf } from './team-index.ts';
import { allowanceField, packPlan, toldFields } from './team-layout.ts';
import { packHead, packSlots, packRequest } from './team-raw.ts';
import { windowCountFields } from './window-layout.ts';

const SCAN_PIECE = 500;
/** Request ids and related keys are kept this much longer than necessary, because the copy is compared before it is used. */
const SPARE_MS = 86_400_000;

/** Rejects with a `StoreError` if the store is not empty or is in use, or if it is half-written and `restart` is not set. */
export async function openRedisWriter(url: string, restart: boolean): Promise<RedisWriter> {
  const { redis, shown } = await connected(url);
  try {
    const isHalf = (await redis.get(LAYOUT_KEY)) === HALF_WRITTEN_LAYOUT;
    if (isHalf && !restart) throw halfWritten(shown);
    if (await isServed(redis)) throw new StoreError(`the store ${shown} is in use by a gateway: stop it, and try again`);
    await empty(redis, shown, isHalf);
    const functions = new RedisFunctions(redis);
    await functions.load();
    await redis.set(LAYOUT_KEY, HALF_WRITTEN_LAYOUT);
    return new RedisWriter(redis, functions);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

/** If the store is half-written, deletes everything except the mark; otherwise only what gateways keep about themselves. */
async function empty(redis: RedisConnection, shown: string, isHalf: boolean): Promise<void> {
  for await (const names of scanned(redis, SCAN_PIECE)) {
    const found = names.filter((name) => !FLEETING.test(name) && !LEFT_BY_GATEWAYS.includes(name));
    if (found.length > 0 && !isHalf) {
      throw new StoreError(`the store ${shown} is not empty (it has ${found[0]!.replace(/\{.*\}/, '{…}')}): choose an empty store`);
    }
    await Promise.all(names.filter((name) => name !== LAYOUT_KEY).map((name) => redis.unlink(name)));
  }
}

export class RedisWriter implements StoreWriter {
  readonly #redis: RedisConnection;
  readonly #functions: RedisFunctions;
  #offsetMs: number | undefined;

  constructor(redis: RedisConnection, functions: RedisFunctions) {
    this.#redis = redis;
    this.#functions = functions;
  }

  async team(contents: TeamContents, entries: ReadonlyMap<string, EntryPieces>): Promise<void> {
    const { teamId } = contents.team;
    const nowMs = await this.#nowMs();
    await together(this.#redis, [
      ...teamCommands(contents),
      ...historyCommands(contents),
      ...requestCommands(contents, nowMs),
      ...recordsToWrite(contents).map(({ table, id, value }): RedisWords => ['HSET', tableKey(teamId, table), id, value]),
      ...blobCommands(teamId, entries),
      ...tagField(contents),
    ]);
    await Promise.all(contents.keys.map(({ keyId }) => this.#redis.set(ownerKey(keyId), teamId)));
    // One after the other, because the list is in order of creation.
    await this.#functions.run('index_team', { keys: INDEX_KEYS, args: [teamId, lineOf(contents.team)] });
  }

  async loose(record: LooseContents): Promise<void> {
    switch (record.kind) {
      case 'digest': {
        const { keyId, teamId, mode } = record;
        await this.#redis.set(digestKey(record.digest), JSON.stringify({ keyId, teamId, mode }));
        return;
      }
      case 'change': {
        const { teamId, id, request, untilMs } = record;
        const { once, changes } = teamKeys(teamId);
        const leftMs = untilMs - (await this.#nowMs());
        if (leftMs <= 0) return;
        await together(this.#redis, [
          ['SET', once + id, request, 'PX', String(leftMs)],
          ['ZADD', changes, String(untilMs), id],
          ['PEXPIRE', changes, String(leftMs)],
        ]);
        return;
      }
      case 'record': {
        const name = tableKey(SHARED_RECORDS, record.table);
        await (isIndex(record.table) ? this.#redis.zadd(name, 0, record.id) : this.#redis.hset(name, record.id, record.value));
        return;
      }
      case 'audit': {
        const { id, teamId = NO_TEAM } = record;
        const { audit } = teamKeys(teamId);
        await this.#redis.zadd(audit, 0, packEntry(id, record.record));
        await this.#redis.zadd(AUDIT_KEY, 0, id + teamId);
        return;
      }
      case 'usage':
        // Its keys are in one cluster slot, the list is in another.
        await Promise.all(keptCommands(record).map(([name, ...args]) => this.#redis.callBuffer(name, ...args)));
        return;
      case 'event':
        return writeEvent(this.#redis, record.event, record.dueMs, record.tries);
    }
  }

  reader(): StoreReader {
    return new RedisReader(this.#redis);
  }

  async finish(): Promise<void> {
    await markPlanNumbers(this.#redis);
    await this.#redis.set(LAYOUT_KEY, VERSION);
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  /** The server's time. */
  async #nowMs(): Promise<number> {
    this.#offsetMs ??= (await serverTime(this.#redis)) - Date.now();
    return Date.now() + this.#offsetMs;
  }
}

function teamCommands(contents: TeamContents): RedisWords[] {
  const { team, period, keys, periods } = contents;
  const names = teamKeys(team.teamId);
  const firstLeft = periods.find(({ closed }) => !closed)?.number ?? period.number;
  const fields = ['name', team.name, 'plan', team.plan, 'created', String(team.createdAtMs), 'currency', team.limits.currency];
  if (team.reference !== undefined) fields.push('reference', team.reference);
  const next = team.nextPlan === undefined ? [] : ['next', packNextPlan(team.nextPlan)];
  const numbers = ['period', team.limits.period, 'left', String(firstLeft)];
  const commands: RedisWords[] = [
    ['HSET', names.team, ...fields, ...numbers, ...next, 'p', packPlan(team.limits), 'b', packBooks(contents), ...creditField(contents)],
  ];
  const used = windowCountFields(contents.windowCounts);
  if (used.length > 0) commands.push(['HSET', names.team, ...used]);
  const told = [...toldFields(contents), ...allowanceField(contents)];
  if (told.length > 0) commands.push(['HSET', names.team, ...told]);
  if (period.anchorMs !== team.createdAtMs) commands.push(['HSET', names.team, 'anchor', String(period.anchorMs)]);
  for (const [order, key] of keys.entries()) {
    const { keyId, display, label, mode, createdAtMs, digest } = key;
    const json = JSON.stringify({ display, label, mode, ...(digest === undefined ? {} : { digest }) });
    commands.push(
      ['HSET', names.keys, keyId, `${order} ${createdAtMs} ${json}`],
      ['HSET', names.team, `k${keyId}`, packKey(key, period.number), ...guardFields(key, period.number)],
    );
  }
  return commands;
}

function historyCommands({ team, period, keys, days, dayDone, periods, toldPercents, requests }: TeamContents): RedisWords[] {
  const names = teamKeys(team.teamId);
  const commands: RedisWords[] = [];
  for (const key of keys) {
    const own = days.filter(({ keyId }) => keyId === key.keyId);
    if (own.length > 0) commands.push(['HSET', names.days, key.keyId, packDays(key, period.number, own)]);
  }
  if (days.length > 0) commands.push(['HSET', names.days, 'told', String(dayDone)]);
  for (const one of periods) {
    const { plan, limits } = one;
    if (one.closed) {
      commands.push(['HSET', names.periods, String(one.number), packClosed(one)]);
      continue;
    }
    const open = requests.filter(({ state, periodNumber }) => state === 'open' && periodNumber === one.number);
    const held = open.reduce((sum, { characters }) => sum + characters, 0);
    const over = open.reduce((most, { untilMs }) => Math.max(most, untilMs), 0);
    const use = `${names.use}${one.number}`;
    const bounds = ['characters', one.characters, 'starts', one.startMs, 'ends', one.endMs, 'length', limits.period].map(String);
    const rest = ['plan', plan, 'currency', limits.currency, 'open', String(held), 'over', String(over)];
    const lastPercent = toldPercents.find(({ number }) => number === one.number)?.percent ?? 0;
    if (lastPercent > 0) rest.push('told', String(lastPercent));
    rest.push('allowance', String(one.allowanceUsed), 'tests', String(one.testCharacters), 'requests', String(one.requests));
    commands.push(['HSET', use, ...bounds, ...rest, ...creditWords(one.credit), 'p', packPlan(limits)]);
  }
  return commands;
}

function creditWords({ openingMicro, addedMicro, deductedMicro, balanceMicro }: PeriodCredit): string[] {
  return ['opening', openingMicro, 'added', addedMicro, 'deducted', deductedMicro, 'balance', balanceMicro].map(String);
}

function requestCommands({ team, period, heldCharacters, heldMicro, window, requests }: TeamContents, nowMs: number): RedisWords[] {
  if (requests.length === 0 && window.length === 0) return [];
  const names = teamKeys(team.teamId);
  const expiresMs = requests.reduce((most, { untilMs }) => Math.max(most, untilMs), nowMs) + REMEMBER_MS + SPARE_MS;
  const newestMs = window.at(-1)?.atMs ?? 0;
  const head = packHead({ heldCharacters, heldMicro, number: period.number, newestMs, expiresMs });
  const commands: RedisWords[] = [['HSET', names.ids, 'h', head]];
  for (const request of requests) {
    const id = requestIdBytes(request.requestId);
    commands.push(['HSET', names.ids, id, packRequest(request)], ['ZADD', names.late, String(request.untilMs), id]);
  }
  const slots = packSlots(window);
  if (slots.length > 0) commands.push(['RPUSH', names.places, ...slots]);
  for (const key of [names.ids, names.late, names.places]) commands.push(['PEXPIRE', key, String(expiresMs - nowMs)]);
  return commands;
}

function blobCommands(teamId: string, entries: ReadonlyMap<string, EntryPieces>): RedisWords[] {
  const { blobs } = teamKeys(teamId);
  return [...entries].flatMap(([blobId, pieces]): RedisWords[] => [
    ['HSET', blobs, blobId, String(pieces.length)],
    ['RPUSH', blobKey(teamId, blobId), String(pieces.length)],
    ...pieces.map((piece): RedisWords => ['RPUSH', blobKey(teamId, blobId), Buffer.from(piece)]),
  ]);
}

/** How many tags have settings (lua/layout.lua). */
function tagField({ team, tags }: TeamContents): RedisWords[] {
  const count = Object.keys(tags.tag_limits).length;
  return count === 0 ? [] : [['HSET', teamKeys(team.teamId).team, 'g', String(count)]];
}
