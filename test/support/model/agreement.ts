// Asks the model and the stores the same thing at once, and keeps what was said for the day they differ.
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../src/ports/clock.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';

export interface Contender {
  readonly name: string;
  readonly store: PluginStore;
}

export class Agreement {
  readonly #clock: Clock;
  readonly #model: Contender;
  readonly #others: readonly Contender[];
  readonly #trace: string[] = [];

  constructor(clock: Clock, model: Contender, others: readonly Contender[]) {
    this.#clock = clock;
    this.#model = model;
    this.#others = others;
  }

  get model(): PluginStore {
    return this.#model.store;
  }

  /** All must answer what the model answers. */
  async on<T>(what: string, ask: (store: PluginStore) => Promise<T>): Promise<T> {
    const [expected, ...answers] = await Promise.all([ask(this.model), ...this.#others.map(({ store }) => ask(store))]);
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

  failure(message: string): Error {
    return new Error(`${message}\nThe history, as the model answered it:\n${this.#trace.join('\n')}\n${message}`);
  }
}

/** Absent and undefined members are the same to the ports' types. */
function plain(answer: unknown): unknown {
  return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
}
