// Logs failed attempts at the engine: the first of its kind at once, and how many more there were every ten seconds.
import type { Log, LogFields } from '../ports/log.ts';

const EVERY_MS = 10_000;

interface Span {
  /** Failures that no line has told of. */
  untold: number;
  /** Of the latest of them. */
  fields: LogFields;
  timer: NodeJS.Timeout;
}

/** An engine that is down fails every request: a line for each would hide all others. */
export class FailureLog {
  readonly #log: Log;
  /** By replica and failure; gone after ten seconds without one. */
  readonly #spans = new Map<string, Span>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `fields` are the replica, the failure and what else is known of it; `requestId` is for the first line, of a single failure. */
  failed(replica: string, failure: string, requestId: string, fields: LogFields): void {
    const kind = `${failure} ${replica}`;
    const span = this.#spans.get(kind);
    if (span !== undefined) {
      span.untold++;
      span.fields = fields;
      return;
    }
    this.#log.warn('engine attempt failed', { ...fields, request_id: requestId });
    const timer = setInterval(() => this.#tell(kind), EVERY_MS).unref();
    this.#spans.set(kind, { untold: 0, fields, timer });
  }

  /** Tells what is still untold. */
  close(): void {
    for (const [kind, span] of this.#spans) {
      if (span.untold > 0) this.#tell(kind);
      clearInterval(span.timer);
    }
    this.#spans.clear();
  }

  #tell(kind: string): void {
    const span = this.#spans.get(kind)!;
    if (span.untold > 0) {
      this.#log.warn('engine attempts failed', { ...span.fields, count: span.untold });
      span.untold = 0;
    } else {
      clearInterval(span.timer);
      this.#spans.delete(kind);
    }
  }
}
