// One run of a function, with a deadline by its server's clock, which is learnt again from the reply.
import type { Clock } from '../../ports/clock.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { within } from './failure-cause.ts';
import type { FunctionArguments, FunctionName, RunFunction } from './functions.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface StoreRoundOptions {
  readonly run: RunFunction;
  readonly time: StoreTime;
  /** Names the server that holds a team. */
  readonly nodeOf: (teamId: string) => string;
  readonly timeoutMs: number;
  /** Replaces the servers' clocks. */
  readonly clock: Clock | undefined;
  readonly causeOf: (error: unknown) => string;
}

export interface StoreRound {
  readonly name: FunctionName;
  /** A team of the call; if it has several, they are on the same server. */
  readonly teamId: string;
  /** The caller's deadline, by the local monotonic clock. */
  readonly untilMs: number;
  /** Not a repetition: nothing of its time is used up. */
  readonly first: boolean;
  /** Keys and arguments, around the clock's reading (undefined for the server's own) and the deadline. */
  readonly call: (clockMs: number | undefined, deadlineMs: number) => FunctionArguments;
  /** The store's time in a reply. */
  readonly timeOf: (reply: unknown) => number;
}

/** Of a round that was run. */
export interface RoundReply {
  readonly kind: 'reply';
  readonly value: unknown;
}

/** The slot has got another master meanwhile. */
const MOVED: StoreUnavailable = { kind: 'unavailable', cause: 'moved' };

/** Never rejects. A failure leaves open whether the function has run. */
export function runRound(options: StoreRoundOptions, round: StoreRound): Promise<RoundReply | StoreUnavailable> {
  const { run, time, nodeOf, clock, timeoutMs, causeOf } = options;
  const { name, teamId, untilMs, first, call, timeOf } = round;
  const node = nodeOf(teamId);
  const sentAtMs = performance.now();
  // While the server's clock is not known the first round has deadline 0: it does nothing, and its reply brings the time.
  const deadlineMs = clock === undefined ? (time.at(node, untilMs) ?? 0) : clock.nowMs() + timeoutMs;
  const running = run(name, call(clock?.nowMs(), deadlineMs));
  // ioredis's own timeout bounds the first round; later ones have what is left of it.
  return (first ? running : within(running, untilMs - sentAtMs)).then(
    (reply) => {
      // A master that was suspended and has been replaced still answers for a moment when it goes on: its reply does not count.
      if (nodeOf(teamId) !== node) return MOVED;
      time.learn(node, sentAtMs, performance.now(), timeOf(reply));
      return { kind: 'reply', value: reply } as const;
    },
    (error: unknown) => ({ kind: 'unavailable', cause: causeOf(error) }) as const,
  );
}

/**
 * Per node, the offset from the local monotonic clock. A reply's time was read between sending and receiving, which bounds
 * the offset; the lowest one that fits is used, so that deadlines are early rather than late: a function must not run when its
 * caller has given up.
 */
export class StoreTime {
  readonly #offsets = new Map<string, number>();

  /** `nowMs` is the store's reading, the others are local ones. */
  learn(node: string, sentAtMs: number, receivedAtMs: number, nowMs: number): void {
    const lowest = nowMs - receivedAtMs;
    // The reading is in whole milliseconds, rounded down.
    const highest = nowMs + 1 - sentAtMs;
    const offset = this.#offsets.get(node);
    if (offset === undefined || offset < lowest || offset > highest) this.#offsets.set(node, lowest);
  }

  /** The store's time at a local moment; `undefined` while nothing is known of the node. */
  at(node: string, localMs: number): number | undefined {
    const offset = this.#offsets.get(node);
    return offset === undefined ? undefined : Math.floor(localMs + offset);
  }

  /** A new connection may lead to another server with another clock. */
  forget(): void {
    this.#offsets.clear();
  }
}

/** A server's own reading, in milliseconds; in a cluster any server's. */
export async function serverTime(redis: RedisConnection): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
