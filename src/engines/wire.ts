// The way to one replica: bounded connections and a bounded queue over undici's dispatch; the only importer of undici.
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { AttemptFailure, EngineCall, EngineResponse } from '../ports/engine.ts';

export interface WireLimits {
  /** Deadline of one attempt, for all its calls together. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** Calls under way to one replica. */
  readonly connectionsMax: number;
  /** Calls that may wait for one of them to end. */
  readonly queueMax: number;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number;
}

/**
 * The share of its deadline that a call may spend waiting for its turn. Without it a queue that is never empty is only ever
 * served to calls that are about to run out of time: the engine works without pause, and every attempt is a timeout.
 */
const WAIT_SHARE = 0.5;

/** Shorter than any engine's idle timeout is likely to be, so that a call seldom meets a connection that is about to close. */
const KEEP_ALIVE_MS = 4000;

/** `kept` connections are reused; a `fresh` one is opened for the call and closed after it. */
export type Connection = 'kept' | 'fresh';

type Settle = (result: EngineResponse | AttemptFailure) => void;

/** One replica's connections. A call goes out at once, waits for its turn, or is refused as `busy`. */
export class ReplicaWire {
  readonly #kept: Pool;
  readonly #fresh: Pool;
  readonly #basePath: string;
  readonly #limits: WireLimits;
  readonly #nowMs: () => number;
  /** Oldest first. */
  readonly #waiting = new Set<WireCall>();
  #underWay = 0;
  #starting = false;

  /** `url` must have passed `readEngineUrl`. */
  constructor(url: URL, limits: WireLimits) {
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#limits = limits;
    this.#nowMs = limits.nowMs ?? (() => performance.now());
    const options: Pool.Options = {
      connections: limits.connectionsMax,
      // The attempt's own timer is the deadline: undici's are coarse, and its body timeout never fires on a drip.
      headersTimeout: 0,
      bodyTimeout: 0,
      // A call that was given up while its connection was opening keeps its place until this is over.
      connectTimeout: limits.timeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // HTTP/2 would put many calls on one connection and lose them together.
      allowH2: false,
    };
    this.#kept = new Pool(url.origin, { ...options, pipelining: 1 });
    // Without pipelining undici closes a connection after its answer.
    this.#fresh = new Pool(url.origin, { ...options, pipelining: 0 });
  }

  /** Starts a call; `settle` is called exactly once. */
  call(call: EngineCall, connection: Connection, settle: Settle): WireCall {
    const started = new WireCall(this, this.#basePath, call, connection, this.#limits.responseBytesMax, settle);
    if (this.#underWay < this.#limits.connectionsMax) {
      // Only of a call that never waited its turn can it be said that connecting took all its time.
      started.stage = 'connecting';
      this.#dispatch(started);
    } else if (this.#waiting.size < this.#limits.queueMax) {
      started.waitingSinceMs = this.#nowMs();
      this.#waiting.add(started);
    } else {
      started.stop('busy');
    }
    return started;
  }

  leaveQueue(call: WireCall): void {
    this.#waiting.delete(call);
  }

  /** undici is done with a call: its connection is free or gone. */
  release(): void {
    this.#underWay--;
    // A call that fails at once releases in turn; one loop serves them all, not one stack frame each.
    if (this.#starting || this.#waiting.size === 0) return;
    this.#starting = true;
    const sinceMs = this.#nowMs() - this.#limits.timeoutMs * WAIT_SHARE;
    for (const call of this.#waiting) {
      if (this.#underWay >= this.#limits.connectionsMax) break;
      this.#waiting.delete(call);
      if (call.waitingSinceMs < sinceMs) call.stop('busy');
      else this.#dispatch(call);
    }
    this.#starting = false;
  }

  /** Lets calls under way end. */
  async close(): Promise<void> {
    await Promise.all([this.#kept.close(), this.#fresh.close()]);
  }

  /** Breaks off whatever is under way. */
  async destroy(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh.destroy()]);
  }

  #dispatch(call: WireCall): void {
    this.#underWay++;
    (call.connection === 'kept' ? this.#kept : this.#fresh).dispatch(call.request, call);
  }
}

const CALLED_OFF = new Error('called off');
/** What undici says when the fault is in the call, not in the engine. */
const OUR_FAULTS = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']);

/** One HTTP exchange; itself undici's handler, so that a call costs no closures. */
export class WireCall implements Dispatcher.DispatchHandler {
  readonly connection: Connection;
  readonly request: Dispatcher.DispatchOptions;
  stage: 'waiting' | 'connecting' | 'sent' | 'settled' = 'waiting';
  waitingSinceMs = 0;
  readonly #replica: ReplicaWire;
  readonly #bytesMax: number;
  readonly #settle: Settle;
  #controller: Dispatcher.DispatchController | undefined = undefined;
  #status = 0;
  #bytes = 0;
  #body: Uint8Array | undefined = undefined;
  /** Set when the body came in more than one chunk. */
  #chunks: Uint8Array[] | undefined = undefined;

  constructor(replica: ReplicaWire, basePath: string, call: EngineCall, connection: Connection, bytesMax: number, settle: Settle) {
    this.#replica = replica;
    this.#bytesMax = bytesMax;
    this.#settle = settle;
    this.connection = connection;
    const headers = ['accept-encoding', 'identity'];
    for (const name of Object.keys(call.headers)) headers.push(name, call.headers[name]!);
    this.request = { method: call.method, path: basePath + call.path, headers, body: call.body ?? null };
  }

  /** Gives the call up for a reason; its connection is not used again. */
  stop(failure: AttemptFailure): void {
    const { stage } = this;
    if (stage === 'settled') return;
    this.#end(failure);
    if (stage === 'waiting') this.#replica.leaveQueue(this);
    this.#controller?.abort(CALLED_OFF);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while the connection was opening: undici had no way to be told before.
    if (this.stage === 'settled') controller.abort(CALLED_OFF);
    else this.stage = 'sent';
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // Also called for interim answers (1xx); the last one counts.
    this.#status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bytesMax) {
      this.#end('too_large');
      controller.abort(CALLED_OFF);
    } else if (this.#body === undefined) {
      this.#body = chunk;
    } else {
      this.#chunks ??= [this.#body];
      this.#chunks.push(chunk);
    }
  }

  onResponseEnd(): void {
    const body = this.#chunks === undefined ? this.#body : Buffer.concat(this.#chunks, this.#bytes);
    this.#end({ status: this.#status, body: body ?? new Uint8Array(0) });
    this.#replica.release();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(failureOf(error, this.#controller !== undefined));
    this.#replica.release();
  }

  #end(result: EngineResponse | AttemptFailure): void {
    if (this.stage === 'settled') return;
    this.stage = 'settled';
    this.#body = undefined;
    this.#chunks = undefined;
    this.#settle(result);
  }
}

/** Only the kind of an error is kept: its message may quote the engine. */
function failureOf(error: Error, sent: boolean): AttemptFailure {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && OUR_FAULTS.has(code)) return 'internal';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'too_large';
  return sent ? 'reset' : 'connect';
}
