// Requests whose texts differ, for contestants that cache translations.

/** Placeholder in a body and its answer for the number that distinguishes texts. */
export const NUMBER_PLACE = '00000000';

export interface TextVariety {
  /** Number of texts that are repeated in turn. */
  readonly known: number;
  /** Share of requests with a text that was never sent before. */
  readonly newShare: number;
}

/** The next number that was never used in this process. */
let unused = 0;

export class TextNumbers {
  readonly #variety: TextVariety;
  #turn = 0;
  #due = 0;

  constructor(variety: TextVariety) {
    this.#variety = variety;
    unused = Math.max(unused, variety.known);
  }

  next(): string {
    const { known, newShare } = this.#variety;
    this.#due += newShare;
    if (this.#due < 1) return digits(this.#turn++ % known);
    this.#due--;
    return digits(unused++);
  }
}

function digits(number: number): string {
  return String(number).padStart(NUMBER_PLACE.length, '0');
}
