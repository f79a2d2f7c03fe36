// Checks in the background whether the store accepts writes, so that health checks do not touch it.
import { storeAdvice, takesNoWrites } from '../domain/store-unavailable.ts';
import type { Log } from '../ports/log.ts';
import type { Store, StoreFault } from '../ports/store.ts';
import { Spell } from './spell.ts';

const EVERY_MS = 500;
/** Of a fault or its end: what is shorter is not always logged. */
const HELD_MS = 1000;
/** How long a rejected admission is a fault, even if the probe's smaller write succeeds. */
const REFUSED_MS = 1000;
const OVERDUE: StoreFault = { kind: 'unavailable', cause: 'timeout' };
/** The drivers' deadlines: no sign of the store if this process stood still before. */
const DEADLINES: ReadonlySet<string> = new Set(['timeout', 'busy']);
/**
 * Time in steps, of which none ends while this process stands still. A probe is overdue after five,
 * however long the turns of the event loop are.
 */
const STEP_MS = 100;

interface StoreProbeOptions {
  readonly store: Pick<Store, 'ping'>;
  /** The store's URL without credentials, for the log. */
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
  #closed = false;
  #asking = false;
  /** Since the last probe began. */
  #steps = 0;
  #beganMs = 0;
  /** Of the last successful probe, without pauses; `undefined` before. To be read only. */
  tookMs: number | undefined;
  readonly #away: Spell<StoreFault>;

  /** Starts as healthy, because the store has just been opened. */
  constructor(options: StoreProbeOptions) {
    this.#options = options;
    const { log, shown, now } = options;
    this.#away = new Spell({
      begins: (fault) => log.error(wordsOf(fault), { store: shown, cause: fault.cause, ...serverAndAdvice(fault) }),
      ends: (_fault, ms) => log.info('the store takes writes again', { store: shown, after_seconds: seconds(ms) }),
      heldMs: HELD_MS,
      now,
    });
    // After the sockets have been read, in which a reply may have waited for a pause's end.
    this.#timer = setInterval(() => setImmediate(() => this.#step()), STEP_MS);
    this.#timer.unref();
  }

  /** By the last probe, at most a second old. Part of a cluster may be down. */
  get serves(): boolean {
    return this.fault === undefined || this.fault.partly === true;
  }

  /** Whether the whole store accepts writes. */
  get takesWrites(): boolean {
    return this.fault === undefined;
  }

  /** Whether the store responds, even if it rejects writes. */
  get answers(): boolean {
    return this.fault === undefined || takesNoWrites(this.fault.cause);
  }

  get fault(): StoreFault | undefined {
    // An overdue probe counts as failed.
    const isOverdue = this.#asking && this.#steps * STEP_MS >= EVERY_MS;
    return isOverdue && (this.#fault === undefined || this.#fault.partly === true) ? OVERDUE : this.#fault;
  }

  /** An `unavailable` admission. A rejected write counts at once; others are the probe's. */
  failed(cause: string): void {
    if (!takesNoWrites(cause)) return;
    this.#refusedAtMs = this.#options.now();
    // The probe's own finding is more specific.
    this.#fault ??= { kind: 'unavailable', cause };
    this.#away.note(this.fault);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#closed = true;
  }

  #step(): void {
    this.#steps++;
    if (this.#closed || this.#steps * STEP_MS < EVERY_MS) return;
    // A probe that is only slightly overdue usually still answers, with the cause.
    if (!this.#asking || this.#steps * STEP_MS > EVERY_MS * 1.5) this.#away.note(this.fault);
    if (this.#asking) return;
    this.#asking = true;
    this.#steps = 0;
    this.#beganMs = this.#options.now();
    this.#ask();
  }

  #ask(): void {
    this.#options.store.ping().then(
      (fault) => this.#conclude(fault),
      () => this.#conclude({ kind: 'unavailable', cause: 'internal' }),
    );
  }

  #conclude(fault: StoreFault | undefined): void {
    const steppedMs = this.#steps * STEP_MS;
    const passedMs = this.#options.now() - this.#beganMs;
    const isPaused = passedMs - steppedMs >= 2 * STEP_MS;
    // After a pause the driver's timer fires before the reply, which may be there, is read.
    if (fault !== undefined && DEADLINES.has(fault.cause) && isPaused && steppedMs < EVERY_MS) return this.#ask();
    this.#asking = false;
    if (fault !== undefined || this.#options.now() - this.#refusedAtMs >= REFUSED_MS) this.#fault = fault;
    if (fault === undefined) this.tookMs = Math.min(passedMs, steppedMs + STEP_MS);
    this.#away.note(this.fault);
  }
}

function wordsOf({ cause, partly }: StoreFault): string {
  const who = partly === true ? 'a part of the store' : 'the store';
  return takesNoWrites(cause) ? `${who} takes no writes: what it should serve is answered 503` : `${who} does not answer`;
}

function serverAndAdvice({ cause, server }: StoreFault) {
  const advice = storeAdvice(cause);
  return { server, advice };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
