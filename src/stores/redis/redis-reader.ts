// Reads a whole Lingate data set from Redis, each team atomically.
import type { EntryPieces } from '../../domain/entries-text.ts';
import { StoreError } from '../../domain/store-unavailable.ts';
import type { LooseContents, ReportFinding, StoreReader, TeamContents } from '../../ports/store-contents.ts';
import { lastSeenMs, readGateway } from '../records/record-gateways.ts';
import { isIndex } from '../records/record-tables.ts';
import { NO_TEAM, idOf, readRecord } from './audit-codec.ts';
import { memberOf, readEvent } from './event-codec.ts';
import { causeOf, within } from './failure-cause.ts';
import { assertLayout } from './layout-version.ts';
import { mastersOf, redisConnection } from './redis-connection.ts';
import type { RecordTable } from '../../ports/record-space.ts';
import type { RedisConnection } from './redis-connection.ts';
import {
  COPIED_SHARED_KEYS,
  tableKey,
  DIGEST_PREFIX,
  ERASURES_KEY,
  GATEWAYS_KEY,
  ONLY_USAGE_KEY,
  teamKeys,
  EVENTS_KEY,
  TRIES_KEY,
} from './redis-keys.ts';
import { readPieces } from './redis-blobs.ts';
import { KEPT_PARTS, readKept } from './kept-usage.ts';
import { isServed, isWrongType, listedTeams, readOwner, scanned, together } from './keyspace.ts';
import type { RedisWords } from './keyspace.ts';
import { judgeKeyspace, kindOfName } from './redis-structure.ts';
import { parseRedisUrl } from './redis-url.ts';
import { serverTime } from './store-round.ts';
import { readContents, leftPeriods, RAW_PARTS } from './team-contents.ts';
import type { RawTeam, WholeRawTeam } from './team-contents.ts';

/** Teams read at a time; callers' operations wait behind one such batch. */
const TEAMS_PIECE = 64;
const SCAN_PIECE = 500;
/** A remembered change of a team. */
const CHANGE = /^lingate:\{([^}]+)\}:once:(.+)$/;
/** Keys that outlive their team. */
const OF_TEAM = /^lingate:\{([^}]*)\}:(audit|outbox)$/;
const COMMAND_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5000;

/** Rejects with a `StoreError` if there is no data, or none that this version can read. Writes nothing. */
export async function openRedisReader(url: string): Promise<RedisReader> {
  const { redis, shown } = await connected(url);
  try {
    await assertLayout(redis, shown);
    return new RedisReader(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

/** A separate connection with long timeouts, because no caller waits for it. */
export async function connected(url: string): Promise<{ readonly redis: RedisConnection; readonly shown: string }> {
  const target = parseRedisUrl(url);
  const redis = redisConnection(target, COMMAND_TIMEOUT_MS);
  let last: unknown;
  redis.on('error', (error: unknown) => (last = error));
  try {
    await within(redis.connect(), CONNECT_TIMEOUT_MS);
    // In a cluster that connects to one server; commands to another one fail until its own connection is there.
    await within(Promise.all(mastersOf(redis).map((node) => node.ping())), CONNECT_TIMEOUT_MS);
    return { redis, shown: target.shown };
  } catch (error) {
    redis.disconnect();
    throw new StoreError(`the store ${target.shown} cannot be used (${causeOf(last ?? error)}): start it or correct the store's URL`);
  }
}

export class RedisReader implements StoreReader {
  readonly #redis: RedisConnection;

  constructor(redis: RedisConnection) {
    this.#redis = redis;
  }

  async *teams(report: ReportFinding): AsyncGenerator<TeamContents> {
    for await (const ids of listedTeams(this.#redis, TEAMS_PIECE)) {
      const teams = await Promise.all(ids.map((teamId) => this.team(teamId, report)));
      for (const team of teams) if (team !== undefined) yield team;
    }
  }

  async team(teamId: string, report: ReportFinding): Promise<TeamContents | undefined> {
    const unreadable = (reason: string): undefined => {
      report({ what: 'team', teamId, detail: `it cannot be read (${reason})` });
      return undefined;
    };
    const raw = await this.#raw(teamId).catch((error: unknown) => {
      if (isWrongType(error)) return 'one of its Redis keys has the wrong type';
      throw error;
    });
    if (raw === undefined) return undefined;
    if (typeof raw === 'string') return unreadable(raw);
    try {
      return readContents(teamId, raw, report);
    } catch (error) {
      return unreadable(error instanceof Error ? error.name : 'unknown');
    }
  }

  async entries(teamId: string, dictionaryId: string): Promise<EntryPieces | undefined> {
    return readPieces(this.#redis, teamId, dictionaryId);
  }

  async records(group: string, table: RecordTable): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries(await this.#redis.hgetall(tableKey(group, table))));
  }

  async *loose(report: ReportFinding): AsyncGenerator<LooseContents> {
    // A name may occur twice, but must be counted once.
    const seen = new Set<string>();
    for await (const found of scanned(this.#redis, SCAN_PIECE)) {
      const names = [...new Set(found)]
        .filter((name) => !seen.has(name))
        .filter((name) => name.startsWith(DIGEST_PREFIX) || COPIED_SHARED_KEYS.has(name) || CHANGE.test(name) || OF_TEAM.test(name));
      for (const name of names) seen.add(name);
      const [digests, changes] = [names.filter((name) => name.startsWith(DIGEST_PREFIX)), names.filter((name) => CHANGE.test(name))];
      const owners = await Promise.all(digests.map((name) => this.#redis.get(name)));
      for (const [i, json] of owners.entries()) {
        const owner = readOwner(json);
        if (owner === undefined) report({ what: 'digest', detail: 'the owner of a digest cannot be read' });
        else yield { kind: 'digest', digest: digests[i]!.slice(DIGEST_PREFIX.length), ...owner };
      }
      for (const name of changes) yield* this.#change(name);
      for (const name of names.filter((one) => COPIED_SHARED_KEYS.has(one))) yield* this.#shared(name);
      for (const name of names) yield* this.#ofTeam(name);
    }
    for (const teamId of await this.#redis.zrange(ONLY_USAGE_KEY, '0', '-1')) {
      const names = teamKeys(teamId);
      yield readKept(
        teamId,
        await together(
          this.#redis,
          KEPT_PARTS.map((part): RedisWords => ['HGETALL', names[part]]),
        ),
      );
    }
  }

  async *#shared(name: string): AsyncGenerator<LooseContents> {
    const table = COPIED_SHARED_KEYS.get(name)!;
    const records = isIndex(table)
      ? (await this.#redis.zrange(name, '0', '-1')).map((id) => [id, ''])
      : Object.entries(await this.#redis.hgetall(name));
    for (const [id = '', value = ''] of records) yield { kind: 'record', table, id, value };
  }

  /** Data of a team that outlives it. */
  async *#ofTeam(name: string): AsyncGenerator<LooseContents> {
    const [, teamId = '', kind] = OF_TEAM.exec(name) ?? [];
    if (kind === 'audit') {
      for (let first = 0, read = SCAN_PIECE; read === SCAN_PIECE; first += SCAN_PIECE) {
        const members = await this.#redis.zrangeBuffer(name, String(first), String(first + SCAN_PIECE - 1));
        const whose = teamId === NO_TEAM ? undefined : teamId;
        for (const member of members) yield { kind: 'audit', id: idOf(member), teamId: whose, record: readRecord(teamId, member) };
        read = members.length;
      }
    } else if (kind === 'outbox') {
      const flat = (await this.#redis.callBuffer('HGETALL', name)) as Buffer[];
      for (let i = 0; i + 1 < flat.length; i += 2) {
        const event = readEvent(String(flat[i]), teamId, flat[i + 1]!);
        const member = memberOf(teamId, event.id);
        const [dueMs, tries] = await Promise.all([this.#redis.zscore(EVENTS_KEY, member), this.#redis.hget(TRIES_KEY, member)]);
        yield { kind: 'event', event, dueMs: Number(dueMs ?? event.atMs), tries: Number(tries ?? 0) };
      }
    }
  }

  async *#change(name: string): AsyncGenerator<LooseContents> {
    const [, teamId = '', id = ''] = CHANGE.exec(name) ?? [];
    const [request, untilMs] = await Promise.all([this.#redis.get(name), this.#redis.pexpiretime(name)]);
    if (request !== null && untilMs > 0) yield { kind: 'change', teamId, id, request, untilMs };
  }

  nowMs(): Promise<number> {
    return serverTime(this.#redis);
  }

  async lastServedMs(): Promise<number | undefined> {
    return lastSeenMs(await this.#redis.hvals(GATEWAYS_KEY));
  }

  structure(report: ReportFinding, settleMs: number): Promise<void> {
    return judgeKeyspace(this.#redis, report, settleMs);
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  /** In one transaction, so that the result is consistent. */
  #raw(teamId: string): Promise<WholeRawTeam | undefined> {
    return readRaw(teamId, (commands) => together(this.#redis, commands));
  }
}

/** A team as Redis has it, read by commands that `run` runs at one moment; `undefined` if there is no record. */
export async function readRaw(
  teamId: string,
  run: (commands: readonly RedisWords[]) => Promise<unknown[]>,
): Promise<WholeRawTeam | undefined> {
  const keys = teamKeys(teamId);
  const replies = await run(
    RAW_PARTS.map((part): RedisWords => {
      if (part === 'places') return ['LRANGE', keys.places, '0', '-1'];
      return part === 'late' ? ['ZRANGE', keys.late, '0', '-1'] : ['HGETALL', keys[part]];
    }),
  );
  const raw = Object.fromEntries(RAW_PARTS.map((part, i) => [part, replies[i]])) as unknown as RawTeam;
  if (raw.team.length === 0) return undefined;
  const numbers = leftPeriods(raw);
  const left = numbers.length === 0 ? [] : await run(numbers.map((number) => ['HGETALL', `${keys.use}${number}`]));
  return { ...raw, left: new Map(numbers.map((number, i) => [number, left[i] as Buffer[]])) };
}

/** Opens a reader if no gateway is using the store. `stillAlone` rejects if one has started to. */
export async function openRedisSource(url: string): Promise<{ readonly reader: RedisReader; stillAlone(): Promise<void> }> {
  const { redis, shown } = await connected(url);
  const stillAlone = async (): Promise<void> => {
    if (!(await isServed(redis))) return;
    const records = (await redis.hvals(GATEWAYS_KEY)).map(readGateway);
    const [last] = records.toSorted((one, other) => other.seenAtMs - one.seenAtMs);
    const which = last === undefined ? '' : ` (the last known one runs on ${last.host} with ${last.file})`;
    throw new StoreError(`the store ${shown} is in use by a gateway${which}: stop the gateways that use it, and try again`);
  };
  try {
    await assertLayout(redis, shown);
    await stillAlone();
    await assertCopied(redis, shown);
    return { reader: new RedisReader(redis), stillAlone };
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

/** Rejects data that a copy would silently omit. */
async function assertCopied(redis: RedisConnection, shown: string): Promise<void> {
  if ((await redis.zcard(ERASURES_KEY)) > 0) {
    throw new StoreError(
      `the store ${shown} holds data that cannot be copied: a deletion has been interrupted; repeat it, or start a gateway`,
    );
  }
  for await (const names of scanned(redis, SCAN_PIECE)) {
    const strange = names.find((name) => kindOfName(name) === undefined);
    if (strange !== undefined)
      throw new StoreError(`the store ${shown} holds data that cannot be copied: ${JSON.stringify(strange.slice(0, 120))}`);
  }
}
