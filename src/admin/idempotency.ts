// Remembers what a creation answered, by its `Idempotency-Key`, so that a client that repeats itself creates nothing twice.
import { createHash } from 'node:crypto';

/** Kept so long in this process; a restart forgets them. */
const KEPT_MS = 3_600_000;
const KEPT_MAX = 1000;
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,128}$/;

interface Kept<T> {
  readonly fingerprint: string;
  readonly answer: Promise<T>;
  readonly untilMs: number;
}

export class IdempotentAnswers<T> {
  readonly #kept = new Map<string, Kept<T>>();
  readonly #now: () => number;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Runs `create` once for a key; whoever repeats it, even before it has ended, is given the same answer. `mismatch` when the
   * key came with another request before. What `keep` does not want kept (a failure) is run again the next time.
   */
  async run(key: string, request: string, create: () => Promise<T>, keep: (answer: T) => boolean): Promise<T | 'mismatch'> {
    const nowMs = this.#now();
    const fingerprint = createHash('sha256').update(request).digest('base64');
    const known = this.#kept.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.fingerprint === fingerprint ? known.answer : 'mismatch';
    const answer = create();
    this.#kept.delete(key);
    this.#kept.set(key, { fingerprint, answer, untilMs: nowMs + KEPT_MS });
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    const forget = (): void => {
      if (this.#kept.get(key)?.answer === answer) this.#kept.delete(key);
    };
    try {
      const done = await answer;
      if (!keep(done)) forget();
      return done;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
