// What a translation means in both versions of Google's API: its parameters by their names there, what the engine gets, what clients get back.
import { NOTHING_CHOSEN, refuse, targetsOffered } from 'lingate';
import type { Languages, Refusal, Translation, TranslationOptions } from 'lingate';
import type { CallerOffer } from '../facades/api.ts';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { NO_TEXTS, toldOf } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { theirCode } from './google-codes.ts';
import { missing } from './google-request.ts';

export interface GoogleChoice {
  readonly texts: Texts;
  readonly targetLang: string;
  readonly sourceLang: string | undefined;
  /** HTML is the default, whatever the texts contain. */
  readonly format: 'html' | 'text';
}

export const NOTHING_READ: GoogleChoice = { texts: NO_TEXTS, targetLang: '', sourceLang: undefined, format: 'html' };

/** How a version calls the parameters, and its values for the formats. */
interface ChoiceNames {
  readonly target: string;
  readonly source: string;
  readonly format: string;
  readonly text: string;
  readonly html: string;
}

/** Target, source, pair and format, in the order in which they are checked. */
export function choiceParameters(names: ChoiceNames): readonly ParameterEntry<GoogleChoice, CallerOffer>[] {
  const { text, html } = names;
  return [
    {
      name: names.target,
      does: 'served',
      means: 'targetLang',
      about: 'A code of the list of languages, in any case; `en` and `pt` mean the variant that the operator has chosen.',
      example: 'de',
      missing: (named) => missing(`Required Value: ${named}, the language to translate into.`),
      read(value, named, _choice, { languages, variants }) {
        const sound = targetNamed(value, languages, variants)?.code;
        return sound === undefined ? wrongTarget(named) : { sound };
      },
    },
    {
      name: names.source,
      does: 'served',
      means: 'sourceLang',
      about: 'A code of the list of languages; by default the engine detects it.',
      example: 'en',
      read(value, named, _choice, { languages }) {
        const sound = sourceNamed(value, languages);
        return sound === undefined ? wrongSource(named) : { sound };
      },
    },
    {
      check: ({ sourceLang, targetLang }, { languages }) =>
        languages.offers(sourceLang, targetLang) ? undefined : badPair(names.target, sourceLang, targetLang, languages),
    },
    {
      name: names.format,
      does: 'served',
      means: 'format',
      about: `\`${html}\` (the default) or \`${text}\`. If the engine does not support HTML, texts without \`<\` and \`&\` are treated as text.`,
      example: text,
      read(value, named) {
        if (value === text) return { sound: 'text' };
        return value === html ? { sound: 'html' } : refuse('validation_error', `${named}: must be ${text} or ${html}.`);
      },
    },
    { check: (choice, offer) => markupFault(names, choice, offer) },
  ];
}

/** For a code that is none in the list. */
export function wrongTarget(named: string): Refusal {
  return refuse('invalid_target_lang', `Invalid Value: ${named} must be a code of the list of languages.`);
}

function wrongSource(named: string): Refusal {
  return refuse(
    'invalid_source_lang',
    `Invalid Value: ${named} must be a code of the list of languages; without it the language is detected.`,
  );
}

/** Codes are canonical. */
function badPair(named: string, sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const from = sourceLang === undefined ? '' : ` from ${theirCode(sourceLang)}`;
  const offered = targetsOffered(sourceLang, languages, theirCode);
  return refuse('validation_error', `Bad language pair: ${named} ${theirCode(targetLang)} is not offered${from}; ${offered}.`);
}

/** Characters with another meaning in HTML than in plain text. */
const MARKUP = /[<&]/;

/** Texts without markup are the same in HTML as in plain text, which every engine translates. */
function markupFault({ format, text, html }: ChoiceNames, choice: GoogleChoice, offer: CallerOffer): Refusal | undefined {
  if (choice.format === 'text' || isHtml(choice, offer) || !choice.texts.text.some((entry) => MARKUP.test(entry))) return undefined;
  return refuse(
    'validation_error',
    `${format}: the engine of this service does not support ${html}, and a text contains < or &; send ${format} ${text}.`,
  );
}

/** Whether the engine gets HTML. */
function isHtml({ sourceLang, targetLang, format }: GoogleChoice, { canFor }: CallerOffer): boolean {
  return format === 'html' && canFor(sourceLang, targetLang).formats.includes('html');
}

/** A translation as the engine gets it. */
export interface GoogleOrder extends Texts {
  readonly options: TranslationOptions;
  /** The answer must be HTML, which the engine does not support: it gets plain text, and returns plain text. */
  readonly isEscaped: boolean;
}

export function orderOf(choice: GoogleChoice, offer: CallerOffer): GoogleOrder {
  const { texts, sourceLang, targetLang } = choice;
  const format = isHtml(choice, offer) ? 'html' : 'text';
  return {
    ...texts,
    options: { ...NOTHING_CHOSEN, sourceLang, targetLang, format },
    isEscaped: format === 'text' && choice.format === 'html',
  };
}

/** For each text its translation, and the code of its language if it was detected. */
export function translationsOf(
  { entries, options, isEscaped }: GoogleOrder,
  translations: readonly Translation[],
): readonly { readonly translatedText: string; readonly detected: string | undefined }[] {
  return toldOf(entries, translations, (one) => {
    const code = options.sourceLang === undefined ? one?.detectedSourceLanguage : undefined;
    const text = one?.text ?? '';
    return { translatedText: isEscaped ? escaped(text) : text, detected: code === undefined ? undefined : theirCode(code) };
  });
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes plain text for HTML, as Google does. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
