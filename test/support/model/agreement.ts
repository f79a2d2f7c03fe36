// Asks the model and the stores the same thing at once, and keeps the answers as a trace for when they differ.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../src/ports/clock.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';

export interface Contender {
  readonly name: string;
  /** Several instances on one backing: each is used for a while, then another one. */
  readonly stores: readonly PluginStore[];
}

/** How often the instance is switched from then on, on average. */
const CALLS_IN_A_ROW = 4;

export class Agreement {
  readonly #clock: Clock;
  readonly model: PluginStore;
  readonly #others: readonly Contender[];
  readonly #trace: string[] = [];
  #asked = 0;
  #instance = 0;

  constructor(clock: Clock, model: PluginStore, others: readonly Contender[]) {
    this.#clock = clock;
    this.model = model;
    this.#others = others;
  }

  /** All must answer what the model answers. */
  async on<T>(what: string, ask: (store: PluginStore) => Promise<T>): Promise<T> {
    this.#turnOver();
    const asked = this.#others.map(({ stores }) => ask(stores[this.#instance % stores.length]!));
    const [expected, ...answers] = await Promise.all([ask(this.model), ...asked]);
    const expectedText = JSON.stringify(expected);
    this.#trace.push(`${new Date(this.#clock.nowMs()).toISOString()}  ${what}\n    ${expectedText}`);
    for (const [index, { name }] of this.#others.entries()) {
      const answer = answers[index];
      // Most are identical as text, which is the fastest check; members may be in a different order.
      if (JSON.stringify(answer) === expectedText) continue;
      if (!isDeepStrictEqual(plain(answer), plain(expected))) throw this.#failure(`${name} says instead: ${JSON.stringify(answer)}`);
    }
    return expected;
  }

  /** Derived from the number of calls, so that a history always replays the same way. */
  #turnOver(): void {
    const drawn = (Math.imul(++this.#asked, 0x9e3779b1) >>> 0) / 2 ** 32;
    if (drawn < 1 / CALLS_IN_A_ROW) this.#instance++;
  }

  #failure(message: string): Error {
    return new Error(`${message}\nThe history, as the model answered it:\n${this.#trace.join('\n')}\n${message}`);
  }
}

/** Absent and undefined members are equal in the ports' types. */
function plain(answer: unknown): unknown {
  return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
}
