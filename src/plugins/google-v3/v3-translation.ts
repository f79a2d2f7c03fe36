// Translations of version 3 of Google's API: POST …:translateText.
import { canonicalUlid, NO_SUCH_GLOSSARY, refuse, refusedCharge, tagSlot, TRANSLATION_PROBLEMS } from 'lingate';
import type { Charge, Outcome, PluginHost, Refusal, RouteDoc, Translation } from 'lingate';
import Type from 'typebox';
import { answer, chargeFor, engineStep, offerTo } from '../facades/api.ts';
import type { ApiPart, CallerOffer } from '../facades/api.ts';
import type { Judged } from '../facades/members.ts';
import { objectSchema, readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { answered, arrayOf, optional, string } from '../facades/reference.ts';
import { translateAll } from '../facades/texts.ts';
import { choiceParameters, NOTHING_READ, orderOf, translationsOf } from '../google-v2/google-choice.ts';
import type { GoogleChoice, GoogleOrder } from '../google-v2/google-choice.ts';
import { readParameters, textsLimit, textsParameter } from '../google-v2/google-request.ts';
import type { GoogleSetting } from '../google-v2/google-request.ts';
import { LABELS, MODEL_V3, routesOf, tagOfLabels } from './v3-request.ts';

export const CONTENTS_LIMIT = textsLimit('contents', 1024);

interface ChoiceV3 extends GoogleChoice {
  readonly glossaryId: string | undefined;
}

/** The texts come first, so that texts that are too long are reported before anything else. */
export const PARAMETERS_V3: readonly ParameterEntry<ChoiceV3, CallerOffer>[] = [
  {
    ...textsParameter(CONTENTS_LIMIT, 'Up to 1024 texts. An empty text among others stays empty.'),
    schema: Type.Array(Type.String(), { minItems: 1, maxItems: CONTENTS_LIMIT.entriesMax }),
    example: ['Hello, world!'],
  },
  ...choiceParameters({
    target: 'targetLanguageCode',
    source: 'sourceLanguageCode',
    format: 'mimeType',
    text: 'text/plain',
    html: 'text/html',
  }),
  {
    name: 'glossaryConfig',
    does: 'served',
    means: 'glossaryId',
    about:
      'A glossary of this service, with `sourceLanguageCode`; both lists of the answer then have the same translations, with its terms.',
    fields: [
      { name: 'glossary', does: 'served', about: 'The id of the glossary, or a path that ends in it.' },
      { name: 'ignoreCase', does: 'refused', but: ['false'], about: 'Terms are matched as the engine does it.' },
      { name: 'contextualTranslationEnabled', does: 'refused', but: ['false'], about: 'Terms are matched as the engine does it.' },
    ],
    read: readGlossary,
  },
  MODEL_V3,
  {
    name: 'transliterationConfig',
    does: 'refused',
    about: 'This service does not transliterate.',
    refusal: (named) => refuse('validation_error', `${named}: this service does not transliterate; leave it out.`),
  },
  LABELS,
];

const Translated = Type.Object({
  translatedText: string('The translation.'),
  detectedLanguageCode: optional('If no source was given and the engine reports it.'),
});

const DOC: RouteDoc = {
  summary: 'Translate texts',
  description: 'Translates up to 1024 texts, all or none of them. Names that this API does not have are refused.',
  authenticated: true,
  tag: 'Translation',
  body: {
    description: 'A JSON object.',
    schema: objectSchema(PARAMETERS_V3),
    example: { contents: ['Hello, world!'], sourceLanguageCode: 'en', targetLanguageCode: 'de', mimeType: 'text/plain' },
  },
  answer: answered(
    'All texts are translated, and charged.',
    Type.Object({
      translations: arrayOf(Translated, 'One per text, in the order of the texts.'),
      glossaryTranslations: Type.Optional(arrayOf(Translated, 'The same, if a glossary was given.')),
    }),
    { translations: [{ translatedText: 'Hallo, Welt!' }] },
  ),
  problems: [...TRANSLATION_PROBLEMS, 'glossary_not_found'],
};

interface OrderV3 extends GoogleOrder {
  readonly glossaryId: string | undefined;
}

export function translationV3(host: PluginHost, setting: GoogleSetting): ApiPart {
  const slot = host.reserveSlot<OrderV3>('translation');
  const steps = [...setting.authenticated, 'google-read-translation', 'admit', 'google-translate'];
  return {
    routes: routesOf('POST', ':translateText', steps, DOC, 'translate:text'),
    steps: (services) => [
      readParameters('google-read-translation', services, setting, PARAMETERS_V3, (x, members) => {
        const choice: ChoiceV3 = { ...NOTHING_READ, glossaryId: undefined };
        const offer = offerTo(x, services, setting.variants);
        const refusal = readAll(PARAMETERS_V3, members, choice, offer);
        if (refusal !== undefined) return refusedCharge(refusal, choice.texts.characters);
        const order = { ...orderOf(choice, offer), glossaryId: choice.glossaryId };
        x.set(slot, order);
        const tag = tagOfLabels(members.get(LABELS.name));
        if (tag !== undefined) x.set(tagSlot, tag);
        return chargeOf(order);
      }),
      engineStep('google-translate', slot, (x, order) => {
        const { text, options, glossaryId } = order;
        return translateAll(services, x, { text, options, glossaryId }).then((told) => {
          if (told.kind === 'translated') return answerOf(order, told.translations);
          // It was deleted after the admission had found it.
          return told === NO_SUCH_GLOSSARY ? NO_GLOSSARY : told;
        });
      }),
    ],
  };
}

const NO_GLOSSARY = refuse('glossary_not_found', 'glossaryConfig.glossary: the team has no glossary with this id.');

/** Languages of glossaries are compared without regions, as Google does it. */
function chargeOf({ characters, glossaryId, options: { sourceLang, targetLang } }: OrderV3): Charge {
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang: sourceLang!, targetLang, byBase: true };
  return { ...chargeFor(characters, glossary), missingGlossary: NO_GLOSSARY };
}

function readGlossary(value: unknown, named: string, choice: ChoiceV3, { canFor }: CallerOffer): Judged<string> {
  const no = (detail: string): Refusal => refuse('validation_error', detail);
  const { sourceLang, targetLang } = choice;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return no(`${named}: must be an object.`);
  const { glossary, ...others } = value as Readonly<Record<string, unknown>>;
  const other = Object.entries(others).find(([, one]) => one !== false && one !== null);
  if (other !== undefined) return no(`${named}: only glossary is supported by this service; leave the others out.`);
  const id = typeof glossary === 'string' ? canonicalUlid(glossary.slice(glossary.lastIndexOf('/') + 1)) : undefined;
  if (id === undefined) return no(`${named}.glossary: must be the id of a glossary, or a path that ends in it.`);
  if (sourceLang === undefined) return no(`sourceLanguageCode: is required with ${named}.`);
  return canFor(sourceLang, targetLang).glossaries
    ? { sound: id }
    : no(`${named}: the engine of this service takes no glossaries; leave it out.`);
}

function answerOf(order: OrderV3, found: readonly Translation[]): Outcome {
  const translations = translationsOf(order, found).map(({ translatedText, detected }) => ({
    translatedText,
    detectedLanguageCode: detected,
  }));
  return answer({ translations, glossaryTranslations: order.glossaryId === undefined ? undefined : translations });
}
