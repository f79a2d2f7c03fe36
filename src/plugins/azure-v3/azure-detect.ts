// POST /detect: the language of each text, if the engine can detect it. It counts towards the rate and costs nothing.
import Type from 'typebox';
import { JSON_BODY_HEADERS, refuse } from 'lingate';
import type { Outcome, PluginHost, RouteDoc } from 'lingate';
import { answer, engineStep, readStep, route, uncharged } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { answered, boolean, number, string } from '../facades/reference.ts';
import { toldOf } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { theirCode } from './azure-codes.ts';
import { AZURE_3_0, TextsBody, textsIn } from './azure-3-0.ts';
import { AUTHENTICATED, queryOf, readBody, wrong } from './azure-request.ts';
import { SCORE } from './azure-version.ts';
import { apiVersion, versionOf } from './azure-versions.ts';

const CANNOT = wrong(400_000, 'The engine of this service does not detect languages: name the source of each translation.');
/** Its newer versions report the language with each translation. */
const NOT_IN_VERSION = refuse('not_found', 'Only version 3.0 of the API has /detect.');
/** ISO 639's code for an undetermined language. */
const UNDETERMINED = { language: 'und', score: 0, isTranslationSupported: false, isTransliterationSupported: false };

const Detection = Type.Object({
  language: string('The code; `und` if the engine cannot detect it.'),
  score: number('1, or 0 if the engine cannot detect it: engines report no confidence.'),
  isTranslationSupported: boolean('Whether texts in it can be translated.'),
  isTransliterationSupported: boolean('Always false.'),
});

const DOC: RouteDoc = {
  summary: 'Detect languages',
  description: 'Detects the language of each text from its beginning. It counts towards the request rate and costs nothing.',
  authenticated: true,
  tag: 'Languages',
  query: [apiVersion([AZURE_3_0])],
  body: { description: 'The texts.', schema: TextsBody, example: [{ Text: 'Bonjour tout le monde' }] },
  answer: answered('One entry for each text, in order.', Type.Array(Detection), [
    { language: 'fr', score: 1, isTranslationSupported: true, isTransliterationSupported: false },
  ]),
  problems: ['too_many_texts', 'text_too_long', 'engine_unavailable'],
};

export function detection(host: PluginHost): ApiPart {
  const slot = host.reserveSlot<Texts>('texts to detect');
  return {
    routes: [route('POST', '/detect', [...AUTHENTICATED, 'azure-read-texts', 'admit', 'azure-detect'], DOC, 'translate:text')],
    steps(services) {
      const read = readStep(
        'azure-read-texts',
        JSON_BODY_HEADERS,
        services,
        ({ head, body }) => {
          const version = versionOf(queryOf(head.query));
          if ('problem' in version) return version;
          if (version.sound !== AZURE_3_0) return NOT_IN_VERSION;
          return services.engineCan.detection ? textsIn(readBody(head.headers, body, services.bodyBytesMax, undefined)) : CANNOT;
        },
        (x, texts) => {
          if (!services.engineCanFor(x).detection) return CANNOT;
          x.set(slot, texts);
          return uncharged(texts.characters);
        },
      );
      const isOffered = (code: string): boolean => services.languages().sources.some((source) => source.code === code);
      const detect = engineStep('azure-detect', slot, (x, { entries, text: texts }) => {
        if (texts.length === 0) return answerOf(entries, [], isOffered);
        return services
          .detect(x, texts)
          .then((found) => (found.kind === 'detected' ? answerOf(entries, found.languages, isOffered) : found));
      });
      return [read, detect];
    },
  };
}

/** `found` are the source codes of the non-empty texts. */
function answerOf(entries: readonly string[], found: readonly (string | undefined)[], isOffered: (code: string) => boolean): Outcome {
  return answer(
    toldOf(entries, found, (language) => {
      if (language === undefined) return UNDETERMINED;
      return {
        language: theirCode(language),
        score: SCORE,
        isTranslationSupported: isOffered(language),
        isTransliterationSupported: false,
      };
    }),
  );
}
