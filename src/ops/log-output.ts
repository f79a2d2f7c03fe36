// Standard output for the log: written in the background and in order, and never a reason for the gateway to wait or to end.
import { write, writeSync } from 'node:fs';

/** What may wait for a reader who has stopped reading; further lines are lost, and counted. */
const WAITING_BYTES_MAX = 8_388_608;
/** A destination that takes nothing for now is tried again after this time, one that fails (a full disk) after the longer one. */
const BUSY_MS = 20;
const FAILED_MS = 1000;
/** When the process exits, a destination that takes nothing for so long gets no more, and one that is slow no more after the longer time. */
const LAST_PAUSE_MS = 1000;
const LAST_LINES_MS = 5000;
/** When the process exits, a write in the background gets this time: far more than its thread needs to pass it to the system. */
const UNDER_WAY_MS = 50;
const NEWLINE = 10;

/** Called when the destination begins to fail: with a full disk, for example. Lines are lost until it works again. */
type OnLogFailure = (error: NodeJS.ErrnoException) => void;

/**
 * A destination for whole lines. It survives a full disk and a reader that has closed the pipe: lines are lost then, and counted.
 */
export class LogOutput {
  readonly #fd: number;
  /** Lines are put together for one write up to this size. */
  readonly #pieceBytes: number;
  readonly #onFailure: OnLogFailure;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Being written in the background or, while there is a pause, to be written after it. */
  #piece: Buffer | undefined;
  #pause: NodeJS.Timeout | undefined;
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

  /** One or more whole lines, which go at once, or together with others once the write that is under way has ended. */
  write(lines: string): void {
    if (this.#isReaderGone) return;
    const bytes = Buffer.from(lines);
    if (this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) {
      this.#lostLines += linesIn(bytes);
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#piece === undefined && this.#pause === undefined) this.#writeNext();
  }

  /**
   * Called when the process exits: writes what is waiting. A write that is under way in the background gets a moment, so that these
   * lines come after it; Node finishes it in any case. They may still come before it: no callback runs any more that would report
   * its end, so waiting for it could mean waiting for a hanging disk. A process that ends by itself ends after its writes.
   */
  flushSync(): void {
    if (this.#piece !== undefined && this.#pause === undefined) sleep(UNDER_WAY_MS);
    const endAtMs = Date.now() + LAST_LINES_MS;
    let giveUpAtMs = Date.now() + LAST_PAUSE_MS;
    let piece: Buffer | undefined;
    if (this.#pause !== undefined) {
      clearTimeout(this.#pause);
      this.#pause = undefined;
      piece = this.#piece;
      this.#piece = undefined;
    }
    while (!this.#isReaderGone && (piece ??= this.#next()) !== undefined) {
      try {
        const written = writeSync(this.#fd, piece);
        this.#isLineOpen = endsInLine(piece, written);
        piece = written < piece.length ? piece.subarray(written) : undefined;
        giveUpAtMs = Math.min(Date.now() + LAST_PAUSE_MS, endAtMs);
      } catch (error) {
        if (!isBusy(error as NodeJS.ErrnoException) || Date.now() > giveUpAtMs) {
          this.#waiting.unshift(piece!);
          this.#waitingBytes += piece!.length;
          return;
        }
        sleep(BUSY_MS);
      }
    }
  }

  #writeNext(): void {
    this.#piece = this.#next();
    if (this.#piece !== undefined) this.#writePiece(this.#piece);
  }

  #writePiece(piece: Buffer): void {
    write(this.#fd, piece, (error, written) => {
      if (error !== null) return this.#failed(piece, error);
      this.#isFailing = false;
      this.#isLineOpen = endsInLine(piece, written);
      this.#piece = written === piece.length ? undefined : piece.subarray(written);
      if (this.#piece === undefined) this.#writeNext();
      else this.#writePiece(this.#piece);
    });
  }

  #failed(piece: Buffer, error: NodeJS.ErrnoException): void {
    if (isBusy(error)) return this.#writeAfter(BUSY_MS);
    this.#piece = undefined;
    if (error.code === 'EPIPE' || error.code === 'ECONNRESET') {
      this.#isReaderGone = true;
      this.#waiting = [];
      return;
    }
    if (!this.#isFailing) this.#onFailure(error);
    this.#isFailing = true;
    this.#lostLines += this.#reportedLines === 0 ? linesIn(piece) : this.#reportedLines;
    this.#writeAfter(FAILED_MS);
  }

  #writeAfter(pauseMs: number): void {
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#piece === undefined) this.#writeNext();
      else this.#writePiece(this.#piece);
    }, pauseMs).unref();
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
      lines.push(lostLine(this.#reportedLines));
    }
    // A failure in the middle of a line: the next one begins on its own.
    if (this.#isLineOpen) lines.unshift(Buffer.from('\n'));
    return lines.length === 1 ? lines[0] : Buffer.concat(lines);
  }
}

/** In the form of the log's other lines. */
function lostLine(lines: number): Buffer {
  return Buffer.from(`${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg: 'log lines were lost' })}\n`);
}

/** Blocks this thread. */
function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isBusy({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EBUSY';
}

function endsInLine(piece: Buffer, at: number): boolean {
  return piece[at - 1] !== NEWLINE;
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
