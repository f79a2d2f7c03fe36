// The way to one replica: bounded connections, and a bounded queue for them.
import { performance } from 'node:perf_hooks';
import type { AttemptFailure, EngineCall, EngineResponse } from '../../ports/engine.ts';
import { EngineOrigin } from './origin.ts';
import { fixedLines, requestText } from './request.ts';
import { EngineSocket } from './client.ts';
import type { Exchange, SocketOwner } from './client.ts';
import { KeptSockets } from './idle-sockets.ts';

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

/** `kept` connections are reused; a `fresh` one is opened for the call and closed after it. */
export type Connection = 'kept' | 'fresh';

type Settle = (result: EngineResponse | AttemptFailure) => void;

/** One replica's connections. A call goes out at once, waits for its turn, or is refused as `busy`. */
export class ReplicaWire implements SocketOwner {
  readonly #origin: EngineOrigin;
  readonly #basePath: string;
  readonly #lines: Readonly<Record<Connection, string>>;
  readonly #limits: WireLimits;
  readonly #nowMs: () => number;
  readonly #kept: KeptSockets;
  /** In whatever state. */
  readonly #open = new Set<EngineSocket>();
  /** Oldest first. */
  readonly #waiting = new Set<WireCall>();
  /** Connections that hold a place: all but the idle ones. */
  #underWay = 0;
  #closing = false;
  #destroyed = false;
  readonly #onQuiet: (() => void)[] = [];

  /** `url` must have passed `readEngineUrl`. */
  constructor(url: URL, limits: WireLimits) {
    this.#origin = new EngineOrigin(url);
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#lines = fixedLines(this.#origin.host);
    this.#limits = limits;
    this.#nowMs = limits.nowMs ?? (() => performance.now());
    this.#kept = new KeptSockets(this.#nowMs, () => this.#free());
  }

  /** Starts a call; `settle` is called exactly once. */
  call(call: EngineCall, connection: Connection, settle: Settle): WireCall {
    const request = requestText(call, this.#basePath, this.#lines[connection]);
    const started = new WireCall(this, request ?? '', connection, settle);
    if (request === undefined) {
      started.stop('internal');
    } else if (this.#destroyed) {
      started.stop('connect');
    } else if (this.#underWay < this.#limits.connectionsMax) {
      // Only of a call that never waited its turn can it be said that connecting took all its time.
      started.stage = 'connecting';
      this.#start(started);
    } else if (this.#waiting.size < this.#limits.queueMax + this.#kept.resting) {
      // A place of a connection that rests is as good as free: to wait for it takes none in the queue.
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

  onRest(socket: EngineSocket): void {
    if (this.#closing) socket.destroy();
    else this.#kept.rest(socket);
  }

  onGone(socket: EngineSocket): void {
    this.#open.delete(socket);
    if (socket.idle) this.#kept.forget(socket);
    else this.#free();
  }

  /** Lets calls under way end. */
  close(): Promise<void> {
    this.#closing = true;
    for (const socket of this.#open) if (!socket.busy) socket.destroy();
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onQuiet.push(resolve));
  }

  /** Breaks off whatever is under way. */
  destroy(): Promise<void> {
    this.#closing = true;
    this.#destroyed = true;
    for (const call of this.#waiting) call.stop('connect');
    for (const socket of this.#open) socket.breakOff();
    return Promise.resolve();
  }

  #start(call: WireCall): void {
    this.#underWay++;
    const kept = call.connection === 'kept';
    let socket = kept ? this.#kept.take() : undefined;
    if (socket === undefined) {
      const { connectionsMax, responseBytesMax } = this.#limits;
      // Idle ones count: an engine may have a bound of its own.
      if (this.#underWay + this.#kept.idle > connectionsMax) this.#kept.dropOldest();
      socket = new EngineSocket(this.#origin, kept, responseBytesMax, this);
      this.#open.add(socket);
    }
    call.startOn(socket);
  }

  /** A place is free. */
  #free(): void {
    this.#underWay--;
    if (this.#waiting.size > 0) this.#startWaiting();
    if (this.#closing && this.#underWay === 0) for (const quiet of this.#onQuiet.splice(0)) quiet();
  }

  #startWaiting(): void {
    const sinceMs = this.#nowMs() - this.#limits.timeoutMs * WAIT_SHARE;
    for (const call of this.#waiting) {
      if (this.#underWay >= this.#limits.connectionsMax) return;
      this.#waiting.delete(call);
      if (call.waitingSinceMs < sinceMs) call.stop('busy');
      else this.#start(call);
    }
  }
}

/** One HTTP exchange; itself what its connection reports to, so that a call costs no closures. */
export class WireCall implements Exchange {
  readonly connection: Connection;
  stage: 'waiting' | 'connecting' | 'sent' | 'settled' = 'waiting';
  waitingSinceMs = 0;
  readonly #replica: ReplicaWire;
  readonly #settle: Settle;
  #request: string;
  #socket: EngineSocket | undefined = undefined;

  constructor(replica: ReplicaWire, request: string, connection: Connection, settle: Settle) {
    this.#replica = replica;
    this.#request = request;
    this.connection = connection;
    this.#settle = settle;
  }

  /** Gives the call up for a reason; its connection is not used again. */
  stop(failure: AttemptFailure): void {
    if (this.stage === 'settled') return;
    const socket = this.#socket;
    this.#end(failure);
    if (socket === undefined) this.#replica.leaveQueue(this);
    else socket.destroy();
  }

  startOn(socket: EngineSocket): void {
    this.#socket = socket;
    socket.start(this, this.#request);
    this.#request = '';
  }

  onSent(): void {
    this.stage = 'sent';
  }

  onAnswer(response: EngineResponse): void {
    this.#end(response);
  }

  onFailure(failure: AttemptFailure): void {
    this.#end(failure);
  }

  #end(result: EngineResponse | AttemptFailure): void {
    if (this.stage === 'settled') return;
    this.stage = 'settled';
    // It goes on to other exchanges.
    this.#socket = undefined;
    this.#request = '';
    this.#settle(result);
  }
}
