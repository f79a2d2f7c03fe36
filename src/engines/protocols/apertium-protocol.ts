// Apertium APY as an engine: one text per call, with APY detecting the language if the caller named none. Formality, context
// and glossaries have no counterpart in APY's interface and are not sent.
import { checkSentence } from '../../domain/check-sentence.ts';
import type { AttemptFailure, EngineProtocol, EngineWire, EngineWork, Translation } from '../../ports/engine.ts';
import { cutText, joinText } from './apertium-pieces.ts';
import { alpha3Of, baseCodeOf } from './iso-639-3.ts';
import { eachText } from './each-text.ts';
import { get, headersOf, isJsonObject, jsonObjectOf, LIST_BOUNDS, pairTestOf, unusable } from './json-call.ts';
import type { CallResult } from './json-call.ts';

/** Enough to recognize a language; APY analyses the whole input with each of its dictionaries. */
const IDENTIFY_UNITS_MAX = 1000;

export const apertiumProtocol: EngineProtocol = {
  can: { textsMax: 1, formality: false, context: false, glossaries: false },
  attempt(work, wire) {
    if (work.detectionOnly === true) return eachText(work.text, (text) => detect(text, work, wire));
    const target = alpha3Of(work.options.targetLang);
    if (target === undefined) return Promise.resolve(unusable('unsupported_pair'));
    return eachText(work.text, (text) => translateText(text, work.options.sourceLang, target, work, wire));
  },
  async pairs(wire) {
    const answer = jsonObjectOf(await get(wire, '/listPairs'), LIST_BOUNDS);
    if (typeof answer === 'string') return answer;
    const reported: [string, string][] = [];
    if (!Array.isArray(answer['responseData'])) return 'wrong_shape';
    for (const entry of answer['responseData'] as unknown[]) {
      const { sourceLanguage, targetLanguage } = isJsonObject(entry) ? entry : {};
      if (typeof sourceLanguage !== 'string' || typeof targetLanguage !== 'string') return 'wrong_shape';
      reported.push([sourceLanguage, targetLanguage]);
    }
    return pairTestOf(reported, alpha3Of);
  },
};

async function translateText(
  text: string,
  sourceLang: string | undefined,
  target: string,
  work: EngineWork,
  wire: EngineWire,
): Promise<Translation | AttemptFailure> {
  const { pieces, around } = cutText(text);
  // Only white space: APY would strip it and return nothing.
  if (pieces.length === 0) return { text, detectedSourceLanguage: undefined };
  const detected = sourceLang === undefined ? await identify(pieces[0]!, work, wire) : undefined;
  if (detected !== undefined && 'failure' in detected) return detected.failure;
  const source = alpha3Of(detected?.base ?? sourceLang ?? '');
  if (source === undefined) return 'unsupported_pair';
  const translated: string[] = [];
  for (const piece of pieces) {
    const result = translatedTextOf(
      await post(wire, work, '/translate', { q: piece, langpair: `${source}|${target}`, markUnknown: 'no', format: 'txt' }),
    );
    if ('failure' in result) return result.failure;
    translated.push(result.text);
  }
  return { text: joinText(translated, around), detectedSourceLanguage: detected?.base };
}

async function detect(text: string, work: EngineWork, wire: EngineWire): Promise<Translation | AttemptFailure> {
  const [piece] = cutText(text).pieces;
  if (piece === undefined) return { text, detectedSourceLanguage: undefined };
  const detected = await identify(piece, work, wire);
  if ('base' in detected) return { text, detectedSourceLanguage: detected.base };
  // None of its guesses is one of our languages: a valid answer without a result.
  return detected.failure === 'unsupported_pair' ? { text, detectedSourceLanguage: undefined } : detected.failure;
}

async function identify(
  piece: string,
  work: EngineWork,
  wire: EngineWire,
): Promise<{ readonly base: string } | { readonly failure: AttemptFailure }> {
  const answer = await post(wire, work, '/identifyLang', { q: piece.slice(0, IDENTIFY_UNITS_MAX) });
  const scores = jsonObjectOf(answer);
  if (typeof scores === 'string') return { failure: lacksPath(answer) && (await isApertium(wire)) ? 'no_detection' : scores };
  if (Object.keys(scores).length === 0) return { failure: (await identifiesNothing(work, wire)) ? 'no_detection' : 'unsupported_pair' };
  let best: { readonly base: string; readonly score: number } | undefined;
  for (const [name, score] of Object.entries(scores)) {
    if (typeof score !== 'number') return { failure: 'wrong_shape' };
    const base = baseCodeOf(name);
    if (base !== undefined && (best === undefined || score > best.score)) best = { base, score };
  }
  // None of its guesses is one of our languages, so there is no pair to translate.
  return best ?? { failure: 'unsupported_pair' };
}

function lacksPath(answer: CallResult): boolean {
  return typeof answer !== 'string' && (answer.status === 404 || answer.status === 405);
}

/** Otherwise a path that is missing only shows that the URL is wrong. */
async function isApertium(wire: EngineWire): Promise<boolean> {
  const list = jsonObjectOf(await get(wire, '/listPairs'), LIST_BOUNDS);
  return typeof list !== 'string' && Array.isArray(list['responseData']);
}

/** APY without analysers and without CLD2 has no guess for any text; one with CLD2 may have none for some texts. */
async function identifiesNothing(work: EngineWork, wire: EngineWire): Promise<boolean> {
  const scores = jsonObjectOf(await post(wire, work, '/identifyLang', { q: checkSentence('EN') }));
  return typeof scores !== 'string' && Object.keys(scores).length === 0;
}

function translatedTextOf(result: CallResult): { readonly text: string } | { readonly failure: AttemptFailure } {
  // The request is well-formed, so APY can only object to a pair that is not installed.
  if (typeof result !== 'string' && result.status === 400) return { failure: 'unsupported_pair' };
  const answer = jsonObjectOf(result);
  if (typeof answer === 'string') return { failure: answer };
  const data = answer['responseData'];
  const text = isJsonObject(data) ? data['translatedText'] : undefined;
  if (answer['responseStatus'] !== 200 || typeof text !== 'string') return { failure: 'wrong_shape' };
  // The piece has no white space around it, but some rules leave a space where they drop a pronoun.
  return { text: text.trim() };
}

/** Sent as a form body, because a query would have to fit into the header block. */
function post(wire: EngineWire, work: EngineWork, path: string, form: Record<string, string>): Promise<CallResult> {
  const headers = headersOf(work, 'application/x-www-form-urlencoded');
  return wire.call({ method: 'POST', path, headers, body: new URLSearchParams(form).toString() });
}
