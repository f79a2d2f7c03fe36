// The body of one request on a connection: collected for the chain, or taken as it comes, or passed over.
import type { ByteSource } from '../core/byte-stream.ts';
import type { Body } from '../core/exchange.ts';
import { BodyCollector, DROP_FACTOR } from './body-collector.ts';
import type { FramingGuard } from './framing.ts';
import { IncomingBody } from './incoming-body.ts';

/** The connection, as far as a body that is taken as it comes rules it. */
export interface BodyConnection {
  /** Reads no more of the body. */
  pauseBody(): void;
  resumeBody(): void;
  /** The caller has sent nothing for too long. */
  bodySilent(): void;
}

export class CallBody {
  readonly #bytesMax: number;
  readonly #flow: BodyConnection;
  /** Set while a body is still arriving, wanted or not. */
  #arriving: BodyCollector | undefined = undefined;
  /** `undefined` for one that is chunked. */
  #announcedBytes: number | undefined = undefined;
  /** The same body for who takes it as it comes. */
  #incoming: IncomingBody | undefined = undefined;

  constructor(bytesMax: number, flow: BodyConnection) {
    this.#bytesMax = bytesMax;
    this.#flow = flow;
  }

  /** Whether it is still arriving. */
  get pending(): boolean {
    return this.#arriving !== undefined;
  }

  /** Somebody takes it as it comes, and is ready for more. */
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
    this.#arriving = new BodyCollector(this.#bytesMax, bodyBytes);
    if (!chunked) this.#announcedBytes = bodyBytes;
  }

  /** Nobody will look at it: only its end, and its length, are watched from now on. */
  discard(): void {
    this.#arriving?.discard();
  }

  /** Not even its end matters. */
  passOver(): void {
    this.#arriving = undefined;
  }

  /** The body for who takes it as it comes; `undefined` when there is none. The same one each time. */
  incoming(): ByteSource | undefined {
    if (this.#incoming !== undefined || this.#arriving === undefined) return this.#incoming;
    // The collector keeps nothing from here on; it only counts the bytes, for the limit.
    this.#arriving.discard();
    this.#incoming = new IncomingBody(this.#announcedBytes, {
      pause: () => this.#flow.pauseBody(),
      resume: () => this.#flow.resumeBody(),
      silent: () => this.#flow.bodySilent(),
    });
    return this.#incoming;
  }

  /** Nobody takes it yet: it waits, in bounded memory. */
  holdBack(): void {
    this.#incoming?.holdBack();
  }

  /** A piece has come; `true` when that was more than anybody waits for. `borrowed`: its memory is gone when this returns. */
  add(chunk: Uint8Array, borrowed: boolean): boolean {
    const body = this.#arriving;
    if (body === undefined || this.#incoming?.add(chunk, borrowed) === true) return false;
    body.add(chunk, borrowed);
    if (!body.exhausted) return false;
    this.#arriving = undefined;
    return true;
  }

  /** All has come: what there is for the chain; `undefined` when somebody has been told already, or nobody waits. */
  end(): Body | undefined {
    const body = this.#arriving;
    if (body === undefined) return undefined;
    // First: what takes the end may answer at once.
    this.#arriving = undefined;
    if (this.#incoming === undefined) return body.take();
    return this.#incoming.finish() ? undefined : 'none';
  }

  /** The rest will never come, or nobody is there for it. */
  drop(): void {
    this.#arriving = undefined;
    this.#incoming?.drop();
  }

  /** Nobody takes the rest of a body that was to come as it comes; `false` when it was not, or has come. */
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
