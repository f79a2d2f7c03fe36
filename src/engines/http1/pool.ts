// The connection pool of one replica, with a bounded number of connections and a bounded queue, and
// when idle ones may be reused.
import { performance } from 'node:perf_hooks';
import type { AttemptFailure, EngineCall, EngineResponse, FailureCause, FailureDetail } from '../../ports/engine.ts';
import { Origin } from './origin.ts';
import { Client, fixedLines, requestText } from './client.ts';
import type { RequestText } from './client.ts';
import { TeamTurns } from './team-turns.ts';
import type { Lane } from './team-turns.ts';

/** With the names of the configuration. */
export interface PoolLimits {
  /** Deadline of one attempt, covering all its calls. */
  readonly timeout_ms: number;
  /** Limit on any answer. */
  readonly response_bytes_max: number;
  /**
   * An answer may be this many times its call's body, plus a floor. By default, and for calls
   * without a body, there is only `response_bytes_max`.
   */
  readonly response_bytes_factor?: number;
  /** Maximum number of calls in flight to one replica. */
  readonly connections_max: number;
  /** Maximum number of calls waiting for a connection. */
  readonly queue_max: number;
  /** The share of `connections_max` that a team may hold while others are active; default half. */
  readonly teamShare?: number;
  /** Additional fields for every request; they replace an adapter's fields of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `false` opens a new connection for every call. */
  readonly keep_alive?: boolean;
  /** `false` ignores a foreign `X-Request-Id` in answers. */
  readonly check_ids?: boolean;
  /** Unsolicited bytes arrived; `begins` if there were none for a minute. `replica` is its URL. */
  readonly onUnasked?: (replica: string, begins: boolean) => void;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number;
}

/**
 * Of its deadline a call may wait this share for a connection. Otherwise, under overload, each
 * would get one just before its deadline: a busy engine, and only timeouts.
 */
const WAIT_SHARE = 0.5;

const TEAM_SHARE = 0.5;

/** For what an answer has besides translations: other members, a model's reasoning. */
const RESPONSE_BYTES_MIN = 65_536;

/** How long after unsolicited bytes no connection is reused. */
const DISTRUST_MS = 60_000;

/** Shorter than an engine's likely idle timeout, so that calls seldom hit a closing connection. */
const IDLE_MS_MAX = 4000;
/** Not reused if less than this remains of the idle timeout that the server announced. */
const IDLE_MARGIN_MS = 1000;
/** How often expired connections are closed; reuse is checked to the millisecond. */
const SWEEP_MS = 500;

/** A `reused` connection stays in the pool; a `fresh` one is for one call. */
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
export class Pool {
  /** Reject answers with another request's id; `false` for engines with ULIDs of their own. */
  readonly checksIds: boolean;
  readonly #href: string;
  readonly #origin: Origin;
  readonly #basePath: string;
  readonly #lines: Readonly<Record<ConnectionUse, string>>;
  /** Lower-case names of fields in those lines, which an adapter must not repeat. */
  readonly #taken: readonly string[];
  readonly #limits: PoolLimits;
  readonly #nowMs: () => number;
  /** Every open connection: connecting, in use, resting or idle. */
  readonly #open = new Set<Client>();
  readonly #turns: TeamTurns<PoolRequest>;
  /** Most recent last. */
  readonly #idle: Client[] = [];
  /** Connections about to become idle. */
  #resting = 0;
  /** One timer for all idle connections, while there are any. */
  #sweeping: NodeJS.Timeout | undefined = undefined;
  /** Connections that count against the limit: all except idle ones. */
  #inFlight = 0;
  /** Until this time no connection is reused. */
  #distrustUntilMs = -Infinity;
  /** The pool holds no connections any more; `destroyed`: no call is made either. */
  #state: 'open' | 'closed' | 'destroyed' = 'open';
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
    this.#nowMs = limits.nowMs ?? performance.now.bind(performance);
    this.checksIds = limits.check_ids ?? true;
    this.#turns = new TeamTurns(limits.connections_max, limits.teamShare ?? TEAM_SHARE, this.#nowMs);
  }

  /** Tries a connection outside all limits: `undefined`, or why it failed. Never rejects. */
  reach(withinMs: number): Promise<FailureDetail | undefined> {
    return this.#origin.reach(withinMs);
  }

  /** Starts a call; `settle` is called exactly once. */
  call(call: EngineCall, connection: ConnectionUse, settle: Settle, asker: Asker = NOBODY): PoolRequest {
    const reusable = connection === 'reused' && this.#limits.keep_alive !== false;
    const lines = this.#lines[reusable ? 'reused' : 'fresh'];
    const request = requestText(call, this.#basePath, lines, this.#taken, asker.requestId);
    const lane = this.#turns.called(asker.teamId ?? '');
    const started = new PoolRequest(this, lane, request, reusable, settle);
    if (request === undefined) {
      started.stop('internal');
    } else if (this.#state === 'destroyed') {
      started.stop('connect');
    } else if (this.#inFlight < this.#limits.connections_max && lane.waiting.size === 0 && this.#turns.admits(lane)) {
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
    // One that rests is free within two turns, so a call waiting for it does not count as queued.
    const full = this.#turns.size >= this.#limits.queue_max + this.#resting;
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
    if (this.#inFlight < this.#limits.connections_max) this.#startWaiting();
  }

  get responseBytesMax(): number {
    return this.#limits.response_bytes_max;
  }

  /** How long the answer to a request with a body of so many bytes may be. */
  responseBytesFor(bodyBytes: number): number {
    const { response_bytes_max: most, response_bytes_factor: factor = Infinity } = this.#limits;
    return bodyBytes === 0 ? most : Math.min(most, RESPONSE_BYTES_MIN + factor * bodyBytes);
  }

  leaveQueue(call: PoolRequest): void {
    this.#turns.leave(call.lane, call);
  }

  /** A connection has been closed; called once. */
  onGone(client: Client): void {
    this.#open.delete(client);
    if (client.idle) this.#idle.splice(this.#idle.indexOf(client), 1);
    else this.#freed(client);
  }

  /**
   * An engine that does so may do it again, as another request's answer. For a while no connection
   * carries a second request, and those open only show whether it goes on.
   */
  onUnasked(from: Client): void {
    const nowMs = this.#nowMs();
    const begins = nowMs >= this.#distrustUntilMs;
    this.#distrustUntilMs = nowMs + DISTRUST_MS;
    for (const client of this.#open) {
      if (!client.busy) client.destroy();
      else if (client !== from && client.busyAgain) client.distrust();
    }
    this.#limits.onUnasked?.(this.#href, begins);
  }

  /** Lets calls in flight finish. */
  close(): Promise<void> {
    this.#state = 'closed';
    for (const client of this.#open) if (!client.busy) client.destroy();
    if (this.#inFlight === 0) this.#quiet.resolve();
    return this.#quiet.promise;
  }

  /** Aborts everything in flight. */
  destroy(): void {
    this.#state = 'destroyed';
    for (const call of this.#turns.all()) call.stop('connect');
    for (const client of this.#open) client.breakOff();
  }

  /**
   * Takes a reusable connection, which rests until the event loop has polled all sockets again: if
   * the engine sends more after its answer, or closes, no request is sent on it.
   */
  rest(client: Client): void {
    const idleMs = Math.min(IDLE_MS_MAX, client.keepsSeconds * 1000 - IDLE_MARGIN_MS);
    if (this.#state !== 'open' || idleMs <= 0) {
      client.destroy();
      return;
    }
    client.idleUntilMs = this.#nowMs() + idleMs;
    this.#resting++;
    setImmediate(() => setImmediate(() => this.#rested(client)));
  }

  #rested(client: Client): void {
    this.#resting--;
    if (client.gone) return;
    client.idle = true;
    this.#idle.push(client);
    this.#freed(client);
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  #sweep(): void {
    const nowMs = this.#nowMs();
    for (const client of this.#idle.filter(({ idleUntilMs }) => idleUntilMs <= nowMs)) client.destroy();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }

  /** The most recent one, so that surplus connections age and are closed. */
  #takeIdle(nowMs: number): Client | undefined {
    for (let client = this.#idle.at(-1); client !== undefined; client = this.#idle.at(-1)) {
      if (client.idleUntilMs <= nowMs) {
        client.destroy();
        continue;
      }
      this.#idle.pop();
      client.idle = false;
      return client;
    }
    return undefined;
  }

  /** A connection does not count against the limit any more. */
  #freed(client: Client): void {
    this.#inFlight--;
    client.place.inFlight--;
    if (this.#turns.size > 0) this.#startWaiting();
    if (this.#state !== 'open' && this.#inFlight === 0) this.#quiet.resolve();
  }

  #start(call: PoolRequest): void {
    this.#inFlight++;
    const nowMs = this.#nowMs();
    let client = call.reusable && nowMs >= this.#distrustUntilMs ? this.#takeIdle(nowMs) : undefined;
    if (client === undefined) {
      // Idle connections count as well, because the engine may have a limit of its own.
      if (this.#inFlight + this.#idle.length > this.#limits.connections_max) this.#idle[0]?.destroy();
      client = new Client(this.#origin, call.reusable, this);
      this.#open.add(client);
    }
    call.lane.inFlight++;
    client.place = call.lane;
    call.client = client;
    const request = call.request!;
    call.request = undefined;
    client.start(call, request);
  }

  #startWaiting(): void {
    const sinceMs = this.#nowMs() - this.#limits.timeout_ms * WAIT_SHARE;
    while (this.#inFlight < this.#limits.connections_max) {
      const call = this.#turns.next();
      if (call === undefined) return;
      if (call.waitingSinceMs < sinceMs) call.stop('busy');
      else this.#start(call);
    }
  }
}

/** One call, which gets the result from its connection. */
export class PoolRequest {
  readonly lane: Lane<PoolRequest>;
  /** Its connection returns to the pool. */
  readonly reusable: boolean;
  stage: 'waiting' | 'connecting' | 'sent' | 'settled' = 'waiting';
  waitingSinceMs = 0;
  /** Until it is sent. */
  request: RequestText | undefined;
  client: Client | undefined = undefined;
  /** From the response or its failure, to be reported if the attempt fails. */
  status: number | undefined = undefined;
  retryAfter: string | undefined = undefined;
  cause: FailureCause | undefined = undefined;
  /** The answer had the request's id. */
  echoedId = false;
  readonly #pool: Pool;
  readonly #settle: Settle;

  constructor(pool: Pool, lane: Lane<PoolRequest>, request: RequestText | undefined, reusable: boolean, settle: Settle) {
    this.#pool = pool;
    this.lane = lane;
    this.request = request;
    this.reusable = reusable;
    this.#settle = settle;
  }

  /** Aborts the call with a failure; its connection is not reused. */
  stop(failure: AttemptFailure): void {
    if (this.stage === 'settled') return;
    const { client } = this;
    this.onResult(failure);
    if (client === undefined) this.#pool.leaveQueue(this);
    else client.destroy();
  }

  /** Only the first result counts. */
  onResult(result: EngineResponse | AttemptFailure, cause?: FailureCause): void {
    if (this.stage === 'settled') return;
    this.stage = 'settled';
    this.cause = cause;
    if (typeof result !== 'string') {
      this.status = result.status;
      this.retryAfter = result.retryAfter;
      this.echoedId = result.echoedId === true;
    }
    // The connection continues with other calls.
    this.client = undefined;
    this.request = undefined;
    this.#settle(result);
  }
}
