// Keeps the answers to the console's forms in its process, so that a form that is sent twice does not change anything twice.
import { hash } from 'node:crypto';

/** How long this process keeps an answer; a restart loses them. */
const KEPT_MS = 3_600_000;
/** A few megabytes; beyond this, the oldest answer is dropped. */
const KEPT_MAX = 10_000;
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,128}$/;

/**
 * `stored`: the same request gets the same answer. `forgotten`: nothing was changed, and the key may be used again.
 * `unknown`: something may have been changed, so a repetition runs again, with the same record id.
 */
export type Fate = 'stored' | 'forgotten' | 'unknown';

interface KeptAnswer<T> {
  readonly fingerprint: string;
  readonly id: string;
  answer: Promise<T> | undefined;
  readonly untilMs: number;
}

interface IdempotencyOptions<T> {
  readonly fateOf: (answer: T) => Fate;
  /** Generates the id of a record to create. */
  readonly newId: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

export class IdempotentAnswers<T> {
  readonly #answers = new Map<string, KeptAnswer<T>>();
  readonly #options: IdempotencyOptions<T>;

  constructor(options: IdempotencyOptions<T>) {
    this.#options = options;
  }

  /**
   * Runs `create` once for a key. A repetition gets the same answer, even before the first run has ended. `mismatch` if the key
   * was used for another request before.
   */
  async run(key: string, request: string, create: (id: string) => Promise<T>): Promise<T | 'mismatch'> {
    const { fateOf, newId, now } = this.#options;
    const fingerprint = hash('sha256', request, 'base64');
    const found = this.#answers.get(key);
    const known = found !== undefined && found.untilMs > now() ? found : undefined;
    if (known !== undefined && known.fingerprint !== fingerprint) return 'mismatch';
    if (known?.answer !== undefined) return known.answer;
    const id = known?.id ?? newId();
    const answer = create(id);
    const entry: KeptAnswer<T> = { fingerprint, id, answer, untilMs: now() + KEPT_MS };
    this.#answers.delete(key);
    this.#answers.set(key, entry);
    if (this.#answers.size > KEPT_MAX) this.#answers.delete(this.#answers.keys().next().value!);
    const fate = await answer.then(fateOf, (): Fate => 'unknown');
    if (fate === 'unknown') entry.answer = undefined;
    if (fate === 'forgotten' && this.#answers.get(key) === entry) this.#answers.delete(key);
    return answer;
  }

  /**
   * Drops the answers for which `holds` returns true, and those of runs in progress as soon as they end; repeating such a request
   * runs it again. It waits for nothing, because the caller may itself be a run in progress.
   */
  forget(holds: (answer: T) => boolean): void {
    for (const [key, entry] of this.#answers) {
      const forgetHeld = (answer: T): void => {
        if (holds(answer) && this.#answers.get(key) === entry) this.#answers.delete(key);
      };
      entry.answer?.then(forgetHeld, () => undefined);
    }
  }
}
