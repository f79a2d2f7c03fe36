// Executes a request with an `Idempotency-Key` once over all processes, and stores its answer.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Claimed, IdempotencyRecords, RequestClaim } from '../ports/idempotency-records.ts';

export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,128}$/;

/**
 * `stored`: repetitions get the answer. `forgotten`: nothing was changed, and the key is free.
 * `unknown`: a repetition runs again, with the same record id.
 */
export type Fate = 'stored' | 'forgotten' | 'unknown';

/** Longer than an operation waits for the store; then a dead process's request may be repeated. */
export const LEASE_MS = 15_000;
/** How long a repetition waits for the first to end, and how often it looks. */
const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 100;

/** What a run has come to. */
export interface Ran<T> {
  readonly answer: T;
  readonly fate: Fate;
  /** What repetitions are answered with, without secrets; and the team that it concerns. */
  readonly stored: () => { readonly answer: string; readonly teamId: string | undefined };
}

type Once<T> = { readonly kind: 'ran'; readonly answer: T } | Exclude<Claimed, { readonly kind: 'claimed' }> | StoreUnavailable;

type OnceRequest = Omit<RequestClaim, 'holder' | 'leaseMs'>;

const OTHER_REQUEST = { kind: 'other_request' } as const;
const RUNNING = { kind: 'running' } as const;

export type AskedRecords = Pick<IdempotencyRecords, 'claim' | 'finish' | 'release'>;

interface IdempotentRequestsOptions {
  readonly records: AskedRecords;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

export class IdempotentRequests {
  readonly #options: IdempotentRequestsOptions;
  readonly #holder = randomBytes(12).toString('base64url');
  /** Requests that this process runs or claims: it could otherwise claim twice what it holds. */
  readonly #here = new Map<string, { readonly request: string; readonly ended: Promise<void> }>();

  constructor(options: IdempotentRequestsOptions) {
    this.#options = options;
  }

  /** `create` gets the new record's id. `running`: another is at it for too long. */
  async run<T>(asked: OnceRequest, create: (recordId: string) => Promise<Ran<T>>): Promise<Once<T>> {
    const { now } = this.#options;
    const untilMs = now() + WAIT_MS;
    for (;;) {
      const running = this.#here.get(asked.id);
      if (running === undefined) {
        const once = await this.#alone(asked, create);
        if (once.kind !== 'running' || now() >= untilMs) return once;
        await delay(LOOK_EVERY_MS);
      } else {
        if (running.request !== asked.request) return OTHER_REQUEST;
        const waiting = new AbortController();
        await Promise.race([running.ended, delay(untilMs - now(), undefined, { signal: waiting.signal }).catch(() => undefined)]);
        waiting.abort();
        if (now() >= untilMs) return RUNNING;
      }
    }
  }

  async #alone<T>(asked: OnceRequest, create: (recordId: string) => Promise<Ran<T>>): Promise<Once<T>> {
    const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
    this.#here.set(asked.id, { request: asked.request, ended });
    try {
      return await this.#claimed(asked, create);
    } finally {
      this.#here.delete(asked.id);
      end(undefined);
    }
  }

  async #claimed<T>(asked: OnceRequest, create: (recordId: string) => Promise<Ran<T>>): Promise<Once<T>> {
    const { records } = this.#options;
    const held = { id: asked.id, holder: this.#holder };
    const claim = await records.claim({ ...asked, ...held, leaseMs: LEASE_MS });
    if (isUnavailable(claim) || claim.kind !== 'claimed') return claim;
    const { answer, fate, stored } = await create(claim.recordId);
    if (fate === 'stored') {
      const { answer: text, teamId } = stored();
      // The change is made: a second attempt is worth more than the answer of a repetition.
      const failed = await records.finish(held, text, teamId);
      if (failed !== undefined) await records.finish(held, text, teamId);
    } else {
      await records.release(held, fate === 'forgotten' ? 'forget' : 'repeat');
    }
    return { kind: 'ran', answer };
  }
}
