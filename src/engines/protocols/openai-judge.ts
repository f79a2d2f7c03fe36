// Validates a language model's output: exactly the requested keys, nothing missing, nothing invented, markup intact.
import type { AttemptFailure, EngineTokens, Translation } from '../../ports/engine.ts';
import type { TextFormat, TranslationOptions } from '../../domain/translation-options.ts';
import { countCharacters } from '../../domain/characters.ts';
import { jsonFault } from '../../domain/json-body.ts';
import { bodyMatches, isJsonObject } from './json-call.ts';
import type { CallResult, JsonObject } from './json-call.ts';
import { keyOf } from './openai-prompt.ts';

/** A translation may be up to 6 times as long as its text plus 60 characters: anything longer is a reply, a story or a loop. */
const LENGTH_FACTOR = 6;
const LENGTH_MORE = 60;

const CODE_FENCE = '```';
const [THOUGHT, THOUGHT_END] = ['<think>', '</think>'];
const TAG = /<[^<>]+>/g;

/** How servers report that they do not have a model; the model's name is also in the message. */
const NO_SUCH_MODEL = /model_not_found|not[ _]found|does(?:n't| not) exist|no such model|(?:unknown|invalid|unsupported) model/i;

/** Returns the failure for anything that must not be charged. */
export function translationsIn(
  answer: JsonObject,
  text: readonly string[],
  { format, ignoreTags }: TranslationOptions,
): readonly Translation[] | AttemptFailure {
  const choice = choiceOf(answer);
  if (choice?.['finish_reason'] === 'length') return 'cut_off';
  return translationsOfChoice(choice, text, format, ignoreTags ?? []) ?? 'wrong_shape';
}

/** Whether a failed answer means that the server lacks the model: some servers answer 404, as for a wrong path. */
export function lacksModel(result: CallResult, model: string): boolean {
  if (typeof result === 'string' || (result.status !== 404 && result.status !== 400)) return false;
  return bodyMatches(result, NO_SUCH_MODEL) && bodyMatches(result, new RegExp(escaped(JSON.stringify(model).slice(1, -1))));
}

/** Escapes a text for use in a regex. */
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
    if (!isMarkupIntact(source, translated, format, ignoreTags)) return undefined;
    translations.push({ text: translated, detectedSourceLanguage: undefined });
  }
  return translations;
}

/** As reported by the server; missing counts are 0. */
export function tokensOf({ usage }: JsonObject): EngineTokens | undefined {
  if (!isJsonObject(usage)) return undefined;
  return { prompt: countOf(usage['prompt_tokens']), completion: countOf(usage['completion_tokens']) };
}

function choiceOf({ choices }: JsonObject): JsonObject | undefined {
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  return isJsonObject(choice) ? choice : undefined;
}

/** The model's output, if it finished normally. */
function contentOf(choice: JsonObject | undefined): string | undefined {
  if (choice === undefined || choice['finish_reason'] !== 'stop' || !isJsonObject(choice['message'])) return undefined;
  const { content } = choice['message'];
  return typeof content === 'string' ? content : undefined;
}

function parsed(content: string): JsonObject | undefined {
  const json = withoutFence(withoutThought(content.trim()));
  // Within a string of the answer, its own bounds counted nothing.
  if (jsonFault(Buffer.from(json)) !== undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Some models write down what they think before they answer; some write only the tags. */
function withoutThought(content: string): string {
  const end = content.startsWith(THOUGHT) ? content.indexOf(THOUGHT_END) : -1;
  return end === -1 ? content : content.slice(end + THOUGHT_END.length).trimStart();
}

/** Some models wrap their JSON in a code block. Not by regex, which would backtrack for long on many blank lines. */
function withoutFence(content: string): string {
  if (!content.startsWith(CODE_FENCE) || !content.endsWith(CODE_FENCE)) return content;
  return content.slice(content.indexOf('\n'), -CODE_FENCE.length);
}

/** Every tag must occur as often as before, and ignored elements must be unchanged. Their order may change with the word order. */
function isMarkupIntact(source: string, translated: string, format: TextFormat, ignoreTags: readonly string[]): boolean {
  if (format === 'text') return true;
  if (!sameTexts(source.match(TAG), translated.match(TAG))) return false;
  return ignoreTags.every((name) => sameTexts(elementsIn(source, name), elementsIn(translated, name)));
}

/** From each `<name …>` to the next `</name`; unclosed elements do not count. Linear in the length of the text. */
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
