// A state that comes and goes, such as a store that does not answer: it is told once that it has
// begun, and once that it has ended.

interface SpellOptions<Detail> {
  readonly begins: (detail: Detail) => void;
  /** With the last detail, and how long ago the beginning was told. */
  readonly ends?: (last: Detail, lastedMs: number) => void;
  /** Damps flapping: after a shorter state, the next is told once it has lasted so long. */
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
  /** The last detail, once the beginning was told. */
  #told: Detail | undefined = undefined;
  #toldAtMs = 0;

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
    const told = this.#told;
    const isTold = this.#lasts === (told !== undefined);
    if (!isTold && !this.#follows && nowMs - this.#sinceMs < heldMs) return;
    this.#told = detail;
    if (isTold) return;
    if (detail !== undefined) begins(detail);
    else ends?.(told!, nowMs - this.#toldAtMs);
    this.#toldAtMs = nowMs;
  }
}
