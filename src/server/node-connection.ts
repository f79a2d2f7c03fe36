// One connection of the node:http listener: its calls in order, and what happens when its bytes are no HTTP.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Exchange, Sink } from '../core/exchange.ts';
import type { Refusal, Reply } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { NO_HEAD } from './call.ts';
import type { HeaderCollector } from './header-collector.ts';
import { HEAD_BYTES_MAX } from './listener.ts';
import type { ListenerState } from './listener.ts';
import { NodeCall } from './node-call.ts';
import { compose, serialise } from './response-message.ts';

/** Requests that one connection may have open at the same time; with more it is cut. */
const PIPELINE_MAX = 64;
/** How long a connection that was refused goes on reading, so that its caller can read the refusal. */
const LINGER_MS = 1_000;

export class NodeConnection implements Sink {
  readonly #shared: ListenerState;
  readonly #socket: Duplex;
  readonly #open = new Set<NodeCall>();
  #newest: NodeCall | undefined = undefined;
  /** Nothing that still arrives is handled. */
  #condemned = false;
  #refused = false;

  constructor(shared: ListenerState, socket: Duplex) {
    this.#shared = shared;
    this.#socket = socket;
    socket.once('close', () => {
      for (const call of this.#open) call.gone();
      this.#open.clear();
    });
  }

  request(req: IncomingMessage, res: ServerResponse, collector: HeaderCollector): void {
    if (this.#condemned) return;
    if (this.#open.size >= PIPELINE_MAX) {
      this.#socket.destroy();
      return;
    }
    const call = new NodeCall(this.#shared, this, req, res);
    this.#newest = call;
    this.#open.add(call);
    call.start(collector);
    if (call.closes) this.#condemned = true;
  }

  answered(call: NodeCall): boolean {
    this.#open.delete(call);
    return this.#open.size === 0;
  }

  /** Whether the connection may end with this call's answer: not while later calls wait for theirs. */
  endsWith(call: NodeCall): boolean {
    return (this.#condemned || this.#shared.draining) && this.#newest === call;
  }

  /** The parser gave up, the caller was too slow, or the connection broke. */
  failed(error: NodeJS.ErrnoException): void {
    const detail = detailOf(error.code);
    if (detail === undefined || !this.#socket.writable) {
      if (!this.#refused) this.#socket.destroy();
      return;
    }
    this.#condemned = true;
    if (this.#newest?.bodyPending === true) this.#bodyFailed(this.#newest, detail);
    else if (this.#open.size === 0) this.refuseRaw(detail);
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

  send(x: Exchange, outcome: Reply | Refusal): void {
    this.#socket.end(serialise(compose(outcome, x, this.#shared.problems)));
    const linger = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    this.#socket.once('close', () => clearTimeout(linger));
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
