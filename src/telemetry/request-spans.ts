// Traces requests by OpenTelemetry's SDK: which are sampled, and the spans of each, with nothing in
// them but our own words, numbers and configured names.
import type * as Api from '@opentelemetry/api';
import type { Context, Span, SpanContext, Tracer } from '@opentelemetry/api';
import { callerSpanOf, isSampled } from '../domain/request-trace.ts';
import type { CallerSpan, AttemptTrace, SettlementTrace, TracedAttempt } from '../domain/request-trace.ts';
import type { AccessEntry } from '../ports/access-entry.ts';
import type { BegunRequest, OpenTrace, RequestTracer } from '../ports/telemetry.ts';

interface RequestSpansOptions {
  readonly api: typeof Api;
  readonly tracer: Tracer;
  /** The share of requests that are traced, 0 to 1. */
  readonly sample: number;
  /** Whether a caller's sampled flag decides, if there is one. */
  readonly followCallers: boolean;
  /** The monotonic clock of the gateway, in milliseconds. */
  readonly now: () => number;
  /** The time that is believed, in milliseconds. */
  readonly nowMs: () => number;
  /** From 0 to 1; by default at random. */
  readonly random?: () => number;
}

/** Those of the semantic conventions; any other is a caller's own word. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY']);
const SAMPLED = 1;
/** A clock that has moved by more was set; less is the time between two readings. */
const CLOCK_SET_MS = 10;

export class RequestSpans implements RequestTracer {
  readonly #options: RequestSpansOptions;
  readonly #random: () => number;
  /** To the time of day; the same for all requests, so that their spans can be compared. */
  #offsetMs = 0;

  constructor(options: RequestSpansOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  begin(request: BegunRequest): OpenTrace | undefined {
    const { followCallers, sample } = this.#options;
    const value = request.head.headers['traceparent'];
    if (followCallers && value !== undefined) {
      const caller = callerSpanOf(value);
      if (caller !== undefined) return isSampled(caller) ? this.#trace(request, caller) : undefined;
    }
    // Not by the trace id, which a caller chooses.
    return this.#random() < sample ? this.#trace(request, callerSpanOf(value)) : undefined;
  }

  #trace(request: BegunRequest, caller: CallerSpan | undefined): OpenTrace {
    const { now, nowMs } = this.#options;
    const offsetMs = nowMs() - now();
    if (Math.abs(offsetMs - this.#offsetMs) > CLOCK_SET_MS) this.#offsetMs = offsetMs;
    return new RequestSpan(request, caller, this.#options, this.#offsetMs);
  }
}

class RequestSpan implements OpenTrace {
  readonly traceId: string;
  readonly #options: RequestSpansOptions;
  /** The same for a request's spans, even if the clock is set meanwhile. */
  readonly #offsetMs: number;
  readonly #span: Span;
  readonly #method: string;
  readonly #context: Context;
  /** The flags of a `traceparent`. */
  readonly #flags: string;

  constructor({ id, head, startedAtMs }: BegunRequest, caller: CallerSpan | undefined, options: RequestSpansOptions, offsetMs: number) {
    const { api, tracer } = options;
    this.#options = options;
    this.#offsetMs = offsetMs;
    this.#flags = `0${(caller?.flags ?? 0) | SAMPLED}`;
    this.#method = METHODS.has(head.method) ? head.method : '_OTHER';
    const parent = caller && { traceId: caller.traceId, spanId: caller.spanId, traceFlags: SAMPLED, isRemote: true };
    const around = parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
    const attributes = { 'lingate.request_id': id };
    this.#span = tracer.startSpan('request', { kind: api.SpanKind.SERVER, startTime: this.#offsetMs + startedAtMs, attributes }, around);
    this.#context = api.trace.setSpan(api.ROOT_CONTEXT, this.#span);
    this.traceId = this.#span.spanContext().traceId;
  }

  admission(startedAtMs: number, endedAtMs: number, result: string): void {
    const span = this.#child('admission', startedAtMs, { 'lingate.result': result });
    if (result === 'unavailable') this.#fail(span, result);
    span.end(this.#offsetMs + endedAtMs);
  }

  attempt({ engine, url, number, sharedWith }: TracedAttempt): AttemptTrace {
    const { api, tracer, now } = this.#options;
    const { hostname, port, protocol } = new URL(url);
    const attributes = {
      'lingate.engine': engine,
      'lingate.attempt': number,
      'server.address': hostname,
      'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
      'lingate.shared': sharedWith === undefined ? undefined : true,
    };
    const links = sharedWith === undefined ? [] : [{ context: contextOf(sharedWith) }];
    const times = { kind: api.SpanKind.CLIENT, startTime: this.#offsetMs + now() };
    const name = engine === undefined ? 'forward attempt' : 'engine attempt';
    const span = tracer.startSpan(name, { ...times, attributes, links }, this.#context);
    return {
      traceparent: `00-${this.traceId}-${span.spanContext().spanId}-${this.#flags}`,
      ended: (failure, status, cause) => {
        span.setAttribute('lingate.outcome', failure ?? 'usable');
        if (cause !== undefined) span.setAttribute('lingate.cause', cause);
        if (status !== undefined) span.setAttribute('http.response.status_code', status);
        if (failure !== undefined) this.#fail(span, failure);
        span.end(this.#offsetMs + now());
      },
    };
  }

  settlement(verdict: string): SettlementTrace {
    const { now } = this.#options;
    const span = this.#child('settlement', now(), { 'lingate.verdict': verdict });
    return {
      ended: (result, tries) => {
        span.setAttributes({ 'lingate.result': result, 'lingate.tries': tries });
        if (result === 'abandoned' || result === 'expired') this.#fail(span, result);
        span.end(this.#offsetMs + now());
      },
    };
  }

  ended({ route, status, code, teamId, characters, attempts, engine }: AccessEntry): void {
    const { now } = this.#options;
    const span = this.#span.updateName(route);
    span.setAttributes({
      'http.request.method': this.#method,
      'http.route': route.includes(' /') ? route.slice(route.indexOf(' ') + 1) : undefined,
      'http.response.status_code': status,
      'lingate.code': code,
      'lingate.team_id': teamId,
      'lingate.characters': characters,
      'lingate.attempts': attempts,
      'lingate.engine': engine,
    });
    if (status !== undefined && status >= 500) this.#fail(span, code);
    span.end(this.#offsetMs + now());
  }

  #child(name: string, startedAtMs: number, attributes: Readonly<Record<string, string>>): Span {
    return this.#options.tracer.startSpan(name, { startTime: this.#offsetMs + startedAtMs, attributes }, this.#context);
  }

  #fail(span: Span, type: string): void {
    span.setAttribute('error.type', type).setStatus({ code: this.#options.api.SpanStatusCode.ERROR });
  }
}

/** That of a `traceparent` of ours. */
function contextOf({ traceparent }: AttemptTrace): SpanContext {
  return { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52), traceFlags: SAMPLED };
}
