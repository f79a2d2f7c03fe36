// Has each replica of every engine translate one sentence, like a request: with the same protocol, options and limits.
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { adviceFor } from '../docs/engine-advice.ts';
import { checkSentence } from '../domain/check-sentence.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import { ulidSource } from '../domain/ulid.ts';
import { checkReplica } from '../engines/ask-replica.ts';
import type { CheckedReplica } from '../engines/ask-replica.ts';
import { shownUrl } from '../engines/http1/url.ts';
import type { AttemptFailure } from '../ports/engine.ts';
import { withEngines } from './engine-setup.ts';

/** Codes from the configuration's languages. */
export interface CheckedPair {
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

/** In the order of the configuration; all at the same time. Throws a `ConfigError` if the configuration is wrong. */
export function checkReplicas(
  config: Config,
  env: Environment,
  { sourceLang, targetLang }: CheckedPair,
): Promise<readonly ReplicaReport[]> {
  const newId = ulidSource(() => Date.now());
  const text = [checkSentence(sourceLang)];
  return withEngines(config, env, (all) =>
    Promise.all(
      all.flatMap(({ config: engine, protocol, options, headers }) =>
        [...new Set(engine.urls.map(shownUrl))].map(async (url) => {
          const work = { requestId: newId(), text, options: { ...NOTHING_CHOSEN, sourceLang, targetLang }, traceparent: undefined };
          return reportOf(engine.name, url, await checkReplica(url, work, { ...engine, protocol, options, headers }));
        }),
      ),
    ),
  );
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
