// Parses an engine's answer into a JSON object, or classifies what is wrong with it.
import { isAscii } from 'node:buffer';
import type { Attempt, AttemptFailure, EngineResponse, Translation } from '../../ports/engine.ts';

/** Not validated yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

const ERROR_BYTES_MAX = 65_536;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Throws if it is not UTF-8. */
function textOf({ body }: EngineResponse): string {
  // For ASCII this is three times as fast: calling the decoder costs more than decoding a short text.
  return isAscii(body) ? Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1') : utf8.decode(body);
}

/** Any status except 200, including redirects, makes an answer unusable, whatever its body contains. */
export function jsonObjectOf(response: EngineResponse): JsonObject | AttemptFailure {
  const read = jsonValueOf(response);
  if (typeof read === 'string') return read;
  return isJsonObject(read.value) ? read.value : 'wrong_shape';
}

/** The same for an answer that need not be an object. */
export function jsonValueOf(response: EngineResponse): { readonly value: unknown } | AttemptFailure {
  if (response.status !== 200) return 'status';
  try {
    return { value: JSON.parse(textOf(response)) as unknown };
  } catch {
    return 'not_json';
  }
}

/** Whether the beginning of an error body matches. Nothing else is read from it. */
export function bodyMatches({ body }: EngineResponse, pattern: RegExp): boolean {
  return pattern.test(Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, ERROR_BYTES_MAX)).toString('utf8'));
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of exactly `count` strings; otherwise `undefined`. */
export function stringsOf(value: unknown, count: number): readonly string[] | undefined {
  return Array.isArray(value) && value.length === count && value.every((entry) => typeof entry === 'string') ? value : undefined;
}

/** The member `translations` of an answer in our own or DeepL's format; `undefined` unless there are exactly `count`. */
export function translationsOf(answer: JsonObject, count: number): readonly Translation[] | undefined {
  const entries: unknown = answer['translations'];
  // A truncated body can still be valid JSON; then the number is the only sign.
  if (!Array.isArray(entries) || entries.length !== count) return undefined;
  const translations: Translation[] = [];
  for (const entry of entries as unknown[]) {
    if (!isJsonObject(entry)) return undefined;
    const { text, detected_source_language: detected } = entry;
    if (typeof text !== 'string' || (detected !== undefined && typeof detected !== 'string')) return undefined;
    translations.push({ text, detectedSourceLanguage: detected });
  }
  return translations;
}

export function unusable(failure: AttemptFailure): Attempt {
  return { kind: 'unusable', failure };
}
