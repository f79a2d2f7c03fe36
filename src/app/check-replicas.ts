// Asks the engines of a configuration without a gateway: each replica translates one sentence, like
// a request, and which engine a request would go to and why.
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { adviceFor } from '../docs/engine-advice.ts';
import { checkSentence } from '../domain/check-sentence.ts';
import type { LanguageTable, PairTest } from '../domain/languages.ts';
import { pairsOfList } from '../domain/engine-routing.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import { ulidSource } from '../domain/ulid.ts';
import { checkReplica, pairsOfReplica } from '../engines/ask-replica.ts';
import type { CheckedReplica } from '../engines/ask-replica.ts';
import { shownUrl } from '../engines/http1/origin.ts';
import type { AttemptFailure } from '../ports/engine.ts';
import { withEngines } from './engine-settings.ts';
import type { EngineSettings } from './engine-settings.ts';
import { explainRoute } from '../domain/engine-offer.ts';
import type { ExplainedEngine } from '../domain/engine-offer.ts';
import type { OfferedEngine } from '../domain/engine-offer.ts';
import type { TranslationOptions } from '../domain/translation-options.ts';

/** Codes from the configuration's languages. */
interface CheckedPair {
  readonly sourceLang: string;
  readonly targetLang: string;
}

/** As printed by `lingate engine check --json`. */
export type ReplicaReport = { readonly engine: string; readonly url: string } & (
  | { readonly ok: true; readonly ms: number; readonly text: string; readonly echoes_id: boolean }
  | {
      readonly ok: false;
      readonly failure: AttemptFailure;
      /** Only if there was an answer: whether it had the request's id. */
      readonly status?: number;
      readonly echoes_id?: boolean;
      readonly advice: string;
    }
);

/**
 * In order, all at the same time. Without a pair, each gets one that it offers. `msMax` ends what
 * has a later deadline. Throws a `ConfigError`.
 */
export function checkReplicas(
  config: Config,
  env: Environment,
  pair: Partial<CheckedPair>,
  msMax = Infinity,
): Promise<readonly ReplicaReport[]> {
  const newId = ulidSource(() => Date.now());
  return withEngines(config, env, (all) =>
    Promise.all(
      all.flatMap(({ config: engine, protocol, options, headers, pairs }) =>
        [...new Set(engine.urls.map(shownUrl))].map(async (url) => {
          const terms = { ...engine, timeout_ms: Math.min(engine.timeout_ms, msMax), protocol, options, headers };
          const offered = async (): Promise<PairTest | undefined> => {
            if (pairs === 'ask') return pairsOfReplica(url, terms);
            return pairs === 'any' ? undefined : pairsOfList(pairs, config.languages);
          };
          const chosen = isComplete(pair) ? pair : offeredPair(config.languages, pair, await offered());
          const work = {
            requestId: newId(),
            text: [checkSentence(chosen.sourceLang)],
            options: { ...NOTHING_CHOSEN, ...chosen },
            traceparent: undefined,
          };
          return reportOf(engine.name, url, await checkReplica(url, work, terms));
        }),
      ),
    ),
  );
}

function isComplete(pair: Partial<CheckedPair>): pair is CheckedPair {
  return pair.sourceLang !== undefined && pair.targetLang !== undefined;
}

/** What is given, completed: English to German if offered, otherwise the first pair. */
function offeredPair({ sources, targets }: LanguageTable, given: Partial<CheckedPair>, offers: PairTest = () => true): CheckedPair {
  const first = (codes: readonly { readonly code: string }[], code: string): readonly string[] =>
    codes.map((one) => one.code).toSorted((a, b) => Number(b === code) - Number(a === code));
  const from = given.sourceLang === undefined ? first(sources, 'EN') : [given.sourceLang];
  const to = given.targetLang === undefined ? first(targets, 'DE') : [given.targetLang];
  for (const sourceLang of from) {
    // Same languages are no test: an engine may give the text back.
    const targetLang = to.find((code) => code.split('-', 1)[0] !== sourceLang && offers(sourceLang, code));
    if (targetLang !== undefined) return { sourceLang, targetLang };
  }
  return { sourceLang: from[0]!, targetLang: to[0]! };
}

function reportOf(engine: string, url: string, { attempt, tookMs, echoesId }: CheckedReplica): ReplicaReport {
  const place = { engine, url };
  if (attempt.kind === 'usable') {
    return { ...place, ok: true, ms: Math.round(tookMs), text: attempt.translations[0]!.text, echoes_id: echoesId };
  }
  const { failure, status } = attempt;
  const answered = status === undefined ? {} : { status, echoes_id: echoesId };
  return { ...place, ok: false, failure, ...answered, advice: adviceFor(attempt) };
}

export interface RouteQuestion {
  readonly plan: string | undefined;
  readonly options: TranslationOptions;
  readonly hasGlossary: boolean;
}

export interface RouteReport {
  /** Index of the rule in `routing`; `undefined` if none matches, and without rules. */
  readonly rule: number | undefined;
  readonly engines: readonly ExplainedEngine[];
  /** Those that should report pairs and did not: all are allowed, as at a start. */
  readonly silent: readonly string[];
}

/** Throws a `ConfigError` if the configuration is wrong. */
export function reportRoute(config: Config, env: Environment, question: RouteQuestion): Promise<RouteReport> {
  return withEngines(config, env, async (all) => {
    const reported = await Promise.all(all.map((settings) => pairsOfEngine(settings, config.languages)));
    const engines = all.map(({ config: { name }, can }, index): OfferedEngine => ({
      name,
      can,
      pairs: reported[index] === 'silent' ? undefined : reported[index],
    }));
    const { rule, engines: explained } = explainRoute(config.languages, engines, config.routing, question);
    const silent = engines.filter((_, index) => reported[index] === 'silent').map(({ name }) => name);
    return { rule: config.routing === undefined ? undefined : rule, engines: explained, silent };
  });
}

/** `undefined` for an engine that offers all pairs. */
async function pairsOfEngine(settings: EngineSettings, table: LanguageTable): Promise<PairTest | undefined | 'silent'> {
  const { pairs, config } = settings;
  if (pairs === 'any') return undefined;
  if (pairs !== 'ask') return pairsOfList(pairs, table);
  const answers = await Promise.all(config.urls.map((url) => pairsOfReplica(url, { ...config, ...settings })));
  const tests = answers.filter((answer) => answer !== undefined);
  return tests.length === 0 ? 'silent' : (source, target) => tests.some((test) => test(source, target));
}
