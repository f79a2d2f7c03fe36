// The log: one JSON line per event on standard output, written asynchronously by pino's stream; requests' lines in pieces.
import { pino } from 'pino';
import type { DestinationStream } from 'pino';
import type { AccessEntry, AccessLog } from '../ports/access-log.ts';
import type { Log } from '../ports/log.ts';

export interface JsonLog {
  readonly log: Log;
  readonly access: AccessLog;
  /** Writes out what is buffered; for the end of the process. */
  flush(): void;
}

/** Where lines go: file descriptor 1 unless a test says otherwise. */
export type LogDestination = DestinationStream & { flushSync?(): void };

/** So much a pipe takes in one piece: lines of several processes never run into each other. */
const PIPE_BYTES = 4096;
/** So long a request's line waits for others: a write to the system costs far more than a line. */
const GATHER_MS = 100;

/** Standard output that several processes write to. */
export function sharedOutput(): LogDestination {
  return pino.destination({ fd: 1, sync: false, maxWrite: PIPE_BYTES });
}

export function openJsonLog(destination: LogDestination = pino.destination({ fd: 1, sync: false })): JsonLog {
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    destination,
  );
  const lines = new GatheredLines(destination);
  const event = (level: 'info' | 'warn' | 'error') => (message: string, fields?: object) => {
    lines.write();
    logger[level]({ ...fields }, message);
  };
  return {
    log: { info: event('info'), warn: event('warn'), error: event('error') },
    access: { record: (entry) => lines.add(accessLine(entry)) },
    flush() {
      lines.write();
      destination.flushSync?.();
    },
  };
}

/** Lines on their way to a destination, a pipe's piece at a time. */
class GatheredLines {
  readonly #destination: LogDestination;
  readonly #onTime = (): void => this.write();
  #gathered = '';
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(destination: LogDestination) {
    this.#destination = destination;
  }

  /** A line has no other characters than those of ASCII. */
  add(line: string): void {
    if (this.#gathered.length + line.length > PIPE_BYTES) this.write();
    this.#gathered += line;
    this.#timer ??= setTimeout(this.#onTime, GATHER_MS).unref();
  }

  write(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered;
    this.#gathered = '';
    this.#destination.write(gathered);
  }
}

/** Built by hand: every value is a number or one of our own words, so nothing needs escaping. */
function accessLine(entry: AccessEntry): string {
  let line = `{"level":"info","time":"${new Date().toISOString()}","msg":"request","request_id":"${entry.requestId}","route":"${entry.route}"`;
  if (entry.status !== undefined) line += `,"status":${entry.status}`;
  line += `,"code":"${entry.code}"`;
  if (entry.teamId !== undefined) line += `,"team_id":"${entry.teamId}","key_id":"${entry.keyId}"`;
  line += `,"characters":${entry.characters},"engine_attempts":${entry.attempts}`;
  return `${line},"duration_ms":${entry.durationMs.toFixed(2)},"store_ms":${entry.storeMs.toFixed(2)},"engine_ms":${entry.engineMs.toFixed(2)}}\n`;
}
