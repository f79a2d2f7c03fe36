// Charges for a request, and forwards it to a route's upstream once it is admitted, and the answer
// back, with only the fields that the route lists.
import type { Exchange } from '../core/exchange.ts';
import type { HeaderList, Outcome, Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { PlainCode, ProblemCode } from '../core/problem.ts';
import type { BodyStep, Step } from '../core/pipeline.ts';
import { chargeSlot, refusedCharge, noteFailure, requestStatsSlot, traceSlot } from '../domain/slots.ts';
import type { Charge } from '../domain/slots.ts';
import type { PassTraceparent } from '../domain/request-trace.ts';
import type { ProxyUpstream, UpstreamAnswer, UpstreamFailure, UpstreamRequest } from './upstream.ts';
import { isRepeatable, takesBody } from '../domain/forward-route.ts';
import type { ForwardRoute } from '../domain/forward-route.ts';

/** Why an attempt gave nothing that can be passed on; for the log. */
type ForwardFailure = UpstreamFailure | 'status' | 'encoded';

interface ForwardOptions {
  /** By the names of the gateway's routes. */
  readonly routes: ReadonlyMap<string, ForwardRoute>;
  readonly upstream: ProxyUpstream;
  /** A charged answer must be delivered within it: afterwards nothing can be charged. */
  readonly leaseMs: number;
  /** What targets get of a caller's `traceparent` if the request is not traced. */
  readonly passTraceparent: PassTraceparent;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly onFailures: (x: Exchange, failures: readonly ForwardFailure[], answered: boolean) => void;
}

/** Part of the lease that is reserved for the commit. */
const COMMIT_MS = 1000;

const ENGINE_UNAVAILABLE = refuse(
  'engine_unavailable',
  'The service behind this route gave no usable answer; nothing was charged. Try again in a few seconds.',
);

const BODY_TOO_SLOW = refuse('validation_error', 'body: it did not arrive while its charge was reserved; send it faster or send less.');

export function forwardStep(options: ForwardOptions): BodyStep {
  const fields = [...options.routes.values()].flatMap((route) => route.request_fields);
  return {
    kind: 'body',
    name: 'forward',
    headers: [...new Set([...fields, 'traceparent'])],
    run(x) {
      const route = options.routes.get(x.route.name);
      if (route === undefined) throw new Error('there is no such forward route');
      // No overall deadline: a long answer to a slow reader is fine. Only silence is limited.
      x.ownDeadline = true;
      return forward(x, route, options);
    },
  };
}

async function forward(x: Exchange, route: ForwardRoute, options: ForwardOptions): Promise<Outcome> {
  const startedAtMs = options.now();
  const untilMs = route.charge_characters === 0 ? undefined : startedAtMs + options.leaseMs - COMMIT_MS;
  const failures: ForwardFailure[] = [];
  const passed = options.passTraceparent(x.head.headers['traceparent']);
  let outcome: Outcome | ForwardFailure = 'cancelled';
  for (let attempts = isRepeatable(x.head.method) ? 2 : 1; attempts > 0 && !x.cancelled; attempts--) {
    const totalMs = untilMs === undefined ? undefined : untilMs - options.now();
    const trace = x.get(traceSlot)?.attempt({ engine: undefined, url: route.origin, number: failures.length + 1 });
    const result = await options.upstream.call(upstreamRequest(x, route, totalMs, trace?.traceparent ?? passed), x);
    if (result === 'too_large') outcome = bodyTooLong(route.body_bytes);
    else if (result === 'too_slow') outcome = BODY_TOO_SLOW;
    else outcome = typeof result === 'string' ? result : answerOf(result, route);
    if (typeof result === 'string') trace?.ended(result);
    else trace?.ended(typeof outcome === 'string' ? outcome : undefined, result.status);
    if (typeof outcome !== 'string') break;
    failures.push(outcome);
  }
  const answered = typeof outcome !== 'string';
  const stats = x.need(requestStatsSlot);
  stats.engineMs = options.now() - startedAtMs;
  stats.attempts = failures.length + (answered ? 1 : 0);
  for (const failure of failures) if (failure !== 'cancelled') noteFailure(stats, failure);
  if (failures.length > 0) options.onFailures(x, failures, answered);
  return typeof outcome === 'string' ? ENGINE_UNAVAILABLE : outcome;
}

function upstreamRequest(x: Exchange, route: ForwardRoute, totalMs: number | undefined, traceparent: string | undefined): UpstreamRequest {
  const { method, path, query } = x.head;
  return {
    route,
    method,
    target: query === '' ? path : `${path}?${query}`,
    headers: requestHeaders(x, route, traceparent),
    body: takesBody(method) ? x.sink.incoming() : undefined,
    totalMs,
    messages: x.sink.messages,
  };
}

function requestHeaders(
  x: Exchange,
  { request_fields: names, headers }: ForwardRoute,
  traceparent: string | undefined,
): Record<string, string> {
  const fields: Record<string, string> = { 'accept-encoding': 'identity' };
  for (const name of names) {
    const value = x.head.headers[name];
    if (value !== undefined) fields[name] = value;
  }
  Object.assign(fields, headers);
  fields['x-request-id'] = x.id;
  if (traceparent !== undefined) fields['traceparent'] = traceparent;
  return fields;
}

/** The outcome for the caller, or why the answer cannot be passed on. */
function answerOf(answer: UpstreamAnswer, route: ForwardRoute): Outcome | ForwardFailure {
  const { status, headers, bytes, body } = answer;
  const mapped = route.statuses.get(status);
  const passes = (status >= 200 && status < 300) || status === 304;
  const readable = (headers['content-encoding'] ?? 'identity') === 'identity' || route.response_fields.includes('content-encoding');
  if (mapped !== undefined || !passes || !readable) {
    body.destroy();
    if (mapped !== undefined) return mappedRefusal(mapped);
    return passes ? 'encoded' : 'status';
  }
  const contentType = fieldOf(headers, route, 'content-type');
  const fields = fieldsOf(headers, route);
  if (bytes === 0) {
    // Read to its end, so that its connection can be used again.
    body.resume();
    // Without a content type there is no length either, which is right for these two statuses.
    const typed = status === 204 || status === 304 ? undefined : (contentType ?? 'application/octet-stream');
    return { kind: 'reply', status, contentType: typed, body: '', headers: fields };
  }
  return { kind: 'stream', status, contentType, headers: fields, bytes, body, broken: ENGINE_UNAVAILABLE };
}

function fieldsOf(headers: UpstreamAnswer['headers'], route: ForwardRoute): HeaderList {
  const fields: [string, string][] = [];
  for (const name of route.response_fields) {
    const value = name === 'content-type' ? undefined : fieldOf(headers, route, name);
    if (value !== undefined) fields.push([name, value]);
  }
  return fields;
}

/** Values that could not be written unchanged are omitted. */
function fieldOf(headers: UpstreamAnswer['headers'], route: ForwardRoute, name: string): string | undefined {
  const given = route.response_fields.includes(name) ? headers[name] : undefined;
  const value = typeof given === 'object' ? given.join(', ') : given;
  return value !== undefined && FIELD_VALUE.test(value) ? value : undefined;
}

/** For a status that the operator has mapped. Nothing that the upstream sent is passed on. */
function mappedRefusal(code: ProblemCode): Refusal {
  if (code === 'engine_unavailable') return ENGINE_UNAVAILABLE;
  return refuse(code as PlainCode, 'The service behind this route did not accept the request; nothing was charged.');
}

/** The characters allowed in a query; both listeners accept more. */
const QUERY = /^[!"$-~]*$/;
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/** The admission of a forward route: the normal step, preceded by setting the route's charge. */
export function chargedAdmission(admit: Step, route: ForwardRoute): BodyStep {
  if (admit.kind !== 'body') throw new Error('the admission waits for the store: it is a body step');
  return {
    ...admit,
    run(x) {
      const charge = chargeOf(x, route);
      if (charge !== undefined) x.set(chargeSlot, charge);
      return admit.run(x);
    },
  };
}

function chargeOf(x: Exchange, route: ForwardRoute): Charge | undefined {
  const refusal = faultOf(x, route);
  if (refusal !== undefined) return refusedCharge(refusal);
  if (route.charge_characters === 0) return undefined;
  return { characters: route.charge_characters, reserve: true, glossary: undefined, refusal: undefined };
}

function faultOf(x: Exchange, { request_fields: fields, body_bytes: bytesMax }: ForwardRoute): Refusal | undefined {
  const { method, query, headers } = x.head;
  const body = x.sink.incoming();
  if (body !== undefined && !takesBody(method)) return refuse('validation_error', `body: ${method} takes none.`);
  if (body?.bytes !== undefined && body.bytes > bytesMax) return bodyTooLong(bytesMax);
  if (!QUERY.test(query)) return refuse('validation_error', 'query: percent-encode everything but printable ASCII.');
  const bad = fields.find((name) => !FIELD_VALUE.test(headers[name] ?? ''));
  return bad === undefined ? undefined : refuse('validation_error', `${bad}: the field contains something other than printable ASCII.`);
}

function bodyTooLong(bodyBytesMax: number): Refusal {
  return refuse('validation_error', `body: may be at most ${bodyBytesMax} bytes long.`);
}
