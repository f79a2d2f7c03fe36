// A single call of a function, with a deadline on its server's clock, which each reply updates.
import type { Clock } from '../../ports/clock.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { within } from './failure-cause.ts';
import type { FunctionArguments, FunctionName, RunFunction } from './functions.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface StoreRoundOptions {
  readonly run: RunFunction;
  readonly time: StoreTime;
  /** The server that holds a team. */
  readonly nodeOf: (teamId: string) => string;
  readonly timeoutMs: number;
  /** Used instead of the servers' clocks. */
  readonly clock: Clock | undefined;
  readonly causeOf: (error: unknown) => string;
}

export interface StoreRound {
  readonly name: FunctionName;
  /** A team of the call; if there are several, they are on the same server. */
  readonly teamId: string;
  /** The caller's deadline on the local monotonic clock. */
  readonly untilMs: number;
  /** Not a repetition: all of its time is left. */
  readonly first: boolean;
  /** Keys and arguments, given the clock's time (`undefined`: use the server's clock) and the deadline. */
  readonly call: (clockMs: number | undefined, deadlineMs: number) => FunctionArguments;
  /** The store's time in a reply. */
  readonly timeOf: (reply: unknown) => number;
}

/** The reply of a call that was executed. */
export interface RoundReply {
  readonly kind: 'reply';
  readonly value: unknown;
}

/** The hash slot has moved to another master since the call was sent. */
const MOVED: StoreUnavailable = { kind: 'unavailable', cause: 'moved' };

/** Never rejects. After a failure it is unknown whether the function was executed. */
export function runRound(options: StoreRoundOptions, round: StoreRound): Promise<RoundReply | StoreUnavailable> {
  const { run, time, nodeOf, clock, timeoutMs, causeOf } = options;
  const { name, teamId, untilMs, first, call, timeOf } = round;
  const node = nodeOf(teamId);
  const sentAtMs = performance.now();
  // As long as the server's clock is unknown, the first round has deadline 0: it has no effect, and its reply brings the time.
  const deadlineMs = clock === undefined ? (time.at(node, untilMs) ?? 0) : clock.nowMs() + timeoutMs;
  const running = run(name, call(clock?.nowMs(), deadlineMs));
  // ioredis's own timeout bounds the first round; later rounds have what is left of the time.
  return (first ? running : within(running, untilMs - sentAtMs)).then(
    (reply) => {
      // A master that was suspended and replaced may still answer briefly when it resumes: ignore its reply.
      if (nodeOf(teamId) !== node) return MOVED;
      time.learn(node, sentAtMs, performance.now(), timeOf(reply));
      return { kind: 'reply', value: reply } as const;
    },
    (error: unknown) => ({ kind: 'unavailable', cause: causeOf(error) }) as const,
  );
}

/**
 * The offset of each node's clock from the local monotonic clock. A reply's time was read between sending and receiving, which
 * bounds the offset. The lowest possible offset is used, so that deadlines are early rather than late: a function must not be
 * executed after its caller has given up.
 */
export class StoreTime {
  readonly #offsets = new Map<string, number>();

  /** `nowMs` is the store's time, the others are local. */
  learn(node: string, sentAtMs: number, receivedAtMs: number, nowMs: number): void {
    const lowest = nowMs - receivedAtMs;
    // The store's time is rounded down to milliseconds.
    const highest = nowMs + 1 - sentAtMs;
    const offset = this.#offsets.get(node);
    if (offset === undefined || offset < lowest || offset > highest) this.#offsets.set(node, lowest);
  }

  /** The store's time at a local time; `undefined` as long as the node's clock is unknown. */
  at(node: string, localMs: number): number | undefined {
    const offset = this.#offsets.get(node);
    return offset === undefined ? undefined : Math.floor(localMs + offset);
  }

  /** A new connection may lead to another server with a different clock. */
  forget(): void {
    this.#offsets.clear();
  }
}

/** A server's own time in milliseconds; in a cluster, that of any server. */
export async function serverTime(redis: RedisConnection): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
