// All of the store's calls to Redis: commands and functions, whose failures become values, and closing.
import type { KeyOwner } from '../../domain/api-key.ts';
import { answering, StoreError, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyDirectory } from '../../ports/key-directory.ts';
import type { Log } from '../../ports/log.ts';
import { listEvents } from './event-codec.ts';
import { causeOf, within } from './failure-cause.ts';
import { callFunction } from './function-caller.ts';
import type { FunctionAnswer, FunctionCall } from './function-caller.ts';
import { KEEP_EVENTS } from './functions.ts';
import type { RunFunction } from './functions.ts';
import { LedgerTurns } from './ledger-turns.ts';
import { Masters } from './masters.ts';
import { isDemoted } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { digestKey } from './redis-keys.ts';
import type { ServerClocks } from './server-clocks.ts';
import { nodesOf, serverTime } from './store-round.ts';
import type { StoreRoundOptions } from './store-round.ts';

interface RedisLinkOptions {
  readonly redis: RedisConnection;
  /** The URL without credentials, for messages. */
  readonly shown: string;
  readonly commandTimeoutMs: number;
  readonly clocks: ServerClocks;
  readonly log: Log;
  readonly run: RunFunction;
  /** Whether operations store events, which must be listed for the sender. */
  readonly keepsEvents?: boolean;
  /** Set if masters may change; called with the number of lost revocations that were applied again. */
  readonly onRestored?: (count: number) => void;
}

const CLOSED: StoreUnavailable = { kind: 'unavailable', cause: 'closed' };
const DEFECT_LOG_EVERY_MS = 5000;
const ASK_FOR_MASTERS_EVERY_MS = 200;

export class RedisLink {
  readonly ledger: LedgerTurns;
  readonly redis: RedisConnection;
  readonly shown: string;
  readonly run: RunFunction;
  /** The name of the master that holds a team; '' without a cluster. */
  readonly nodeOf: (teamId: string) => string;
  readonly masters: Masters | undefined;
  /** Why the last attempt to connect failed, if known; `undefined` while connected. To be read only. */
  lastCause: string | undefined = undefined;
  readonly #options: RedisLinkOptions;
  readonly #round: StoreRoundOptions;
  #running = 0;
  #onEnd: (() => void) | undefined = undefined;
  #closed = false;
  #defectLoggedAtMs = -Infinity;
  #askedForMastersAtMs = -Infinity;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    this.redis = options.redis;
    this.shown = options.shown;
    this.run = options.run;
    const time = options.clocks;
    options.redis.on('close', () => time.forget());
    options.redis.on('error', (error: unknown) => (this.lastCause = causeOf(error)));
    options.redis.on('ready', () => (this.lastCause = undefined));
    const nodeOf = (this.nodeOf = nodesOf(options.redis));
    const causeOfError = (error: unknown): string => this.#cause(error);
    const { redis, shown, log, onRestored } = options;
    this.masters =
      onRestored === undefined
        ? undefined
        : new Masters({ redis, run: this.run, nodeOf, causeOf: causeOfError, clocks: time, shown, log, onRestored });
    const { commandTimeoutMs: timeoutMs } = options;
    this.#round = { run: this.run, time, nodeOf, timeoutMs, causeOf: causeOfError };
    this.ledger = new LedgerTurns({
      ...this.#round,
      clustered: 'slots' in options.redis,
      masters: this.masters,
      ...(options.keepsEvents === true ? { onEvents: (teamId: string) => void this.#listEvents(teamId) } : {}),
    });
  }

  /** Checks every master in advance, so that the first admissions do not have to wait. */
  async settleMasters(): Promise<void> {
    const { redis, masters } = this;
    const names = new Set('slots' in redis ? redis.slots.map((nodes) => nodes?.[0] ?? '') : ['']);
    if (masters !== undefined) await Promise.all([...names].map((name) => masters.settle(name)));
  }

  /** Calls a function. `answering` turns a missing reply into a value. */
  async call(call: FunctionCall): Promise<FunctionAnswer> {
    const reply = this.#closed ? CLOSED : await this.#track(callFunction(this.#round, call));
    const mayKeep = call.keepsEvent === true || KEEP_EVENTS.has(call.name);
    if (this.#options.keepsEvents === true && mayKeep) await this.#listEvents(call.teamId);
    if (reply.kind === 'unavailable') throw this.#unanswered(reply);
    return reply;
  }

  /** Runs plain commands. `answering` turns a failure into a value. */
  async ask<T>(command: (link: RedisLink) => Promise<T>): Promise<T> {
    if (this.#closed) throw this.#unanswered(CLOSED);
    try {
      return await this.#track(command(this));
    } catch (error) {
      throw error instanceof StoreError ? error : this.#unanswered({ kind: 'unavailable', cause: this.#cause(error) });
    }
  }

  /** The store's time that is believed: by a server's clock, or the one that tests control. */
  async now(): Promise<number> {
    const { clocks } = this.#options;
    return clocks.isGiven ? clocks.now()! : clocks.now(await this.ask(({ redis }) => serverTime(redis)))!;
  }

  /** For functions without a deadline: the time that is believed, instead of which a server's own is taken if it agrees. */
  get clockWord(): string {
    return String(this.#options.clocks.now() ?? '');
  }

  /** Waits for calls in flight; starts no new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.ledger.close();
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve));
    try {
      await within(this.redis.quit(), this.#options.commandTimeoutMs);
    } catch {
      // Not connected: there is nothing to wait for, but reconnecting has to stop.
    }
    this.redis.disconnect();
  }

  /** If listing fails, the events are found later (`#listMissing` in redis-outbox.ts). */
  async #listEvents(teamId: string): Promise<void> {
    await answering(() => this.ask(async ({ redis }) => listEvents(redis, teamId, await this.now())));
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

/** Finds a key's owner by its digest. */
export function keyDirectory(link: RedisLink): KeyDirectory {
  return {
    find: (digest) =>
      answering(async () => {
        const json = await link.ask(({ redis }) => redis.get(digestKey(digest)));
        return json === null ? undefined : (JSON.parse(json) as KeyOwner);
      }),
  };
}
