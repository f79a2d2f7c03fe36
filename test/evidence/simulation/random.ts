// The only source of randomness in a simulated run: everything is drawn from the seed, in the order of events.

export class Random {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not give similar runs.
    this.#state = scramble(scramble(seed | 0) ^ 0x5bd1e995);
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    return (scramble(this.#state) >>> 0) / 2 ** 32;
  }

  /** An integer, both ends included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const picked = list[this.int(0, list.length - 1)];
    if (picked === undefined) throw new Error('there is nothing to pick from');
    return picked;
  }

  /** Mostly short, sometimes many times as long, like delays on a network. */
  latencyMs(typicalMs: number): number {
    const tail = this.chance(0.05) ? 4 : 1;
    return -Math.log(1 - this.next()) * typicalMs * tail + 0.01;
  }

  /** `length` characters of `alphabet`. */
  word(alphabet: string, length: number): string {
    let word = '';
    while (word.length < length) word += alphabet[this.int(0, alphabet.length - 1)];
    return word;
  }
}

/** Spreads every bit over all others. */
function scramble(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return x ^ (x >>> 15);
}
