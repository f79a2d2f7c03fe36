// Logs failed engine attempts without burying everything else: the first of each kind at once,
// further ones as counts, and a used-up quota once a minute.
import type { Log, LogFields } from '../ports/log.ts';

const EVERY_MS = 10_000;

interface Span {
  /** Failures not logged yet. */
  unlogged: number;
  /** The fields of the latest one. */
  fields: LogFields;
  timer: NodeJS.Timeout;
}

/** An engine that is down fails every request; one line per request would bury everything else. */
export class FailureLog {
  readonly #log: Log;
  /** By engine, replica and failure; removed after ten seconds without one. */
  readonly #spans = new Map<string, Span>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `fields` describe the failure; `requestId` is logged only with the first, single failure. */
  failed(engine: string, replica: string, failure: string, requestId: string, fields: LogFields): void {
    const kind = `${failure} ${engine} ${replica}`;
    const span = this.#spans.get(kind);
    if (span !== undefined) {
      span.unlogged++;
      span.fields = fields;
      return;
    }
    this.#log.warn('engine attempt failed', { ...fields, request_id: requestId });
    const timer = setInterval(() => this.#logCount(kind), EVERY_MS).unref();
    this.#spans.set(kind, { unlogged: 0, fields, timer });
  }

  /** Logs the remaining counts. */
  close(): void {
    for (const [kind, span] of this.#spans) {
      if (span.unlogged > 0) this.#logCount(kind);
      clearInterval(span.timer);
    }
    this.#spans.clear();
  }

  #logCount(kind: string): void {
    const span = this.#spans.get(kind)!;
    if (span.unlogged > 0) {
      this.#log.warn('engine attempts failed', { ...span.fields, count: span.unlogged });
      span.unlogged = 0;
    } else {
      clearInterval(span.timer);
      this.#spans.delete(kind);
    }
  }
}

/** Every request fails while it lasts; one line a minute is enough. */
const AGAIN_MS = 60_000;

export class QuotaAlarm {
  readonly #log: Log;
  readonly #now: () => number;
  #silentUntilMs = -Infinity;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  ring(): void {
    const nowMs = this.#now();
    if (nowMs < this.#silentUntilMs) return;
    this.#silentUntilMs = nowMs + AGAIN_MS;
    this.#log.error("the operator's own quota at the engine is used up: raise it there, or translations stay unavailable");
  }
}
