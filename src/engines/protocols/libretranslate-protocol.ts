// LibreTranslate as an engine: one call with a source language, otherwise one call per text.
import { secret } from '../../domain/option-schema.ts';
import { Type } from '../../domain/typebox.ts';
import type { Attempt, AttemptFailure, EngineProtocol, FileWork, ReplicaWire, TranslatedFile, Translation } from '../../ports/engine.ts';
import {
  LIST_BOUNDS,
  bodyMatches,
  eachText,
  get,
  isJsonObject,
  jsonObjectOf,
  jsonValueOf,
  pairTestOf,
  postJson,
  stringsOf,
  unusable,
  withoutBlanks,
} from './json-call.ts';
import { callAgain, FILE_BYTES_MAX, fileCall, refusesFile } from './file-form.ts';
import type { AttemptContext, JsonObject } from './json-call.ts';

const Options = Type.Object({
  api_key: Type.Optional(secret('The key, if the server requires one.')),
  files: Type.Boolean({ default: true, description: 'Whether documents go there as files; `false`: their texts go there.' }),
  codes: Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1, maxLength: 20 }), {
    default: {},
    description: 'Codes of this server that differ from ours in lower case without region: `{ PT-BR: pb }`.',
  }),
});

type Context = AttemptContext<{ readonly api_key?: string; readonly codes: Readonly<Record<string, string>> }>;

const LETTER = /\p{L}/u;
/** A decoy is short; to search a long text without letters would take longer than to parse it. */
const DECOY_UNITS_MAX = 1000;
/** "xx is not supported", "x (x) is not available as a target language from y (y)". */
const LACKS_PAIR = /is not supported|is not available as a target/i;
/** "Please contact the server operator to get an API key", with status 400. */
const WANTS_KEY = /api key/i;

/** LibreTranslate codes that are not ours in lower case. */
const THEIRS: Readonly<Record<string, string>> = { pb: 'PT', zt: 'ZH' };
/** From version 1.7 on, it lists these under new names but still accepts the old ones. */
const OLD_NAMES: Readonly<Record<string, string>> = { 'pt-br': 'pb', 'zh-hans': 'zh', 'zh-hant': 'zt' };

export const libreTranslateProtocol: EngineProtocol<typeof Options> = {
  options: Options,
  can: { textsMax: 50, formats: ['text', 'html'], formality: false, context: false, glossaries: false },
  attempt(work, wire, settings) {
    const context = { work, wire, settings };
    return withoutBlanks(work.text, (text) => {
      if (work.detectionOnly === true) return eachText(text, (entry) => detect(entry, context));
      if (work.options.sourceLang !== undefined) return translateTogether(text, context);
      // One language per array is assumed: others would be translated from the wrong one.
      return eachText(text, (entry) => translateAlone(entry, context));
    });
  },
  files: {
    formats: ({ files }) => (files ? FILES : []),
    translate: translateFile,
  },
  async pairs(wire, { codes }) {
    const read = jsonValueOf(await get(wire, '/languages'), LIST_BOUNDS);
    if (typeof read === 'string') return read;
    if (!Array.isArray(read.value)) return 'wrong_shape';
    const entries = read.value as unknown[];
    if (!entries.every(isListed)) return 'wrong_shape';
    return pairTestOf(pairsOf(entries), (ours) => oneNameOf(libreTranslateCode(ours, codes)));
  },
};

/** Those of LibreTranslate as it is. */
const FILES: readonly string[] = ['docx', 'epub', 'html', 'odp', 'odt', 'pdf', 'pptx', 'srt', 'txt'];
const DOWNLOAD = /\/download_file\/[\w.%~-]{1,300}$/;

async function translateFile(
  work: FileWork,
  wire: ReplicaWire,
  { api_key, codes }: Context['settings'],
): Promise<TranslatedFile | AttemptFailure> {
  const { sourceLang, targetLang } = work;
  const source = sourceLang === undefined ? 'auto' : libreTranslateCode(sourceLang, codes);
  const sent = await wire.call(fileCall('/translate_file', work, { source, target: libreTranslateCode(targetLang, codes), api_key }));
  if (typeof sent !== 'string' && sent.status === 400 && bodyMatches(sent, LACKS_PAIR)) return 'unsupported_pair';
  if (typeof sent !== 'string' && refusesFile(sent) && !bodyMatches(sent, WANTS_KEY)) return 'file_refused';
  const read = jsonObjectOf(sent);
  if (typeof read === 'string') return read;
  const url = read['translatedFileUrl'];
  // Its path alone: the server need not know its own address, and must not name another.
  const path = typeof url === 'string' ? DOWNLOAD.exec(url)?.[0] : undefined;
  if (path === undefined) return 'wrong_shape';
  const result = await callAgain(wire, { method: 'GET', path, headers: {}, body: undefined, answerBytesMax: FILE_BYTES_MAX });
  if (typeof result === 'string') return result;
  return result.status === 200 ? { bytes: result.body, billed: undefined } : 'status';
}

interface ListedLanguage {
  readonly code: string;
  readonly targets: readonly string[];
}

function isListed(entry: unknown): entry is ListedLanguage {
  const { code, targets } = isJsonObject(entry) ? entry : {};
  return typeof code === 'string' && Array.isArray(targets) && targets.every((target) => typeof target === 'string');
}

/** One after another, while they are taken in. */
function* pairsOf(entries: readonly ListedLanguage[]): Generator<readonly [string, string]> {
  for (const { code, targets } of entries) for (const target of targets) yield [oneNameOf(code), oneNameOf(target)];
}

async function translateTogether(text: readonly string[], context: Context): Promise<Attempt> {
  const answer = await send(text, context);
  if (typeof answer === 'string') return unusable(answer);
  const translated = stringsOf(answer['translatedText'], text.length);
  if (translated === undefined || translated.some((entry, i) => isDecoy(text[i]!, entry))) return unusable('wrong_shape');
  return { kind: 'usable', translations: translated.map((entry) => ({ text: entry, detectedSourceLanguage: undefined })) };
}

async function translateAlone(text: string, context: Context): Promise<Translation | AttemptFailure> {
  const answer = await send(text, context);
  if (typeof answer === 'string') return answer;
  const translated = answer['translatedText'];
  if (typeof translated !== 'string' || isDecoy(text, translated)) return 'wrong_shape';
  const detected = answer['detectedLanguage'];
  const language = isJsonObject(detected) ? detected['language'] : undefined;
  return {
    text: translated,
    detectedSourceLanguage: typeof language === 'string' ? codeOfLibreTranslate(language, context.settings.codes) : undefined,
  };
}

async function detect(text: string, { work, wire, settings: { api_key, codes } }: Context): Promise<Translation | AttemptFailure> {
  const read = jsonValueOf(await postJson(wire, work, '/detect', { q: text, api_key }));
  if (typeof read === 'string') return read;
  // Best guess first; empty if it cannot tell.
  if (!Array.isArray(read.value)) return 'wrong_shape';
  const [best] = read.value as unknown[];
  if (best === undefined) return { text, detectedSourceLanguage: undefined };
  const language = isJsonObject(best) ? best['language'] : undefined;
  return typeof language === 'string' ? { text, detectedSourceLanguage: codeOfLibreTranslate(language, codes) } : 'wrong_shape';
}

async function send(q: string | readonly string[], { work, wire, settings }: Context): Promise<JsonObject | AttemptFailure> {
  const { api_key, codes } = settings;
  const { sourceLang, targetLang, format } = work.options;
  const source = sourceLang === undefined ? 'auto' : libreTranslateCode(sourceLang, codes);
  const body = { q, source, target: libreTranslateCode(targetLang, codes), format, api_key };
  const result = await postJson(wire, work, '/translate', body);
  // A missing key and a text that is too long are reported with 400 as well.
  const lacksPair = typeof result !== 'string' && result.status === 400 && bodyMatches(result, LACKS_PAIR);
  return lacksPair ? 'unsupported_pair' : jsonObjectOf(result);
}

/** A server with a wrong key may answer 200 with just an emoji. */
function isDecoy(text: string, translated: string): boolean {
  return translated.length <= DECOY_UNITS_MAX && LETTER.test(text) && !LETTER.test(translated);
}

/** `codes` is the operator's mapping from ours; keys may be regional or base codes. */
export function libreTranslateCode(code: string, codes: Readonly<Record<string, string>>): string {
  const base = code.split('-', 1)[0]!;
  return codes[code] ?? codes[base] ?? base.toLowerCase();
}

/** Maps a reported code to ours as far as possible. */
export function codeOfLibreTranslate(reported: string, codes: Readonly<Record<string, string>>): string {
  const theirs = reported.toLowerCase();
  const ours = Object.keys(codes).find((code) => codes[code]!.toLowerCase() === theirs);
  const base = theirs.split(/[-_]/, 1)[0]!;
  return ours?.split('-', 1)[0] ?? THEIRS[base] ?? base.toUpperCase();
}

/** Normalizes a LibreTranslate code for comparison. */
function oneNameOf(theirs: string): string {
  const name = theirs.toLowerCase().replace('_', '-');
  return OLD_NAMES[name] ?? name;
}
