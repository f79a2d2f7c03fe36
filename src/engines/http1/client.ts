// One connection to a replica: one request after the other. An answer that is not clear ends the connection.
import type { Socket } from 'node:net';
import type { AttemptFailure, EngineResponse, FailureCause } from '../../ports/engine.ts';
import { connectCauseOf } from './origin.ts';
import type { Origin } from './origin.ts';
import type { RequestText } from './request.ts';
import type { ResponseParser } from './response-parser.ts';
import type { ResponseParsers } from './response-parsers.ts';

/**
 * What is read is parsed before anything else is read, so one piece of memory does for all connections: one that was written a
 * moment ago is in the processor's cache, and an idle connection holds none.
 */
const readBuffer = Buffer.allocUnsafeSlow(65_536);

/** Waits for the response to a request; called once, unless it has destroyed the connection itself. */
export interface ResponseHandler {
  onSent(): void;
  onResponse(response: EngineResponse): void;
  onFailure(failure: AttemptFailure, cause?: FailureCause): void;
}

/** The pool, which counts connections. */
export interface ClientOwner {
  /** The request is over and the connection can be used again. */
  onRest(client: Client): void;
  /** Told once. */
  onGone(client: Client): void;
  /** Bytes came that nobody had asked for: whose they are cannot be known, on this connection or on others to that engine. */
  onUnasked(client: Client): void;
}

const NOWHERE = { underWay: 0 };

/** An engine that refuses a request need not have read it; one that translates must. */
const REFUSED = 400;

export class Client {
  /** To be used again, if all is well. */
  readonly reusable: boolean;
  /** Set by the owner: no request is on it, and it does not count against the limit of connections. */
  idle = false;
  /** Set by the owner: from this time on it is not used again. */
  idleUntilMs = 0;
  /** Set by the owner: whose call holds it. */
  place: { underWay: number } = NOWHERE;
  /** For how long the server keeps it, by its latest answer; 0 when it must not be used again. */
  keepsSeconds = 0;
  readonly #owner: ClientOwner;
  readonly #socket: Socket;
  readonly #parsers: ResponseParsers;
  readonly #secure: boolean;
  /** An answer that names another request is refused; `false` for engines that number their answers themselves. */
  readonly #checksIds: boolean;
  /** Set while an answer is arriving. */
  #parser: ResponseParser | undefined = undefined;
  #handler: ResponseHandler | undefined = undefined;
  /** Waits for the connection. */
  #request: RequestText | undefined = undefined;
  #id = '';
  #ready = false;
  /** Pieces of a request are still to be written. */
  #writing = false;
  #gone = false;
  /** Has carried a request. */
  #served = false;
  /** Carried a request before the one that it carries now: what comes may be an answer to that. */
  #used = false;
  /** The answer began before the whole request was sent. */
  #early = false;
  /** The answer is complete, but whether the request had been sent before is known only in the next check phase. */
  #undecided = false;

  constructor(origin: Origin, reusable: boolean, parsers: ResponseParsers, owner: ClientOwner, checksIds = true) {
    this.reusable = reusable;
    this.#checksIds = checksIds;
    this.#owner = owner;
    this.#parsers = parsers;
    this.#secure = origin.readyEvent === 'secureConnect';
    this.#socket = origin.open({ buffer: readBuffer, callback: (length) => this.#read(length) });
    this.#socket.once(origin.readyEvent, () => this.#connected());
    this.#socket.on('end', () => this.#ended());
    this.#socket.on('error', (error) => (this.#ready ? this.breakOff() : this.#fail('connect', connectCauseOf(error, this.#secure))));
    this.#socket.on('close', () => this.breakOff());
  }

  get busy(): boolean {
    return this.#handler !== undefined;
  }

  get gone(): boolean {
    return this.#gone;
  }

  /**
   * Part of the request is still with us: an engine that has answered before it has the whole may take the rest of it for the next
   * request. Behind TLS it is known only in the next check phase of the event loop: what the kernel took at once is reported as
   * sent there, and the answer to it can be read before that.
   */
  get unsent(): boolean {
    return this.#writing || this.#socket.writableLength > 0;
  }

  /** In use, and not for the first time. */
  get busyAgain(): boolean {
    return this.#used && this.#handler !== undefined;
  }

  start(handler: ResponseHandler, request: RequestText): void {
    this.#handler = handler;
    this.#request = request;
    this.#id = request.id;
    this.#used = this.#served;
    this.#served = true;
    if (this.#ready) this.#send();
  }

  /** Does not call the handler. */
  destroy(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#handler = undefined;
    this.#request = undefined;
    this.#dropParser();
    this.#socket.destroy();
    this.#owner.onGone(this);
  }

  /** Ends the request and the connection. The handler is called last, because it may start another request, for which there is room now. */
  #fail(failure: AttemptFailure, cause?: FailureCause): void {
    const handler = this.#handler;
    this.destroy();
    handler?.onFailure(failure, cause);
  }

  /** Nobody can tell any more whose answer is on its way. */
  distrust(): void {
    this.#fail('unasked');
  }

  /** As when the connection breaks. */
  breakOff(): void {
    this.#fail(this.#ready ? 'reset' : 'connect');
  }

  #connected(): void {
    this.#ready = true;
    if (this.#handler !== undefined) this.#send();
  }

  #send(): void {
    const { text, encoding, pieces } = this.#request!;
    this.#request = undefined;
    // Head and body in one write: mostly one system call, and one packet.
    this.#socket.write(text, encoding);
    if (pieces !== undefined) this.#write(pieces, 0);
    this.#handler?.onSent();
  }

  /** The system takes so much at once as it has room for, and the rest goes when the engine has read: never all of a long body in one go. */
  #write(pieces: readonly Uint8Array[], first: number): void {
    for (let i = first; i < pieces.length && !this.#gone; i++) {
      this.#writing = i + 1 < pieces.length;
      if (this.#socket.write(pieces[i]!)) continue;
      this.#socket.once('drain', () => this.#write(pieces, i + 1));
      return;
    }
  }

  /** False stops the reading. */
  #read(length: number): boolean {
    if (this.#gone) return false;
    // Bytes before a request or after an answer, which nobody has asked for.
    if (this.#handler === undefined || !this.#ready) {
      this.#owner.onUnasked(this);
      this.breakOff();
      return false;
    }
    const parser = (this.#parser ??= this.#beginAnswer());
    const reading = parser.read(readBuffer, length);
    if (this.#undecided || reading === 'open') return !this.#gone;
    if (reading === 'complete') this.#completed(parser);
    else this.#refuse(reading);
    return !this.#gone;
  }

  #beginAnswer(): ResponseParser {
    // Behind TLS that is not known yet.
    this.#early = !this.#secure && this.unsent;
    return this.#parsers.take(this.#id, this.#checksIds);
  }

  /** What cannot be read may be the rest of an earlier answer, where there was one. */
  #refuse(reading: 'malformed' | 'too_large' | 'foreign'): void {
    if (this.#used && reading !== 'too_large') this.#owner.onUnasked(this);
    if (reading === 'malformed') this.#fail('reset');
    else this.#fail(reading === 'foreign' ? 'foreign_id' : 'too_large');
  }

  #completed(parser: ResponseParser): void {
    if (!this.#secure || !this.unsent) {
      this.#answered(parser);
      return;
    }
    this.#undecided = true;
    setImmediate(() => {
      this.#undecided = false;
      if (this.#gone || this.#parser !== parser) return;
      this.#early = this.unsent;
      this.#answered(parser);
    });
  }

  #answered(parser: ResponseParser): void {
    const handler = this.#handler!;
    const response = parser.take();
    const early = this.#early && response.status < REFUSED;
    if (early || parser.excess) {
      this.#owner.onUnasked(this);
      // Behind one more answer, or before its time: it may be that of the request before, unless it says whose it is.
      if (early || (this.#used && response.echoedId !== true)) {
        this.#fail('unasked');
        return;
      }
    }
    this.#handler = undefined;
    this.keepsSeconds = parser.keepsSeconds;
    this.#dropParser();
    if (this.reusable && this.keepsSeconds > 0 && !this.#writing && (this.#secure || !this.unsent)) this.#owner.onRest(this);
    else this.destroy();
    handler.onResponse(response);
  }

  #ended(): void {
    const parser = this.#parser;
    if (this.#handler === undefined || !this.#ready || parser?.end() !== 'complete') this.breakOff();
    else if (!this.#undecided) this.#completed(parser);
  }

  #dropParser(): void {
    if (this.#parser === undefined) return;
    this.#parsers.giveBack(this.#parser);
    this.#parser = undefined;
  }
}
