// Translations: GET and POST /language/translate/v2.
import { refusedCharge, TRANSLATION_PROBLEMS } from 'lingate';
import type { Outcome, PluginHost, RouteDoc, Translation } from 'lingate';
import Type from 'typebox';
import { answer, chargeFor, engineStep, offerTo, route } from '../facades/api.ts';
import type { ApiPart, CallerOffer } from '../facades/api.ts';
import { objectSchema, queryDocs, readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { answered, arrayOf, JSON_OR_FORM, optional, string } from '../facades/reference.ts';
import { translateAll } from '../facades/texts.ts';
import { choiceParameters, NOTHING_READ, orderOf, translationsOf } from './google-choice.ts';
import type { GoogleChoice, GoogleOrder } from './google-choice.ts';
import { MODEL, Q_LIMIT, readParameters, textsParameter } from './google-request.ts';
import type { GoogleSetting } from './google-request.ts';

const PATH = '/language/translate/v2';

/** The texts come first, so that texts that are too long are reported before anything else. */
export const PARAMETERS: readonly ParameterEntry<GoogleChoice, CallerOffer>[] = [
  textsParameter(Q_LIMIT, 'A text, or up to 128; repeat it in a form or a query. An empty text among others stays empty.'),
  ...choiceParameters({ target: 'target', source: 'source', format: 'format', text: 'text', html: 'html' }),
  MODEL,
];

const Translated = Type.Object({
  translatedText: string('The translation.'),
  detectedSourceLanguage: optional('If no source was given and the engine reports it.'),
});
const ANSWER = answered(
  'All texts are translated, and charged.',
  Type.Object({ data: Type.Object({ translations: arrayOf(Translated, 'One per text, in the order of the texts.') }) }),
  { data: { translations: [{ translatedText: 'Hallo, Welt!' }] } },
);
const SEVERAL = [
  { translatedText: 'Hola', detectedSourceLanguage: 'en' },
  { translatedText: 'Buenos días', detectedSourceLanguage: 'fr' },
];
const LIST = 'Several texts of unknown languages';
const SHARED = { authenticated: true, tag: 'Translation', problems: TRANSLATION_PROBLEMS } as const;

const POST_DOC: RouteDoc = {
  ...SHARED,
  summary: 'Translate texts',
  description: 'Translates one text or up to 128, all or none of them. Parameters may also be in the query; unknown ones are refused.',
  body: {
    description: 'As a JSON object or as a form.',
    schema: objectSchema(PARAMETERS),
    example: { q: 'Hello, world!', source: 'en', target: 'de', format: 'text' },
    examples: { list: { summary: LIST, value: { q: ['Hello', 'Bonjour'], target: 'es', format: 'text' } } },
    contentTypes: JSON_OR_FORM,
  },
  answer: { ...ANSWER, examples: { list: { summary: LIST, value: { data: { translations: SEVERAL } } } } },
};

const GET_DOC: RouteDoc = {
  ...SHARED,
  summary: 'Translate texts in the query',
  description: 'The same for texts that are short enough for a URL. Proxies may log them.',
  query: queryDocs(PARAMETERS),
  answer: ANSWER,
};

export function translation(host: PluginHost, setting: GoogleSetting): ApiPart {
  const slot = host.reserveSlot<GoogleOrder>('translation');
  const steps = [...setting.authenticated, 'google-read-translation', 'admit', 'google-translate'];
  return {
    routes: [route('POST', PATH, steps, POST_DOC, 'translate:text'), route('GET', PATH, steps, GET_DOC, 'translate:text')],
    steps: (services) => [
      readParameters('google-read-translation', services, setting, PARAMETERS, (x, members) => {
        const choice: GoogleChoice = { ...NOTHING_READ };
        const offer = offerTo(x, services, setting.variants);
        const refusal = readAll(PARAMETERS, members, choice, offer);
        const { characters } = choice.texts;
        if (refusal !== undefined) return refusedCharge(refusal, characters);
        x.set(slot, orderOf(choice, offer));
        return chargeFor(characters);
      }),
      engineStep('google-translate', slot, (x, order) =>
        translateAll(services, x, { text: order.text, options: order.options, glossaryId: undefined }).then((told) =>
          told.kind === 'translated' ? answerOf(order, told.translations) : told,
        ),
      ),
    ],
  };
}

function answerOf(order: GoogleOrder, translations: readonly Translation[]): Outcome {
  const told = translationsOf(order, translations).map(({ translatedText, detected }) => ({
    translatedText,
    detectedSourceLanguage: detected,
  }));
  return answer({ data: { translations: told } });
}
