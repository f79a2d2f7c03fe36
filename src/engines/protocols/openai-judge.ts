// Judges what a language model has written: exactly the keys that were asked for, nothing missing, nothing invented, markup whole.
import type { AttemptFailure, EngineResponse, EngineTokens, Translation } from '../../ports/engine.ts';
import type { TextFormat, TranslationOptions } from '../../domain/translation-options.ts';
import { countCharacters } from '../../domain/characters.ts';
import { bodyMatches, isJsonObject } from './json-response.ts';
import type { JsonObject } from './json-response.ts';
import { keyOf } from './openai-prompt.ts';

/** A translation has at most 6 times its text's length and 60 characters: a longer one is a reply, a story or a loop. */
const LENGTH_FACTOR = 6;
const LENGTH_MORE = 60;

const CODE_FENCE = '```';
const TAG = /<[^<>]+>/g;

/** How servers say that they do not have a model; its name stands beside it. */
const NO_SUCH_MODEL = /model_not_found|not[ _]found|does(?:n't| not) exist|no such model|(?:unknown|invalid|unsupported) model/i;

/** The failure for whatever cannot be charged for. */
export function translationsIn(
  answer: JsonObject,
  text: readonly string[],
  { format, ignoreTags }: TranslationOptions,
): readonly Translation[] | AttemptFailure {
  const choice = choiceOf(answer);
  if (choice?.['finish_reason'] === 'length') return 'cut_off';
  return translationsOfChoice(choice, text, format, ignoreTags ?? []) ?? 'wrong_shape';
}

/** Whether a failed answer says that the server does not have the model: some servers answer 404 to that, as to a wrong path. */
export function lacksModel(response: EngineResponse, model: string): boolean {
  if (response.status !== 404 && response.status !== 400) return false;
  return bodyMatches(response, NO_SUCH_MODEL) && bodyMatches(response, new RegExp(escaped(JSON.stringify(model).slice(1, -1))));
}

/** As a pattern that finds just this text. */
function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}

function translationsOfChoice(
  choice: JsonObject | undefined,
  text: readonly string[],
  format: TextFormat,
  ignoreTags: readonly string[],
): readonly Translation[] | undefined {
  const content = contentOf(choice);
  const object = content === undefined ? undefined : parsed(content);
  if (object === undefined || Object.keys(object).length !== text.length) return undefined;
  const translations: Translation[] = [];
  for (const [index, source] of text.entries()) {
    const key = keyOf(index);
    const translated = Object.hasOwn(object, key) ? object[key] : undefined;
    if (typeof translated !== 'string' || translated.trim() === '') return undefined;
    if (countCharacters(translated.toWellFormed()) > LENGTH_FACTOR * countCharacters(source) + LENGTH_MORE) return undefined;
    if (!markupKept(source, translated, format, ignoreTags)) return undefined;
    translations.push({ text: translated, detectedSourceLanguage: undefined });
  }
  return translations;
}

/** As far as the server says; what it does not say counts as nothing. */
export function tokensOf({ usage }: JsonObject): EngineTokens | undefined {
  if (!isJsonObject(usage)) return undefined;
  return { prompt: countOf(usage['prompt_tokens']), completion: countOf(usage['completion_tokens']) };
}

function choiceOf({ choices }: JsonObject): JsonObject | undefined {
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  return isJsonObject(choice) ? choice : undefined;
}

/** What the model wrote, if it ended by itself. */
function contentOf(choice: JsonObject | undefined): string | undefined {
  if (choice === undefined || choice['finish_reason'] !== 'stop' || !isJsonObject(choice['message'])) return undefined;
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
