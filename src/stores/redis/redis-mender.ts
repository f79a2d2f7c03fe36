// Changes the periods and counts of teams in Redis: a team at a time, each in one transaction that fails if the team has changed
// since it was read.
import { StoreError } from '../../domain/store-unavailable.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { LastCounts, MendedTeam, MendTeam, StoreMender, TeamContents } from '../../ports/store-contents.ts';
import { TAG_TABLES } from '../records/record-tables.ts';
import { tagRecords } from '../records/tag-counts.ts';
import { memberOf, readEvent } from './event-codec.ts';
import type { RedisWords } from './keyspace.ts';
import { assertLayout } from './layout-version.ts';
import { guardFields, creditField, packBooks, packDays, packKey } from './packed-team.ts';
import type { RedisConnection } from './redis-connection.ts';
import { DUE_KEY, EVENTS_KEY, outboxKey, tableKey, teamKeys, TRIES_KEY } from './redis-keys.ts';
import { connected, readRaw, RedisReader } from './redis-reader.ts';
import { requestIdBytes } from './request-id-bytes.ts';
import { readContents } from './team-contents.ts';
import type { WholeRawTeam } from './team-contents.ts';
import { fieldsOf } from './team-codec.ts';
import { allowanceField, readKeyState, toldFields } from './team-layout.ts';
import { packHead, packRequest, readHead } from './team-raw.ts';

/** For how long a team is read again that has changed before it was written: each attempt takes about a millisecond. */
const TRYING_MS_MAX = 30_000;
/** Request ids are kept this much longer than necessary. */
const SPARE_MS = 60_000;

/** Rejects with a `StoreError` if there is no data, or none that this version can read. */
export async function openRedisMender(url: string): Promise<StoreMender> {
  const { redis, shown } = await connected(url);
  try {
    await assertLayout(redis, shown);
    return new RedisMender(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

class RedisMender implements StoreMender {
  readonly reader: RedisReader;
  readonly #redis: RedisConnection;

  constructor(redis: RedisConnection) {
    this.reader = new RedisReader(redis);
    this.#redis = redis;
  }

  async mend<Mended extends MendedTeam>(teamId: string, nowMs: number, mend: MendTeam<Mended>): Promise<Mended | undefined> {
    const untilMs = performance.now() + TRYING_MS_MAX;
    while (performance.now() < untilMs) {
      const mended = await this.#try(teamId, nowMs, mend);
      if (mended !== 'changed') return mended;
    }
    throw new StoreError(`team ${teamId} changed each time between reading and writing it; run the command again when it is used less`);
  }

  /** What else a wrong clock has left expires with the teams' own keys. */
  async finish(): Promise<void> {}

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  async #try<Mended extends MendedTeam>(teamId: string, nowMs: number, mend: MendTeam<Mended>): Promise<Mended | undefined | 'changed'> {
    const { team, keys, ids, places, late, days, periods, ...names } = teamKeys(teamId);
    const tags = TAG_TABLES.map((table) => names[table]);
    // All sent at once: the less time passes until the transaction, the less often another one comes in between.
    const [, raw, outbox] = await Promise.all([
      this.#redis.watch(team, keys, ids, places, late, days, periods, ...tags, outboxKey(teamId)),
      this.#raw(teamId),
      this.#redis.callBuffer('HGETALL', outboxKey(teamId)),
    ]);
    const contents = raw && readContents(teamId, raw, () => undefined);
    const mended = contents && mend(contents, lastCountsOf(raw));
    if (mended === undefined) {
      await this.#redis.unwatch();
      return undefined;
    }
    const events = [...fieldsOf(outbox)].filter(([id, packed]) => mended.isUndone(readEvent(id, teamId, packed).facts));
    const gone = events.map(([id]) => id);
    const dropped: RedisWords[] = gone.length === 0 ? [] : [['HDEL', outboxKey(teamId), ...gone]];
    const transaction = this.#redis.multi();
    for (const [name, ...args] of [...teamCommands(raw!, mended.contents, nowMs), ...dropped]) transaction.callBuffer(name, ...args);
    const replies = await transaction.exec();
    if (replies === null) return 'changed';
    for (const [error] of replies) if (error) throw error;
    const members = gone.map((id) => memberOf(teamId, id));
    if (members.length > 0) await Promise.all([this.#redis.zrem(EVENTS_KEY, ...members), this.#redis.hdel(TRIES_KEY, ...members)]);
    // The janitor's next visit was for the end of the wrong period.
    await this.#redis.zadd(DUE_KEY, 'XX', -nowMs, teamId);
    return mended;
  }

  #raw(teamId: string): Promise<WholeRawTeam | undefined> {
    return readRaw(teamId, (commands) => Promise.all(commands.map(([name, ...args]) => this.#redis.callBuffer(name, ...args))));
  }
}

/** A key's state has its counts of the last period that it was used in. */
function lastCountsOf({ team }: WholeRawTeam): Map<string, LastCounts> {
  const states = [...fieldsOf(team)].filter(([name]) => name.startsWith('k') && name.length > 1);
  return new Map(states.map(([name, packed]) => [name.slice(1), readKeyState(packed)]));
}

/** The commands that replace what differs. */
function teamCommands(raw: WholeRawTeam, contents: TeamContents, nowMs: number): RedisWords[] {
  const { team: whole, period, keys, days, dayDone } = contents;
  const names = teamKeys(whole.teamId);
  const { number } = period;
  const fields = fieldsOf(raw.team);
  const commands: RedisWords[] = [];
  const drop = (key: string, gone: readonly string[]): void => void (gone.length > 0 && commands.push(['HDEL', key, ...gone]));
  const stateOf = (key: (typeof keys)[number]): (string | Buffer)[] => [`k${key.keyId}`, packKey(key, number), ...guardFields(key, number)];
  // Counters of a period with a number that another one will have.
  drop(
    names.team,
    keys.map(({ keyId }) => `w:${keyId}`).filter((name) => fields.has(name)),
  );
  const books = ['b', packBooks(contents), ...creditField(contents), ...toldFields(contents, true), ...allowanceField(contents, true)];
  // Without the field the functions look at all periods before.
  if (Number(String(fields.get('left') ?? 0)) > number) books.push('left', String(number));
  const anchor = period.anchorMs === whole.createdAtMs ? [] : ['anchor', String(period.anchorMs)];
  commands.push(['HSET', names.team, ...books, ...anchor, ...keys.flatMap(stateOf)]);
  for (const key of keys) {
    const own = days.filter(({ keyId }) => keyId === key.keyId);
    if (own.length > 0) commands.push(['HSET', names.days, key.keyId, packDays(key, number, own)]);
  }
  if (days.length > 0) commands.push(['HSET', names.days, 'told', String(dayDone)]);
  commands.push(['DEL', ...TAG_TABLES.map((table) => names[table])]);
  for (const { table, id, value } of tagRecords(contents.tags)) commands.push(['HSET', tableKey(whole.teamId, table), id, value]);
  drop(
    names.periods,
    [...fieldsOf(raw.periods).keys()].filter((name) => Number(name) >= number),
  );
  for (const of of raw.left.keys()) if (of >= number) commands.push(['DEL', `${names.use}${of}`]);
  return [...commands, ...requestCommands(raw, contents, nowMs)];
}

/** Open reservations with their period and the end of their lease; the functions look at each again. */
function requestCommands(
  raw: WholeRawTeam,
  { team, period, heldCharacters, heldMicro, requests }: TeamContents,
  nowMs: number,
): RedisWords[] {
  const packed = fieldsOf(raw.ids).get('h');
  if (packed === undefined) return [];
  const { ids, late, places } = teamKeys(team.teamId);
  const open = requests.filter(({ state }) => state === 'open');
  const expiresMs = open.reduce((most, { untilMs }) => Math.max(most, untilMs), nowMs) + REMEMBER_MS + SPARE_MS;
  const { newestMs } = readHead(packed);
  const head = packHead({ heldCharacters, heldMicro, number: period.number, newestMs, expiresMs });
  const lasting = (key: string): RedisWords => ['PEXPIRE', key, String(expiresMs - nowMs)];
  return [
    ['HSET', ids, 'h', head, ...open.flatMap((one) => [requestIdBytes(one.requestId), packRequest(one)])],
    ...open.map((one): RedisWords => ['ZADD', late, String(one.untilMs), requestIdBytes(one.requestId)]),
    ...[ids, late, places].map(lasting),
  ];
}
