// POST /detect: what language each text is in, by engines that can tell. It counts against the rate and costs nothing.
import Type from 'typebox';
import { chargeSlot, json } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, Outcome, Refusal, RouteDoc, Slot } from 'lingate';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import { theirCode } from './azure-codes.ts';
import type { AzureOptions } from './azure-options.ts';
import { PROBLEM_FORM, wrong } from './azure-problem-form.ts';
import { judgeVersion, queryOf } from './azure-query.ts';
import { AUTHENTICATED, readStep } from './azure-steps.ts';
import { readTexts, TextsBody } from './azure-texts.ts';
import type { Texts } from '../facades/in-pieces.ts';
import { API_VERSION } from './azure-translate-doc.ts';
import { SCORE } from './azure-translate.ts';

const CANNOT = wrong(400_000, 'The engine of this service does not detect languages: name the source of each translation.');
/** ISO 639's code for an undetermined language. */
const UNDETERMINED = { language: 'und', score: 0, isTranslationSupported: false, isTransliterationSupported: false };

const DOC: RouteDoc = {
  summary: 'Detect languages',
  description: 'What language each text is in, by its beginning. It counts against the request rate and costs nothing.',
  authenticated: true,
  tag: 'Languages',
  query: [API_VERSION],
  body: { description: 'The texts.', schema: TextsBody, example: [{ Text: 'Bonjour tout le monde' }] },
  answer: {
    status: 200,
    description: 'An entry for each text, in their order.',
    schema: Type.Array(
      Type.Object({
        language: Type.String({ description: 'The code; `und` where the engine cannot tell.' }),
        score: Type.Number({ description: '1, or 0 where the engine cannot tell: engines do not say how sure they are.' }),
        isTranslationSupported: Type.Boolean({ description: 'Whether texts in it can be translated.' }),
        isTransliterationSupported: Type.Boolean({ description: 'Always false.' }),
      }),
    ),
    example: [{ language: 'fr', score: 1, isTranslationSupported: true, isTransliterationSupported: false }],
  },
  problems: ['too_many_texts', 'text_too_long', 'engine_unavailable'],
};

export function detection({ host }: PartSetup<AzureOptions>): ApiPart {
  const slot = host.reserveSlot<Texts>('texts to detect');
  return {
    routes: [
      {
        method: 'POST',
        path: '/detect',
        takesBody: true,
        steps: [...AUTHENTICATED, 'azure-read-texts', 'admit', 'azure-detect'],
        problemForm: PROBLEM_FORM,
        doc: DOC,
      },
    ],
    steps: (services) => [readStep('azure-read-texts', (x) => take(x, services, slot)), detectStep(services, slot)],
  };
}

function take(x: Exchange, services: GatewayServices, slot: Slot<Texts>): Refusal | undefined {
  const version = judgeVersion(queryOf(x.head.query));
  if ('problem' in version) return version;
  if (!services.engineCan.detection) return CANNOT;
  const texts = readTexts(x.head.headers, x.body, services.bodyBytesMax);
  if ('problem' in texts) return texts;
  x.set(slot, texts.sound);
  x.set(chargeSlot, { characters: texts.sound.characters, reserve: false, glossary: undefined, refusal: undefined });
  return undefined;
}

function detectStep(services: GatewayServices, slot: Slot<Texts>): BodyStep {
  return {
    kind: 'body',
    name: 'azure-detect',
    headers: ['traceparent'],
    run(x) {
      const { entries, text } = x.need(slot);
      if (text.length === 0) return answerOf(entries, [], services);
      return services.detect(x, text).then((found) => (found.kind === 'detected' ? answerOf(entries, found.languages, services) : found));
    },
  };
}

/** `found` are the source codes of the texts that are not empty. */
function answerOf(entries: readonly string[], found: readonly (string | undefined)[], services: GatewayServices): Outcome {
  const offered = new Set(services.languages().sources.map(({ code }) => code));
  let next = 0;
  const told = entries.map((entry) => {
    const language = entry === '' ? undefined : found[next++];
    if (language === undefined) return UNDETERMINED;
    const isTranslationSupported = offered.has(language);
    return { language: theirCode(language), score: SCORE, isTranslationSupported, isTransliterationSupported: false };
  });
  return json(JSON.stringify(told));
}
