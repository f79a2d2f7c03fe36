// DeepLX's format of POST /translate: `text`, `source_lang` and `target_lang`, answered with `code` and `data`.
import { NOTHING_CHOSEN, refuse } from 'lingate';
import type { Exchange, Outcome, TextFormat, Translation } from 'lingate';
import { answer } from '../facades/api.ts';
import type { Judged, Members } from '../facades/members.ts';
import { sourceCode, targetCode, unavailablePair } from './language-list.ts';
import type { Order, OrderRules } from './translation-parameters.ts';
import { isMissing, missingParameter, textsOf } from './translation-parameters.ts';

/** LibreTranslate's requests always have `q`, so one with `text` and without `q` is DeepLX's. */
export function isDeepLX(members: Members): boolean {
  return !members.has('q') && members.has('text');
}

export function judgeDeepLX(members: Members, { languages, variants, can }: OrderRules): Judged<Order> {
  const text = members.get('text');
  if (isMissing(text)) return missingParameter('text');
  if (typeof text !== 'string') return refuse('validation_error', 'Invalid request: text must be a string');
  const texts = textsOf(text);
  if ('problem' in texts) return texts;
  const source = members.get('source_lang');
  const isOpen = isMissing(source) || (typeof source === 'string' && source.toLowerCase() === 'auto');
  const sourceLang = isOpen ? undefined : sourceCode(source, languages);
  if (sourceLang === undefined && !isOpen) return refuse('invalid_source_lang', 'source_lang is not supported');
  const targetLang = targetCode(members.get('target_lang'), languages, variants);
  if (targetLang === undefined) return refuse('invalid_target_lang', 'target_lang is not supported');
  if (!languages.offers(sourceLang, targetLang)) return unavailablePair(sourceLang, targetLang, languages);
  const format = tagHandlingOf(members.get('tag_handling'), can.formats);
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

export function deepLXAnswer(x: Exchange, { options }: Order, [translation]: readonly Translation[]): Outcome {
  return answer({
    code: 200,
    id: numberOf(x.id),
    data: translation!.text,
    alternatives: [],
    source_lang: translation!.detectedSourceLanguage ?? '',
    target_lang: options.targetLang,
    method: 'Free',
  });
}

/** Clients expect a number: made from the random part of the request's id, and small enough to be exact in JavaScript. */
function numberOf(requestId: string): number {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return Array.from(requestId.slice(-10)).reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
}
