// Parses the parameters of POST /translate: LibreTranslate's names and messages, our rules and limits.
import { NOTHING_CHOSEN, refuse } from 'lingate';
import type { EngineCapabilities, Languages, ListLimit, Refusal, TextFormat, TranslationOptions } from 'lingate';
import type { DefaultVariants } from '../facades/default-variants.ts';
import type { Judged, Members } from '../facades/members.ts';
import { judgeTexts, PIECE_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { sourceCode, targetCode, unavailablePair } from './language-list.ts';
import { tooLong } from './libretranslate-document.ts';

/** For a list in a body that is too large to count it. */
export const TEXTS_LIMIT: ListLimit = { name: 'q', entriesMax: PIECE_TEXTS, refusal: tooMany(`over ${PIECE_TEXTS}`) };
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
    return refuse('invalid_source_lang', 'source is not supported: use auto or a code that GET /languages lists');
  }
  const targetLang = targetCode(members.get('target'), languages, variants);
  if (targetLang === undefined) return refuse('invalid_target_lang', 'target is not supported: use a code that GET /languages lists');
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

const FAULTS = {
  notText: () => refuse('validation_error', 'Invalid request: the text must be a string or a list of strings'),
  half: () => refuse('validation_error', 'Invalid request: the text has half of a surrogate pair'),
  none: missingParameter('q'),
};

/** One text or several. */
export function textsOf(value: unknown): Judged<Texts> {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  return entries.length > PIECE_TEXTS ? tooMany(entries.length) : judgeTexts(entries, FAULTS);
}

function tooMany(count: number | string): Refusal {
  return refuse('too_many_texts', tooLong(count, PIECE_TEXTS), { max_texts: PIECE_TEXTS });
}

/** A number, or digits in a form. */
function alternativesOf(value: unknown): Judged<number> {
  if (isMissing(value)) return { sound: 0 };
  const isNumber = typeof value === 'number' || (typeof value === 'string' && WHOLE_NUMBER.test(value));
  return isNumber ? { sound: Number(value) } : refuse('validation_error', 'Invalid request: alternatives parameter is not a number');
}

function formatOf(value: unknown, { formats }: EngineCapabilities): Judged<TextFormat> {
  if (isMissing(value) || value === 'text') return { sound: 'text' };
  if (value !== 'html') return refuse('validation_error', 'this format is not supported: use text or html');
  if (formats.includes('html')) return { sound: 'html' };
  return refuse('validation_error', 'html format is not supported by the engine of this service: send text');
}

export interface Order extends Texts {
  readonly options: TranslationOptions;
  readonly shape: AnswerShape;
}

type AnswerShape =
  | { readonly kind: 'libretranslate'; readonly isList: boolean; /** Were asked for. */ readonly alternatives: boolean }
  /** DeepLX's. */
  | { readonly kind: 'deeplx' };
