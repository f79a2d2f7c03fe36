// Calls to one replica outside of requests: for its pairs, a trial, its dictionaries, and files.
import type { Cancellation } from '../core/exchange.ts';
import { furtherCallId } from '../domain/ulid.ts';
import type { AttemptFailure, EngineResponse, EngineWork, FailureDetail, ReplicaWire } from '../ports/engine.ts';
import type { Pool, PoolRequest } from './http1/pool.ts';

/** Stands in for a caller, in work that no request asks for. */
export class StandIn implements Cancellation {
  cancelled = false;
  #listener: (() => void) | undefined = undefined;

  onCancel(listener: (() => void) | undefined): void {
    this.#listener = listener;
  }

  leave(): void {
    this.cancelled = true;
    this.#listener?.();
  }
}

const NOBODY: Pick<EngineWork, 'requestId' | 'teamId' | 'traceparent'> = { requestId: '', traceparent: undefined };

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
  { signal, caller = NOBODY, attempt = 1, questionMs = withinMs }: ReplicaCallTerms = {},
): Promise<Exclude<Result, string> | FailureDetail> {
  const calls: PoolRequest[] = [];
  let ended = false;
  let status: number | undefined;
  const wire: ReplicaWire = {
    replica,
    async call(call) {
      if (ended) return 'cancelled';
      const { promise, resolve } = Promise.withResolvers<EngineResponse | AttemptFailure>();
      const requestId =
        calls.length === 0 || caller === NOBODY ? caller.requestId : furtherCallId(caller.requestId, attempt, calls.length + 1);
      const { teamId, traceparent } = caller;
      const headers = traceparent === undefined ? call.headers : { ...call.headers, traceparent };
      const request = replica.call({ ...call, headers }, 'fresh', resolve, { requestId, teamId });
      calls.push(request);
      const isOfFile = call.pieces !== undefined || call.answerBytesMax !== undefined;
      const tooLong = isOfFile ? undefined : setTimeout(() => request.stop('timeout'), questionMs);
      const result = await promise;
      clearTimeout(tooLong);
      status = typeof result === 'string' ? undefined : result.status;
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
    return { failure: result as AttemptFailure, status, cause: calls.find(({ cause }) => cause !== undefined)?.cause };
  } catch (thrown) {
    return { failure: 'internal', thrown };
  } finally {
    ended = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
    for (const call of calls) call.stop('cancelled');
  }
}
