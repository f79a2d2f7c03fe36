// Sends the outbox's events to their receiver: from one process at a time, each retried for up to
// three days, signed as specified by Standard Webhooks.
import { randomBytes, createHmac } from 'node:crypto';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Log } from '../ports/log.ts';
import type { DueEvent, OutboxEvent, Outbox } from '../ports/outbox.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';
import { Rounds } from './rounds.ts';

/** Why the receiver did not accept an event. */
export interface SendFailure {
  readonly failure: string;
  readonly status?: number;
}

/** With its team's reference when it is sent; `undefined` if it has none, or was deleted. */
export interface SentEvent extends OutboxEvent {
  readonly reference: string | undefined;
}

/** Sends an event; `undefined` if it was accepted. Never rejects, and ends within `SEND_MS`. */
type SendEvent = (event: SentEvent, signal: AbortSignal) => Promise<SendFailure | undefined>;

interface EventSenderOptions {
  readonly outbox: Outbox;
  readonly teams: Pick<TeamRegistry, 'findTeam'>;
  readonly send: SendEvent;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/** Figures for the metrics. */
interface EventCounts {
  /** Events in the outbox, as last seen by this process; 0 in processes that do not send. */
  pending: number;
  delivered: number;
  /** Failed attempts. */
  failed: number;
  dropped: number;
}

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1000, 60_000, 3_600_000];
/** The delays before each retry of an event; after the last it is dropped. */
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
/** Maximum number of events in flight, and of those that are read at a time. */
export const SENDS_MAX = 8;
const LOOK = 64;
const LEASE_MS = 30 * SECOND_MS;
const RENEW_MS = 5 * SECOND_MS;
const TROUBLE_LOG_MS = MINUTE_MS;
const CLOSE_MS = 2 * SECOND_MS;

export class EventSender {
  readonly counts: EventCounts = { pending: 0, delivered: 0, failed: 0, dropped: 0 };
  readonly #options: EventSenderOptions;
  readonly #holder = randomBytes(9).toString('base64url');
  readonly #turns: Rounds;
  readonly #aborting = new AbortController();
  /** Results that the store has not taken: nothing more is sent, as it would come again. */
  readonly #unrecorded: (() => Promise<StoreUnavailable | undefined>)[] = [];
  #leaseUntilMs = -Infinity;
  #renewAtMs = -Infinity;
  #closed = false;
  /** Whether the receiver is rejecting events, and when that was last logged. */
  #inTrouble = false;
  #loggedAtMs = -Infinity;

  constructor(options: EventSenderOptions) {
    this.#options = options;
    const work = (): Promise<void> => this.#work().catch(() => options.log.error('events could not be read: a bug'));
    this.#turns = new Rounds(POLL_MS, work);
  }

  /** Resolves when nothing is left that may be sent now. Calls do not overlap. */
  turn(): Promise<void> {
    return this.#turns.now();
  }

  /** Gives events in flight a moment to finish; others are sent again by the next sender. */
  async close(): Promise<void> {
    this.#closed = true;
    const timer = setTimeout(() => this.#aborting.abort(), CLOSE_MS);
    await this.#turns.close();
    clearTimeout(timer);
    await this.#recordAgain();
    if (this.#leaseUntilMs > this.#options.now()) await this.#options.outbox.release(this.#holder).catch(() => undefined);
  }

  async #work(): Promise<void> {
    const { outbox, now, log } = this.#options;
    await this.#renew();
    if (now() >= this.#leaseUntilMs) this.counts.pending = 0;
    await this.#recordAgain();
    while (this.#mayBegin()) {
      const pending = await outbox.pending();
      if (!isUnavailable(pending)) this.counts.pending = pending;
      const due = await outbox.due(LOOK);
      if (isUnavailable(due)) return;
      const queue = [...due];
      const sendSome = async (): Promise<void> => {
        for (let event: DueEvent | undefined; this.#mayBegin() && (event = queue.shift()) !== undefined; await this.#renew()) {
          const { id } = event;
          await this.#send(event).catch(() => log.error('an event could not be sent: a bug', { event_id: id }));
        }
      };
      await Promise.all(Array.from({ length: SENDS_MAX }, sendSome));
      if (due.length < LOOK) return;
    }
  }

  async #renew(): Promise<void> {
    const { outbox, now } = this.#options;
    const askedAtMs = now();
    if (askedAtMs < this.#renewAtMs) return;
    this.#renewAtMs = askedAtMs + RENEW_MS;
    const held = await outbox.lease(this.#holder, LEASE_MS);
    if (held === true) this.#leaseUntilMs = askedAtMs + LEASE_MS;
    else if (held === false) this.#leaseUntilMs = -Infinity;
    if (isUnavailable(held)) this.#renewAtMs = askedAtMs + POLL_MS;
  }

  /** Anything started now must finish before the lease ends. */
  #mayBegin(): boolean {
    return !this.#closed && this.#options.now() + SEND_MS < this.#leaseUntilMs && this.#unrecorded.length === 0;
  }

  async #send(event: DueEvent): Promise<void> {
    const { outbox, teams, send } = this.#options;
    const [stored, team] = await Promise.all([outbox.read(event), teams.findTeam(event.teamId)]);
    if (isUnavailable(stored) || (team !== undefined && isUnavailable(team))) return;
    // Only its list entry was left.
    if (stored === undefined) return this.#record(() => outbox.remove(event));
    const failure = await send({ ...stored, reference: team?.reference }, this.#aborting.signal);
    // Unknown whether it arrived, so it will be sent again.
    if (this.#aborting.signal.aborted && failure !== undefined) return;
    if (failure === undefined) this.counts.delivered++;
    else this.counts.failed++;
    this.#logTrouble(failure);
    const pauseMs = RETRY_AFTER_MS[event.tries];
    if (failure === undefined) return this.#record(() => outbox.remove(event));
    if (pauseMs !== undefined) return this.#record(() => outbox.postpone(event, pauseMs));
    this.counts.dropped++;
    const { teamId, facts, id } = stored;
    this.#options.log.error('an event was dropped: its receiver has not taken it for three days', {
      event_id: id,
      event: facts.kind,
      team: teamId,
      ...failure,
    });
    await this.#record(() => outbox.remove(event));
  }

  async #record(write: () => Promise<StoreUnavailable | undefined>): Promise<void> {
    if ((await write()) !== undefined) this.#unrecorded.push(write);
  }

  async #recordAgain(): Promise<void> {
    await Promise.all(this.#unrecorded.splice(0).map((write) => this.#record(write)));
  }

  /** When the receiver starts rejecting, at most once a minute, and when it accepts again. */
  #logTrouble(failure: SendFailure | undefined): void {
    const { log, now } = this.#options;
    if (failure === undefined) {
      if (this.#inTrouble) log.info('the receiver takes events again');
      this.#inTrouble = false;
    } else if (!this.#inTrouble && now() - this.#loggedAtMs >= TROUBLE_LOG_MS) {
      this.#inTrouble = true;
      this.#loggedAtMs = now();
      log.warn('the receiver does not accept events: they are sent again', { ...failure });
    }
  }
}

interface WebhookOptions {
  readonly url: string;
  readonly key: Buffer;
  /** Limit until the response status arrives. */
  readonly timeoutMs: number;
  /** Wall clock, for the timestamp in the signature. */
  readonly nowMs: () => number;
}

interface WebhookMessage {
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

/** Never rejects. Redirects count as failures like any other status. Bodies are not read. */
export async function postWebhook(
  { url, key, timeoutMs, nowMs }: WebhookOptions,
  { id, contentType, body }: WebhookMessage,
  signal: AbortSignal,
): Promise<SendFailure | undefined> {
  const timestamp = Math.floor(nowMs() / 1000);
  const headers = {
    'content-type': contentType,
    'user-agent': 'lingate',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf(key, id, timestamp, body),
  };
  const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const { ok, status, body: unread } = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: ends });
    void unread?.cancel().catch(() => undefined);
    return ok ? undefined : { failure: 'status', status };
  } catch (error) {
    return { failure: failureOf(error as FetchError) };
  }
}

type FetchError = Error & { readonly cause?: { readonly code?: unknown; readonly message?: unknown } };

/** A system's code or one of TLS; those of `fetch` itself say nothing to operators. */
function failureOf({ name, cause }: FetchError): string {
  if (name === 'TimeoutError') return 'timeout';
  // A port that `fetch` does not connect to has words, and no code.
  if (cause?.message === 'bad port') return 'port_not_allowed';
  const code = cause?.code;
  return typeof code === 'string' && !code.startsWith('UND_') ? code : 'broken';
}

/** `v1,` and the base64 of the HMAC-SHA256 of id, timestamp and body, joined by dots. */
function signatureOf(key: Buffer, id: string, timestamp: number, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
