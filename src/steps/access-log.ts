// Reports each request once when it has ended, however it ended: to the log, the metrics, the live window and, if it is sampled, its
// trace, which begins here.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import type { HeadStep } from '../core/step.ts';
import type { ClientAddressReader } from '../domain/client-address.ts';
import { parameterOf } from '../domain/problem-parameter.ts';
import { clientAddressSlot, keyOwnerSlot, requestStatsSlot, traceSlot } from '../domain/slots.ts';
import type { AccessEntry, AccessLog } from '../ports/access-entry.ts';
import type { OpenTrace, RequestTracer } from '../ports/telemetry.ts';

interface AccessLogOptions {
  /** Each receives every entry. */
  readonly logs: readonly AccessLog[];
  /** Does not receive those of requests for quiet paths. */
  readonly written: AccessLog;
  readonly quietPaths: ReadonlySet<string>;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Reads the client's address from a request's fields. Without it, only requests with address-restricted keys are logged with one. */
  readonly client?: ClientAddressReader | undefined;
  /** Without it no request is traced. */
  readonly tracer?: RequestTracer | undefined;
}

/** The same as in `traceSlot`, with the request's end. */
const openTraceSlot = reserveSlot<OpenTrace>('open trace');

export function accessLogStep({ logs, written, quietPaths, now, client, tracer }: AccessLogOptions): HeadStep {
  const fields = [...(client?.headers ?? []), ...(tracer === undefined ? [] : ['traceparent'])];
  return {
    kind: 'head',
    name: 'access-log',
    ...(fields.length === 0 ? {} : { headers: fields }),
    run: tracer === undefined ? () => undefined : (x) => beginTrace(x, tracer),
    settle(x, outcome) {
      const owner = x.get(keyOwnerSlot);
      const stats = x.get(requestStatsSlot);
      const isAnswer = outcome.kind === 'reply' || outcome.kind === 'stream';
      const problem = outcome.kind === 'problem' ? outcome.problem : undefined;
      const trace = tracer === undefined ? undefined : x.get(openTraceSlot);
      const entry: AccessEntry = {
        requestId: x.id,
        route: x.route.name,
        status: isAnswer ? outcome.status : problem && (x.route.problemForm?.status(problem) ?? problem.kind.status),
        code: problem?.code ?? (isAnswer ? 'ok' : 'client_closed'),
        teamId: owner?.teamId,
        keyId: owner?.keyId,
        characters: isAnswer ? (stats?.characters ?? 0) : 0,
        attempts: stats?.attempts ?? 0,
        engine: stats?.engine,
        failures: stats?.failures,
        parameter: problem?.kind.status === 400 ? parameterOf(problem) : undefined,
        client: client === undefined ? x.get(clientAddressSlot) : client.read(x.head.headers),
        limitOf: stats?.limitOf,
        traceId: trace?.traceId,
        durationMs: now() - x.startedAtMs,
        storeMs: stats?.storeMs ?? 0,
        engineMs: stats?.engineMs ?? 0,
      };
      for (const log of logs) log.record(entry);
      if (!quietPaths.has(x.head.path)) written.record(entry);
      trace?.ended(entry);
    },
  };
}

function beginTrace(x: Exchange, tracer: RequestTracer): undefined {
  const trace = tracer.begin(x);
  if (trace === undefined) return;
  x.set(openTraceSlot, trace);
  x.set(traceSlot, trace);
}
