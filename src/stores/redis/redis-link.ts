// All of the store's calls to Redis: commands and functions, whose failures become values, and closing.
import type { KeyOwner } from '../../domain/api-key.ts';
import type { Redis } from 'ioredis';
import { answering, isUnavailable, StoreError, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import type { Log } from '../../ports/log.ts';
import { RedisFunctions } from './function-library.ts';
import type { FunctionName } from './function-library.ts';
import { causeOf, nameOf, within } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { digestKey, groupKey, teamSlot } from './redis-keys.ts';
import type { ServerClocks } from './server-clocks.ts';

interface RedisLinkOptions {
  readonly redis: RedisConnection;
  /** The URL without credentials, for messages. */
  readonly shown: string;
  /** How long an operation may take. */
  readonly timeoutMs: number;
  readonly clocks: ServerClocks;
  readonly log: Log;
}

interface FunctionCall {
  readonly name: FunctionName;
  /** A team, or the shared records. If there are several teams, they are on the same server. */
  readonly group: string;
  readonly keys: readonly string[];
  /** Clock and deadline are added. */
  readonly asked: object;
  /** Further arguments. */
  readonly args?: readonly string[];
  /** The caller's deadline on the local monotonic clock. */
  readonly untilMs: number;
}

/** A command of a compare-and-set, and what follows the group's key in the name of the key that it is for. */
export type Write = readonly [command: string, suffix: string, ...args: string[]];

/** What `change` of lua/change.lua compares and writes: names are what follows the group's key. */
export interface Comparison {
  /** Of a hash; `undefined` for a field that is not there. */
  readonly fields: readonly (readonly [suffix: string, field: string, text: string | undefined])[];
  /** How many fields a hash has. */
  readonly sizes: readonly (readonly [suffix: string, size: number])[];
  readonly present: readonly string[];
  readonly write: readonly Write[];
  /** A full server makes it too. */
  readonly frees: boolean;
}

type Compared = 'changed' | 'outdated' | 'incomplete';
/** `now` is the store's time. */
type Answered<Value> = Value & { readonly now: number };

export const unavailable = (cause: string): StoreUnavailable => ({ kind: 'unavailable', cause });
const DEFECT_LOG_EVERY_MS = 5000;
/** A server that has become a replica is left: so long, what was under way fails as if its connection were lost. */
const DEMOTED_MS = 1000;

export class RedisLink {
  readonly redis: RedisConnection;
  readonly shown: string;
  readonly timeoutMs: number;
  readonly clocks: ServerClocks;
  readonly functions: RedisFunctions;
  /** Why the last attempt to connect failed, if known; `undefined` while connected. To be read only. */
  lastCause: string | undefined = undefined;
  readonly #log: Log;
  readonly #underWay = new UnderWay();
  #closed = false;
  #defectLoggedAtMs = -Infinity;
  #demotedAtMs = -Infinity;

  constructor({ redis, shown, timeoutMs, clocks, log }: RedisLinkOptions) {
    [this.redis, this.shown, this.timeoutMs, this.clocks, this.#log] = [redis, shown, timeoutMs, clocks, log];
    this.functions = new RedisFunctions(redis);
    // A new connection may lead to another server, with another clock.
    if ('slots' in redis) redis.on('+node', (server: Redis) => server.on('close', () => clocks.forget(nameOf(server))));
    else redis.on('close', () => clocks.forget(''));
    redis.on('error', (error: unknown) => (this.lastCause = causeOf(error)));
    redis.on('ready', () => (this.lastCause = undefined));
  }

  /** The name of the master that holds a group; '' without a cluster. */
  nodeOf(group: string): string {
    return 'slots' in this.redis ? (this.redis.slots[teamSlot(group)]?.[0] ?? '') : '';
  }

  /** For what is decided and written: a server whose clock is not known since it was connected is asked first. */
  async time(group: string): Promise<number> {
    if (!this.clocks.isKnown(this.nodeOf(group))) await this.ask((redis) => this.clocks.read(redis));
    return this.nowMs(group);
  }

  /** The time of the server that holds a group. */
  nowMs(group: string): number {
    return this.clocks.nowAt(this.nodeOf(group));
  }

  /**
   * What a function answers. After a failure it is unknown whether it was executed. Never rejects. One that was overdue had no effect,
   * and its reply corrects the estimate of the server's time; if it is overdue again, it really is.
   */
  call<Value>(call: FunctionCall): Promise<Answered<Value> | StoreUnavailable> {
    return this.#closed ? Promise.resolve(unavailable('closed')) : this.#underWay.track(this.#call(call));
  }

  async #call<Value>({ name, group, keys, asked, args = [], untilMs }: FunctionCall): Promise<Answered<Value> | StoreUnavailable> {
    const node = this.nodeOf(group);
    for (let attempt = 0; attempt < 2; attempt++) {
      const { correction = 0, clock } = this.clocks.clockFor(node);
      const sentAtMs = performance.now();
      const deadline = this.clocks.at(node, untilMs);
      const words = JSON.stringify({ ...asked, deadline, clock, correction: correction === 0 ? undefined : correction });
      try {
        const reply = await within(this.functions.run(name, keys, [words, ...args]), untilMs - sentAtMs);
        // A master that was suspended and replaced may still answer briefly when it resumes: ignore its reply.
        if (this.nodeOf(group) !== node) return unavailable('moved');
        const value = JSON.parse(reply as string) as Answered<Value> & { readonly overdue?: boolean };
        this.clocks.learn(node, sentAtMs, performance.now(), value.now - correction);
        if (value.overdue !== true) return value;
      } catch (error) {
        return unavailable(this.causeOf(error));
      }
      if (performance.now() >= untilMs) break;
    }
    return unavailable('overdue');
  }

  /** Compares and sets. `answering` turns a failure into a value. */
  async compare(group: string, { fields, sizes, present, write, frees }: Comparison): Promise<Compared> {
    const asked = { fields: fields.map(([suffix, field, text]) => [suffix, field, text ?? false]), sizes, present, write };
    const untilMs = performance.now() + this.timeoutMs;
    const name = frees ? 'free' : 'change';
    const reply = await this.call<{ readonly kind: Compared }>({ name, group, keys: [groupKey(group)], asked, untilMs });
    if (isUnavailable(reply)) throw this.#unanswered(reply.cause);
    return reply.kind;
  }

  /** Runs plain commands. `answering` turns a failure into a value. */
  async ask<T>(command: (redis: RedisConnection) => Promise<T>): Promise<T> {
    if (this.#closed) throw this.#unanswered('closed');
    try {
      return await this.#underWay.track(command(this.redis));
    } catch (error) {
      throw error instanceof StoreError ? error : this.#unanswered(this.causeOf(error));
    }
  }

  /** Waits for calls in flight; starts no new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#underWay.ended();
    try {
      await within(this.redis.quit(), this.timeoutMs);
    } catch {
      // Not connected: there is nothing to wait for, but reconnecting has to stop.
    }
    this.redis.disconnect();
  }

  /** Adds advice for operators; the ledger's answers have none, because nobody would read it. */
  #unanswered(cause: string): Error {
    const advice = `the store ${this.shown} did not answer (${cause}): check that it is running, and whether a change was made before you repeat it`;
    return storeErrorOf({ ...unavailable(cause), advice });
  }

  /** Classifies an error. A refusal that no outage explains is a bug or corrupt data: its text is logged. */
  causeOf(error: unknown): string {
    const nowMs = performance.now();
    const cause = causeOf(error);
    if (cause === 'readonly') this.#demotedAtMs = nowMs;
    if (cause === 'refused' && error instanceof Error && nowMs - this.#defectLoggedAtMs >= DEFECT_LOG_EVERY_MS) {
      this.#defectLoggedAtMs = nowMs;
      this.#log.error('the store refused an operation', { store: this.shown, reply: error.message.slice(0, 200) });
    }
    return cause === 'closed' && nowMs - this.#demotedAtMs < DEMOTED_MS ? 'readonly' : cause;
  }
}

/** Finds a key's owner by its digest. */
export function keyDirectory(link: RedisLink): KeyDirectory {
  return { find: (digest) => answering(() => ownerOf(link, digest)) };
}

export async function ownerOf(link: RedisLink, digest: string): Promise<KeyOwner | undefined> {
  const json = await link.ask((redis) => redis.get(digestKey(digest)));
  return json === null ? undefined : (JSON.parse(json) as KeyOwner);
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

/** Counts what has begun, so that closing can wait for its end. */
export class UnderWay {
  #count = 0;
  #onEnd: (() => void) | undefined = undefined;

  async track<T>(running: Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await running;
    } finally {
      if (--this.#count === 0) this.#onEnd?.();
    }
  }

  async ended(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve));
  }
}
