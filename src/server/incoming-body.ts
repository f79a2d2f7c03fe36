// A body that a step reads as it arrives: paused until then, and within its time limit.
import type { Readable } from 'node:stream';
import type { Incoming } from '../core/exchange.ts';

/** Silence timeout for callers while somebody reads. */
const SILENCE_MS = 8_000;
/** The time limit grows by a second per this many bytes received. */
const SECOND_BYTES = 65_536;

export class IncomingBody implements Incoming {
  readonly bytes: number | undefined;
  readonly stream: Readable;
  onOverdue: (() => void) | undefined = undefined;
  readonly #onSilent: () => void;
  #silence: NodeJS.Timeout | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined;
  #receivedBytes = 0;
  /** The extra seconds granted so far. */
  #grantedSeconds = 0;

  /**
   * `limitMs` is the part of the time limit that does not depend on the body's length. `onSilent`: the caller has sent nothing for too
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
    this.onOverdue = undefined;
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
    // Its caller is not the slow side.
    else if (this.stream.isPaused() && this.onOverdue !== undefined) this.onOverdue();
    else this.#onSilent();
  }
}
