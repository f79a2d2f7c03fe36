// Which engine a request would go to and why, without a gateway; asks engines for their pairs if they can report them.
import type { Config } from '../config/config.ts';
import type { EngineSettings } from '../config/engine-options.ts';
import type { Environment } from '../config/environment.ts';
import { explainRoute } from '../domain/explained-route.ts';
import type { ExplainedEngine } from '../domain/explained-route.ts';
import type { OfferedEngine } from '../domain/engine-offer.ts';
import type { LanguageTable, PairTest } from '../domain/languages.ts';
import { pairsOfList } from '../domain/pair-list.ts';
import type { TranslationOptions } from '../domain/translation-options.ts';
import { openEngine } from '../engines/open-engine.ts';
import { withEngines } from './engine-setup.ts';

export interface RouteQuestion {
  readonly plan: string | undefined;
  readonly options: TranslationOptions;
  readonly hasGlossary: boolean;
}

export interface RouteReport {
  /** Index of the rule in `routing`; `undefined` if none matches, and without rules. */
  readonly rule: number | undefined;
  readonly engines: readonly ExplainedEngine[];
  /** Engines that should report their pairs and did not answer: all pairs are allowed, as in a gateway that is starting. */
  readonly silent: readonly string[];
}

/** Throws a `ConfigError` if the configuration is wrong. */
export function reportRoute(config: Config, env: Environment, question: RouteQuestion): Promise<RouteReport> {
  return withEngines(config, env, async (all) => {
    const told = await Promise.all(all.map((settings) => pairsOfEngine(settings, config.languages)));
    const engines = all.map(({ config: { name }, can }, index): OfferedEngine => ({
      name,
      can,
      pairs: told[index] === 'silent' ? undefined : told[index],
    }));
    const { rule, engines: explained } = explainRoute(config.languages, engines, config.routing, question);
    const silent = engines.filter((_, index) => told[index] === 'silent').map(({ name }) => name);
    return { rule: config.routing === undefined ? undefined : rule, engines: explained, silent };
  });
}

/** `undefined` for an engine that offers all pairs. */
async function pairsOfEngine(settings: EngineSettings, table: LanguageTable): Promise<PairTest | undefined | 'silent'> {
  const { pairs, config, protocol, options, headers } = settings;
  if (pairs === 'any') return undefined;
  if (pairs !== 'ask') return pairsOfList(pairs, table);
  const engine = openEngine({ ...config, protocol, options, headers });
  try {
    const answers = (await engine.askPairs?.()) ?? [];
    const tests = answers.map((answer) => answer.pairs).filter((answer) => typeof answer === 'function');
    return tests.length === 0 ? 'silent' : (source, target) => tests.some((test) => test(source, target));
  } finally {
    await engine.close();
  }
}
