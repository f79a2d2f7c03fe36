// The body of one request on a connection: collected for the chain, streamed to a step, or dropped.
import type { ByteSource } from '../core/byte-stream.ts';
import { LONG_BODY_BYTES } from '../core/exchange.ts';
import type { Body } from '../core/exchange.ts';
import { BodyCollector, DROP_FACTOR } from './body-collector.ts';
import type { SpareRoom } from './body-collector.ts';
import type { FramingGuard } from './framing.ts';
import { IncomingBody } from './incoming-body.ts';

/** What a streamed body asks of its connection. */
export interface BodyConnection {
  /** The time that a streamed body has, besides that for its length. */
  readonly bodyMs: number;
  /** Reads no more of the body. */
  pauseBody(): void;
  resumeBody(): void;
  /** The caller has sent nothing, or all of it, for too long. */
  bodySilent(): void;
}

export class CallBody {
  readonly #bytesMax: number;
  readonly #flow: BodyConnection;
  readonly #spare: SpareRoom;
  /** Set while a body is still arriving, wanted or not. */
  #arriving: BodyCollector | undefined = undefined;
  /** `undefined` for one that is chunked. */
  #announcedBytes: number | undefined = undefined;
  #receivedBytes = 0;
  /** The same body, if a step streams it. */
  #incoming: IncomingBody | undefined = undefined;

  constructor(bytesMax: number, flow: BodyConnection, spare: SpareRoom) {
    this.#bytesMax = bytesMax;
    this.#spare = spare;
    this.#flow = flow;
  }

  /** Whether it is still arriving. */
  get pending(): boolean {
    return this.#arriving !== undefined;
  }

  /** A step streams it and is ready for more. */
  get flows(): boolean {
    return this.#incoming?.flows === true;
  }

  /** Whether so much is announced that the connection is given up. */
  floods({ bodyBytes }: FramingGuard): boolean {
    return bodyBytes > this.#bytesMax * DROP_FACTOR;
  }

  /** There is one, if the framing says so. */
  expect({ chunked, bodyBytes }: FramingGuard): void {
    if (!chunked && bodyBytes === 0) return;
    this.#arriving = new BodyCollector(this.#bytesMax, bodyBytes, this.#spare);
    if (!chunked) this.#announcedBytes = bodyBytes;
  }

  /** Whether so much has come that the chain has to be told. */
  get isLong(): boolean {
    return this.#receivedBytes > LONG_BODY_BYTES;
  }

  /** It is not needed: from now on only its length is counted and its end awaited. */
  discard(): void {
    this.#arriving?.discard();
  }

  /** Not even its end is awaited. */
  passOver(): void {
    this.#arriving = undefined;
  }

  /** The body as a stream; `undefined` when there is none. The same object each time. */
  incoming(): ByteSource | undefined {
    if (this.#incoming !== undefined || this.#arriving === undefined) return this.#incoming;
    // The collector keeps nothing from here on; it only counts the bytes, for the limit.
    this.#arriving.discard();
    this.#incoming = new IncomingBody(this.#announcedBytes, this.#flow.bodyMs, {
      pause: () => this.#flow.pauseBody(),
      resume: () => this.#flow.resumeBody(),
      silent: () => this.#flow.bodySilent(),
    });
    return this.#incoming;
  }

  /** No step takes it yet: it waits, in bounded memory. */
  holdBack(): void {
    this.#incoming?.holdBack();
  }

  /** A piece has come; `true` when so much has come that the connection is cut. `borrowed`: its memory is gone when this returns. */
  add(chunk: Uint8Array, borrowed: boolean): boolean {
    const body = this.#arriving;
    if (body === undefined || this.#incoming?.add(chunk, borrowed) === true) return false;
    this.#receivedBytes += chunk.byteLength;
    body.add(chunk, borrowed);
    // Of a streamed body, which may be long, the rest that nobody takes is bounded by time: cut off while sending, its caller might never read the answer.
    if (this.#incoming !== undefined || !body.exhausted) return false;
    this.#arriving = undefined;
    return true;
  }

  /** All has come. Returns the body for the chain; `undefined` when a step streams it, or nobody waits for it. */
  end(): Body | undefined {
    const body = this.#arriving;
    if (body === undefined) return undefined;
    // First, because who takes the end may answer at once.
    this.#arriving = undefined;
    if (this.#incoming === undefined) return body.take();
    return this.#incoming.finish() ? undefined : 'none';
  }

  /** The rest will not come, or is not needed. */
  drop(): void {
    this.#arriving = undefined;
    this.#incoming?.drop();
  }

  /** Drops the rest of a streamed body; `false` when it is not streamed, or has come. */
  cancelRest(): boolean {
    if (this.#incoming === undefined || this.#arriving === undefined) return false;
    this.#incoming.cancel();
    return true;
  }

  /** The connection is not to be touched any more. */
  release(): void {
    this.#incoming?.release();
  }
}
