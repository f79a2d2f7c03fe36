// A single call of a function, with a deadline on its server's clock, which each reply updates.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { within } from './failure-cause.ts';
import type { FunctionArguments, FunctionName, RunFunction } from './functions.ts';
import type { RedisConnection } from './redis-connection.ts';
import { teamSlot } from './redis-keys.ts';
import type { ServerClocks } from './server-clocks.ts';

export interface StoreRoundOptions {
  readonly run: RunFunction;
  readonly time: ServerClocks;
  /** The server that holds a team. */
  readonly nodeOf: (teamId: string) => string;
  readonly timeoutMs: number;
  readonly causeOf: (error: unknown) => string;
}

/** The arguments contain the time (`ServerClocks.clockOf`) and the deadline, which is `ServerClocks.at` of `untilMs`. */
interface StoreRound extends FunctionArguments {
  readonly name: FunctionName;
  /** A team of the call; if there are several, they are on the same server. */
  readonly teamId: string;
  /** The server that holds it now. */
  readonly node: string;
  /** The caller's deadline on the local monotonic clock. */
  readonly untilMs: number;
  /** All of the caller's time is left. */
  readonly first: boolean;
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
  const { run, time, nodeOf, causeOf } = options;
  const { name, teamId, node, untilMs, first } = round;
  const correctionMs = time.correctionOf(node);
  const sentAtMs = performance.now();
  const running = run(name, round);
  // ioredis's own timeout bounds the first round; later rounds have what is left of the time.
  return (first ? running : within(running, untilMs - sentAtMs))
    .then((reply) => {
      // A master that was suspended and replaced may still answer briefly when it resumes: ignore its reply.
      if (nodeOf(teamId) !== node) return MOVED;
      // The ledger's replies are bytes, those of other functions lists; both begin with the store's time.
      const nowMs = Buffer.isBuffer(reply) ? reply.readDoubleBE(0) : Number((reply as readonly unknown[])[0]);
      time.learn(node, sentAtMs, performance.now(), nowMs - correctionMs);
      return { kind: 'reply', value: reply } as const;
    })
    .catch((error: unknown) => ({ kind: 'unavailable', cause: causeOf(error) }));
}

/** The name of the server that holds a team; '' without a cluster. */
export function nodesOf(redis: RedisConnection): (teamId: string) => string {
  if (!('slots' in redis)) return () => '';
  return (teamId) => redis.slots[teamSlot(teamId)]?.[0] ?? '';
}

/** A server's own time in milliseconds; in a cluster, that of any server. */
export async function serverTime(redis: RedisConnection): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
