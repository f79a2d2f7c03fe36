// A dictionary as DeepL takes it: whether it keeps to DeepL's limits, the name under which it is kept there, and the call that makes it.
import { createHash } from 'node:crypto';
import { nextTurn } from '../../core/turns.ts';
import { baseCode } from '../../domain/glossary.ts';
import { eachEntry } from '../../domain/entries-text.ts';
import type { EngineGlossary, TranslationOptions } from '../../domain/translation-options.ts';
import type { EngineCall, EngineWork } from '../../ports/engine.ts';

/** DeepL's limits: UTF-8 bytes of a term or a translation, and of a whole dictionary as lines of TSV. */
const PHRASE_BYTES_MAX = 1024;
const DICTIONARY_BYTES_MAX = 10 * 1024 * 1024;
/** Control characters, line separators, and white space at either end. */
const UNFIT = /[\p{Cc}\u2028\u2029]|^\s|\s$/u;
/** Characters of one piece of a body. */
const PIECE_CHARACTERS = 65_536;

/** What was found out about a dictionary, which never changes: the digest of its entries, or `unfit`. */
const judged = new WeakMap<EngineGlossary, string | Promise<string>>();
const UNFIT_WORD = 'unfit';

/** Our names at DeepL: team, pair of base codes, digest of the entries. Nothing else there is ours. */
const NAME = /^lingate ([0-7][0-9A-HJKMNP-TV-Z]{25}) [a-z]{2,3}-[a-z]{2,3} [0-9a-f]{64}$/;

/** The team of a name of ours; `undefined` for any other name. */
export function teamInName(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}

/**
 * The name of the work's dictionary; `undefined` if it does not keep to the limits, or its language is the same on both sides. A
 * promise the first time.
 */
export function nameOf(
  teamId: string,
  glossary: EngineGlossary,
  options: TranslationOptions,
): string | undefined | Promise<string | undefined> {
  const digest = digestOf(glossary);
  return typeof digest === 'string' ? named(teamId, digest, options) : digest.then((found) => named(teamId, found, options));
}

/** Whether DeepL can keep the dictionary at all. */
export function fitsDeepL(glossary: EngineGlossary, options: TranslationOptions): boolean | Promise<boolean> {
  const name = nameOf('', glossary, options);
  return name instanceof Promise ? name.then((found) => found !== undefined) : name !== undefined;
}

function named(teamId: string, digest: string, { sourceLang = '', targetLang }: TranslationOptions): string | undefined {
  const [source, target] = [glossaryCode(sourceLang), glossaryCode(targetLang)];
  return digest === UNFIT_WORD || source === target || source === '' ? undefined : `lingate ${teamId} ${source}-${target} ${digest}`;
}

/** Dictionaries are kept by base codes: one for EN serves EN-GB and EN-US. */
function glossaryCode(code: string): string {
  return baseCode(code).toLowerCase();
}

function digestOf(glossary: EngineGlossary): string | Promise<string> {
  const known = judged.get(glossary);
  if (known !== undefined) return known;
  const judging = judge(glossary).then((digest) => {
    judged.set(glossary, digest);
    return digest;
  });
  judged.set(glossary, judging);
  return judging;
}

async function judge(glossary: EngineGlossary): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  let fits = true;
  await eachEntry(glossary, nextTurn, (term, translation) => {
    const line = `${term}\t${translation}\n`;
    bytes += Buffer.byteLength(line);
    fits &&= isFit(term) && isFit(translation);
    hash.update(line);
  });
  return fits && bytes > 0 && bytes <= DICTIONARY_BYTES_MAX ? hash.digest('hex') : UNFIT_WORD;
}

function isFit(phrase: string): boolean {
  return phrase !== '' && !UNFIT.test(phrase) && Buffer.byteLength(phrase) <= PHRASE_BYTES_MAX;
}

/** The call that makes a dictionary under this name; its body in pieces, because it may be long. */
export async function creationCall(name: string, { options }: EngineWork, authorization: string): Promise<EngineCall> {
  const { sourceLang = '', targetLang, glossary } = options;
  const members = JSON.stringify({
    name,
    source_lang: glossaryCode(sourceLang),
    target_lang: glossaryCode(targetLang),
    entries_format: 'tsv',
  });
  const pieces: Buffer[] = [];
  let text = `${members.slice(0, -1)},"entries":"`;
  await eachEntry(glossary!, nextTurn, (term, translation) => {
    text += JSON.stringify(`${term}\t${translation}\n`).slice(1, -1);
    if (text.length < PIECE_CHARACTERS) return;
    pieces.push(Buffer.from(text));
    text = '';
  });
  pieces.push(Buffer.from(`${text}"}`));
  const headers = { 'content-type': 'application/json', authorization };
  return { method: 'POST', path: '/v2/glossaries', headers, body: undefined, pieces };
}
