// Sends the outbox's events to their receiver: one process at a time, each until it is delivered or has been tried for three days.
import { randomBytes } from 'node:crypto';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Log } from '../ports/log.ts';
import type { DueEvent, KeptEvent, Outbox } from '../ports/outbox.ts';

/** Why an event was not taken. */
export interface SendFailure {
  readonly failure: string;
  readonly status?: number;
}

/** Sends an event; `undefined` when it was taken. Never rejects, and ends within `SEND_MS`. */
export type SendEvent = (event: KeptEvent, signal: AbortSignal) => Promise<SendFailure | undefined>;

export interface EventSenderOptions {
  readonly outbox: Outbox;
  readonly send: SendEvent;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  /** Closes what `send` works with. */
  readonly onClose?: () => void;
}

/** What the metrics show. */
export interface EventCounts {
  /** In the outbox, as this process last saw it; 0 in processes that do not send. */
  pending: number;
  delivered: number;
  /** Attempts. */
  failed: number;
  dropped: number;
}

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1000, 60_000, 3_600_000];
/** The pauses before an event is sent again; after the last it is dropped. */
export const RETRY_AFTER_MS: readonly number[] = [
  SECOND_MS,
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  ...Array.from({ length: 72 }, () => HOUR_MS),
];
export const SEND_MS = 10 * SECOND_MS;
const POLL_MS = SECOND_MS;
/** Under way at a time. */
export const SENDS_MAX = 8;
const LOOK = 64;
const LEASE_MS = 30 * SECOND_MS;
const RENEW_MS = 5 * SECOND_MS;
/** What was sent and the store does not take: with so many nothing more is sent, or it would all be sent again and again. */
const UNSETTLED_MAX = 64;
const TROUBLE_LOG_MS = MINUTE_MS;
const CLOSE_MS = 2 * SECOND_MS;

export class EventSender {
  readonly counts: EventCounts = { pending: 0, delivered: 0, failed: 0, dropped: 0 };
  readonly #options: EventSenderOptions;
  readonly #holder = randomBytes(9).toString('base64url');
  readonly #timer: NodeJS.Timeout;
  readonly #aborting = new AbortController();
  /** What is being sent, by id. */
  readonly #sending = new Map<string, Promise<void>>();
  /** What was sent, and how that is to be written down. */
  readonly #unsettled = new Map<string, () => Promise<StoreUnavailable | undefined>>();
  #leaseUntilMs = -Infinity;
  #renewAtMs = -Infinity;
  #turn: Promise<void> | undefined;
  /** Due, and not begun yet; there may be more in the store. */
  #queue: DueEvent[] = [];
  #more = false;
  #closed = false;
  /** Since when the receiver has taken nothing, and when that was logged last. */
  #inTrouble = false;
  #toldAtMs = -Infinity;

  constructor(options: EventSenderOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.turn(), POLL_MS);
    this.#timer.unref();
  }

  /** One look at the outbox; what is due has been begun when it resolves, as far as it may be. Turns do not overlap. */
  turn(): Promise<void> {
    this.#turn ??= this.#look()
      .catch(() => this.#options.log.error('events could not be looked at: a bug'))
      .finally(() => (this.#turn = undefined));
    return this.#turn;
  }

  /** Resolves when nothing is being sent any more. */
  async idle(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending.values());
  }

  /** What is being sent has a moment to end; it is sent again otherwise, by whoever sends next. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#turn;
    const timer = setTimeout(() => this.#aborting.abort(), CLOSE_MS);
    await this.idle();
    clearTimeout(timer);
    await this.#settleAll();
    if (this.#leaseUntilMs > this.#options.now()) await this.#options.outbox.release(this.#holder).catch(() => undefined);
    this.#options.onClose?.();
  }

  async #look(): Promise<void> {
    const { outbox, now } = this.#options;
    if (now() >= this.#renewAtMs) await this.#renew();
    await this.#settleAll();
    if (now() >= this.#leaseUntilMs) this.counts.pending = 0;
    if (!this.#mayBegin()) return;
    const pending = await outbox.pending();
    if (!isUnavailable(pending)) this.counts.pending = pending;
    await outbox.heal?.();
    await this.#fill();
    this.#begin();
  }

  async #renew(): Promise<void> {
    const { outbox, now } = this.#options;
    const askedAtMs = now();
    const held = await outbox.lease(this.#holder, LEASE_MS);
    if (held === true) this.#leaseUntilMs = askedAtMs + LEASE_MS;
    else if (held === false) this.#leaseUntilMs = -Infinity;
    this.#renewAtMs = askedAtMs + (isUnavailable(held) ? POLL_MS : RENEW_MS);
  }

  /** What is begun ends while the lease still holds. */
  #mayBegin(): boolean {
    return !this.#closed && this.#options.now() + SEND_MS < this.#leaseUntilMs && this.#unsettled.size < UNSETTLED_MAX;
  }

  /** What is due now, besides what is being sent and what waits to be written down. */
  async #fill(): Promise<void> {
    const known = this.#unsettled.size + this.#sending.size;
    const due = await this.#options.outbox.due(LOOK + known);
    if (isUnavailable(due)) return;
    this.#queue = due.filter(({ id }) => !this.#sending.has(id) && !this.#unsettled.has(id));
    this.#more = due.length === LOOK + known;
  }

  /** Begins what is due, as far as it may be. */
  #begin(): void {
    while (this.#sending.size < SENDS_MAX && this.#mayBegin()) {
      const event = this.#queue.shift();
      if (event === undefined) break;
      const sending = this.#send(event)
        .catch(() => this.#options.log.error('an event could not be sent: a bug', { event_id: event.id }))
        .finally(() => {
          this.#sending.delete(event.id);
          this.#begin();
        });
      this.#sending.set(event.id, sending);
    }
    // A long list is not to wait for the next look.
    if (this.#queue.length === 0 && this.#more && this.#mayBegin()) {
      this.#more = false;
      void this.turn();
    }
  }

  async #send(event: DueEvent): Promise<void> {
    const { outbox, send } = this.#options;
    const kept = await outbox.read(event);
    if (isUnavailable(kept)) return;
    // Only its entry in the list was left.
    if (kept === undefined) return this.#settle(event.id, () => outbox.remove(event));
    const failure = await send(kept, this.#aborting.signal);
    // Whether it has arrived is unknown: it is sent again.
    if (this.#aborting.signal.aborted && failure !== undefined) return;
    if (failure === undefined) this.counts.delivered++;
    else this.counts.failed++;
    this.#tell(failure);
    const pauseMs = RETRY_AFTER_MS[event.tries];
    if (failure === undefined) return this.#settle(event.id, () => outbox.remove(event));
    if (pauseMs !== undefined) return this.#settle(event.id, () => outbox.postpone(event, pauseMs));
    this.counts.dropped++;
    const { teamId, facts, id } = kept;
    this.#options.log.error('an event was dropped: its receiver has not taken it for three days', {
      event_id: id,
      event: facts.kind,
      team: teamId,
      ...failure,
    });
    await this.#settle(event.id, () => outbox.remove(event));
  }

  /** Writes down what became of an event; what the store does not take now is tried again. */
  async #settle(id: string, write: () => Promise<StoreUnavailable | undefined>): Promise<void> {
    this.#unsettled.set(id, write);
    if ((await write()) === undefined) this.#unsettled.delete(id);
  }

  async #settleAll(): Promise<void> {
    await Promise.all([...this.#unsettled].filter(([id]) => !this.#sending.has(id)).map(([id, write]) => this.#settle(id, write)));
  }

  /** One line when the receiver begins to take nothing, at most one a minute, and one when it takes events again. */
  #tell(failure: SendFailure | undefined): void {
    const { log, now } = this.#options;
    if (failure === undefined) {
      if (this.#inTrouble) log.info('the receiver takes events again');
      this.#inTrouble = false;
    } else if (!this.#inTrouble && now() - this.#toldAtMs >= TROUBLE_LOG_MS) {
      this.#inTrouble = true;
      this.#toldAtMs = now();
      log.warn('the receiver does not take events: they are kept and sent again', { ...failure });
    }
  }
}
