// LibreTranslate as an engine: all texts in one call if the source language is given, otherwise one call per text.
import { secret } from '../../domain/option-schema.ts';
import { Type } from '../../domain/schema-type.ts';
import type { Attempt, AttemptFailure, EngineProtocol, EngineResponse, EngineWire, EngineWork, Translation } from '../../ports/engine.ts';
import { eachText, withoutBlanks } from './each-text.ts';
import { postJson } from './json-request.ts';
import { bodyMatches, isJsonObject, jsonObjectOf, jsonValueOf, stringsOf, unusable } from './json-response.ts';
import { codeOfLibreTranslate, libreTranslateCode, oneNameOf } from './libretranslate-codes.ts';
import { pairTestOf } from './reported-pairs.ts';

const Options = Type.Object({
  api_key: Type.Optional(secret('The key, if the server requires one.')),
  codes: Type.Record(Type.String({ minLength: 1 }), Type.String({ minLength: 1, maxLength: 20 }), {
    default: {},
    description: 'Codes of this server that differ from ours in lower case without region: `{ PT-BR: pb }`.',
  }),
});

type Settings = { readonly api_key?: string; readonly codes: Readonly<Record<string, string>> };

const LETTER = /\p{L}/u;
/** "xx is not supported", "x (x) is not available as a target language from y (y)". */
const LACKS_PAIR = /is not supported|is not available as a target/i;

export const libreTranslateProtocol: EngineProtocol<typeof Options> = {
  options: Options,
  can: { textsMax: 50, formats: ['text', 'html'], formality: false, context: false, glossaries: false },
  attempt(work, wire, settings) {
    return withoutBlanks(work.text, (text) => {
      if (work.detectionOnly === true) return eachText(text, (entry) => detect(entry, work, wire, settings));
      if (work.options.sourceLang !== undefined) return translateTogether(text, work, wire, settings);
      // LibreTranslate assumes one language per array: texts in different languages would be translated from the wrong one.
      return eachText(text, (entry) => translateAlone(entry, work, wire, settings));
    });
  },
  async pairs(wire, { codes }) {
    const response = await wire.call({ method: 'GET', path: '/languages', headers: {}, body: undefined });
    const read = typeof response === 'string' ? response : jsonValueOf(response);
    if (typeof read === 'string') return read;
    if (!Array.isArray(read.value)) return 'wrong_shape';
    const reported: [string, string][] = [];
    for (const entry of read.value as unknown[]) {
      const { code, targets } = isJsonObject(entry) ? entry : {};
      if (typeof code !== 'string' || !Array.isArray(targets)) return 'wrong_shape';
      for (const target of targets as unknown[]) {
        if (typeof target !== 'string') return 'wrong_shape';
        reported.push([oneNameOf(code), oneNameOf(target)]);
      }
    }
    return pairTestOf(reported, (ours) => oneNameOf(libreTranslateCode(ours, codes)));
  },
};

async function translateTogether(text: readonly string[], work: EngineWork, wire: EngineWire, settings: Settings): Promise<Attempt> {
  const answer = answerOf(await send(text, work, wire, settings));
  if (typeof answer === 'string') return unusable(answer);
  const translated = stringsOf(answer['translatedText'], text.length);
  if (translated === undefined || translated.some((entry, i) => isDecoy(text[i]!, entry))) return unusable('wrong_shape');
  return { kind: 'usable', translations: translated.map((entry) => ({ text: entry, detectedSourceLanguage: undefined })) };
}

async function translateAlone(text: string, work: EngineWork, wire: EngineWire, settings: Settings): Promise<Translation | AttemptFailure> {
  const answer = answerOf(await send(text, work, wire, settings));
  if (typeof answer === 'string') return answer;
  const translated = answer['translatedText'];
  if (typeof translated !== 'string' || isDecoy(text, translated)) return 'wrong_shape';
  const detected = answer['detectedLanguage'];
  const language = isJsonObject(detected) ? detected['language'] : undefined;
  return {
    text: translated,
    detectedSourceLanguage: typeof language === 'string' ? codeOfLibreTranslate(language, settings.codes) : undefined,
  };
}

async function detect(
  text: string,
  work: EngineWork,
  wire: EngineWire,
  { api_key, codes }: Settings,
): Promise<Translation | AttemptFailure> {
  const response = await postJson(wire, work, '/detect', { q: text, api_key });
  const read = typeof response === 'string' ? response : jsonValueOf(response);
  if (typeof read === 'string') return read;
  // Best guess first; empty if it cannot tell.
  if (!Array.isArray(read.value)) return 'wrong_shape';
  const [best] = read.value as unknown[];
  if (best === undefined) return { text, detectedSourceLanguage: undefined };
  const language = isJsonObject(best) ? best['language'] : undefined;
  return typeof language === 'string' ? { text, detectedSourceLanguage: codeOfLibreTranslate(language, codes) } : 'wrong_shape';
}

function send(q: string | readonly string[], work: EngineWork, wire: EngineWire, { api_key, codes }: Settings) {
  const { sourceLang, targetLang, format } = work.options;
  const source = sourceLang === undefined ? 'auto' : libreTranslateCode(sourceLang, codes);
  return postJson(wire, work, '/translate', { q, source, target: libreTranslateCode(targetLang, codes), format, api_key });
}

function answerOf(response: EngineResponse | AttemptFailure): Readonly<Record<string, unknown>> | AttemptFailure {
  if (typeof response === 'string') return response;
  // A missing key and a text that is too long are reported with 400 as well.
  return response.status === 400 && bodyMatches(response, LACKS_PAIR) ? 'unsupported_pair' : jsonObjectOf(response);
}

/** A server with a wrong key may answer 200 with just an emoji. */
function isDecoy(text: string, translated: string): boolean {
  return LETTER.test(text) && !LETTER.test(translated);
}
