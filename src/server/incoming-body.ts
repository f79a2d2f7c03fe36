// A streamed request body: held back until a step takes it, then passed on at the step's pace, until its time is over.
import type { ByteReceiver, ByteSource } from '../core/byte-stream.ts';
import { BodyCollector } from './body-collector.ts';

/** What the HTTP library has to do for a streamed body. */
export interface BodyFlow {
  /** No more is read from the connection; what was read already may still come. */
  pause(): void;
  resume(): void;
  /** The caller has sent nothing for too long while we were reading, or has taken too long in all. */
  silent(): void;
}

/**
 * At most so much of a body that is held back is kept. uWebSockets.js empties the system's receive buffer even when told to
 * pause; how much that holds is the system's limit (`tcp_rmem`, 6 MiB by default).
 */
const HELD_BYTES_MAX = 67_108_864;
/** A caller who sends nothing for so long is given up; shorter than uWebSockets.js's own limit, so that there is an answer. */
const SILENCE_MS = 8_000;
const LISTEN_AGAIN_MS = 4_000;
/** So many bytes that have come give it another second. */
const SECOND_BYTES = 65_536;

export class IncomingBody implements ByteSource {
  readonly bytes: number | undefined;
  readonly #flow: BodyFlow;
  #receiver: ByteReceiver | undefined = undefined;
  #state: 'held' | 'flowing' | 'over' = 'held';
  /** The library reads. */
  #reading = true;
  /** The library has handed over all of it. */
  #complete = false;
  #held: BodyCollector | undefined = undefined;
  #silence: NodeJS.Timeout | undefined = undefined;
  #patience: NodeJS.Timeout | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined;
  #receivedBytes = 0;
  /** What the deadline has counted already. */
  #grantedSeconds = 0;

  /** It has `ms` milliseconds to come in, and a second for each 64 KiB of it that have come. */
  constructor(bytes: number | undefined, ms: number, flow: BodyFlow) {
    this.bytes = bytes;
    this.#flow = flow;
    this.#deadline = setTimeout(() => this.#expire(), ms);
  }

  /** A step takes what comes. */
  get flows(): boolean {
    return this.#state === 'flowing';
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    this.resume();
  }

  pause(): void {
    if (this.flows) this.#state = 'held';
    this.holdBack();
  }

  /** Pauses the library's reading as long as no step takes the body. */
  holdBack(): void {
    if (this.#state !== 'held' || !this.#reading || this.#complete) return;
    this.#reading = false;
    clearTimeout(this.#silence);
    this.#flow.pause();
  }

  resume(): void {
    const receiver = this.#receiver;
    if (this.#state !== 'held' || receiver === undefined) return;
    this.#state = 'flowing';
    const held = this.#held?.take();
    this.#held = undefined;
    if (held === 'too_large') return this.#fail();
    // May pause again, or cancel.
    if (held !== undefined && held !== 'none') receiver.piece(held);
    if (!this.flows) return;
    if (this.#complete) return this.#end();
    this.#readOn();
    this.#silence = setTimeout(() => this.#flow.silent(), SILENCE_MS);
  }

  cancel(): void {
    if (this.#state === 'over') return;
    this.drop();
    // The rest is read and dropped.
    if (!this.#complete) this.#readOn();
  }

  /** Its request is answered, or its caller has gone. */
  release(): void {
    clearInterval(this.#patience);
  }

  /** The connection is not to be touched any more. */
  drop(): void {
    this.#state = 'over';
    this.#held = undefined;
    clearTimeout(this.#silence);
    clearTimeout(this.#deadline);
  }

  /** A piece has come; `false` when nobody takes it. `borrowed`: its memory is gone when this returns. */
  add(chunk: Uint8Array, borrowed: boolean): boolean {
    if (this.#state === 'over') return false;
    if (chunk.byteLength === 0) return true;
    this.#receivedBytes += chunk.byteLength;
    if (this.flows) {
      this.#silence?.refresh();
      this.#receiver!.piece(borrowed ? chunk.slice() : chunk);
    } else {
      this.#held ??= new BodyCollector(HELD_BYTES_MAX, 0);
      this.#held.add(chunk, borrowed);
    }
    return true;
  }

  /** All has come; `false` when nobody waits for it. */
  finish(): boolean {
    if (this.#state === 'over') return false;
    this.#complete = true;
    clearTimeout(this.#silence);
    clearTimeout(this.#deadline);
    if (!this.#reading) this.#listenOn();
    if (this.flows) this.#end();
    return true;
  }

  /**
   * Reads on after the body, to learn when the caller leaves. When told to read, uWebSockets.js gives the caller ten seconds to
   * send something; told again before that, it begins anew. So the answer may take as long as it takes.
   */
  #listenOn(): void {
    this.#readOn();
    this.#patience = setInterval(() => {
      this.#flow.pause();
      this.#flow.resume();
    }, LISTEN_AGAIN_MS);
  }

  #expire(): void {
    const seconds = this.#receivedBytes / SECOND_BYTES;
    const more = seconds - this.#grantedSeconds;
    this.#grantedSeconds = seconds;
    if (more > 0.001) this.#deadline = setTimeout(() => this.#expire(), more * 1000);
    // It is not the caller who is slow.
    else if (this.#state === 'held' && this.#receiver !== undefined) this.#fail();
    else this.#flow.silent();
  }

  #readOn(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#flow.resume();
  }

  #end(): void {
    this.drop();
    this.#receiver!.end();
  }

  #fail(): void {
    this.drop();
    this.#receiver!.fail();
  }
}
