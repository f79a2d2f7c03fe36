// Remembers what a change was answered, by its `Idempotency-Key`, so that a client that repeats itself changes nothing twice.
import { createHash } from 'node:crypto';

/** Kept so long in this process; a restart forgets them. */
const KEPT_MS = 3_600_000;
/** A few megabytes; beyond this the oldest answer is forgotten. */
const KEPT_MAX = 10_000;
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,128}$/;

/**
 * `kept`: whoever repeats the request gets the same answer. `forgotten`: nothing was made, and the key may be used anew.
 * `unknown`: something may have been made, so a repetition runs again, with the same record id.
 */
export type Fate = 'kept' | 'forgotten' | 'unknown';

interface KeptAnswer<T> {
  readonly fingerprint: string;
  readonly id: string;
  readonly answer: Promise<T> | undefined;
  readonly untilMs: number;
}

export interface IdempotencyOptions<T> {
  readonly fateOf: (answer: T) => Fate;
  /** Makes the id of a record to be created. */
  readonly newId: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

export class IdempotentAnswers<T> {
  readonly #kept = new Map<string, KeptAnswer<T>>();
  readonly #options: IdempotencyOptions<T>;

  constructor(options: IdempotencyOptions<T>) {
    this.#options = options;
  }

  /**
   * Runs `create` once for a key; whoever repeats it, even before it has ended, is given the same answer. `mismatch` when the
   * key came with another request before.
   */
  async run(key: string, request: string, create: (id: string) => Promise<T>): Promise<T | 'mismatch'> {
    const { fateOf, newId, now } = this.#options;
    const fingerprint = createHash('sha256').update(request).digest('base64');
    const found = this.#kept.get(key);
    const known = found !== undefined && found.untilMs > now() ? found : undefined;
    if (known !== undefined && known.fingerprint !== fingerprint) return 'mismatch';
    if (known?.answer !== undefined) return known.answer;
    const id = known?.id ?? newId();
    const answer = create(id);
    const entry = { fingerprint, id, answer, untilMs: now() + KEPT_MS };
    this.#keep(key, entry);
    try {
      const done = await answer;
      this.#conclude(key, entry, fateOf(done));
      return done;
    } catch (error) {
      this.#conclude(key, entry, 'unknown');
      throw error;
    }
  }

  /**
   * Forgets the answers that `holds` finds something in, also those that are under way, once they are there; who repeats such a
   * request changes something again. Nothing is waited for: whoever forgets may be under way here.
   */
  forget(holds: (answer: T) => boolean): void {
    for (const [key, entry] of this.#kept) {
      const forgetHeld = (answer: T): void => {
        if (holds(answer) && this.#kept.get(key) === entry) this.#kept.delete(key);
      };
      entry.answer?.then(forgetHeld, () => undefined);
    }
  }

  #keep(key: string, entry: KeptAnswer<T>): void {
    this.#kept.delete(key);
    this.#kept.set(key, entry);
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
  }

  #conclude(key: string, entry: KeptAnswer<T>, fate: Fate): void {
    if (fate === 'kept' || this.#kept.get(key) !== entry) return;
    if (fate === 'forgotten') this.#kept.delete(key);
    else this.#kept.set(key, { ...entry, answer: undefined });
  }
}
