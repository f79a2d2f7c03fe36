// A streamed request body: held back until a step takes it, then passed on at the step's pace, within its time limit.
import type { ByteReceiver, ByteSource, StreamFault } from '../core/byte-stream.ts';
import type { HeldBodies, HeldFor } from './listener.ts';
import { BodyCollector } from './request-message.ts';

/** What a streamed body needs from its connection. */
export interface BodyConnection {
  /** The part of a streamed body's time limit that does not depend on its length. */
  readonly bodyMs: number;
  /** The longest body that the route takes. */
  readonly bodyBytesMax: number;
  readonly heldBodies: HeldBodies;
  /** Whose room a held body takes. */
  readonly bodyHeldFor: HeldFor;
  /** Stops reading the body; bytes already read may still arrive. */
  pauseBody(): void;
  resumeBody(): void;
  /** The caller has sent nothing for too long while we were reading, or takes too long in all. */
  bodySilent(): void;
  /** There is no room to hold the body; nothing of it is kept. */
  bodyCrowdedOut(): void;
}

/** Silence timeout for callers; shorter than uWebSockets.js's own limit, so that there is an answer. */
const SILENCE_MS = 8_000;
const LISTEN_AGAIN_MS = 4_000;
/** The time limit grows by a second per this many bytes received. */
const SECOND_BYTES = 65_536;

export class IncomingBody implements ByteSource {
  readonly bytes: number | undefined;
  readonly #connection: BodyConnection;
  #receiver: ByteReceiver | undefined = undefined;
  #state: 'held' | 'flowing' | 'over' = 'held';
  /** Whether the library is reading. */
  #reading = true;
  /** Whether the library has delivered all of it. */
  #complete = false;
  #held: BodyCollector | undefined = undefined;
  /** What it holds, and of whose room. */
  #heldBytes = 0;
  #heldFor: HeldFor = 'strangers';
  #isTooLong = false;
  #silence: NodeJS.Timeout | undefined = undefined;
  #patience: NodeJS.Timeout | undefined = undefined;
  #deadline: NodeJS.Timeout | undefined;
  #receivedBytes = 0;
  /** The extra seconds granted so far. */
  #grantedSeconds = 0;

  /** The time limit is `bodyMs` plus a second per 64 KiB received. */
  constructor(bytes: number | undefined, connection: BodyConnection) {
    this.bytes = bytes;
    this.#connection = connection;
    this.#deadline = setTimeout(() => this.#expire(), connection.bodyMs);
  }

  /** Whether a step is taking the body. */
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

  /** Pauses the library's reading while no step takes the body. */
  holdBack(): void {
    if (this.#state !== 'held' || !this.#reading || this.#complete) return;
    this.#reading = false;
    clearTimeout(this.#silence);
    this.#connection.pauseBody();
  }

  resume(): void {
    const receiver = this.#receiver;
    if (this.#state !== 'held' || receiver === undefined) return;
    this.#state = 'flowing';
    if (this.#isTooLong) return this.#fail('too_long');
    const held = this.#held?.take();
    this.#letGo();
    // The receiver may pause again, or cancel.
    if (held !== undefined && typeof held !== 'string') receiver.piece(held);
    if (!this.flows) return;
    if (this.#complete) return this.#end();
    this.#readOn();
    this.#silence = setTimeout(() => this.#connection.bodySilent(), SILENCE_MS);
  }

  cancel(): void {
    if (this.#state === 'over') return;
    this.drop();
    // The rest is read and dropped.
    if (!this.#complete) this.#readOn();
  }

  /** The request is answered, or its caller has disconnected. */
  release(): void {
    clearInterval(this.#patience);
  }

  /** The connection must not be touched any more. */
  drop(): void {
    this.#state = 'over';
    this.#letGo();
    clearTimeout(this.#silence);
    clearTimeout(this.#deadline);
  }

  /** Adds a chunk; `false` if nobody wants it. `borrowed` memory is only valid during the call. */
  add(chunk: Uint8Array, borrowed: boolean): boolean {
    if (this.#state === 'over') return false;
    if (chunk.byteLength === 0) return true;
    this.#receivedBytes += chunk.byteLength;
    if (this.flows) {
      this.#silence?.refresh();
      this.#receiver!.piece(borrowed ? chunk.slice() : chunk);
    } else this.#hold(chunk, borrowed);
    return true;
  }

  /**
   * uWebSockets.js delivers more after a pause, as long as the caller's bytes fill its buffer of 512 KiB each time: from a fast
   * caller the whole body. So all of it is held, up to what the route takes, as long as there is room for all held bodies together:
   * the key may still have to be looked up.
   */
  #hold(chunk: Uint8Array, borrowed: boolean): void {
    const { bodyBytesMax } = this.#connection;
    if (this.#receivedBytes <= bodyBytesMax) {
      if (!this.#takesRoom(chunk.byteLength)) {
        this.drop();
        return this.#connection.bodyCrowdedOut();
      }
      this.#held ??= new BodyCollector(bodyBytesMax, 0);
      this.#held.add(chunk, borrowed);
      return;
    }
    this.#letGo();
    this.#isTooLong = true;
    // Otherwise when a step takes it.
    if (this.#receiver !== undefined) this.#fail('too_long');
  }

  #takesRoom(bytes: number): boolean {
    const { heldBodies, bodyHeldFor } = this.#connection;
    if (this.#heldBytes === 0) this.#heldFor = bodyHeldFor;
    if (!heldBodies.take(bytes, this.#heldBytes, this.#heldFor)) return false;
    this.#heldBytes += bytes;
    return true;
  }

  #letGo(): void {
    this.#held = undefined;
    this.#connection.heldBodies.give(this.#heldBytes, this.#heldFor);
    this.#heldBytes = 0;
  }

  /** The body is complete; `false` if nobody is waiting for it. */
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
   * Keeps reading after the body, to notice when the caller disconnects. After each resume, uWebSockets.js allows ten seconds
   * without data; resuming again before that restarts the timer, so the answer may take any time.
   */
  #listenOn(): void {
    this.#readOn();
    this.#patience = setInterval(() => {
      this.#connection.pauseBody();
      this.#connection.resumeBody();
    }, LISTEN_AGAIN_MS);
  }

  #expire(): void {
    const seconds = this.#receivedBytes / SECOND_BYTES;
    const more = seconds - this.#grantedSeconds;
    this.#grantedSeconds = seconds;
    if (more > 0.001) this.#deadline = setTimeout(() => this.#expire(), more * 1000);
    // The caller is not the slow side.
    else if (this.#state === 'held' && this.#receiver !== undefined) this.#fail('late');
    else this.#connection.bodySilent();
  }

  #readOn(): void {
    if (this.#reading) return;
    this.#reading = true;
    this.#connection.resumeBody();
  }

  #end(): void {
    this.drop();
    this.#receiver!.end();
  }

  /** The rest is read and dropped. */
  #fail(why: StreamFault): void {
    this.cancel();
    this.#receiver!.fail(why);
  }
}
