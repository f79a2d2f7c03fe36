// The gateway's log: one JSON object a line; requests are collected and written in batches, and what libraries, plugins and Node print
// becomes lines too.
import { performance } from 'node:perf_hooks';
import { format } from 'node:util';
import type { AccessEntry, AccessLog } from '../ports/access-entry.ts';
import type { Log, LogFields } from '../ports/log.ts';
import { LogOutput } from './log-output.ts';

export interface JsonLog {
  readonly log: Log;
  readonly access: AccessLog;
  /** Hands over the request lines collected so far; called before the process exits, which writes what is left. */
  flush(): void;
}

/** The destination of whole lines: file descriptor 1 except in tests. */
export interface LogDestination {
  write(lines: string): void;
}

/** A pipe takes this much at once, so lines of several processes do not mix. */
const PIPE_BYTES = 4096;
/** Request lines are collected up to this size, or for this long: passing data to the writing thread costs far more than a line. */
const PIECE_BYTES = 65_536;
const GATHER_MS = 100;

/** The log of one of several processes that share a standard output. */
export function openSharedJsonLog(): JsonLog {
  return openOwnLog(PIPE_BYTES);
}

/** By default the log of this process, which then prints nothing else. */
export function openJsonLog(destination?: LogDestination): JsonLog {
  return destination === undefined ? openOwnLog(PIECE_BYTES) : linesTo(destination, PIECE_BYTES);
}

function openOwnLog(pieceBytes: number): JsonLog {
  const output = linesTo(standardOutput(pieceBytes), pieceBytes);
  logForeignOutput(output.log);
  return output;
}

function linesTo(destination: LogDestination, pieceBytes: number): JsonLog {
  const lines = new GatheredLines(destination, pieceBytes);
  const event = (level: 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
    lines.write();
    destination.write(`${JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg: message })}\n`);
  };
  return {
    log: { info: event('info'), warn: event('warn'), error: event('error') },
    access: lines,
    flush: () => lines.write(),
  };
}

function standardOutput(pieceBytes: number): LogDestination {
  const output = new LogOutput(1, pieceBytes, ({ message }) => {
    process.stderr.write(`lingate: the log cannot be written, and lines are lost: ${message}\n`);
  });
  process.once('exit', () => output.flushSync());
  return output;
}

/** Collects request lines for a destination, and writes them in batches. */
class GatheredLines implements AccessLog {
  readonly #destination: LogDestination;
  readonly #onTime = (): void => this.write();
  /** Bytes, not a string: V8 keeps a string that grew by hundreds of lines as a tree, which the garbage collector must walk. */
  readonly #gathered: Buffer;
  #length = 0;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(destination: LogDestination, pieceBytes: number) {
    this.#destination = destination;
    this.#gathered = Buffer.alloc(pieceBytes);
  }

  /** Built by hand: every value is a number, an address or one of our own words, so nothing needs escaping. */
  record(entry: AccessEntry): void {
    const status = entry.status === undefined ? '' : `,"status":${entry.status}`;
    const owner = entry.teamId === undefined ? '' : `,"team_id":"${entry.teamId}","key_id":"${entry.keyId}"`;
    const engine = entry.engine === undefined ? '' : `,"engine":"${entry.engine}"`;
    const client = entry.client === undefined ? '' : `,"client":"${entry.client}"`;
    const failures = entry.failures === undefined ? '' : `,"failures":${JSON.stringify(entry.failures)}`;
    const parameter = entry.parameter === undefined ? '' : `,"parameter":"${entry.parameter}"`;
    const begun = entry.status !== undefined && entry.status >= 500 ? '{"level":"warn","time":"' : '{"level":"info","time":"';
    const limitOf = entry.limitOf === undefined ? '' : `,"limit_of":"${entry.limitOf}"`;
    const trace = entry.traceId === undefined ? '' : `,"trace_id":"${entry.traceId}"`;
    // ASCII, and fits into a batch.
    const line = `${begun}${isoNow()}","msg":"request","request_id":"${entry.requestId}","route":"${entry.route}"${status},"code":"${entry.code}"${parameter}${limitOf}${owner}${client}${trace},"characters":${entry.characters},"engine_attempts":${entry.attempts}${engine}${failures},"duration_ms":${hundredths(entry.durationMs)},"store_ms":${hundredths(entry.storeMs)},"engine_ms":${hundredths(entry.engineMs)}}\n`;
    if (this.#length + line.length > this.#gathered.length) this.write();
    this.#length += this.#gathered.write(line, this.#length, 'latin1');
    this.#timer ??= setTimeout(this.#onTime, GATHER_MS).unref();
  }

  write(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = this.#gathered.toString('latin1', 0, this.#length);
    this.#length = 0;
    this.#destination.write(gathered);
  }
}

let secondOfText = -1;
let textOfSecond = '';

/** `toISOString` of now; all but the milliseconds is computed once a second. */
function isoNow(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  if (second !== secondOfText) {
    secondOfText = second;
    textOfSecond = new Date(second * 1000).toISOString().slice(0, -4);
  }
  const ms = nowMs - second * 1000;
  return `${textOfSecond}${ms < 10 ? '00' : ms < 100 ? '0' : ''}${ms}Z`;
}

/** Two digits each. */
const HUNDREDTHS = Array.from({ length: 100 }, (_, part) => `.${part < 10 ? '0' : ''}${part}`);

/** With two decimals, from whole numbers: `toFixed` takes ten times as long, converting a fraction three times. */
function hundredths(ms: number): string {
  const all = Math.round(ms * 100);
  const whole = Math.floor(all / 100);
  return whole + HUNDREDTHS[all - whole * 100]!;
}

const LEVELS = { debug: 'info', log: 'info', info: 'info', trace: 'warn', warn: 'warn', error: 'error' } as const;
const TEXT_UNITS_MAX = 500;
/** Of different texts: a library may put changing numbers into its own. */
const TEXTS_MAX = 100;
/** A library that prints at each connection says the same over and over. */
const AGAIN_MS = 3_600_000;

/** What a known text means here, and what to do about it; the others are logged as they are. */
const KNOWN: readonly { readonly text: RegExp; readonly message: string }[] = [
  {
    // By ioredis, for a server without a password and for a user who needs none.
    text: /does not require a password, but a password was supplied/,
    message:
      'the Redis store takes no password, but the URL has one: anyone who reaches the server can use it. Set requirepass or an ACL user there, or leave the password out of the URL',
  },
  {
    text: /wrong number of arguments for 'auth' command/,
    message: 'the Redis store knows no users: leave the user name out of the URL',
  },
];

/** For a process whose standard output is the log; call it once. */
function logForeignOutput(log: Log): void {
  const printed = new Map<string, number>();
  const isNew = (text: string): boolean => {
    const nowMs = performance.now();
    const isRepeated = nowMs - (printed.get(text) ?? -Infinity) < AGAIN_MS;
    if (!isRepeated && printed.size < TEXTS_MAX) printed.set(text, nowMs);
    return !isRepeated && printed.has(text);
  };
  const tell = (level: 'info' | 'warn' | 'error', by: string, text: string): void => {
    const begin = text.slice(0, TEXT_UNITS_MAX).toWellFormed();
    if (!isNew(begin)) return;
    const known = KNOWN.find((one) => one.text.test(begin));
    if (known === undefined) log[level]('a library or a plugin printed this', { by, text: begin });
    else log.warn(known.message);
  };
  for (const [name, level] of Object.entries(LEVELS)) {
    console[name as keyof typeof LEVELS] = (...values: readonly unknown[]) => tell(level, `console.${name}`, format(...values));
  }
  // Node's own listener prints them.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => tell('warn', name, message));
}
