// Reports each request once when it has ended, however it ended: to the log, the metrics, the live
// window and, if it is sampled, its trace, which begins here.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Problem } from '../core/problem.ts';
import type { HeadStep } from '../core/pipeline.ts';
import type { ClientAddressReader } from '../domain/client-address.ts';
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
  /** Without it, only requests with address-restricted keys are logged with an address. */
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

/** A parameter of ours or of another API, a header, or `body`; never long enough for a key. */
const NAME = String.raw`[A-Za-z_][\w.-]{0,39}(?:\[\d{1,5}\])?`;

/** A caller's own word, which must not be in a log. */
const UNKNOWN = /^Unknown (?:query parameter|parameter|name|member)\b/;

/** In order: `'name'` as DeepL has it; `missing name parameter`; `name: …`, `name is …`. */
const FORMS = [
  new RegExp(`'(${NAME})'`),
  new RegExp(`missing (${NAME}) parameter`),
  new RegExp(`^(?:Invalid (?:request|Value): )?(${NAME})(?:: | (?:is|must|may|has|parameter) )`),
  new RegExp(`^Bad language pair: (${NAME}) `),
];

/** For codes about one parameter, if the detail does not say it in the API's own words. */
const BY_CODE: Readonly<Record<string, string>> = {
  invalid_target_lang: 'target_lang',
  invalid_source_lang: 'source_lang',
  too_many_texts: 'text',
  text_too_long: 'text',
};

/**
 * The parameter that a 400 is about, by its detail, in the words of the API. Safe in a log: a short
 * name of ours, or `(unknown)` for one that the API does not have.
 */
function parameterOf({ code, detail }: Pick<Problem, 'code' | 'detail'>): string | undefined {
  if (UNKNOWN.test(detail)) return '(unknown)';
  for (const form of FORMS) {
    const name = form.exec(detail)?.[1];
    if (name !== undefined) return name;
  }
  return BY_CODE[code];
}
