// What adapters share: requests with headers and JSON bodies, and answers parsed into JSON or
// classified by what is wrong. Engines that take one text per call get a few at a time, and no text
// of only white space.
import { nextTurn } from '../../core/turns.ts';
import { parseJson } from '../../domain/json-body.ts';
import type { JsonBounds } from '../../domain/json-body.ts';
import type { PairTest } from '../../domain/languages.ts';
import type { Attempt, AttemptFailure, EngineResponse, EngineWire, EngineWork, Translation } from '../../ports/engine.ts';

/** What the functions of an adapter need during an attempt. */
export interface AttemptContext<Settings> {
  readonly work: EngineWork;
  readonly wire: Pick<EngineWire, 'call'>;
  readonly settings: Settings;
}

/** What a call returned: a failure passes through all functions here. */
export type CallResult = EngineResponse | AttemptFailure;

/** Not validated yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

const ERROR_BYTES_MAX = 16_384;
/** For an answer that need not be read: some servers list thousands of models. */
const TRIAL_BYTES_MAX = 16_777_216;
const KEY_REFUSED: readonly number[] = [401, 403];
const JSON_BEGINS = /^\s{0,100}[[{]/;
/** For lists of pairs, longer than any translation: 200 languages, each with all others. */
export const LIST_BOUNDS: JsonBounds = { containersMax: 10_000, membersMax: 20_000, valuesMax: 40_000 };
/** Pairs that one turn of the event loop takes in: about a millisecond. */
const PAIRS_PER_TURN = 1000;

/** Common to all requests; callers may add more. The client adds the request's id. */
export function headersOf({ traceparent }: EngineWork, contentType = 'application/json'): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': contentType };
  if (traceparent !== undefined) headers['traceparent'] = traceparent;
  return headers;
}

/** `authorization` is the full value of that field. `undefined` members are omitted. */
export function postJson(
  wire: Pick<EngineWire, 'call'>,
  work: EngineWork,
  path: string,
  body: object,
  authorization?: string,
): Promise<CallResult> {
  const headers = headersOf(work);
  if (authorization !== undefined) headers['authorization'] = authorization;
  return wire.call({ method: 'POST', path, headers, body: JSON.stringify(body) });
}

/** For lists of what a server can translate. */
export function get(wire: Pick<EngineWire, 'call'>, path: string, authorization?: string): Promise<CallResult> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return wire.call({ method: 'GET', path, headers, body: undefined });
}

/**
 * Asks what no engine bills, before any caller does. Passed with any JSON, unless the key is
 * refused: shows an address where something else answers.
 */
export async function trialBy(
  wire: Pick<EngineWire, 'call'>,
  path: string,
  { authorization, body }: { readonly authorization?: string | undefined; readonly body?: string } = {},
): Promise<AttemptFailure | undefined> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const method = body === undefined ? 'GET' : 'POST';
  const result = await wire.call({ method, path, headers, body, answerBytesMax: TRIAL_BYTES_MAX });
  if (typeof result === 'string') return result;
  if (KEY_REFUSED.includes(result.status)) return 'status';
  if (bodyMatches(result, JSON_BEGINS)) return undefined;
  return result.status === 200 ? 'wrong_shape' : 'status';
}

export function bearer(token: string | undefined): string | undefined {
  return token === undefined ? undefined : `Bearer ${token}`;
}

/** Any status but 200, with redirects, makes an answer unusable, whatever it contains. */
export function jsonObjectOf(result: CallResult, bounds?: JsonBounds): JsonObject | AttemptFailure {
  const read = jsonValueOf(result, bounds);
  if (typeof read === 'string') return read;
  return isJsonObject(read.value) ? read.value : 'wrong_shape';
}

/** The same for an answer that need not be an object. */
export function jsonValueOf(result: CallResult, bounds?: JsonBounds): { readonly value: unknown } | AttemptFailure {
  if (typeof result === 'string') return result;
  if (result.status !== 200) return 'status';
  return parseJson(result.body, bounds);
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

/** The `translations` of an answer in our own or DeepL's format, exactly `count`. */
export function translationsOf(result: CallResult, count: number): readonly Translation[] | AttemptFailure {
  const read = jsonValueOf(result);
  if (typeof read === 'string') return read;
  const entries = isJsonObject(read.value) ? read.value['translations'] : undefined;
  // Truncated JSON can be valid, and some servers join texts: the number is the only sign.
  if (!Array.isArray(entries) || entries.length !== count) return 'wrong_shape';
  const translations: Translation[] = [];
  for (const entry of entries as unknown[]) {
    if (!isJsonObject(entry)) return 'wrong_shape';
    const { text, detected_source_language: detected } = entry;
    if (typeof text !== 'string' || (detected !== undefined && typeof detected !== 'string')) return 'wrong_shape';
    translations.push({ text, detectedSourceLanguage: detected });
  }
  return translations;
}

export function unusable(failure: AttemptFailure): Attempt {
  return { kind: 'unusable', failure };
}

/**
 * A test for our codes of the pairs that an engine reports. `theirs` maps our code to that of a
 * translation; `undefined` if there is none.
 */
export async function pairTestOf(
  pairs: Iterable<readonly [source: string, target: string]>,
  theirs: (code: string) => string | undefined,
): Promise<PairTest> {
  const targets = new Map<string, Set<string>>();
  let taken = 0;
  for (const [source, target] of pairs) {
    if (taken++ % PAIRS_PER_TURN === 0) await nextTurn();
    const known = targets.get(source);
    if (known === undefined) targets.set(source, new Set([target]));
    else known.add(target);
  }
  return (sourceLang, targetLang) => {
    const [source, target] = [theirs(sourceLang), theirs(targetLang)];
    return source !== undefined && target !== undefined && targets.get(source)?.has(target) === true;
  };
}

/** Texts of one work translated concurrently: more would only queue at the engine. */
const TEXTS_AT_ONCE = 4;
const VISIBLE = /\S/;

/** A few texts at a time. The first failure ends the attempt, and no further text is sent. */
export async function eachText(
  text: readonly string[],
  translate: (text: string) => Promise<Translation | AttemptFailure>,
): Promise<Attempt> {
  const translations: Translation[] = [];
  let next = 0;
  let failure: AttemptFailure | undefined;
  const worker = async (): Promise<void> => {
    while (next < text.length && failure === undefined) {
      const index = next++;
      const result = await translate(text[index]!);
      if (typeof result === 'string') failure ??= result;
      else translations[index] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(TEXTS_AT_ONCE, text.length) }, worker));
  return failure === undefined ? { kind: 'usable', translations } : { kind: 'unusable', failure };
}

/** Texts of only white space stay as they are: engines strip them, or invent something. */
export async function withoutBlanks(
  text: readonly string[],
  translate: (visible: readonly string[]) => Promise<Attempt>,
): Promise<Attempt> {
  if (text.every((entry) => VISIBLE.test(entry))) return translate(text);
  const visible = text.filter((entry) => VISIBLE.test(entry));
  const attempt: Attempt = visible.length === 0 ? { kind: 'usable', translations: [] } : await translate(visible);
  if (attempt.kind === 'unusable' || attempt.translations.length !== visible.length) return attempt;
  let next = 0;
  const blank = (entry: string): Translation => ({ text: entry, detectedSourceLanguage: undefined });
  const translations = text.map((entry) => (VISIBLE.test(entry) ? attempt.translations[next++]! : blank(entry)));
  return { ...attempt, translations };
}
