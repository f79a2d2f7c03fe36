// A single call of a function, with a deadline on its server's clock, which each reply updates.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { within } from './failure-cause.ts';
import type { FunctionName, RunFunction } from './function-library.ts';
import type { RedisConnection } from './redis-connection.ts';
import { teamSlot } from './redis-keys.ts';
import type { ServerClocks } from './server-clocks.ts';

export interface Servers {
  readonly run: RunFunction;
  readonly time: ServerClocks;
  /** The server that holds a team; '' without a cluster. */
  readonly nodeOf: (teamId: string) => string;
  /** How long an operation may take. */
  readonly timeoutMs: number;
  readonly causeOf: (error: unknown) => string;
}

interface ServerCall {
  readonly name: FunctionName;
  /** A team of the call; if there are several, they are on the same server. */
  readonly teamId: string;
  readonly keys: readonly string[];
  /** Clock and deadline are added. */
  readonly asked: object;
  /** Further arguments. */
  readonly args?: readonly string[];
  /** The caller's deadline on the local monotonic clock. */
  readonly untilMs: number;
}

/** What a function that was executed has answered. */
export interface ServerReply {
  readonly kind: 'reply';
  /** `now` is the store's time. */
  readonly value: { readonly now: number };
}

/** The hash slot has moved to another master since the call was sent. */
const MOVED: StoreUnavailable = { kind: 'unavailable', cause: 'moved' };

/** Never rejects. After a failure it is unknown whether the function was executed. */
export async function callServer(servers: Servers, call: ServerCall): Promise<ServerReply | StoreUnavailable> {
  const { run, time, nodeOf, causeOf } = servers;
  const { name, teamId, keys, asked, args = [], untilMs } = call;
  const node = nodeOf(teamId);
  const { correction = 0, clock } = time.clockFor(node);
  const sentAtMs = performance.now();
  const words = JSON.stringify({ ...asked, deadline: time.at(node, untilMs), clock, ...(correction === 0 ? {} : { correction }) });
  try {
    const reply = await within(run(name, keys, [words, ...args]), untilMs - sentAtMs);
    // A master that was suspended and replaced may still answer briefly when it resumes: ignore its reply.
    if (nodeOf(teamId) !== node) return MOVED;
    const value = JSON.parse(reply as string) as ServerReply['value'];
    time.learn(node, sentAtMs, performance.now(), value.now - correction);
    return { kind: 'reply', value };
  } catch (error) {
    return { kind: 'unavailable', cause: causeOf(error) };
  }
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
