// One request on its way through the chain: what came in, what steps left for each other, how it ended.
import type { ByteSource } from './byte-stream.ts';
import { NO_HEADERS } from './outcome.ts';
import type { HeaderList, Outcome, Refusal, Reply, StepResult, StreamReply } from './outcome.ts';
import type { Route } from './route.ts';

/**
 * Named among a step's `headers` like a field, it is the address that the connection comes from. No field of a request can
 * have this name.
 */
export const REMOTE_ADDRESS = ':remote-address';

/** The request line and the fields that the chain asked for, copied out of the HTTP library. */
export interface RequestHead {
  /** As sent; methods are case-sensitive (RFC 9110 section 9.1). */
  readonly method: string;
  /** The raw path, without the query; never decoded or normalised. */
  readonly path: string;
  /** The raw query, without `?`; empty when there is none. */
  readonly query: string;
  /** Lower-case names; only those some step asked for; a repeated field is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The collected body, or why there is none to look at. */
export type Body = Uint8Array | 'none' | 'too_large';

/**
 * What has become of an answer: `written` to the caller's connection, or not, because the caller had `gone`. One that is `held`
 * waits for its turn, and `Gateway.sent` tells later.
 */
export type Handed = 'written' | 'held' | 'gone';

/** A longer body is read, and looked at, only when the caller is known to be one who may send it. */
export const LONG_BODY_BYTES = 32_768;

/** The caller's end: where answers go, and where a body comes from that is read as it comes. */
export interface Sink {
  /** This or `stream` is called at most once per exchange, never after the caller has gone. Only a reply is ever held. */
  send(x: Exchange, outcome: Reply | Refusal): Handed;
  /** Begins a streamed answer, when the whole request has come; `Gateway.streamed` is called at its end. */
  stream(x: Exchange, outcome: StreamReply): void;
  /** The body of a request on a streaming route; `undefined` when the request has none. The same object each time. */
  incoming(): ByteSource | undefined;
  /** The address that the connection comes from, as the system has it; empty where the caller has gone or none is known. */
  remoteAddress(): string;
}

/** Something that may be called off while it is under way; an engine call watches it. */
export interface Cancellation {
  readonly cancelled: boolean;
  /** Registers the one listener; it runs at most once. `undefined` takes it back. */
  onCancel(listener: (() => void) | undefined): void;
}

/** A named, typed place on every exchange; reserved at boot, so that an exchange never changes its shape. */
export interface Slot<T> {
  readonly name: string;
  readonly index: number;
  /** Keeps `T` in the type; never read. */
  readonly holds?: T;
}

/** Drives the chain of an exchange on. */
export interface Driver {
  resume<T>(x: Exchange, conclude: (x: Exchange, value: T) => StepResult, value: T): void;
}

const slotNames: string[] = [];
/** The slots of a new exchange: copying this array is much cheaper than filling one of that length. */
const emptySlots: undefined[] = [];

/** Reserves a slot. To be called at boot (module level or a plugin's `setup`), never per request. */
export function reserveSlot<T>(name: string): Slot<T> {
  slotNames.push(name);
  emptySlots.push(undefined);
  return { name, index: slotNames.length - 1 };
}

export class Exchange implements Cancellation {
  /** The request's ULID: `X-Request-Id`, `request_id`, reservation id. */
  readonly id: string;
  readonly head: RequestHead;
  readonly sink: Sink;
  /** Milliseconds of a monotonic clock. */
  readonly startedAtMs: number;
  /** Links of the list that `InFlight` keeps. */
  earlier: Exchange | undefined = undefined;
  later: Exchange | undefined = undefined;
  route: Route;
  /** The one variable path segment of the route, if it has one. */
  pathParameter = '';
  body: Body = 'none';
  /** The route takes a body, and not all of it has come. */
  bodyDue: boolean;
  /** More than `LONG_BODY_BYTES` of it are announced or have come. */
  longBody = false;
  /** All caller steps have run, and the body has come: what `Step.enter` acquires is held. */
  entered = false;
  /** Steps `0 .. reached-1` have been started; their `settle` has to be called. */
  reached = 0;
  /** A step has answered with a promise or `LATER` and is being waited for. */
  waiting = false;
  /** Set before the first step is run. */
  driver: Driver | undefined = undefined;
  /** Set once, when the chain has ended. */
  outcome: Outcome | undefined = undefined;
  /** Something has been handed to the sink (a deadline may answer before the chain has ended). */
  answered = false;
  /** Sent with every answer from now on, a refusal too. The rule for an outcome's own headers holds for them. */
  responseHeaders: HeaderList = NO_HEADERS;
  /** A step keeps its own deadlines from now on, and the gateway's does not apply. */
  ownDeadline = false;
  /** The connection must not be used again after this answer. */
  closeAfter = false;
  cancelled = false;
  /** Why it was cancelled, when that was the gateway's own doing. */
  calledOffWith: Refusal | undefined = undefined;
  #onCancel: (() => void) | undefined = undefined;
  readonly #slots: unknown[];

  constructor(id: string, head: RequestHead, sink: Sink, route: Route, startedAtMs: number) {
    this.id = id;
    this.head = head;
    this.sink = sink;
    this.route = route;
    this.bodyDue = route.takesBody;
    this.startedAtMs = startedAtMs;
    this.#slots = emptySlots.slice();
  }

  get<T>(slot: Slot<T>): T | undefined {
    return this.#slots[slot.index] as T | undefined;
  }

  /** For slots that an earlier step always fills: their absence is a bug in the order of steps. */
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
   * Goes on with a chain whose step has returned `LATER`: what `conclude` makes of the value counts as what `run` has returned.
   * If `conclude` throws, that is a bug of the step. Never throws itself.
   */
  resume<T>(conclude: (x: Exchange, value: T) => StepResult, value: T): void {
    this.driver!.resume(this, conclude, value);
  }

  onCancel(listener: (() => void) | undefined): void {
    this.#onCancel = listener;
  }

  /** Calls off what is under way. The chain ends when the waiting step returns. */
  cancel(): void {
    if (this.cancelled) return;
    this.cancelled = true;
    const listener = this.#onCancel;
    this.#onCancel = undefined;
    listener?.();
  }
}
