// Translations: GET and POST /language/translate/v2.
import { NOTHING_CHOSEN, refuse, refusedCharge, TRANSLATION_PROBLEMS } from 'lingate';
import type { Exchange, GatewayServices, Outcome, PluginHost, RouteDoc, TextFormat, Translation, TranslationOptions } from 'lingate';
import Type from 'typebox';
import { answer, chargeFor, engineStep, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { chosen } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { answered, arrayOf, JSON_OR_FORM, oneOrMore, optional, parameter, required, string } from '../facades/reference.ts';
import { toldOf, translateAll } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { badPair, theirCode, WRONG_TARGET } from './google-languages.ts';
import { missing, modelFault, readParameters, TEXTS_MAX, textsOf, unknownOf } from './google-request.ts';
import type { GoogleSetting } from './google-request.ts';

const PATH = '/language/translate/v2';
const KNOWN = ['q', 'target', 'source', 'format', 'model'];

const PARAMETERS = {
  target: 'A code that /languages lists, in any case; `en` and `pt` mean the variant that the operator has chosen.',
  source: 'A code that /languages lists; by default the engine detects it.',
  format: '`html` (the default) or `text`. If the engine does not support HTML, texts without `<` and `&` are treated as text.',
  model: '`nmt` or `base`; has no effect.',
} as const;

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
    schema: Type.Object({
      q: oneOrMore(TEXTS_MAX, 'A text, or up to 128. In a form, repeat the field. An empty text among others stays empty.'),
      target: string(PARAMETERS.target),
      source: optional(PARAMETERS.source),
      format: optional(PARAMETERS.format),
      model: optional(PARAMETERS.model),
    }),
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
  query: [
    required('q', 'Hello, world!', 'A text; repeat it for several.'),
    required('target', 'de', PARAMETERS.target),
    parameter('source', 'en', PARAMETERS.source),
    parameter('format', 'text', PARAMETERS.format),
    parameter('model', 'nmt', PARAMETERS.model),
  ],
  answer: ANSWER,
};

interface GoogleOrder extends Texts {
  readonly options: TranslationOptions;
  /** The answer must be HTML, which the engine does not support: it gets plain text, and returns plain text. */
  readonly isEscaped: boolean;
}

export function translation(host: PluginHost, setting: GoogleSetting): ApiPart {
  const slot = host.reserveSlot<GoogleOrder>('translation');
  const steps = [...setting.authenticated, 'google-read-translation', 'admit', 'google-translate'];
  return {
    routes: [route('POST', PATH, steps, POST_DOC), route('GET', PATH, steps, GET_DOC)],
    steps: (services) => [
      readParameters('google-read-translation', services, setting, (x, members) => {
        const unknown = unknownOf(members, KNOWN);
        if (unknown !== undefined) return unknown;
        const texts = textsOf(members);
        if ('problem' in texts) return texts;
        const { characters } = texts.sound;
        const options = optionsOf(x, members, texts.sound, services, setting.variants);
        // With its characters, so that a text that is too long is reported before anything else.
        if ('problem' in options) return refusedCharge(options, characters);
        x.set(slot, { ...texts.sound, options: options.sound, isEscaped: options.sound.format === 'text' && formatOf(members) !== 'text' });
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

function optionsOf(
  x: Exchange,
  members: Members,
  texts: Texts,
  services: GatewayServices,
  variants: DefaultVariants,
): Judged<TranslationOptions> {
  const languages = services.languages(x);
  const target = chosen(members, 'target');
  if (target === undefined) return missing('Required Value: target, the language to translate into.');
  const targetLang = targetNamed(target, languages, variants)?.code;
  if (targetLang === undefined) return WRONG_TARGET;
  const source = chosen(members, 'source');
  const sourceLang = sourceNamed(source, languages);
  if (sourceLang === undefined && source !== undefined) return WRONG_SOURCE;
  if (!languages.offers(sourceLang, targetLang)) return badPair(sourceLang, targetLang, languages);
  const format = engineFormat(formatOf(members), texts, services.engineCanFor(x, sourceLang, targetLang).formats);
  if ('problem' in format) return format;
  return modelFault(members) ?? { sound: { ...NOTHING_CHOSEN, sourceLang, targetLang, format: format.sound } };
}

const WRONG_SOURCE = refuse(
  'invalid_source_lang',
  'Invalid Value: source must be a code that /languages lists; without it the language is detected.',
);

/** HTML is the default, whatever the text contains. */
function formatOf(members: Members): unknown {
  return chosen(members, 'format') ?? 'html';
}

/** Characters with another meaning in HTML than in plain text. */
const MARKUP = /[<&]/;

function engineFormat(format: unknown, { text }: Texts, formats: readonly TextFormat[]): Judged<TextFormat> {
  if (format !== 'text' && format !== 'html') return refuse('validation_error', 'format: must be text or html.');
  if (format === 'text' || formats.includes('html')) return { sound: format };
  if (!text.some((entry) => MARKUP.test(entry))) return { sound: 'text' };
  return refuse(
    'validation_error',
    'format: the engine of this service does not support html, and a text contains < or &; send format text.',
  );
}

function answerOf({ entries, options, isEscaped }: GoogleOrder, translations: readonly Translation[]): Outcome {
  const isOpen = options.sourceLang === undefined;
  const told = toldOf(entries, translations, (one) => {
    if (one === undefined) return { translatedText: '' };
    const code = isOpen ? one.detectedSourceLanguage : undefined;
    return {
      translatedText: isEscaped ? escaped(one.text) : one.text,
      detectedSourceLanguage: code === undefined ? undefined : theirCode(code),
    };
  });
  return answer({ data: { translations: told } });
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes plain text for HTML, as Google does. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
