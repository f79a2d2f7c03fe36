// The body of one request: collected for the chain, streamed to a step, or dropped.
import type { ByteSource } from '../core/byte-stream.ts';
import { LONG_BODY_BYTES } from '../core/exchange.ts';
import type { Body } from '../core/exchange.ts';
import { BodyCollector, DROP_FACTOR } from './body-collector.ts';
import type { SpareRoom } from './body-collector.ts';
import type { FramingGuard } from './framing.ts';
import { IncomingBody } from './incoming-body.ts';

/** What a streamed body needs from its connection. */
export interface BodyConnection {
  /** The part of a streamed body's time limit that does not depend on its length. */
  readonly bodyMs: number;
  /** Stops reading the body. */
  pauseBody(): void;
  resumeBody(): void;
  /** The caller has sent nothing for too long, or takes too long in all. */
  bodySilent(): void;
}

export class CallBody {
  readonly #bytesMax: number;
  readonly #flow: BodyConnection;
  readonly #spare: SpareRoom;
  /** Set while a body is still arriving, wanted or not. */
  #arriving: BodyCollector | undefined = undefined;
  /** `undefined` for a chunked body. */
  #announcedBytes: number | undefined = undefined;
  #receivedBytes = 0;
  /** The same body, if a step streams it. */
  #incoming: IncomingBody | undefined = undefined;

  constructor(bytesMax: number, flow: BodyConnection, spare: SpareRoom) {
    this.#bytesMax = bytesMax;
    this.#spare = spare;
    this.#flow = flow;
  }

  /** Whether the body is still arriving. */
  get pending(): boolean {
    return this.#arriving !== undefined;
  }

  /** Whether a step streams it and is ready for more. */
  get flows(): boolean {
    return this.#incoming?.flows === true;
  }

  /** Whether the announced length alone is reason to close the connection. */
  floods({ bodyBytes }: FramingGuard): boolean {
    return bodyBytes > this.#bytesMax * DROP_FACTOR;
  }

  /** Prepares for a body, if the framing announces one. */
  expect({ chunked, bodyBytes }: FramingGuard): void {
    if (!chunked && bodyBytes === 0) return;
    this.#arriving = new BodyCollector(this.#bytesMax, bodyBytes, this.#spare);
    if (!chunked) this.#announcedBytes = bodyBytes;
  }

  /** Whether so much has arrived that the chain must be notified. */
  get isLong(): boolean {
    return this.#receivedBytes > LONG_BODY_BYTES;
  }

  /** The body is not needed: its bytes are only counted until its end. */
  discard(): void {
    this.#arriving?.discard();
  }

  /** Ignores the body, including its end. */
  passOver(): void {
    this.#arriving = undefined;
  }

  /** The body as a stream; `undefined` if there is none. Always returns the same object. */
  incoming(): ByteSource | undefined {
    if (this.#incoming !== undefined || this.#arriving === undefined) return this.#incoming;
    // From here on the collector keeps nothing and only counts bytes against the limit.
    this.#arriving.discard();
    this.#incoming = new IncomingBody(this.#announcedBytes, this.#flow.bodyMs, {
      pause: () => this.#flow.pauseBody(),
      resume: () => this.#flow.resumeBody(),
      silent: () => this.#flow.bodySilent(),
    });
    return this.#incoming;
  }

  /** No step is taking the body yet: it is held back in bounded memory. */
  holdBack(): void {
    this.#incoming?.holdBack();
  }

  /**
   * Adds a chunk; returns `true` if the connection must be cut because too much has arrived. `borrowed` memory is only valid
   * during the call.
   */
  add(chunk: Uint8Array, borrowed: boolean): boolean {
    const body = this.#arriving;
    if (body === undefined || this.#incoming?.add(chunk, borrowed) === true) return false;
    this.#receivedBytes += chunk.byteLength;
    body.add(chunk, borrowed);
    // A streamed body may be long, so its unread rest is limited by time instead: a caller cut off while sending might never
    // read the answer.
    if (this.#incoming !== undefined || !body.exhausted) return false;
    this.#arriving = undefined;
    return true;
  }

  /** The body is complete. Returns it for the chain; `undefined` if a step streams it or nobody is waiting for it. */
  end(): Body | undefined {
    const body = this.#arriving;
    if (body === undefined) return undefined;
    // Reset first, because the receiver of the end may answer synchronously.
    this.#arriving = undefined;
    if (this.#incoming === undefined) return body.take();
    return this.#incoming.finish() ? undefined : 'none';
  }

  /** The rest will not arrive, or is not needed. */
  drop(): void {
    this.#arriving = undefined;
    this.#incoming?.drop();
  }

  /** Drops the rest of a streamed body; `false` if it is not streamed or already complete. */
  cancelRest(): boolean {
    if (this.#incoming === undefined || this.#arriving === undefined) return false;
    this.#incoming.cancel();
    return true;
  }

  /** The connection must not be touched any more. */
  release(): void {
    this.#incoming?.release();
  }
}
