// All of the store's calls to Redis: commands and functions, whose failures become values, and closing.
import type { KeyOwner } from '../../domain/api-key.ts';
import { answering, isUnavailable, StoreError, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import type { Log } from '../../ports/log.ts';
import { causeOf, within } from './failure-cause.ts';
import type { RunFunction } from './function-library.ts';
import { UnderWay } from './in-turn.ts';
import { eachServer } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { digestKey, groupKey } from './redis-keys.ts';
import { callServer, nodesOf } from './server-call.ts';
import type { Servers } from './server-call.ts';
import { serverTime } from './server-clocks.ts';
import type { ServerClocks } from './server-clocks.ts';

interface RedisLinkOptions {
  readonly redis: RedisConnection;
  /** The URL without credentials, for messages. */
  readonly shown: string;
  readonly commandTimeoutMs: number;
  readonly clocks: ServerClocks;
  readonly log: Log;
  readonly run: RunFunction;
}

/** A command of a compare-and-set, and what follows the group's key in the name of the key that it is for. */
export type Write = readonly [command: string, suffix: string, ...args: string[]];

/** What `change` of lua/change.lua compares and writes: names are what follows the group's key. */
interface Comparison {
  /** Of a hash; `undefined` for a field that is not there. */
  readonly fields: readonly (readonly [suffix: string, field: string, text: string | undefined])[];
  /** How many fields a hash has. */
  readonly sizes?: readonly (readonly [suffix: string, size: number])[];
  readonly present?: readonly string[];
  readonly write: readonly Write[];
  /** A full server makes it too. */
  readonly frees: boolean;
}

type Compared = 'changed' | 'outdated' | 'incomplete';

const CLOSED: StoreUnavailable = { kind: 'unavailable', cause: 'closed' };
const DEFECT_LOG_EVERY_MS = 5000;
const ASK_FOR_MASTERS_EVERY_MS = 200;
/** A server that has become a replica is left: so long, what was under way fails as if its connection were lost. */
const DEMOTED_MS = 1000;

export class RedisLink {
  readonly redis: RedisConnection;
  readonly shown: string;
  readonly run: RunFunction;
  readonly servers: Servers;
  readonly clocks: ServerClocks;
  /** Why the last attempt to connect failed, if known; `undefined` while connected. To be read only. */
  lastCause: string | undefined = undefined;
  readonly #options: RedisLinkOptions;
  readonly #underWay = new UnderWay();
  #closed = false;
  #defectLoggedAtMs = -Infinity;
  #demotedAtMs = -Infinity;
  #askedForMastersAtMs = -Infinity;

  constructor(options: RedisLinkOptions) {
    const { redis, shown, run, clocks, commandTimeoutMs: timeoutMs } = options;
    this.#options = options;
    [this.redis, this.shown, this.run, this.clocks] = [redis, shown, run, clocks];
    // A new connection may lead to another server, with another clock.
    eachServer(redis, (server, name) => server.on('close', () => clocks.forget(name)));
    redis.on('error', (error: unknown) => (this.lastCause = causeOf(error)));
    redis.on('ready', () => (this.lastCause = undefined));
    const causeOfError = (error: unknown): string => this.#cause(error);
    this.servers = { run, time: clocks, nodeOf: nodesOf(redis), timeoutMs, causeOf: causeOfError };
  }

  /** The name of the master that holds a team; '' without a cluster. */
  nodeOf(teamId: string): string {
    return this.servers.nodeOf(teamId);
  }

  /** Compares and sets. `answering` turns a failure into a value. */
  async compare(group: string, { fields, sizes = [], present = [], write, frees }: Comparison): Promise<Compared> {
    const expected = fields.map(([suffix, field, text]) => [suffix, field, text ?? false]);
    const asked = { fields: expected, sizes, present, write };
    const call = { name: frees ? 'free' : 'change', teamId: group, keys: [groupKey(group)], asked } as const;
    if (this.#closed) throw this.#unanswered(CLOSED);
    const untilMs = performance.now() + this.servers.timeoutMs;
    const running = callServer<{ readonly kind: Compared }>(this.servers, { ...call, untilMs });
    const reply = await this.#underWay.track(running);
    if (isUnavailable(reply)) throw this.#unanswered(reply);
    return reply.kind;
  }

  /** Runs plain commands. `answering` turns a failure into a value. */
  async ask<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T> {
    if (this.#closed) throw this.#unanswered(CLOSED);
    try {
      return await this.#underWay.track(command(this.redis));
    } catch (error) {
      throw error instanceof StoreError ? error : this.#unanswered({ kind: 'unavailable', cause: this.#cause(error) });
    }
  }

  /** The store's time that is believed: by a server's clock, or the one that tests control. */
  async now(): Promise<number> {
    const { clocks } = this;
    return clocks.given !== undefined ? clocks.nowMs() : clocks.believed(await this.ask(serverTime));
  }

  /** Waits for calls in flight; starts no new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#underWay.ended();
    try {
      await within(this.redis.quit(), this.#options.commandTimeoutMs);
    } catch {
      // Not connected: there is nothing to wait for, but reconnecting has to stop.
    }
    this.redis.disconnect();
  }

  /** Adds advice for operators; the ledger's answers have none, because nobody would read it. */
  #unanswered({ kind, cause }: StoreUnavailable): Error {
    const advice = `the store ${this.shown} did not answer (${cause}): check that it is running, and whether a change was made before you repeat it`;
    return storeErrorOf({ kind, cause, advice });
  }

  /** Classifies an error. A refusal that no outage explains is a bug or corrupt data: its text is logged. */
  #cause(error: unknown): string {
    const nowMs = performance.now();
    let cause = causeOf(error);
    if (cause === 'readonly') this.#demotedAtMs = nowMs;
    if (cause === 'closed' && nowMs - this.#demotedAtMs < DEMOTED_MS) cause = 'readonly';
    if (cause === 'timeout') this.#askForMasters(nowMs);
    if (cause === 'refused' && error instanceof Error && nowMs - this.#defectLoggedAtMs >= DEFECT_LOG_EVERY_MS) {
      this.#defectLoggedAtMs = nowMs;
      this.#options.log.error('the store refused an operation', { store: this.shown, reply: error.message.slice(0, 200) });
    }
    return cause;
  }

  /** A master that hangs keeps its connections open; only the other nodes know that another one has taken over. */
  #askForMasters(nowMs: number): void {
    if (!('refreshSlotsCache' in this.redis) || nowMs - this.#askedForMastersAtMs < ASK_FOR_MASTERS_EVERY_MS) return;
    this.#askedForMastersAtMs = nowMs;
    this.redis.refreshSlotsCache();
  }
}

/** Finds a key's owner by its digest. */
export function keyDirectory(link: RedisLink): KeyDirectory {
  return {
    find: (digest) =>
      answering(async () => {
        const json = await link.ask((redis) => redis.get(digestKey(digest)));
        return json === null ? undefined : (JSON.parse(json) as KeyOwner);
      }),
  };
}
