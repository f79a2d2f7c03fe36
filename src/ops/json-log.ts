// The log: one JSON line per event on standard output, written asynchronously in batches by pino's stream.
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

/** Standard output that several processes write to. */
export function sharedOutput(): LogDestination {
  return pino.destination({ fd: 1, sync: false, maxWrite: PIPE_BYTES });
}

export function openJsonLog(destination: LogDestination = pino.destination({ fd: 1, sync: false })): JsonLog {
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    destination,
  );
  return {
    log: {
      info: (message, fields) => logger.info({ ...fields }, message),
      warn: (message, fields) => logger.warn({ ...fields }, message),
      error: (message, fields) => logger.error({ ...fields }, message),
    },
    access: { record: (entry) => destination.write(accessLine(entry)) },
    flush: () => destination.flushSync?.(),
  };
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
