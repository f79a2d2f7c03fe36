// A body that a step reads as it arrives, paused until then and within its time limit; and an
// answer that is streamed at the pace of its reader.
import type { Readable, Writable } from 'node:stream';
import type { Incoming } from '../core/exchange.ts';

/** Silence timeout for callers while somebody reads. */
const SILENCE_MS = 8_000;
/** The time limit grows by a second per this many bytes received. */
const SECOND_BYTES = 65_536;

export class IncomingBody implements Incoming {
  readonly bytes: number | undefined;
  readonly stream: Readable;
  readonly #onSilent: () => void;
  #silence: NodeJS.Timeout | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined;
  #receivedBytes = 0;
  /** The extra seconds granted so far. */
  #grantedSeconds = 0;

  /**
   * `limitMs` does not depend on the body's length. `onSilent`: the caller sent nothing for too
   * long while somebody read, or takes too long in all.
   */
  constructor(stream: Readable, bytes: number | undefined, limitMs: number, onSilent: () => void) {
    this.bytes = bytes;
    this.stream = stream;
    this.#onSilent = onSilent;
    this.#deadline = setTimeout(() => this.#expire(), limitMs);
    stream.pause();
    stream.on('resume', this.#listen).on('pause', this.#rest).on('data', this.#received);
    stream.once('end', () => this.stop()).once('close', () => this.stop());
  }

  /** Nobody reads it any more: the rest is dropped as it arrives. */
  discard(): void {
    this.stop();
    this.stream.unpipe();
    this.stream.resume();
  }

  /** The time limit no longer applies. */
  stop(): void {
    this.#rest();
    clearTimeout(this.#deadline);
    this.stream.off('resume', this.#listen).off('pause', this.#rest).off('data', this.#received);
  }

  readonly #listen = (): void => {
    this.#silence ??= setTimeout(this.#onSilent, SILENCE_MS);
  };

  readonly #rest = (): void => {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  };

  readonly #received = (chunk: Uint8Array): void => {
    this.#receivedBytes += chunk.byteLength;
    this.#silence?.refresh();
  };

  #expire(): void {
    const seconds = this.#receivedBytes / SECOND_BYTES;
    const more = seconds - this.#grantedSeconds;
    this.#grantedSeconds = seconds;
    if (more > 0.001) this.#deadline = setTimeout(() => this.#expire(), more * 1000);
    // Unless its caller is not the slow side, and somebody knows what to do then.
    else if (!this.stream.isPaused() || !this.stream.emit('overdue')) this.#onSilent();
  }
}

export type StreamEnd = 'delivered' | 'broken' | 'gone';

/**
 * For a caller who reads nothing. The system buffers up to 4 MiB and takes more once a third is
 * free, which for a reader of 10 KB/s happens every two minutes.
 */
const UNREAD_MS = 180_000;

interface StreamedAnswerOptions {
  readonly body: Readable;
  /** Length of the body, if it was announced. */
  readonly bytes: number | undefined;
  /** Emits `finish` when everything has been handed to the system. */
  readonly to: Writable;
  /** Closes the connection in a way that lets the caller detect the truncated answer. */
  readonly cut: () => void;
  /** Called once. */
  readonly onEnd: (how: StreamEnd) => void;
}

export class StreamedAnswer {
  readonly #options: StreamedAnswerOptions;
  #bytesLeft: number | undefined;
  #over = false;
  #unread: NodeJS.Timeout | undefined = undefined;

  /** Begins at once. */
  constructor(options: StreamedAnswerOptions) {
    const { body, bytes, to } = options;
    this.#options = options;
    this.#bytesLeft = bytes;
    to.on('drain', () => this.#goOn());
    to.once('finish', () => this.#close('delivered'));
    body.on('error', () => this.#break());
    // Destroyed without an error, or after an end that was refused.
    body.on('close', () => body.readableEnded || this.#break());
    body.on('end', () => (body.errored === null ? this.#finish() : this.#break()));
    body.on('data', (piece: Uint8Array) => this.#put(piece));
    if (body.destroyed) setImmediate(() => this.#break());
    else body.resume();
  }

  /** The caller has disconnected. */
  gone(): void {
    this.#close('gone');
  }

  /** The listener's own code threw. */
  broke(): void {
    this.#break();
  }

  /**
   * Ends with the last byte of a known length: a caller who has it may close the connection before
   * the source says that it was the last.
   */
  #put(piece: Uint8Array): void {
    const { body, to } = this.#options;
    if (this.#over) return;
    if (this.#bytesLeft !== undefined) this.#bytesLeft -= piece.byteLength;
    if (this.#bytesLeft === 0) return this.#finish(piece);
    if (to.write(piece)) return;
    body.pause();
    this.#watch();
  }

  #goOn(): void {
    if (this.#over) return;
    clearTimeout(this.#unread);
    this.#options.body.resume();
  }

  #finish(last?: Uint8Array): void {
    const { to } = this.#options;
    if (this.#over || to.writableEnded) return;
    this.#watch();
    to.end(last);
  }

  #watch(): void {
    this.#unread = setTimeout(() => {
      this.#close('gone');
      this.#options.cut();
    }, UNREAD_MS);
  }

  #break(): void {
    if (this.#over) return;
    this.#close('broken');
    this.#options.cut();
  }

  #close(how: StreamEnd): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#unread);
    const { body, onEnd } = this.#options;
    if (how !== 'delivered') body.destroy();
    onEnd(how);
  }
}
