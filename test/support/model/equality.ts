// Stores of several kinds and the reference model live through the same random histories.
import * as fc from 'fast-check';
import { MovableClock } from '../../../src/testing.ts';
import type { StoreFinding } from '../../../src/ports/whole-accounts.ts';
import type { OtherStores } from '../../../src/stores/open-reader.ts';
import type { JudgingBacking } from '../backings.ts';
import { checkedStore } from '../checked-store.ts';
import { SteppingClock } from '../stepping-clock.ts';
import type { Contender } from './agreement.ts';
import { commandsIn } from './history.ts';
import type { History } from './history.ts';
import { replay } from './replay.ts';

/** A failure prints it; with this variable and the run's seed it is replayed without the histories before. */
const SHRUNK_PATH = process.env['LINGATE_PROPERTY_PATH'];

interface Judged {
  readonly name: string;
  readonly backing: JudgingBacking;
  /** How a store of a plugin is opened, by its scheme. */
  readonly others?: OtherStores;
}

export class Equality {
  readonly #clock = new MovableClock();
  /** Of the stores; it goes wrong in the histories, and the model has the right time. */
  readonly #machine = new SteppingClock(this.#clock);
  readonly #judged: readonly Judged[];
  readonly #contenders: Contender[] = [];
  #teams = 0;

  constructor(judged: readonly Judged[]) {
    this.#judged = judged;
  }

  /** Two instances of each, like two gateways. */
  async open(): Promise<void> {
    for (const { name, backing } of this.#judged) {
      const stores = [await backing.openJudging(this.#machine), await backing.openJudging(this.#machine)];
      this.#contenders.push({ name, stores });
    }
  }

  /** All give the same answers and have the same accounts, in so many histories. Resolves with the number of their commands. */
  async agree(histories: fc.Arbitrary<History>, numRuns: number): Promise<number> {
    let commands = 0;
    const answered = fc.asyncProperty(histories, (drawn) => {
      commands += commandsIn(drawn);
      this.#teams += drawn.teams.length;
      return replay(drawn, { clock: this.#clock, machine: this.#machine }, this.#contenders);
    });
    await fc.assert(answered, { numRuns, ...(SHRUNK_PATH === undefined ? {} : { path: SHRUNK_PATH }) });
    return commands;
  }

  /** What `lingate store check` finds in what the histories have left; it must have read them. */
  async findings(): Promise<StoreFinding[]> {
    const found: StoreFinding[] = [];
    for (const { name, backing, others } of this.#judged) {
      const { counts, findings } = await checkedStore(backing.url, 0, undefined, others);
      if (counts.teams < this.#teams / 2) throw new Error(`${name} was checked with ${counts.teams} teams`);
      found.push(...findings);
    }
    return found;
  }

  async close(): Promise<void> {
    await Promise.all(this.#contenders.flatMap(({ stores }) => stores).map((store) => store.close()));
    await Promise.all(this.#judged.map(({ backing }) => backing.remove()));
  }
}
