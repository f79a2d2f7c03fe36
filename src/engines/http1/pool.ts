// The connection pool of one replica, with a bounded number of connections and a bounded queue.
import { performance } from 'node:perf_hooks';
import type { AttemptFailure, EngineCall, EngineResponse, FailureCause } from '../../ports/engine.ts';
import { Origin } from './origin.ts';
import { fixedLines, requestText } from './request.ts';
import type { RequestText } from './request.ts';
import { Client } from './client.ts';
import type { ResponseHandler, ClientOwner } from './client.ts';
import { IdleSockets } from './idle-sockets.ts';
import { ResponseParsers } from './response-parsers.ts';
import { TeamTurns } from './team-turns.ts';
import type { Lane } from './team-turns.ts';

export interface PoolLimits {
  /** Deadline of one attempt, covering all its calls. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** Maximum number of calls in flight to one replica. */
  readonly connectionsMax: number;
  /** Maximum number of calls waiting for a connection. */
  readonly queueMax: number;
  /** The share of `connectionsMax` that one team may hold while others are active; half by default. */
  readonly teamShare?: number;
  /** Additional fields for every request; they replace an adapter's fields of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `false` opens a new connection for every call. */
  readonly keepAlive?: boolean;
  /** `false` ignores a foreign `X-Request-Id` in answers. */
  readonly checkIds?: boolean;
  /** Unsolicited bytes arrived; `begins` if there had been none for a minute. `replica` is its URL. */
  readonly onUnasked?: (replica: string, begins: boolean) => void;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number;
}

/**
 * The share of its deadline that a call may wait for a connection. Without this limit, under constant overload each call would
 * get its connection just before its deadline: the engine would be busy all the time while every attempt timed out.
 */
const WAIT_SHARE = 0.5;

const TEAM_SHARE = 0.5;

/** How long after unsolicited bytes no connection is reused. */
const DISTRUST_MS = 60_000;

/** A `reused` connection is kept for further calls; a `fresh` one is opened for one call and then closed. */
export type ConnectionUse = 'reused' | 'fresh';

type Settle = (result: EngineResponse | AttemptFailure) => void;

/** Who makes a call. */
export interface Asker {
  /** Sent as `X-Request-Id`; empty for none. */
  readonly requestId: string;
  readonly teamId?: string | undefined;
}

const NOBODY: Asker = { requestId: '' };

/** One replica's connections. A call is sent at once, queued, or refused as `busy`. */
export class Pool implements ClientOwner {
  readonly #href: string;
  readonly #origin: Origin;
  readonly #basePath: string;
  readonly #lines: Readonly<Record<ConnectionUse, string>>;
  /** Lower-case names of fields in those lines, which an adapter must not repeat. */
  readonly #taken: readonly string[];
  readonly #limits: PoolLimits;
  readonly #nowMs: () => number;
  readonly #idle: IdleSockets;
  readonly #parsers: ResponseParsers;
  /** Every open connection: connecting, in use, resting or idle. */
  readonly #open = new Set<Client>();
  readonly #turns: TeamTurns<PoolRequest>;
  /** Connections that count against the limit: all except idle ones. */
  #inFlight = 0;
  /** Until this time no connection is reused; 0 if all is well. */
  #distrustUntilMs = 0;
  #closing = false;
  #destroyed = false;
  /** Resolved when the last call in flight has ended and no more may follow. */
  readonly #quiet = Promise.withResolvers<void>();

  /** `url` must have passed `readEngineUrl`. */
  constructor(url: URL, limits: PoolLimits) {
    this.#href = url.href;
    this.#origin = new Origin(url);
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#lines = fixedLines(this.#origin.host, limits.headers);
    this.#taken = Object.keys(limits.headers ?? {}).map((name) => name.toLowerCase());
    this.#limits = limits;
    this.#nowMs = limits.nowMs ?? (() => performance.now());
    this.#parsers = new ResponseParsers(limits.responseBytesMax);
    this.#idle = new IdleSockets(this.#nowMs, (client) => this.#free(client));
    this.#turns = new TeamTurns(limits.connectionsMax, limits.teamShare ?? TEAM_SHARE, this.#nowMs);
  }

  /** Starts a call; `settle` is called exactly once. */
  call(call: EngineCall, connection: ConnectionUse, settle: Settle, asker: Asker = NOBODY): PoolRequest {
    const lines = this.#lines[this.#keeps(connection) ? 'reused' : 'fresh'];
    const request = requestText(call, this.#basePath, lines, this.#taken, asker.requestId);
    const lane = this.#turns.called(asker.teamId ?? '');
    const started = new PoolRequest(this, lane, request, connection, settle);
    if (request === undefined) {
      started.stop('internal');
    } else if (this.#destroyed) {
      started.stop('connect');
    } else if (this.#inFlight < this.#limits.connectionsMax && lane.waiting.size === 0 && this.#turns.admits(lane)) {
      // Only a call that never waited can have spent all its time connecting.
      started.stage = 'connecting';
      this.#start(started);
    } else {
      this.#wait(started, lane);
    }
    return started;
  }

  /** Connections in use. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls in the queue. */
  get waiting(): number {
    return this.#turns.size;
  }

  #wait(call: PoolRequest, lane: Lane<PoolRequest>): void {
    // A resting connection becomes free within two turns of the event loop, so a call waiting for one does not count against
    // the queue.
    const full = this.#turns.size >= this.#limits.queueMax + this.#idle.resting;
    // If the queue is full, the team with the most calls in it gives way.
    const pushedOut = full ? this.#turns.latestOfMost(lane) : undefined;
    if (full && pushedOut === undefined) {
      call.stop('busy');
      return;
    }
    call.waitingSinceMs = this.#nowMs();
    this.#turns.wait(lane, call);
    // Done last, so that its second attempt cannot take the room.
    pushedOut?.stop('busy');
    if (this.#inFlight < this.#limits.connectionsMax) this.#startWaiting();
  }

  leaveQueue(call: PoolRequest): void {
    this.#turns.leave(call.lane, call);
  }

  onRest(client: Client): void {
    if (this.#closing) client.destroy();
    else this.#idle.rest(client);
  }

  onGone(client: Client): void {
    this.#open.delete(client);
    if (client.idle) this.#idle.forget(client);
    else this.#free(client);
  }

  /**
   * An engine that sends unsolicited bytes may do so again: a late answer would be taken for that of the next request. So for a
   * while no connection carries a second request, calls on reused connections fail, and connections are kept only to see
   * whether it continues.
   */
  onUnasked(from: Client): void {
    const begins = !this.#distrusts();
    this.#distrustUntilMs = this.#nowMs() + DISTRUST_MS;
    this.#idle.endAll();
    for (const client of this.#open) if (client !== from && client.busyAgain) client.distrust();
    this.#limits.onUnasked?.(this.#href, begins);
  }

  /** Lets calls in flight finish. */
  close(): Promise<void> {
    this.#closing = true;
    for (const client of this.#open) if (!client.busy) client.destroy();
    if (this.#inFlight === 0) this.#quiet.resolve();
    return this.#quiet.promise;
  }

  /** Aborts everything in flight. */
  destroy(): Promise<void> {
    this.#closing = true;
    this.#destroyed = true;
    for (const call of this.#turns.all()) call.stop('connect');
    for (const client of this.#open) client.breakOff();
    return Promise.resolve();
  }

  #start(call: PoolRequest): void {
    this.#inFlight++;
    const reusable = this.#keeps(call.connection);
    let client = reusable && !this.#distrusts() ? this.#idle.take() : undefined;
    if (client === undefined) {
      const { connectionsMax } = this.#limits;
      // Idle connections count as well, because the engine may have a limit of its own.
      if (this.#inFlight + this.#idle.idle > connectionsMax) this.#idle.dropOldest();
      client = new Client(this.#origin, reusable, this.#parsers, this, this.#limits.checkIds);
      this.#open.add(client);
    }
    call.lane.inFlight++;
    client.place = call.lane;
    call.startOn(client);
  }

  #keeps(connection: ConnectionUse): boolean {
    return connection === 'reused' && this.#limits.keepAlive !== false;
  }

  #distrusts(): boolean {
    if (this.#distrustUntilMs === 0) return false;
    if (this.#nowMs() < this.#distrustUntilMs) return true;
    this.#distrustUntilMs = 0;
    return false;
  }

  /** A connection has been freed. */
  #free(client: Client): void {
    this.#inFlight--;
    client.place.inFlight--;
    if (this.#turns.size > 0) this.#startWaiting();
    if (this.#closing && this.#inFlight === 0) this.#quiet.resolve();
  }

  #startWaiting(): void {
    const sinceMs = this.#nowMs() - this.#limits.timeoutMs * WAIT_SHARE;
    while (this.#inFlight < this.#limits.connectionsMax) {
      const call = this.#turns.next();
      if (call === undefined) return;
      if (call.waitingSinceMs < sinceMs) call.stop('busy');
      else this.#start(call);
    }
  }
}

/** One call. It is its connection's handler itself, which saves closures. */
export class PoolRequest implements ResponseHandler {
  readonly connection: ConnectionUse;
  readonly lane: Lane<PoolRequest>;
  stage: 'waiting' | 'connecting' | 'sent' | 'settled' = 'waiting';
  waitingSinceMs = 0;
  /** From the response or its failure, to be reported if the attempt fails. */
  status: number | undefined = undefined;
  retryAfter: string | undefined = undefined;
  cause: FailureCause | undefined = undefined;
  readonly #replica: Pool;
  readonly #settle: Settle;
  #request: RequestText | undefined;
  #client: Client | undefined = undefined;

  constructor(replica: Pool, lane: Lane<PoolRequest>, request: RequestText | undefined, connection: ConnectionUse, settle: Settle) {
    this.#replica = replica;
    this.lane = lane;
    this.#request = request;
    this.connection = connection;
    this.#settle = settle;
  }

  /** Aborts the call with a failure; its connection is not reused. */
  stop(failure: AttemptFailure): void {
    if (this.stage === 'settled') return;
    const client = this.#client;
    this.#end(failure);
    if (client === undefined) this.#replica.leaveQueue(this);
    else client.destroy();
  }

  startOn(client: Client): void {
    this.#client = client;
    client.start(this, this.#request!);
    this.#request = undefined;
  }

  onSent(): void {
    this.stage = 'sent';
  }

  onResponse(response: EngineResponse): void {
    this.status = response.status;
    this.retryAfter = response.retryAfter;
    this.#end(response);
  }

  onFailure(failure: AttemptFailure, cause?: FailureCause): void {
    this.cause = cause;
    this.#end(failure);
  }

  #end(result: EngineResponse | AttemptFailure): void {
    if (this.stage === 'settled') return;
    this.stage = 'settled';
    // The connection continues with other calls.
    this.#client = undefined;
    this.#request = undefined;
    this.#settle(result);
  }
}
