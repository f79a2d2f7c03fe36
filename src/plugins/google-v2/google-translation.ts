// Translations: GET and POST /language/translate/v2, with a slash at the end or not.
import { json, NOTHING_CHOSEN, refuse, refusedCharge } from 'lingate';
import type {
  BodyStep,
  EngineCapabilities,
  GatewayServices,
  Languages,
  Outcome,
  Refusal,
  Slot,
  TextFormat,
  Translated,
  Translation,
  TranslationOptions,
} from 'lingate';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { translateAll } from '../facades/in-pieces.ts';
import type { Texts } from '../facades/in-pieces.ts';
import type { Judged, Members } from '../facades/members.ts';
import { badPair, sourceCode, targetCode, theirCode } from './google-codes.ts';
import { AUTHENTICATED, readParameters } from './google-caller.ts';
import { PROBLEM_FORM, required } from './google-errors.ts';
import type { GoogleOptions } from './google-options.ts';
import { chosen, modelFault, textsOf, unknownOf } from './google-parameters.ts';
import { GET_DOC, POST_DOC } from './google-translation-doc.ts';

const PATH = '/language/translate/v2';
const KNOWN = ['q', 'target', 'source', 'format', 'model'];

interface GoogleOrder extends Texts {
  readonly options: TranslationOptions;
  /** The answer is to be HTML, which the engine does not make: it is given plain text, and gives that. */
  readonly isEscaped: boolean;
}

export function translation({ options, host }: PartSetup<GoogleOptions>): ApiPart {
  const slot = host.reserveSlot<GoogleOrder>('translation');
  const steps = [...AUTHENTICATED, 'google-read-translation', 'admit', 'google-translate'];
  const chain = { steps, problemForm: PROBLEM_FORM };
  return {
    routes: [
      { method: 'POST', path: PATH, takesBody: true, ...chain, doc: POST_DOC },
      { method: 'GET', path: PATH, takesBody: false, ...chain, doc: GET_DOC },
      // As Google's own client asks where it has no key of its own.
      { method: 'POST', path: `${PATH}/`, takesBody: true, ...chain, undocumented: true },
      { method: 'GET', path: `${PATH}/`, takesBody: false, ...chain, undocumented: true },
    ],
    steps: (services) => [readTranslation(services, slot, options.default_variants), translateStep(services, slot)],
  };
}

function readTranslation(services: GatewayServices, slot: Slot<GoogleOrder>, variants: DefaultVariants): BodyStep {
  return readParameters('google-read-translation', services, (x, members) => {
    const unknown = unknownOf(members, KNOWN);
    if (unknown !== undefined) return unknown;
    const texts = textsOf(members);
    if ('problem' in texts) return texts;
    const { characters } = texts.sound;
    const can: Rules['can'] = (sourceLang, targetLang) => services.engineCanFor(x, sourceLang, targetLang);
    const options = optionsOf(members, texts.sound, { languages: services.languages(x), variants, can });
    // With its characters: a text that is too long is told before all that is behind it.
    if ('problem' in options) return refusedCharge(options, characters);
    x.set(slot, { ...texts.sound, ...options.sound });
    return { characters, reserve: true, glossary: undefined, refusal: undefined };
  });
}

interface Rules {
  readonly languages: Languages;
  readonly variants: DefaultVariants;
  /** For a pair that is offered. */
  readonly can: (sourceLang: string | undefined, targetLang: string) => Pick<EngineCapabilities, 'formats'>;
}

function optionsOf(
  members: Members,
  texts: Texts,
  { languages, variants, can }: Rules,
): Judged<Pick<GoogleOrder, 'options' | 'isEscaped'>> {
  const target = chosen(members, 'target');
  if (target === undefined) return required('Required Value: target, the language to translate into.');
  const targetLang = targetCode(target, languages, variants);
  if (targetLang === undefined) return refuse('invalid_target_lang', 'Invalid Value: target must be a code that /languages lists.');
  const source = chosen(members, 'source');
  const sourceLang = sourceCode(source, languages);
  if (sourceLang === undefined && source !== undefined) {
    return refuse(
      'invalid_source_lang',
      'Invalid Value: source must be a code that /languages lists; without it the language is detected.',
    );
  }
  if (!languages.offers(sourceLang, targetLang)) return badPair(sourceLang, targetLang, languages);
  const format = formatOf(members, texts, can(sourceLang, targetLang));
  if ('problem' in format) return format;
  const model = modelFault(members);
  if (model !== undefined) return model;
  const { isEscaped } = format.sound;
  return { sound: { options: { ...NOTHING_CHOSEN, sourceLang, targetLang, format: format.sound.format }, isEscaped } };
}

/** What means something else in HTML than in plain text. */
const MARKUP = /[<&]/;

function formatOf(
  members: Members,
  { text }: Texts,
  { formats }: Pick<EngineCapabilities, 'formats'>,
): Judged<{ readonly format: TextFormat; readonly isEscaped: boolean }> {
  const format = chosen(members, 'format') ?? 'html';
  if (format === 'text') return { sound: { format, isEscaped: false } };
  if (format !== 'html') return refuse('validation_error', 'format: must be text or html.');
  if (formats.includes('html')) return { sound: { format, isEscaped: false } };
  // HTML is what a request without a format is taken for, whatever it holds.
  if (!text.some((entry) => MARKUP.test(entry))) return { sound: { format: 'text', isEscaped: true } };
  return refuse('validation_error', 'format: the engine of this service does not handle html, and a text holds < or &; send format text.');
}

function translateStep(services: GatewayServices, slot: Slot<GoogleOrder>): BodyStep {
  return {
    kind: 'body',
    name: 'google-translate',
    headers: ['traceparent'],
    run(x) {
      const order = x.need(slot);
      const tell = (told: Translated | Refusal): Outcome => (told.kind === 'translated' ? answerOf(order, told.translations) : told);
      return translateAll(services, x, { text: order.text, options: order.options, glossaryId: undefined }).then(tell);
    },
  };
}

function answerOf({ entries, options, isEscaped }: GoogleOrder, translations: readonly Translation[]): Outcome {
  const isOpen = options.sourceLang === undefined;
  let next = 0;
  const told = entries.map((entry) => {
    if (entry === '') return { translatedText: '' };
    const { text, detectedSourceLanguage } = translations[next++]!;
    return {
      translatedText: isEscaped ? escaped(text) : text,
      detectedSourceLanguage: isOpen && detectedSourceLanguage !== undefined ? theirCode(detectedSourceLanguage) : undefined,
    };
  });
  return json(JSON.stringify({ data: { translations: told } }));
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** As Google writes plain text in HTML. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
