// Parses the parameters of POST /translate, LibreTranslate's and DeepLX's: their names and messages, our rules and limits.
import { NOTHING_CHOSEN, refuse } from 'lingate';
import type { Refusal, TextFormat, TranslationOptions } from 'lingate';
import type { CallerOffer } from '../facades/api.ts';
import type { Judged, Members } from '../facades/members.ts';
import { judgeTexts } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { sourceCode, targetCode, unavailablePair } from './language-list.ts';
import { TEXTS_MAX, tooMany } from './libretranslate-request.ts';

const WHOLE_NUMBER = /^\s*[+-]?\d{1,9}\s*$/;

/** In LibreTranslate's own order. */
export function judgeTranslation(members: Members, { languages, variants, canFor }: CallerOffer): Judged<Order> {
  if (isAbsent(members.get('q'))) return missingParameter('q');
  const missing = ['source', 'target'].find((name) => isMissing(members.get(name)));
  if (missing !== undefined) return missingParameter(missing);
  const alternatives = alternativesOf(members.get('alternatives'));
  if ('problem' in alternatives) return alternatives;
  const q = textsOf(members.get('q'));
  if ('problem' in q) return q;
  const pair = pairOf(members, { languages, variants });
  if ('problem' in pair) return pair;
  const { sourceLang, targetLang } = pair.sound;
  const format = formatOf(members.get('format'), canFor(sourceLang, targetLang).formats);
  if ('problem' in format) return format;
  return {
    sound: {
      ...q.sound,
      options: { ...NOTHING_CHOSEN, sourceLang, targetLang, format: format.sound },
      shape: { kind: 'libretranslate', isList: Array.isArray(members.get('q')), alternatives: alternatives.sound > 0 },
    },
  };
}

interface Pair {
  /** `undefined` for `auto`. */
  readonly sourceLang: string | undefined;
  readonly targetLang: string;
}

/** What `source` and `target`, which are both given, mean. */
export function pairOf(members: Members, { languages, variants }: Pick<CallerOffer, 'languages' | 'variants'>): Judged<Pair> {
  const source = members.get('source');
  const sourceLang = source === 'auto' ? undefined : sourceCode(source, languages);
  if (sourceLang === undefined && source !== 'auto') return unsupported('invalid_source_lang', 'source', source);
  const target = members.get('target');
  const targetLang = targetCode(target, languages, variants);
  if (targetLang === undefined) return unsupported('invalid_target_lang', 'target', target);
  return languages.offers(sourceLang, targetLang)
    ? { sound: { sourceLang, targetLang } }
    : unavailablePair(sourceLang, targetLang, languages);
}

export function missingParameter(name: string): Refusal {
  return refuse('validation_error', `Invalid request: missing ${name} parameter`);
}

/** Clients look for these words behind the code. It is repeated only if it has the form of one, so that nothing else is. */
function unsupported(code: 'invalid_source_lang' | 'invalid_target_lang', name: string, value: unknown): Refusal {
  const shown = typeof value === 'string' && LANGUAGE.test(value) ? value : name;
  return refuse(code, `${shown} is not supported`);
}

const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z]{2,4})?$/;

export function isMissing(value: unknown): boolean {
  return value === '' || isAbsent(value);
}

/** Unlike an empty text, which stays empty. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

const FAULTS = {
  notText: () => refuse('validation_error', 'Invalid request: the text must be a string or a list of strings'),
  half: () => refuse('validation_error', 'Invalid request: the text has half of a surrogate pair'),
};

/** One text or several. `none` refuses texts that are all empty. */
export function textsOf(value: unknown, none?: Refusal): Judged<Texts> {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  return entries.length > TEXTS_MAX ? tooMany(entries.length) : judgeTexts(entries, { ...FAULTS, none });
}

/** A number, or digits in a form. */
function alternativesOf(value: unknown): Judged<number> {
  if (isMissing(value)) return { sound: 0 };
  const isNumber = typeof value === 'number' || (typeof value === 'string' && WHOLE_NUMBER.test(value));
  return isNumber ? { sound: Number(value) } : refuse('validation_error', 'Invalid request: alternatives parameter is not a number');
}

function formatOf(value: unknown, formats: readonly TextFormat[]): Judged<TextFormat> {
  if (isMissing(value) || value === 'text') return { sound: 'text' };
  if (value !== 'html') return refuse('validation_error', 'this format is not supported: use text or html');
  if (formats.includes('html')) return { sound: 'html' };
  return refuse('validation_error', 'html format is not supported by the engine of this service: send text');
}

/** LibreTranslate's requests always have `q`, so one with `text` and without `q` is DeepLX's. */
export function isDeepLX(members: Members): boolean {
  return !members.has('q') && members.has('text');
}

export function judgeDeepLX(members: Members, { languages, variants, canFor }: CallerOffer): Judged<Order> {
  const text = members.get('text');
  if (isAbsent(text)) return missingParameter('text');
  if (typeof text !== 'string') return refuse('validation_error', 'Invalid request: text must be a string');
  const texts = textsOf(text);
  if ('problem' in texts) return texts;
  const source = members.get('source_lang');
  const isOpen = isMissing(source) || (typeof source === 'string' && source.toLowerCase() === 'auto');
  const sourceLang = isOpen ? undefined : sourceCode(source, languages);
  if (sourceLang === undefined && !isOpen) return unsupported('invalid_source_lang', 'source_lang', source);
  const target = members.get('target_lang');
  const targetLang = targetCode(target, languages, variants);
  if (targetLang === undefined) return unsupported('invalid_target_lang', 'target_lang', target);
  if (!languages.offers(sourceLang, targetLang)) return unavailablePair(sourceLang, targetLang, languages);
  const format = tagHandlingOf(members.get('tag_handling'), canFor(sourceLang, targetLang).formats);
  if ('problem' in format) return format;
  const options = { ...NOTHING_CHOSEN, sourceLang, targetLang, format: format.sound };
  return { sound: { ...texts.sound, options, shape: { kind: 'deeplx' } } };
}

function tagHandlingOf(value: unknown, formats: readonly TextFormat[]): Judged<TextFormat> {
  if (isMissing(value)) return { sound: 'text' };
  const format = formats.find((known) => known === value && known !== 'text');
  return format === undefined
    ? refuse('validation_error', 'tag_handling is not supported: use html or xml, if the engine of this service supports it')
    : { sound: format };
}

export interface Order extends Texts {
  readonly options: TranslationOptions;
  readonly shape: AnswerShape;
}

type AnswerShape =
  | { readonly kind: 'libretranslate'; readonly isList: boolean; /** Were asked for. */ readonly alternatives: boolean }
  /** DeepLX's. */
  | { readonly kind: 'deeplx' };
