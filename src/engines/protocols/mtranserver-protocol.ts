// MTranServer as an engine: one call for all texts if the source language is given; otherwise each
// is detected and translated separately.
import { secret } from '../../domain/option-schema.ts';
import { Type } from '../../domain/typebox.ts';
import type { Attempt, AttemptFailure, EngineProtocol, Translation } from '../../ports/engine.ts';
import { bearer, eachText, get, jsonObjectOf, postJson, stringsOf, unusable, withoutBlanks } from './json-call.ts';
import type { AttemptContext, JsonObject } from './json-call.ts';

const Options = Type.Object({ token: Type.Optional(secret("The server's `MT_API_TOKEN`, if it has one.")) });

type Context = AttemptContext<{ readonly token?: string }>;

/** Enough to recognize a language. */
const DETECT_UNITS_MAX = 1000;
/** Of a detected code: it is sent back to the server with the text. */
const CODE_UNITS_MAX = 40;
/** The results of detectors for an undetermined language. */
const UNDETERMINED = /^(?:und|unknown|auto)?$/i;

/** It uses the models of Firefox Translations. */
const THEIRS: Readonly<Record<string, string>> = { ZH: 'zh-Hans' };
/** Aliases that it accepts for one language, of which it lists only one. */
const SAME: Readonly<Record<string, string>> = { zh: 'zh-hans', 'zh-cn': 'zh-hans', no: 'nb' };

export const mtranServerProtocol: EngineProtocol<typeof Options> = {
  options: Options,
  can: { textsMax: 50, formats: ['text', 'html'], formality: false, context: false, glossaries: false },
  attempt(work, wire, settings) {
    const { sourceLang } = work.options;
    const context = { work, wire, settings };
    return withoutBlanks(work.text, (text) => {
      if (work.detectionOnly === true) return eachText(text, (entry) => detect(entry, context));
      if (sourceLang === undefined) return eachText(text, (entry) => detectAndTranslate(entry, context));
      if (text.length > 1) return translateTogether(text, sourceLang, context);
      return eachText(text, (entry) => translateOne(entry, mtranServerCode(sourceLang), context));
    });
  },
  async pairs(wire, { token }) {
    const answer = jsonObjectOf(await get(wire, '/languages', bearer(token)));
    if (typeof answer === 'string') return answer;
    const reported = answer['languages'];
    if (!Array.isArray(reported) || !reported.every((code) => typeof code === 'string')) return 'wrong_shape';
    const languages = new Set(reported.map(oneNameOf));
    // It lists languages, not pairs: if it has no model for a pair, it translates via English.
    const has = (code: string): boolean => languages.has(oneNameOf(mtranServerCode(code)));
    return (sourceLang, targetLang) => has(sourceLang) && has(targetLang);
  },
};

async function translateTogether(texts: readonly string[], sourceLang: string, context: Context): Promise<Attempt> {
  const answer = await post('/translate/batch', { ...termsOf(mtranServerCode(sourceLang), context), texts }, context);
  if (typeof answer === 'string') return unusable(answer);
  const results = stringsOf(answer['results'], texts.length);
  if (results === undefined) return unusable('wrong_shape');
  return { kind: 'usable', translations: results.map((text) => ({ text, detectedSourceLanguage: undefined })) };
}

async function detectAndTranslate(text: string, context: Context): Promise<Translation | AttemptFailure> {
  const language = await languageOf(text, context);
  if ('failure' in language) return language.failure;
  // Without a source language there is no pair to translate.
  if (language.code === undefined) return 'unsupported_pair';
  const translation = await translateOne(text, language.code, context);
  return typeof translation === 'string' ? translation : { ...translation, detectedSourceLanguage: codeOfMtranServer(language.code) };
}

async function detect(text: string, context: Context): Promise<Translation | AttemptFailure> {
  const language = await languageOf(text, context);
  if ('failure' in language) return language.failure;
  return { text, detectedSourceLanguage: language.code === undefined ? undefined : codeOfMtranServer(language.code) };
}

/** The server's own code; `undefined` if it cannot tell. */
async function languageOf(
  text: string,
  context: Context,
): Promise<{ readonly code: string | undefined } | { readonly failure: AttemptFailure }> {
  const answer = await post('/detect', { text: text.slice(0, DETECT_UNITS_MAX).toWellFormed() }, context);
  if (typeof answer === 'string') return { failure: answer };
  const language = answer['language'];
  if (typeof language !== 'string' || language.length > CODE_UNITS_MAX) return { failure: 'wrong_shape' };
  return { code: UNDETERMINED.test(language) ? undefined : language };
}

async function translateOne(text: string, from: string, context: Context): Promise<Translation | AttemptFailure> {
  const answer = await post('/translate', { ...termsOf(from, context), text }, context);
  if (typeof answer === 'string') return answer;
  const result = answer['result'];
  return typeof result === 'string' ? { text: result, detectedSourceLanguage: undefined } : 'wrong_shape';
}

async function post(path: string, body: object, { work, wire, settings }: Context): Promise<JsonObject | AttemptFailure> {
  return jsonObjectOf(await postJson(wire, work, path, body, bearer(settings.token)));
}

function termsOf(from: string, { work: { options } }: Context) {
  return { from, to: mtranServerCode(options.targetLang), html: options.format === 'html' };
}

/** There are no regional codes; they map to their base. */
export function mtranServerCode(code: string): string {
  const base = code.split('-', 1)[0]!;
  return THEIRS[base] ?? base.toLowerCase();
}

/** A detected code, with or without a script. */
export function codeOfMtranServer(detected: string): string {
  return detected.split(/[-_]/, 1)[0]!.toUpperCase();
}

/** Normalizes an MTranServer code for comparison. */
function oneNameOf(theirs: string): string {
  const name = theirs.toLowerCase();
  return SAME[name] ?? name;
}
