// Apertium APY as an engine: one text per call, with APY detecting the language if the caller named
// none. It gets neither formality nor context nor glossaries. A text is cut into pieces that APY
// translates whole, and gets back the white space that it would drop.
import { checkSentence } from '../../domain/check-sentence.ts';
import type { AttemptFailure, EngineProtocol, EngineWire, EngineWork, Translation } from '../../ports/engine.ts';
import { LIST_BOUNDS, eachText, get, headersOf, isJsonObject, jsonObjectOf, pairTestOf, unusable } from './json-call.ts';
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

/** APY without analysers and CLD2 has no guess for any text; with CLD2, for some texts. */
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

/** White space alternates with pieces: around[0] pieces[0] around[1] … pieces[n-1] around[n]. */
interface CutText {
  readonly pieces: readonly string[];
  readonly around: readonly string[];
}

/**
 * APY splits longer texts anywhere (1,000 characters under load) and silently drops everything
 * after ten splits: one of 54,000 characters came back truncated with status 200.
 */
const PIECE_UNITS_MAX = 1000;

// APY strips Python's white space from both ends, after turning control characters into spaces.
// oxlint-disable-next-line no-control-regex
const LEADING = /^[\s\u0000-\u001f\u007f-\u009f]+/;
// Where to split, best first: after a line end, a sentence, a word.
const CUTS = [/\n/g, /[.!?…。!?]['"”»)]*\s/gu, /\s/g];

export function cutText(text: string): CutText {
  const pieces: string[] = [];
  const around: string[] = [];
  let rest = text;
  let space = '';
  while (true) {
    const lead = LEADING.exec(rest)?.[0] ?? '';
    space += lead;
    rest = rest.slice(lead.length);
    if (rest === '') break;
    const end = rest.length <= PIECE_UNITS_MAX ? rest.length : cutPlace(rest);
    const piece = withoutTrailingSpace(rest.slice(0, end));
    around.push(space);
    pieces.push(piece);
    space = '';
    rest = rest.slice(piece.length);
  }
  return { pieces, around: [...around, space] };
}

/** Puts the translated pieces back between the white space. */
export function joinText(translated: readonly string[], around: readonly string[]): string {
  return translated.reduce((text, piece, i) => text + piece + around[i + 1]!, around[0]!);
}

function cutPlace(text: string): number {
  const window = text.slice(0, PIECE_UNITS_MAX);
  for (const pattern of CUTS) {
    let end = 0;
    for (const match of window.matchAll(pattern)) end = match.index + match[0].length;
    if (end > 0) return end;
  }
  // Without white space, split anywhere except inside a surrogate pair.
  const unit = window.charCodeAt(PIECE_UNITS_MAX - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? PIECE_UNITS_MAX - 1 : PIECE_UNITS_MAX;
}

/** Not by regex: `/\s+$/` takes quadratic time on long runs of spaces. */
function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && LEADING.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** The 36 base codes and their ISO 639-3 counterparts. */
const ALPHA3 = new Map(
  [
    'AR:ara BG:bul CS:ces DA:dan DE:deu EL:ell EN:eng ES:spa ET:est FI:fin FR:fra GA:gle',
    'HE:heb HR:hrv HU:hun ID:ind IT:ita JA:jpn KO:kor LT:lit LV:lav MT:mlt NB:nob NL:nld',
    'PL:pol PT:por RO:ron RU:rus SK:slk SL:slv SV:swe TH:tha TR:tur UK:ukr VI:vie ZH:zho',
  ].flatMap((row) => row.split(' ').map((one) => one.split(':') as [base: string, alpha3: string])),
);
const BASE = new Map([...ALPHA3].map(([base, alpha3]) => [alpha3, base]));

/** Regional codes (`PT-BR`) map to their base. `undefined` if it is not one of our codes. */
export function alpha3Of(code: string): string | undefined {
  return ALPHA3.get(code.split('-', 1)[0]!);
}

/** Variants (`eng_US`) map to their base. `undefined` if it is not one of our codes. */
export function baseCodeOf(alpha3: string): string | undefined {
  return BASE.get(alpha3.split(/[-_]/, 1)[0]!);
}
