// Room for streamed bodies that have arrived before a step takes them, shared by all connections of a listener. Callers who are not
// known yet share a smaller part, so that strangers can neither fill the memory nor keep customers' bodies out.

/** Bytes; the first holds any one body that a route takes. */
const ROOM = { strangers: 33_554_432, known: 134_217_728 };

export type HeldFor = keyof typeof ROOM;

export class HeldBodies {
  readonly #room: Readonly<Record<HeldFor, number>>;
  readonly #held: Record<HeldFor, number> = { strangers: 0, known: 0 };

  constructor(room: Readonly<Record<HeldFor, number>> = ROOM) {
    this.#room = room;
  }

  /** Whether there is room for more of a body that holds `own` bytes of it; a body that is alone always has some. */
  take(bytes: number, own: number, of: HeldFor): boolean {
    const before = this.#held[of];
    if (before + bytes > this.#room[of] && before > own) return false;
    this.#held[of] = before + bytes;
    return true;
  }

  give(bytes: number, of: HeldFor): void {
    this.#held[of] -= bytes;
  }

  /** To be read only. */
  get bytes(): Readonly<Record<HeldFor, number>> {
    return this.#held;
  }
}
