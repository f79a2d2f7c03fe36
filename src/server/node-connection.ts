// One connection of the node:http listener: its calls in order, and the handling of bytes that are not HTTP.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Exchange, Handed, Sink } from '../core/exchange.ts';
import type { Refusal, Reply } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { NO_HEAD } from './call.ts';
import type { HeaderFields } from './request-message.ts';
import { HEAD_BYTES_MAX } from './listener.ts';
import type { ListenerState } from './listener.ts';
import { NodeCall } from './node-call.ts';
import type { CallOwner } from './node-call.ts';
import { compose, serialise } from './response-message.ts';

/** Maximum number of open requests per connection: one is being handled, the others wait. Beyond it the connection is cut. */
const PIPELINE_MAX = 64;
/** How long a refused connection continues to read, so that its caller can read the refusal. */
const LINGER_MS = 1_000;

/** A pipelined request that waits for the one before it. */
interface WaitingRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** What is wrong with its body, if the parser failed there. */
  fault: string | undefined;
}

export class NodeConnection implements Sink, CallOwner {
  readonly receivedBytes = 0;
  readonly #shared: ListenerState;
  readonly #socket: Duplex;
  readonly #fields: HeaderFields;
  /** The current call, or the last one. */
  #call: NodeCall | undefined = undefined;
  #waiting: WaitingRequest[] = [];
  /** Nothing that still arrives is handled. */
  #condemned = false;
  #refused = false;

  constructor(shared: ListenerState, socket: Duplex, fields: HeaderFields) {
    this.#shared = shared;
    this.#socket = socket;
    this.#fields = fields;
    socket.once('close', () => {
      this.#waiting = [];
      this.#call?.gone();
    });
  }

  /**
   * Pipelined requests start one after another, each when the previous answer has been handed to the system: a waiting request
   * holds no reservation, calls no engine, and is not charged if its caller disconnects meanwhile.
   */
  request(req: IncomingMessage, res: ServerResponse): void {
    if (this.#condemned) return;
    // Node assigns the connection to a response when it is its turn.
    if (res.socket !== null) return this.#begin(req, res);
    if (this.#waiting.length + 1 >= PIPELINE_MAX) {
      this.#socket.destroy();
      return;
    }
    this.#waiting.push({ req, res, fault: undefined });
    res.once('socket', () => process.nextTick(() => this.#next(res)));
  }

  #begin(req: IncomingMessage, res: ServerResponse): void {
    const call = (this.#call = new NodeCall(this.#shared, this, req, res));
    call.start(this.#fields);
    if (!call.closes) return;
    this.#condemned = true;
    this.#waiting = [];
  }

  /** Starts the first waiting request, unless it was discarded. */
  #next(res: ServerResponse): void {
    if (this.#waiting[0]?.res !== res) {
      this.#socket.destroy();
      return;
    }
    const { req, fault } = this.#waiting.shift()!;
    this.#begin(req, res);
    if (fault !== undefined) this.#bodyFailed(this.#call!, fault);
  }

  get endsNow(): boolean {
    return (this.#condemned || this.#shared.draining) && this.#waiting.length === 0;
  }

  /** The parser failed, the caller was too slow, or the connection broke. */
  failed(error: NodeJS.ErrnoException): void {
    const detail = detailOf(error.code);
    if (detail === undefined || !this.#socket.writable) {
      if (!this.#refused) this.#socket.destroy();
      return;
    }
    this.#condemned = true;
    const last = this.#waiting.at(-1);
    if (last !== undefined) {
      if (!last.req.complete) last.fault = detail;
    } else if (this.#call?.bodyPending === true) this.#bodyFailed(this.#call, detail);
    else if (this.#call?.isOver !== false) this.refuseRaw(detail);
  }

  #bodyFailed(call: NodeCall, detail: string): void {
    // An answer sent before the end of its body cannot be followed by a second one.
    if (call.isOpen) call.fault(detail);
    else this.#socket.destroy();
  }

  /** Answers on the raw socket, because there is no request that the library knows of. */
  refuseRaw(detail: string): void {
    if (this.#refused) return;
    this.#condemned = true;
    this.#refused = true;
    if (silent(this.#socket)) {
      this.#socket.destroy();
      return;
    }
    this.#socket.on('error', () => this.#socket.destroy());
    this.#shared.gateway.refuse(NO_HEAD, this, refuse('validation_error', detail));
  }

  /** Never called: such a request has no route. */
  stream(): void {
    throw new Error('a refusal is not streamed');
  }

  incoming(): undefined {
    return undefined;
  }

  remoteAddress(): string {
    return '';
  }

  send(x: Exchange, outcome: Reply | Refusal): Handed {
    this.#socket.end(serialise(compose(outcome, x, this.#shared.problems)));
    const linger = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('close', () => clearTimeout(linger));
    return 'written';
  }
}

/** Without a single byte received, the connection is closed without an answer. */
function silent(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0;
}

/** The problem's detail; `undefined` for connection errors, after which no answer can be sent. */
function detailOf(code = ''): string | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return `headers: request line and fields together may be at most ${HEAD_BYTES_MAX} bytes long.`;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request: it did not arrive in time; send it faster or send less.';
  return code.startsWith('HPE_') ? 'request: it is not well-formed HTTP/1.1.' : undefined;
}
