// MTranServer as an engine: one call for all texts if the source language is given; otherwise each is detected and translated
// separately.
import { secret } from '../../domain/option-schema.ts';
import { Type } from '../../domain/schema-type.ts';
import type { Attempt, AttemptFailure, EngineProtocol, EngineWire, EngineWork, Translation } from '../../ports/engine.ts';
import { eachText, withoutBlanks } from './each-text.ts';
import { postJson } from './json-request.ts';
import { jsonObjectOf, stringsOf, unusable } from './json-response.ts';
import type { JsonObject } from './json-response.ts';
import { codeOfMtranServer, mtranServerCode, oneNameOf } from './mtranserver-codes.ts';

const Options = Type.Object({ token: Type.Optional(secret("The server's `MT_API_TOKEN`, if it has one.")) });

type Settings = { readonly token?: string };

/** Enough to recognize a language. */
const DETECT_UNITS_MAX = 1000;
/** The results of detectors for an undetermined language. */
const UNDETERMINED = /^(?:und|unknown|auto)?$/i;

export const mtranServerProtocol: EngineProtocol<typeof Options> = {
  options: Options,
  can: { textsMax: 50, formats: ['text', 'html'], formality: false, context: false, glossaries: false },
  attempt(work, wire, settings) {
    const { sourceLang } = work.options;
    return withoutBlanks(work.text, (text) => {
      if (work.detectionOnly === true) return eachText(text, (entry) => detect(entry, work, wire, settings));
      if (sourceLang === undefined) return eachText(text, (entry) => detectAndTranslate(entry, work, wire, settings));
      if (text.length > 1) return translateTogether(text, sourceLang, work, wire, settings);
      return eachText(text, (entry) => translateOne(entry, mtranServerCode(sourceLang), work, wire, settings));
    });
  },
  async pairs(wire, { token }) {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await wire.call({ method: 'GET', path: '/languages', headers, body: undefined });
    const answer = typeof response === 'string' ? response : jsonObjectOf(response);
    if (typeof answer === 'string') return answer;
    const reported = answer['languages'];
    if (!Array.isArray(reported) || !reported.every((code) => typeof code === 'string')) return 'wrong_shape';
    const languages = new Set(reported.map(oneNameOf));
    // It lists languages, not pairs: if it has no model for a pair, it translates via English.
    const has = (code: string): boolean => languages.has(oneNameOf(mtranServerCode(code)));
    return (sourceLang, targetLang) => has(sourceLang) && has(targetLang);
  },
};

async function translateTogether(
  texts: readonly string[],
  sourceLang: string,
  work: EngineWork,
  wire: EngineWire,
  settings: Settings,
): Promise<Attempt> {
  const languages = languagesOf(mtranServerCode(sourceLang), work);
  const answer = await post('/translate/batch', { ...languages, texts, html: isHtml(work) }, work, wire, settings);
  if (typeof answer === 'string') return unusable(answer);
  const results = stringsOf(answer['results'], texts.length);
  if (results === undefined) return unusable('wrong_shape');
  return { kind: 'usable', translations: results.map((text) => ({ text, detectedSourceLanguage: undefined })) };
}

async function detectAndTranslate(
  text: string,
  work: EngineWork,
  wire: EngineWire,
  settings: Settings,
): Promise<Translation | AttemptFailure> {
  const language = await languageOf(text, work, wire, settings);
  if ('failure' in language) return language.failure;
  // Without a source language there is no pair to translate.
  if (language.code === undefined) return 'unsupported_pair';
  const translation = await translateOne(text, language.code, work, wire, settings);
  return typeof translation === 'string' ? translation : { ...translation, detectedSourceLanguage: codeOfMtranServer(language.code) };
}

async function detect(text: string, work: EngineWork, wire: EngineWire, settings: Settings): Promise<Translation | AttemptFailure> {
  const language = await languageOf(text, work, wire, settings);
  if ('failure' in language) return language.failure;
  return { text, detectedSourceLanguage: language.code === undefined ? undefined : codeOfMtranServer(language.code) };
}

/** The server's own code; `undefined` if it cannot tell. */
async function languageOf(
  text: string,
  work: EngineWork,
  wire: EngineWire,
  settings: Settings,
): Promise<{ readonly code: string | undefined } | { readonly failure: AttemptFailure }> {
  const answer = await post('/detect', { text: text.slice(0, DETECT_UNITS_MAX).toWellFormed() }, work, wire, settings);
  if (typeof answer === 'string') return { failure: answer };
  const language = answer['language'];
  if (typeof language !== 'string') return { failure: 'wrong_shape' };
  return { code: UNDETERMINED.test(language) ? undefined : language };
}

async function translateOne(
  text: string,
  from: string,
  work: EngineWork,
  wire: EngineWire,
  settings: Settings,
): Promise<Translation | AttemptFailure> {
  const answer = await post('/translate', { ...languagesOf(from, work), text, html: isHtml(work) }, work, wire, settings);
  if (typeof answer === 'string') return answer;
  const result = answer['result'];
  return typeof result === 'string' ? { text: result, detectedSourceLanguage: undefined } : 'wrong_shape';
}

async function post(
  path: string,
  body: object,
  work: EngineWork,
  wire: EngineWire,
  { token }: Settings,
): Promise<JsonObject | AttemptFailure> {
  const response = await postJson(wire, work, path, body, token === undefined ? undefined : `Bearer ${token}`);
  return typeof response === 'string' ? response : jsonObjectOf(response);
}

function languagesOf(from: string, work: EngineWork): { readonly from: string; readonly to: string } {
  return { from, to: mtranServerCode(work.options.targetLang) };
}

function isHtml({ options }: EngineWork): boolean {
  return options.format === 'html';
}
