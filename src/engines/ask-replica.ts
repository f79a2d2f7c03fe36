// Calls to one replica outside of requests: for its pairs, a trial, its dictionaries, and files.
import type { AttemptFailure, EngineResponse, EngineWork, FailureDetail, ReplicaWire } from '../ports/engine.ts';
import { askerOf, detailed } from './attempt.ts';
import type { Pool, PoolRequest } from './http1/pool.ts';

interface ReplicaCallTerms {
  readonly signal?: AbortSignal;
  /** Who the calls are for: their ids and trace. By default nobody. */
  readonly caller?: Pick<EngineWork, 'requestId' | 'teamId' | 'traceparent'>;
  /** Which of the caller's two attempts this is. */
  readonly attempt?: 1 | 2;
  /** The limit of each call that neither sends nor gets a file. */
  readonly questionMs?: number;
}

/** Runs calls to a replica without a caller, within a time limit. Never rejects. */
export async function askReplica<Result>(
  replica: Pool,
  withinMs: number,
  run: (wire: ReplicaWire) => Promise<Result | AttemptFailure>,
  { signal, caller = { requestId: '', traceparent: undefined }, attempt = 1, questionMs = withinMs }: ReplicaCallTerms = {},
): Promise<Exclude<Result, string> | FailureDetail> {
  const { requestId, teamId, traceparent } = caller;
  const calls: PoolRequest[] = [];
  let ended = false;
  const wire: ReplicaWire = {
    replica,
    async call(call) {
      if (ended) return 'cancelled';
      const { promise, resolve } = Promise.withResolvers<EngineResponse | AttemptFailure>();
      const headers = traceparent === undefined ? call.headers : { ...call.headers, traceparent };
      const request = replica.call({ ...call, headers }, 'fresh', resolve, askerOf({ requestId, teamId }, attempt, calls));
      calls.push(request);
      const isOfFile = call.pieces !== undefined || call.answerBytesMax !== undefined;
      const tooLong = isOfFile ? undefined : setTimeout(() => request.stop('timeout'), questionMs);
      const result = await promise;
      clearTimeout(tooLong);
      return result;
    },
  };
  const cutOff = Promise.withResolvers<'timeout' | 'cancelled'>();
  const timer = setTimeout(() => cutOff.resolve('timeout'), withinMs);
  const cancel = (): void => cutOff.resolve('cancelled');
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted === true) cancel();
  try {
    const result = await Promise.race([run(wire), cutOff.promise]);
    if (typeof result !== 'string') return result as Exclude<Result, string>;
    const { failure, status, cause } = detailed(result as AttemptFailure, undefined, calls);
    return { failure, status, cause };
  } catch (thrown) {
    return { failure: 'internal', thrown };
  } finally {
    ended = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
    for (const call of calls) call.stop('cancelled');
  }
}
