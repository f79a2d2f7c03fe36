// All of the store's calls to Redis: commands and functions, whose failures become values, and closing.
import type { KeyOwner } from '../../domain/api-key.ts';
import { answering, StoreError, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import type { Log } from '../../ports/log.ts';
import { causeOf, within } from './failure-cause.ts';
import type { RunFunction } from './function-library.ts';
import { eachServer, isDemoted } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { digestKey, groupKey } from './redis-keys.ts';
import { callServer, nodesOf, serverTime } from './server-call.ts';
import type { Servers } from './server-call.ts';
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

type Compared = 'changed' | 'outdated' | 'incomplete' | 'late';

const CLOSED: StoreUnavailable = { kind: 'unavailable', cause: 'closed' };
const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };
const DEFECT_LOG_EVERY_MS = 5000;
const ASK_FOR_MASTERS_EVERY_MS = 200;

export class RedisLink {
  readonly redis: RedisConnection;
  readonly shown: string;
  readonly run: RunFunction;
  readonly servers: Servers;
  readonly clocks: ServerClocks;
  /** Why the last attempt to connect failed, if known; `undefined` while connected. To be read only. */
  lastCause: string | undefined = undefined;
  readonly #options: RedisLinkOptions;
  #running = 0;
  #onEnd: (() => void) | undefined = undefined;
  #closed = false;
  #defectLoggedAtMs = -Infinity;
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

  /** Compares and sets. Repeated only if it was late by a wrong estimate of the server's clock. `answering` turns a failure into a value. */
  async compare(group: string, { fields, sizes = [], present = [], write, frees }: Comparison): Promise<Exclude<Compared, 'late'>> {
    const expected = fields.map(([suffix, field, text]) => [suffix, field, text ?? false]);
    const asked = { fields: expected, sizes, present, write };
    const call = { name: frees ? 'free' : 'change', teamId: group, keys: [groupKey(group)], asked } as const;
    const untilMs = performance.now() + this.servers.timeoutMs;
    for (let attempt = 0; attempt < 2; attempt++) {
      const reply = this.#closed ? CLOSED : await this.#track(callServer(this.servers, { ...call, untilMs }));
      if (reply.kind === 'unavailable') throw this.#unanswered(reply);
      const { kind } = reply.value as unknown as { readonly kind: Compared };
      if (kind !== 'late') return kind;
    }
    throw this.#unanswered(LATE);
  }

  /** Runs plain commands. `answering` turns a failure into a value. */
  async ask<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T> {
    if (this.#closed) throw this.#unanswered(CLOSED);
    try {
      return await this.#track(command(this.redis));
    } catch (error) {
      throw error instanceof StoreError ? error : this.#unanswered({ kind: 'unavailable', cause: this.#cause(error) });
    }
  }

  /** The store's time that is believed: by a server's clock, or the one that tests control. */
  async now(): Promise<number> {
    const { clocks } = this;
    return Math.floor(clocks.isGiven ? clocks.now()! : clocks.now(await this.ask(serverTime))!);
  }

  /** Waits for calls in flight; starts no new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve));
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

  async #track<T>(running: Promise<T>): Promise<T> {
    this.#running++;
    try {
      return await running;
    } finally {
      this.#running--;
      if (this.#running === 0) this.#onEnd?.();
    }
  }

  /** Classifies an error. A refusal that no outage explains is a bug or corrupt data: its text is logged. */
  #cause(error: unknown): string {
    const found = causeOf(error);
    const cause = found === 'closed' && isDemoted(this.redis) ? 'readonly' : found;
    const nowMs = performance.now();
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

/** Does what concerns a subject one after the other, so that changes by this process never outdate each other. */
export class InTurn {
  /** The last of each subject. */
  readonly #last = new Map<string, Promise<void>>();

  run<T>(subject: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#last.get(subject) ?? Promise.resolve()).then(work);
    const end = (): void => {
      if (this.#last.get(subject) === ended) this.#last.delete(subject);
    };
    const ended = done.then(end, end);
    this.#last.set(subject, ended);
    return done;
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
