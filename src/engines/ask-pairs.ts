// Queries one replica for the pairs it translates, over a separate connection and within a time limit.
import type { PairTest } from '../domain/languages.ts';
import type { AttemptFailure, EngineProtocol, EngineResponse, EngineWire } from '../ports/engine.ts';
import type { Pool, PoolRequest } from './http1/pool.ts';

/** Limit for fetching the list, however long a translation may take. */
const ASK_MS_MAX = 10_000;

/** Never rejects. `protocol` must have `pairs`. */
export async function askPairs(
  replica: Pool,
  protocol: EngineProtocol,
  options: unknown,
  timeoutMs: number,
): Promise<PairTest | AttemptFailure> {
  const calls: PoolRequest[] = [];
  let ended = false;
  const wire: Pick<EngineWire, 'call'> = {
    call: (call) =>
      ended
        ? Promise.resolve('cancelled')
        : new Promise<EngineResponse | AttemptFailure>((resolve) => void calls.push(replica.call(call, 'fresh', resolve))),
  };
  const late = Promise.withResolvers<'timeout'>();
  const timer = setTimeout(() => late.resolve('timeout'), Math.min(timeoutMs, ASK_MS_MAX));
  try {
    return await Promise.race([protocol.pairs!(wire, options), late.promise]);
  } catch {
    return 'internal';
  } finally {
    ended = true;
    clearTimeout(timer);
    for (const call of calls) call.stop('cancelled');
  }
}
