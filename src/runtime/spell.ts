// A state that comes and goes, such as a store that does not answer: it is reported once that it has
// begun, and once that it has ended.

interface SpellOptions<Detail> {
  readonly begins: (detail: Detail) => void;
  /** With the last detail, and how long ago the beginning was reported. */
  readonly ends?: (last: Detail, lastedMs: number) => void;
  /** Damps flapping: after a shorter state, the next is reported once it has lasted so long. */
  readonly heldMs?: number;
  /** A monotonic clock; needed for durations only. */
  readonly now?: () => number;
}

export class Spell<Detail> {
  readonly #options: SpellOptions<Detail>;
  #lasts = false;
  #sinceMs = -Infinity;
  /** Whether the previous state lasted long enough. */
  #follows = true;
  /** The last detail, once the beginning was reported. */
  #reported: Detail | undefined = undefined;
  #reportedAtMs = 0;

  constructor(options: SpellOptions<Detail>) {
    this.#options = options;
  }

  /** `undefined` while it does not last. */
  note(detail: Detail | undefined): void {
    const { begins, ends, heldMs = 0, now = () => 0 } = this.#options;
    const nowMs = now();
    if ((detail !== undefined) !== this.#lasts) {
      this.#follows = nowMs - this.#sinceMs >= heldMs;
      this.#sinceMs = nowMs;
      this.#lasts = !this.#lasts;
    }
    const last = this.#reported;
    const isReported = this.#lasts === (last !== undefined);
    if (!isReported && !this.#follows && nowMs - this.#sinceMs < heldMs) return;
    this.#reported = detail;
    if (isReported) return;
    if (detail !== undefined) begins(detail);
    else ends?.(last!, nowMs - this.#reportedAtMs);
    this.#reportedAtMs = nowMs;
  }
}
