// Judges what a language model has written: exactly the keys that were asked for, nothing missing, nothing invented, markup whole.
import type { EngineTokens, Translation } from '../../ports/engine.ts';
import type { TextFormat, TranslationOptions } from '../../domain/translation-options.ts';
import { countCharacters } from '../../domain/characters.ts';
import { isJsonObject } from './json-response.ts';
import type { JsonObject } from './json-response.ts';
import { keyOf } from './openai-prompt.ts';

/** A translation has at most 6 times its text's length and 60 characters: a longer one is a reply, a story or a loop. */
const LENGTH_FACTOR = 6;
const LENGTH_MORE = 60;

const CODE_FENCE = '```';
const TAG = /<[^<>]+>/g;

/** `undefined` for whatever cannot be charged for. */
export function translationsIn(
  answer: JsonObject,
  text: readonly string[],
  { format, ignoreTags }: TranslationOptions,
): readonly Translation[] | undefined {
  const content = contentOf(answer);
  const object = content === undefined ? undefined : parsed(content);
  if (object === undefined || Object.keys(object).length !== text.length) return undefined;
  const translations: Translation[] = [];
  for (const [index, source] of text.entries()) {
    const key = keyOf(index);
    const translated = Object.hasOwn(object, key) ? object[key] : undefined;
    if (typeof translated !== 'string' || translated.trim() === '') return undefined;
    if (countCharacters(translated.toWellFormed()) > LENGTH_FACTOR * countCharacters(source) + LENGTH_MORE) return undefined;
    if (!markupKept(source, translated, format, ignoreTags ?? [])) return undefined;
    translations.push({ text: translated, detectedSourceLanguage: undefined });
  }
  return translations;
}

/** As far as the server says; what it does not say counts as nothing. */
export function tokensOf({ usage }: JsonObject): EngineTokens | undefined {
  if (!isJsonObject(usage)) return undefined;
  return { prompt: countOf(usage['prompt_tokens']), completion: countOf(usage['completion_tokens']) };
}

/** What the model wrote, if it was not cut off by a limit. */
function contentOf({ choices }: JsonObject): string | undefined {
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isJsonObject(choice) || choice['finish_reason'] !== 'stop' || !isJsonObject(choice['message'])) return undefined;
  const { content } = choice['message'];
  return typeof content === 'string' ? content : undefined;
}

function parsed(content: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(withoutFence(content.trim()));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Some models put their JSON into a code block unasked. No regular expression: on many blank lines it backtracks for long. */
function withoutFence(content: string): string {
  if (!content.startsWith(CODE_FENCE) || !content.endsWith(CODE_FENCE)) return content;
  return content.slice(content.indexOf('\n'), -CODE_FENCE.length);
}

/** Every tag as often as before, and what was to be left alone as it was. Their order may change with that of the words. */
function markupKept(source: string, translated: string, format: TextFormat, ignoreTags: readonly string[]): boolean {
  if (format === 'text') return true;
  if (!sameTexts(source.match(TAG), translated.match(TAG))) return false;
  return ignoreTags.every((name) => sameTexts(elementsIn(source, name), elementsIn(translated, name)));
}

/** From each `<name …>` to the next `</name`; what is never closed does not count. Takes time in proportion to the text. */
function elementsIn(text: string, name: string): string[] {
  const elements: string[] = [];
  const opening = `<${name}`;
  for (let from = text.indexOf(opening); from !== -1; from = text.indexOf(opening, from)) {
    const behind = from + opening.length;
    if (!/[\s>]/.test(text[behind] ?? '')) {
      from = behind;
      continue;
    }
    const to = text.indexOf(`</${name}`, behind);
    if (to === -1) break;
    elements.push(text.slice(from, to));
    from = to;
  }
  return elements;
}

function sameTexts(some: readonly string[] | null, others: readonly string[] | null): boolean {
  return (some ?? []).toSorted().join('\n') === (others ?? []).toSorted().join('\n');
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
