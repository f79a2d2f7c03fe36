// What is offered at this moment: the operator's list of languages, by the pairs of each engine and the rules that lead to it.
import { offersOfOne, offersOfSeveral } from '../domain/engine-offer.ts';
import type { EngineOffers, OfferedCapabilities } from '../domain/engine-offer.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import type { LanguageTable } from '../domain/languages.ts';
import { EnginePairs } from './engine-pairs.ts';
import type { EnginePairsOptions, PairsMode } from './engine-pairs.ts';

/** What the configuration says, and a reload may change. */
export interface OfferedByConfig {
  readonly table: LanguageTable;
  /** In their order, with how their pairs are known. */
  readonly pairs: ReadonlyMap<string, PairsMode>;
  /** `undefined`: all engines in their order. */
  readonly rules: readonly RoutingRule[] | undefined;
}

export interface OfferedLanguagesOptions extends Pick<EnginePairsOptions, 'log' | 'later'> {
  readonly config: OfferedByConfig;
  readonly engines: readonly (Pick<EnginePairsOptions, 'ask'> & { readonly name: string; readonly can: OfferedCapabilities })[];
  /** There is one engine that has no name of its own. */
  readonly isOne: boolean;
}

export class OfferedLanguages {
  /** Replaced whenever something changes, so that whoever has made something of it can tell by its identity. */
  current: EngineOffers;
  readonly #options: OfferedLanguagesOptions;
  readonly #pairs = new Map<string, EnginePairs>();
  #config: OfferedByConfig;

  constructor(options: OfferedLanguagesOptions) {
    this.#options = options;
    this.#config = options.config;
    const { table, pairs } = options.config;
    for (const { name, ask } of options.engines) {
      const { log, later } = options;
      const onChange = (): void => void (this.current = this.#made());
      this.#pairs.set(
        name,
        new EnginePairs({ engine: name, table, pairs: pairs.get(name)!, ask, onChange, log, ...(later === undefined ? {} : { later }) }),
      );
    }
    this.current = this.#made();
  }

  /** What the configuration says from now on, of the same engines; those that can tell are asked anew. */
  replace(config: OfferedByConfig): void {
    this.#config = config;
    for (const [name, pairs] of this.#pairs) pairs.replace(config.table, config.pairs.get(name)!);
    this.current = this.#made();
  }

  /** Asks all engines that can tell, now. */
  ask(): void {
    for (const pairs of this.#pairs.values()) pairs.ask();
  }

  close(): void {
    for (const pairs of this.#pairs.values()) pairs.close();
  }

  #made(): EngineOffers {
    const { table, pairs, rules } = this.#config;
    const { engines: all, isOne } = this.#options;
    const engines = [...pairs.keys()].map((name) => ({
      name,
      can: all.find((engine) => engine.name === name)!.can,
      pairs: this.#pairs.get(name)!.test,
    }));
    return isOne && rules === undefined ? offersOfOne(table, engines[0]!) : offersOfSeveral(table, engines, rules);
  }
}
