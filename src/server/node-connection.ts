// One connection of the node:http listener: its calls in order, and what happens when its bytes are no HTTP.
import type { IncomingMessage, ServerResponse } from 'node:http';
import process from 'node:process';
import type { Duplex } from 'node:stream';
import type { Exchange, Handed, Sink } from '../core/exchange.ts';
import type { Refusal, Reply } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { NO_HEAD } from './call.ts';
import type { HeaderCollector } from './header-collector.ts';
import { HEAD_BYTES_MAX } from './listener.ts';
import type { ListenerState } from './listener.ts';
import { NodeCall } from './node-call.ts';
import type { CallOwner } from './node-call.ts';
import { compose, serialise } from './response-message.ts';

/** Requests that one connection may have open: one is worked on, the others wait. With more it is cut. */
const PIPELINE_MAX = 64;
/** How long a connection that was refused goes on reading, so that its caller can read the refusal. */
const LINGER_MS = 1_000;

/** A request behind another one on its connection. */
interface WaitingRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** What is wrong with its body, if the parser gave up in it. */
  fault: string | undefined;
}

export class NodeConnection implements Sink, CallOwner {
  readonly #shared: ListenerState;
  readonly #socket: Duplex;
  readonly #collector: HeaderCollector;
  /** The one that is worked on, or was last. */
  #call: NodeCall | undefined = undefined;
  #waiting: WaitingRequest[] = [];
  /** Nothing that still arrives is handled. */
  #condemned = false;
  #refused = false;

  constructor(shared: ListenerState, socket: Duplex, collector: HeaderCollector) {
    this.#shared = shared;
    this.#socket = socket;
    this.#collector = collector;
    socket.once('close', () => {
      this.#waiting = [];
      this.#call?.gone();
    });
  }

  /**
   * Requests that are pipelined begin one after the other, each when the answer before it has been handed to the system: what
   * waits behind another holds no reservation, asks no engine, and is not charged to a caller who leaves meanwhile.
   */
  request(req: IncomingMessage, res: ServerResponse): void {
    if (this.#condemned) return;
    // Node gives an answer its connection when its turn has come.
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
    call.start(this.#collector);
    if (!call.closes) return;
    this.#condemned = true;
    this.#waiting = [];
  }

  /** The turn of the first that waits, unless it was given up. */
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

  /** The parser gave up, the caller was too slow, or the connection broke. */
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
    // An answer that was written before its body had come cannot be followed by a second one.
    if (call.isOpen) call.fault(detail);
    else this.#socket.destroy();
  }

  /** Answers on the bare connection: there is no request that the library would know of. */
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

  /** There is no request that had a route. */
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

/** No byte has come on it: it is closed without an answer. */
function silent(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0;
}

/** The problem's detail; `undefined` for errors of the connection, after which no answer can be sent. */
function detailOf(code = ''): string | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return `headers: request line and fields together may have ${HEAD_BYTES_MAX} bytes.`;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request: it did not arrive in time; send it faster or send less.';
  return code.startsWith('HPE_') ? 'request: it is not well-formed HTTP/1.1.' : undefined;
}
