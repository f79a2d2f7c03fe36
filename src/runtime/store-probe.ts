// Asks the store in the background whether it takes writes, and says in the log when that changes; health checks cost it nothing.
import { takesNoWrites } from '../domain/store-unavailable.ts';
import type { Log } from '../ports/log.ts';
import type { Store, StoreFault } from '../ports/store.ts';

const EVERY_MS = 500;
/** A state that follows one that held for less than this is logged when it has held for this long itself: nothing flaps. */
const HELD_MS = 1000;
/** A refused admission counts for this long, whatever a smaller write of the probe's own was told. */
const REFUSED_MS = 1000;
const OVERDUE: StoreFault = { kind: 'unavailable', cause: 'timeout' };

export interface StoreProbeOptions {
  readonly store: Pick<Store, 'ping'>;
  /** For the log: the store's URL without credentials. */
  readonly shown: string;
  /** A monotonic clock. */
  readonly now: () => number;
  readonly log: Log;
}

export class StoreProbe {
  readonly #options: StoreProbeOptions;
  readonly #timer: NodeJS.Timeout;
  #fault: StoreFault | undefined = undefined;
  #refusedAtMs = -Infinity;
  #asking = false;
  #askedAtMs = 0;
  #tookMs: number | undefined;
  readonly #told: ToldState;

  /** The store is taken to be well at first: it has just been opened. */
  constructor(options: StoreProbeOptions) {
    this.#options = options;
    this.#told = new ToldState(options);
    this.#timer = setInterval(() => this.#tick(), EVERY_MS);
    this.#timer.unref();
  }

  /** Whether requests can be served, by the latest probe, at most a second old. With a part of a cluster away they can, for some teams. */
  get serves(): boolean {
    return this.fault === undefined || this.fault.partly === true;
  }

  /** Whether all of the store takes writes. */
  get takesWrites(): boolean {
    return this.fault === undefined;
  }

  /** Whether the store answers, if only to say that it takes no writes. */
  get answers(): boolean {
    return this.fault === undefined || takesNoWrites(this.fault.cause);
  }

  get fault(): StoreFault | undefined {
    // A probe that is overdue has failed.
    const isOverdue = this.#asking && this.#options.now() - this.#askedAtMs >= EVERY_MS;
    return isOverdue && (this.#fault === undefined || this.#fault.partly === true) ? OVERDUE : this.#fault;
  }

  /** What the latest good answer took; `undefined` before the first. */
  get tookMs(): number | undefined {
    return this.#tookMs;
  }

  /** An admission was answered `unavailable`. One refused as a write counts at once; any other cause is the probe's to judge. */
  failed(cause: string): void {
    if (!takesNoWrites(cause)) return;
    this.#refusedAtMs = this.#options.now();
    // What the probe has found out itself says more.
    this.#fault ??= { kind: 'unavailable', cause };
    this.#told.note(this.fault);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const waitedMs = this.#asking ? this.#options.now() - this.#askedAtMs : 0;
    // An answer that is only just overdue mostly comes after all, and names the cause.
    if (!this.#asking || waitedMs > EVERY_MS * 1.5) this.#told.note(this.fault);
    if (this.#asking) return;
    this.#asking = true;
    this.#askedAtMs = this.#options.now();
    this.#options.store.ping().then(
      (fault) => this.#conclude(fault),
      () => this.#conclude({ kind: 'unavailable', cause: 'internal' }),
    );
  }

  #conclude(fault: StoreFault | undefined): void {
    const nowMs = this.#options.now();
    this.#asking = false;
    if (fault !== undefined || nowMs - this.#refusedAtMs >= REFUSED_MS) this.#fault = fault;
    if (fault === undefined) this.#tookMs = nowMs - this.#askedAtMs;
    this.#told.note(this.fault);
  }
}

/** One line when a fault begins and one when it ends. */
class ToldState {
  readonly #options: StoreProbeOptions;
  #isAway = false;
  #sinceMs = -Infinity;
  /** Whether the state before this one held for `HELD_MS`. */
  #follows = true;
  #isToldAway = false;
  #toldAtMs = 0;

  constructor(options: StoreProbeOptions) {
    this.#options = options;
  }

  note(fault: StoreFault | undefined): void {
    const nowMs = this.#options.now();
    const isAway = fault !== undefined;
    if (isAway !== this.#isAway) {
      this.#follows = nowMs - this.#sinceMs >= HELD_MS;
      this.#sinceMs = nowMs;
      this.#isAway = isAway;
    }
    if (isAway === this.#isToldAway || (!this.#follows && nowMs - this.#sinceMs < HELD_MS)) return;
    this.#isToldAway = isAway;
    const { log, shown } = this.#options;
    if (fault === undefined) log.info('the store takes writes again', { store: shown, after_seconds: seconds(nowMs - this.#toldAtMs) });
    else log.error(wordsOf(fault), { store: shown, cause: fault.cause, ...(fault.server === undefined ? {} : { server: fault.server }) });
    this.#toldAtMs = nowMs;
  }
}

function wordsOf({ cause, partly }: StoreFault): string {
  const who = partly === true ? 'a part of the store' : 'the store';
  return takesNoWrites(cause) ? `${who} takes no writes: what it should serve is answered 503` : `${who} does not answer`;
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
