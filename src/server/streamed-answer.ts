// A streamed answer: passed on at the pace of its reader, and how it ended.
import type { Readable, Writable } from 'node:stream';

export type StreamEnd = 'delivered' | 'broken' | 'gone';

/**
 * Timeout for a caller who reads nothing. Far longer than any network pause: the system buffers up
 * to 4 MiB per connection and accepts more only once a third of it is free, which for a reader of
 * 10 KB/s happens every two minutes.
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
