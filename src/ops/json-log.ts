// The gateway's log: one JSON object a line; requests are collected and written in batches, and
// what libraries, plugins and Node print becomes lines too. Written in the background and in order:
// a full disk or a stalled reader neither blocks nor ends the gateway.
import { performance } from 'node:perf_hooks';
import { format } from 'node:util';
import { write, writeSync } from 'node:fs';
import type { AccessEntry, AccessLog } from '../ports/access-entry.ts';
import type { Log, LogFields } from '../ports/log.ts';

export interface JsonLog {
  readonly log: Log;
  readonly access: AccessLog;
  /** Hands over the collected request lines; before the exit, which writes the rest. */
  flush(): void;
}

/** The destination of whole lines: file descriptor 1 except in tests. */
export interface LogDestination {
  write(lines: string): void;
}

interface JsonLogOptions {
  readonly destination?: LogDestination | undefined;
  readonly isShared?: boolean;
}

/** A pipe takes this much at once, so lines of several processes do not mix. */
const PIPE_BYTES = 4096;
/** Request lines are collected: passing data to the writing thread costs far more than a line. */
const PIECE_BYTES = 65_536;
const GATHER_MS = 100;

/**
 * By default the log of this process, which then prints nothing else. `isShared`: several processes
 * have its standard output.
 */
export function openJsonLog({ destination, isShared = false }: JsonLogOptions): JsonLog {
  const pieceBytes = isShared ? PIPE_BYTES : PIECE_BYTES;
  if (destination !== undefined) return linesTo(destination, pieceBytes);
  const output = linesTo(standardOutput(pieceBytes), pieceBytes);
  logForeignOutput(output.log);
  return output;
}

function linesTo(destination: LogDestination, pieceBytes: number): JsonLog {
  const lines = new GatheredLines(destination, pieceBytes);
  const event = (level: 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
    lines.write();
    destination.write(lineOf(level, message, fields));
  };
  return {
    log: { info: event('info'), warn: event('warn'), error: event('error') },
    access: lines,
    flush: () => lines.write(),
  };
}

function lineOf(level: 'info' | 'warn' | 'error', msg: string, fields?: LogFields): string {
  return `${JSON.stringify({ level, time: new Date().toISOString(), ...fields, msg })}\n`;
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
  /** V8 keeps a string that grew by hundreds of lines as a tree, which the collector must walk. */
  readonly #gathered: Buffer;
  #length = 0;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(destination: LogDestination, pieceBytes: number) {
    this.#destination = destination;
    this.#gathered = Buffer.alloc(pieceBytes);
  }

  /** By hand: every value is a number, an address or our own word, so nothing needs escaping. */
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

/** With two decimals, from whole numbers: `toFixed` takes ten times as long. */
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

/** What may wait for a reader who has stopped reading; further lines are lost, and counted. */
const WAITING_BYTES_MAX = 8_388_608;
/** One that takes nothing is tried again after this; one that fails, after the longer time. */
const BUSY_MS = 20;
const FAILED_MS = 1000;
/** At the exit: one that takes nothing, or is slow, gets no more after these times. */
const LAST_PAUSE_MS = 1000;
const LAST_LINES_MS = 5000;
/** At the exit: far more than a thread needs to pass a write to the system. */
const UNDER_WAY_MS = 50;
const NEWLINE = 10;

/** When it begins to fail, as with a full disk. Lines are lost until it works again. */
type OnLogFailure = (error: NodeJS.ErrnoException) => void;

/** Survives a full disk and a reader that has closed: lines are lost then, and counted. */
class LogOutput {
  readonly #fd: number;
  /** Lines are put together for one write up to this size. */
  readonly #pieceBytes: number;
  readonly #onFailure: OnLogFailure;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** What is written now, or next. */
  #piece: Buffer | undefined;
  #state: 'idle' | 'writing' | 'pausing' = 'idle';
  #lostLines = 0;
  /** How many lost lines the current piece reports. */
  #reportedLines = 0;
  /** Whether what was written last ends in the middle of a line. */
  #isLineOpen = false;
  #isFailing = false;
  #isReaderGone = false;

  constructor(fd: number, pieceBytes: number, onFailure: OnLogFailure) {
    this.#fd = fd;
    this.#pieceBytes = pieceBytes;
    this.#onFailure = onFailure;
  }

  /** Whole lines, which go at once, or together once the write under way has ended. */
  write(lines: string): void {
    if (this.#isReaderGone) return;
    const bytes = Buffer.from(lines);
    if (this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) {
      this.#lostLines += linesIn(bytes);
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#state === 'idle') this.#writeNext();
  }

  /**
   * At the exit: writes what is waiting. A write under way gets a moment to come first; waiting for
   * its end, which no callback reports any more, could mean waiting for a hanging disk.
   */
  flushSync(): void {
    if (this.#state === 'writing') {
      sleep(UNDER_WAY_MS);
      this.#piece = undefined;
    }
    const endAtMs = Date.now() + LAST_LINES_MS;
    let giveUpAtMs = Date.now() + LAST_PAUSE_MS;
    while (!this.#isReaderGone && (this.#piece ??= this.#next()) !== undefined) {
      try {
        this.#wrote(this.#piece, writeSync(this.#fd, this.#piece));
        giveUpAtMs = Math.min(Date.now() + LAST_PAUSE_MS, endAtMs);
      } catch (error) {
        if (!isBusy(error as NodeJS.ErrnoException) || Date.now() > giveUpAtMs) return;
        sleep(BUSY_MS);
      }
    }
  }

  #writeNext(): void {
    const piece = (this.#piece ??= this.#next());
    this.#state = piece === undefined ? 'idle' : 'writing';
    if (piece === undefined) return;
    write(this.#fd, piece, (error, written) => {
      if (error !== null) return this.#failed(piece, error);
      this.#isFailing = false;
      this.#wrote(piece, written);
      this.#writeNext();
    });
  }

  #wrote(piece: Buffer, written: number): void {
    this.#isLineOpen = piece[written - 1] !== NEWLINE;
    this.#piece = written < piece.length ? piece.subarray(written) : undefined;
  }

  #failed(piece: Buffer, error: NodeJS.ErrnoException): void {
    if (isBusy(error)) return this.#writeAfter(BUSY_MS);
    this.#piece = undefined;
    if (error.code === 'EPIPE' || error.code === 'ECONNRESET') {
      this.#isReaderGone = true;
      this.#state = 'idle';
      this.#waiting = [];
      return;
    }
    if (!this.#isFailing) this.#onFailure(error);
    this.#isFailing = true;
    this.#lostLines += this.#reportedLines === 0 ? linesIn(piece) : this.#reportedLines;
    this.#writeAfter(FAILED_MS);
  }

  #writeAfter(pauseMs: number): void {
    this.#state = 'pausing';
    setTimeout(() => this.#writeNext(), pauseMs).unref();
  }

  /** The next piece; behind the last one, a line with the number of lines that were lost. */
  #next(): Buffer | undefined {
    this.#reportedLines = 0;
    let count = 0;
    let bytes = 0;
    for (const lines of this.#waiting) {
      if (count > 0 && bytes + lines.length > this.#pieceBytes) break;
      bytes += lines.length;
      count += 1;
    }
    const lines = this.#waiting.splice(0, count);
    this.#waitingBytes -= bytes;
    if (count === 0) {
      if (this.#lostLines === 0) return undefined;
      this.#reportedLines = this.#lostLines;
      this.#lostLines = 0;
      lines.push(Buffer.from(lineOf('warn', 'log lines were lost', { lines: this.#reportedLines })));
    }
    // A failure in the middle of a line: the next one begins on its own.
    if (this.#isLineOpen) lines.unshift(Buffer.from('\n'));
    return lines.length === 1 ? lines[0] : Buffer.concat(lines);
  }
}

/** Blocks this thread. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isBusy({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EBUSY';
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
