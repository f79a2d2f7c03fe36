// Asks the engines of a configuration without a gateway: each replica translates one sentence, like
// a request, and which engine a request would go to and why.
import { performance } from 'node:perf_hooks';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { adviceFor } from '../docs/engine-advice.ts';
import { checkSentence } from '../domain/check-sentence.ts';
import type { LanguageTable, PairTest } from '../domain/languages.ts';
import { pairsOfList } from '../domain/engine-routing.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import { ulidSource } from '../domain/ulid.ts';
import { Canceller } from '../core/exchange.ts';
import { Balancer } from '../engines/balancer.ts';
import { shownUrl } from '../engines/http1/origin.ts';
import type { Attempt, AttemptFailure } from '../ports/engine.ts';
import { withEngines } from './engine-settings.ts';
import type { EngineSettings } from './engine-settings.ts';
import { explainRoute } from '../domain/engine-offer.ts';
import type { ExplainedEngine, OfferedEngine } from '../domain/engine-offer.ts';
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
  return withEngines(config, env, (all) =>
    Promise.all(
      all.flatMap((settings) =>
        [...new Set(settings.config.urls.map(shownUrl))].map((url) =>
          withReplicas(settings, [url], msMax, (replica) => checkOne(replica, url, settings, config.languages, pair)),
        ),
      ),
    ),
  );
}

async function withReplicas<T>(
  { config, protocol, options, headers }: EngineSettings,
  urls: readonly string[],
  msMax: number,
  use: (replicas: Balancer) => Promise<T>,
): Promise<T> {
  const replicas = new Balancer({
    ...config,
    urls,
    batch: undefined,
    timeout_ms: Math.min(config.timeout_ms, msMax),
    protocol,
    options,
    headers,
  });
  try {
    return await use(replicas);
  } finally {
    await replicas.close();
  }
}

/** A single attempt. */
async function checkOne(
  replica: Balancer,
  url: string,
  settings: EngineSettings,
  languages: LanguageTable,
  pair: Partial<CheckedPair>,
): Promise<ReplicaReport> {
  const offered = isComplete(pair) ? undefined : await pairsOf(replica, settings, languages);
  const chosen = isComplete(pair) ? pair : offeredPair(languages, pair, typeof offered === 'function' ? offered : undefined);
  const text = [checkSentence(chosen.sourceLang)];
  const work = { requestId: newId(), text, options: { ...NOTHING_CHOSEN, ...chosen }, traceparent: undefined };
  const startedAtMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<readonly [Attempt, boolean]>();
  replica.first(work, new Canceller(), (ended, _replica, echoedIds) => resolve([ended, echoedIds]));
  const [attempt, echoesId] = await promise;
  const place = { engine: settings.config.name, url };
  if (attempt.kind === 'usable') {
    const ms = Math.round(performance.now() - startedAtMs);
    return { ...place, ok: true, ms, text: attempt.translations[0]!.text, echoes_id: echoesId };
  }
  const { failure, status } = attempt;
  const answered = status === undefined ? {} : { status, echoes_id: echoesId };
  return { ...place, ok: false, failure, ...answered, advice: adviceFor(attempt) };
}

const newId = ulidSource(() => Date.now());

/** `undefined` for all pairs; `silent` if no replica has said. */
async function pairsOf(replicas: Balancer, { pairs }: EngineSettings, languages: LanguageTable): Promise<PairTest | undefined | 'silent'> {
  if (pairs === 'any') return undefined;
  if (pairs !== 'ask') return pairsOfList(pairs, languages);
  const answers = (await replicas.askPairs?.()) ?? [];
  const tests = answers.flatMap((answer) => (typeof answer.pairs === 'function' ? [answer.pairs] : []));
  return tests.length === 0 ? 'silent' : (source, target) => tests.some((test) => test(source, target));
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
    const reported = await Promise.all(
      all.map((one) => withReplicas(one, one.config.urls, Infinity, (replicas) => pairsOf(replicas, one, config.languages))),
    );
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
