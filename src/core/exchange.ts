// A request on its way through the chain: input, data passed between steps, outcome, cancellation.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { NO_HEADERS } from './outcome.ts';
import type { HeaderList, Outcome, Refusal, Reply, StepResult, StreamReply } from './outcome.ts';
import type { Pipeline } from './pipeline.ts';
import type { Route } from './route.ts';

/** A pseudo-field for the address of the connection. No request field can have this name. */
export const REMOTE_ADDRESS = ':remote-address';

/** The request line and the fields that the chain needs, copied from the HTTP library. */
export interface RequestHead {
  /** As sent; methods are case-sensitive (RFC 9110 section 9.1). */
  readonly method: string;
  /** The raw path, without the query; never decoded or normalised. */
  readonly path: string;
  /** The raw query without `?`; empty if there is none. */
  readonly query: string;
  /** Lower-case names; only those that some step asked for. Repeated fields are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The complete body, or why there is none. */
export type Body = Uint8Array | 'none' | 'too_large';

/**
 * `gone`: the caller had disconnected. `held`: the answer is queued behind an earlier one on the
 * same connection, and `Gateway.sent` reports the result.
 */
export type Handed = 'written' | 'held' | 'gone';

/** Longer bodies are read and parsed only after the caller has been verified. */
export const LONG_BODY_BYTES = 32_768;

/** The caller's side of the connection: takes answers, and has the body of streaming routes. */
export interface Sink {
  /** This or `stream` is called at most once, never after `gone`. Only a reply is ever held. */
  send(x: Exchange, outcome: Reply | Refusal): Handed;
  /** Starts a streamed answer once the request is complete; `Gateway.streamed` ends it. */
  stream(x: Exchange, outcome: StreamReply): void;
  /** The body on a streaming route; `undefined` if there is none. Always the same object. */
  incoming(): Incoming | undefined;
  /** `undefined` on a listener that is not node:http's. */
  readonly messages?: NodeMessages | undefined;
  /** Of a body that is still arriving. */
  readonly receivedBytes: number;
  /** The connection's address by the system; empty if unknown or the caller has disconnected. */
  remoteAddress(): string;
}

/** For a request that nobody waits for. */
export const NO_CALLER: Sink = {
  send: () => 'gone',
  stream: () => undefined,
  incoming: () => undefined,
  remoteAddress: () => '',
  receivedBytes: 0,
};

/**
 * A body that a step reads as it arrives. If its caller leaves or is too slow, the exchange is
 * cancelled; the stream itself reports no error.
 */
export interface Incoming {
  /** The length in bytes; `undefined` if unknown in advance. */
  readonly bytes: number | undefined;
  /** Paused until a step reads it. Emits `overdue` if it was not read in time, although its caller was fast enough. */
  readonly stream: Readable;
}

/** A request and its response as node:http has them, for what passes them on. */
export interface NodeMessages {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Cancels something in flight; an engine call listens to it. */
export interface Cancellation {
  readonly cancelled: boolean;
  /** Registers the only listener, which runs at most once. `undefined` removes it. */
  onCancel(listener: (() => void) | undefined): void;
}

/** A cancellation by whoever holds it, without an exchange. */
export class Canceller implements Cancellation {
  cancelled: boolean;
  #listener: (() => void) | undefined = undefined;

  constructor(cancelled = false) {
    this.cancelled = cancelled;
  }

  onCancel(listener: (() => void) | undefined): void {
    this.#listener = listener;
  }

  cancel(): void {
    this.cancelled = true;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.();
  }
}

/** A typed slot on every exchange. Reserved at boot, so that exchanges never change shape. */
export interface Slot<T> {
  readonly name: string;
  readonly index: number;
  /** Only carries the type `T`; never read. */
  readonly holds?: T;
}

/** What a step that returned `LATER` makes of the value; its result counts as that of `run`. */
export type Conclude<T> = (x: Exchange, value: T) => StepResult | Promise<StepResult>;

/** For `Exchange.resume` with a thrown error: a bug, which becomes `internal_error`. */
export function throwOn(_x: Exchange, error: unknown): never {
  throw error;
}

const slotNames: string[] = [];
/** The slots of a new exchange: copying this array is much cheaper than filling a new one. */
const emptySlots: undefined[] = [];

/** Reserves a slot. Call it at boot (module level or a plugin's `setup`), never per request. */
export function reserveSlot<T>(name: string): Slot<T> {
  slotNames.push(name);
  emptySlots.push(undefined);
  return { name, index: slotNames.length - 1 };
}

/**
 * How far a request has come: its body is not complete yet; all of it is here; all caller steps
 * have run, and `Step.enter` has acquired its resources.
 */
type Stage = 'arriving' | 'whole' | 'entered';

export class Exchange implements Cancellation {
  /** The request's ULID: `X-Request-Id`, `request_id`, reservation id. */
  readonly id: string;
  readonly head: RequestHead;
  readonly sink: Sink;
  /** Milliseconds of a monotonic clock. */
  readonly startedAtMs: number;
  /** Links of the list in `InFlight`. */
  earlier: Exchange | undefined = undefined;
  later: Exchange | undefined = undefined;
  route: Route;
  /** The value of the route's first path parameter, if it has one. */
  pathParameter = '';
  body: Body = 'none';
  stage: Stage;
  /** More than `LONG_BODY_BYTES` were announced or have arrived. */
  longBody = false;
  /** The number of steps started; their `settle` must be called. */
  reached = 0;
  /** A step has returned a promise or `LATER` and has not finished. */
  waiting = false;
  /** Set before the first step runs. */
  driver: Pick<Pipeline, 'resume'> | undefined = undefined;
  /** Set once, at the end of the chain. */
  outcome: Outcome | undefined = undefined;
  /** Something was handed to the sink. On a timeout that may happen before the chain has ended. */
  answered = false;
  /** Added to every answer from now on, including refusals. The rule for `HeaderList` applies. */
  responseHeaders: HeaderList = NO_HEADERS;
  /** A step enforces its own deadlines from now on, instead of the gateway's. */
  ownDeadline = false;
  /** The connection must be closed after this answer. */
  closeAfter = false;
  /** How it ends once the pending step has finished: its caller has left, or it was given up. */
  calledOff: Outcome | undefined = undefined;
  #onCancel: (() => void) | undefined = undefined;
  readonly #slots: unknown[];

  constructor(id: string, head: RequestHead, sink: Sink, route: Route, startedAtMs: number) {
    this.id = id;
    this.head = head;
    this.sink = sink;
    this.route = route;
    this.stage = route.takesBody ? 'arriving' : 'whole';
    this.startedAtMs = startedAtMs;
    this.#slots = emptySlots.slice();
  }

  get<T>(slot: Slot<T>): T | undefined {
    return this.#slots[slot.index] as T | undefined;
  }

  /** For slots that an earlier step always fills: an empty one means steps in the wrong order. */
  need<T>(slot: Slot<T>): T {
    const value = this.#slots[slot.index];
    if (value === undefined) {
      throw new Error(`slot ${slot.name} is empty: the step that fills it has not run`);
    }
    return value as T;
  }

  set<T>(slot: Slot<T>, value: T): void {
    this.#slots[slot.index] = value;
  }

  /**
   * Resumes a chain after `LATER`. A throw of `conclude` is a bug of the step. Never throws itself.
   */
  resume<T>(conclude: Conclude<T>, value: T): void {
    this.driver!.resume(this, conclude, value);
  }

  onCancel(listener: (() => void) | undefined): void {
    this.#onCancel = listener;
  }

  get cancelled(): boolean {
    return this.calledOff !== undefined;
  }

  /** Cancels what is in flight. The chain ends so when the pending step finishes. */
  cancel(outcome: Outcome): void {
    if (this.cancelled) return;
    this.calledOff = outcome;
    const listener = this.#onCancel;
    this.#onCancel = undefined;
    listener?.();
  }
}

/**
 * In order of arrival. A linked list: V8 rehashes a busy `Set` every few dozen changes, and an old
 * table in the old generation keeps all later exchanges from being collected.
 */
export class InFlight {
  #oldest: Exchange | undefined = undefined;
  #newest: Exchange | undefined = undefined;
  /** To be read only. */
  size = 0;
  readonly #onIdle: (() => void)[] = [];

  add(x: Exchange): void {
    const newest = this.#newest;
    x.earlier = newest;
    if (newest === undefined) this.#oldest = x;
    else newest.later = x;
    this.#newest = x;
    this.size++;
  }

  /** Only for an exchange that is currently in the list. */
  remove(x: Exchange): void {
    const { earlier, later } = x;
    if (earlier === undefined) this.#oldest = later;
    else earlier.later = later;
    if (later === undefined) this.#newest = earlier;
    else later.earlier = earlier;
    x.earlier = x.later = undefined;
    this.size--;
    if (this.size === 0 && this.#onIdle.length > 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Resolves when there are none. */
  idle(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#onIdle.push(resolve));
  }

  /** The exchanges that began at or before `ms`, oldest first. */
  startedBy(ms: number): readonly Exchange[] {
    const found: Exchange[] = [];
    for (let x = this.#oldest; x !== undefined && x.startedAtMs <= ms; x = x.later) found.push(x);
    return found;
  }
}

/** Cancels several operations of one exchange. */
export class SharedCancellation {
  readonly #whole: Cancellation;
  readonly #shares: Canceller[] = [];

  constructor(whole: Cancellation) {
    this.#whole = whole;
  }

  /** A cancellation for one of the operations; all of them are the only listener of the whole. */
  share(): Cancellation {
    const share = new Canceller(this.#whole.cancelled);
    this.#shares.push(share);
    this.#whole.onCancel(() => {
      for (const one of this.#shares) one.cancel();
    });
    return share;
  }
}
