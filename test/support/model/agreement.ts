// Asks the model and the stores the same thing at once, and keeps what was said for the day they differ.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../src/ports/clock.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';

export interface Contender {
  readonly name: string;
  /** On one backing: each is asked for a while, then another one. */
  readonly stores: readonly PluginStore[];
}

/** How often another instance is asked from then on, on the average. */
const ASKED_IN_A_ROW = 4;

export class Agreement {
  readonly #clock: Clock;
  readonly #model: Contender;
  readonly #others: readonly Contender[];
  readonly #trace: string[] = [];
  #asked = 0;
  #instance = 0;

  constructor(clock: Clock, model: Contender, others: readonly Contender[]) {
    this.#clock = clock;
    this.#model = model;
    this.#others = others;
  }

  get model(): PluginStore {
    return this.#model.stores[0]!;
  }

  /** All must answer what the model answers. */
  async on<T>(what: string, ask: (store: PluginStore) => Promise<T>): Promise<T> {
    this.#turnOver();
    const asked = this.#others.map(({ stores }) => ask(stores[this.#instance % stores.length]!));
    const [expected, ...answers] = await Promise.all([ask(this.model), ...asked]);
    const told = JSON.stringify(expected);
    this.#trace.push(`${new Date(this.#clock.nowMs()).toISOString()}  ${what}\n    ${told}`);
    for (const [index, { name }] of this.#others.entries()) {
      const answer = answers[index];
      // Most are the same to the letter, which is seen soonest; members may come in another order.
      if (JSON.stringify(answer) === told) continue;
      if (!isDeepStrictEqual(plain(answer), plain(expected))) throw this.failure(`${name} says instead: ${JSON.stringify(answer)}`);
    }
    return expected;
  }

  /** Drawn from the number of what was asked, so that a history is played the same way each time. */
  #turnOver(): void {
    const drawn = (Math.imul(++this.#asked, 0x9e3779b1) >>> 0) / 2 ** 32;
    if (drawn < 1 / ASKED_IN_A_ROW) this.#instance++;
  }

  failure(message: string): Error {
    return new Error(`${message}\nThe history, as the model answered it:\n${this.#trace.join('\n')}\n${message}`);
  }
}

/** Absent and undefined members are the same to the ports' types. */
function plain(answer: unknown): unknown {
  return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
}
