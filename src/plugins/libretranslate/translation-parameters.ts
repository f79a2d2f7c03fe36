// The parameters of POST /translate, judged: LibreTranslate's names and words, our rules and limits.
import { countCharacters, NOTHING_CHOSEN, refuse } from 'lingate';
import type { EngineCapabilities, Languages, ListLimit, Refusal, TextFormat, TranslationOptions } from 'lingate';
import type { DefaultVariants } from '../facades/default-variants.ts';
import type { Judged, Members } from '../facades/members.ts';
import { sourceCode, targetCode, unavailablePair } from './codes.ts';
import { tooLong } from './libretranslate-document.ts';

/** As many as a request to `/v1` may have. */
const TEXTS_MAX = 50;
/** For a list in a body that holds too much to count it. */
export const TEXTS_LIMIT: ListLimit = {
  name: 'q',
  entriesMax: TEXTS_MAX,
  refusal: refuse('too_many_texts', tooLong(`over ${TEXTS_MAX}`, TEXTS_MAX), { max_texts: TEXTS_MAX }),
};
const WHOLE_NUMBER = /^\s*[+-]?\d{1,9}\s*$/;

export interface OrderRules {
  readonly languages: Languages;
  readonly variants: DefaultVariants;
  readonly can: EngineCapabilities;
}

/** In LibreTranslate's own order. */
export function judgeTranslation(members: Members, { languages, variants, can }: OrderRules): Judged<Order> {
  const missing = ['q', 'source', 'target'].find((name) => isMissing(members.get(name)));
  if (missing !== undefined) return missingParameter(missing);
  const alternatives = alternativesOf(members.get('alternatives'));
  if ('problem' in alternatives) return alternatives;
  const q = textsOf(members.get('q'));
  if ('problem' in q) return q;
  const source = members.get('source');
  const sourceLang = source === 'auto' ? undefined : sourceCode(source, languages);
  if (sourceLang === undefined && source !== 'auto') {
    return refuse('invalid_source_lang', 'source is not supported: it is auto or a code that GET /languages lists');
  }
  const targetLang = targetCode(members.get('target'), languages, variants);
  if (targetLang === undefined) return refuse('invalid_target_lang', 'target is not supported: it is a code that GET /languages lists');
  if (!languages.offers(sourceLang, targetLang)) return unavailablePair(sourceLang, targetLang, languages);
  const format = formatOf(members.get('format'), can);
  if ('problem' in format) return format;
  return {
    sound: {
      ...q.sound,
      options: { ...NOTHING_CHOSEN, sourceLang, targetLang, format: format.sound },
      shape: { kind: 'libretranslate', isList: Array.isArray(members.get('q')), alternatives: alternatives.sound > 0 },
    },
  };
}

export function missingParameter(name: string): Refusal {
  return refuse('validation_error', `Invalid request: missing ${name} parameter`);
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** One text or several: those that are not empty, and their characters. */
export function textsOf(value: unknown): Judged<Pick<Order, 'entries' | 'text' | 'characters'>> {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (entries.length > TEXTS_MAX) return refuse('too_many_texts', tooLong(entries.length, TEXTS_MAX), { max_texts: TEXTS_MAX });
  let characters = 0;
  for (const entry of entries) {
    if (typeof entry !== 'string') return refuse('validation_error', 'Invalid request: the text must be a string, or a list of them');
    if (!entry.isWellFormed()) return refuse('validation_error', 'Invalid request: the text holds half of a surrogate pair');
    characters += countCharacters(entry);
  }
  const texts = entries as readonly string[];
  const text = texts.filter((entry) => entry !== '');
  return text.length === 0 ? missingParameter('q') : { sound: { entries: texts, text, characters } };
}

/** A number, or a form's digits. */
function alternativesOf(value: unknown): Judged<number> {
  if (isMissing(value)) return { sound: 0 };
  const isNumber = typeof value === 'number' || (typeof value === 'string' && WHOLE_NUMBER.test(value));
  return isNumber ? { sound: Number(value) } : refuse('validation_error', 'Invalid request: alternatives parameter is not a number');
}

function formatOf(value: unknown, { formats }: EngineCapabilities): Judged<TextFormat> {
  if (isMissing(value) || value === 'text') return { sound: 'text' };
  if (value !== 'html') return refuse('validation_error', 'this format is not supported: there are text and html');
  if (formats.includes('html')) return { sound: 'html' };
  return refuse('validation_error', 'html format is not supported by the engine of this service: send text');
}

export interface Order {
  /** As they were sent. */
  readonly entries: readonly string[];
  /** The entries that are not empty: only these go to the engine. */
  readonly text: readonly string[];
  readonly characters: number;
  readonly options: TranslationOptions;
  readonly shape: AnswerShape;
}

type AnswerShape =
  | { readonly kind: 'libretranslate'; readonly isList: boolean; /** Were asked for. */ readonly alternatives: boolean }
  /** DeepLX's. */
  | { readonly kind: 'deeplx' };
