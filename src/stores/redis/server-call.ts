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

/** The hash slot has moved to another master since the call was sent. */
const MOVED: StoreUnavailable = { kind: 'unavailable', cause: 'moved' };
const OVERDUE: StoreUnavailable = { kind: 'unavailable', cause: 'overdue' };

/**
 * What a function answers: `now` is the store's time. After a failure it is unknown whether the function was executed. Never rejects. One
 * that was overdue had no effect, and its reply corrects the estimate of the server's time; if it is overdue again, it really is.
 */
export async function callServer<Value>(
  servers: Servers,
  call: ServerCall,
): Promise<(Value & { readonly now: number }) | StoreUnavailable> {
  const { run, time, nodeOf, causeOf } = servers;
  const { name, teamId, keys, asked, args = [], untilMs } = call;
  const node = nodeOf(teamId);
  for (let attempt = 0; attempt < 2; attempt++) {
    const { correction = 0, clock } = time.clockFor(node);
    const sentAtMs = performance.now();
    const words = JSON.stringify({ ...asked, deadline: time.at(node, untilMs), clock, ...(correction === 0 ? {} : { correction }) });
    try {
      const reply = await within(run(name, keys, [words, ...args]), untilMs - sentAtMs);
      // A master that was suspended and replaced may still answer briefly when it resumes: ignore its reply.
      if (nodeOf(teamId) !== node) return MOVED;
      const value = JSON.parse(reply as string) as Value & { readonly now: number; readonly overdue?: boolean };
      time.learn(node, sentAtMs, performance.now(), value.now - correction);
      if (value.overdue !== true) return value;
    } catch (error) {
      return { kind: 'unavailable', cause: causeOf(error) };
    }
    if (performance.now() >= untilMs) break;
  }
  return OVERDUE;
}

/** The name of the server that holds a team; '' without a cluster. */
export function nodesOf(redis: RedisConnection): (teamId: string) => string {
  if (!('slots' in redis)) return () => '';
  return (teamId) => redis.slots[teamSlot(teamId)]?.[0] ?? '';
}
