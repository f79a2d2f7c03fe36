// A dictionary as DeepL takes it: whether it keeps to DeepL's limits, the name under which it is stored there, and the call that makes it.
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

/** Of dictionaries, which never change: the digest of the entries; `undefined` if they do not keep to the limits. */
const digests = new WeakMap<EngineGlossary, Promise<string | undefined>>();

/** Our names at DeepL: team, pair of base codes, digest of the entries. Nothing else there is ours. */
const NAME = /^lingate ([0-7][0-9A-HJKMNP-TV-Z]{25}) [a-z]{2,3}-[a-z]{2,3} [0-9a-f]{64}$/;

/** The team of a name of ours; `undefined` for any other name. */
export function teamInName(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}

/** The name of the work's dictionary; `undefined` if it does not keep to the limits, or its language is the same on both sides. */
export async function nameOf(
  teamId: string,
  glossary: EngineGlossary,
  { sourceLang = '', targetLang }: TranslationOptions,
): Promise<string | undefined> {
  const [source, target] = [glossaryCode(sourceLang), glossaryCode(targetLang)];
  if (source === target || source === '') return undefined;
  let digest = digests.get(glossary);
  if (digest === undefined) digests.set(glossary, (digest = digestOf(glossary)));
  const found = await digest;
  return found === undefined ? undefined : `lingate ${teamId} ${source}-${target} ${found}`;
}

/** Whether DeepL can keep the dictionary at all. */
export async function fitsDeepL(glossary: EngineGlossary, options: TranslationOptions): Promise<boolean> {
  return (await nameOf('', glossary, options)) !== undefined;
}

/** Dictionaries are stored by base codes: one for EN serves EN-GB and EN-US. */
function glossaryCode(code: string): string {
  return baseCode(code).toLowerCase();
}

async function digestOf(glossary: EngineGlossary): Promise<string | undefined> {
  const hash = createHash('sha256');
  let bytes = 0;
  let fits = true;
  await eachEntry(glossary, nextTurn, (term, translation) => {
    const line = `${term}\t${translation}\n`;
    bytes += Buffer.byteLength(line);
    fits &&= isFit(term) && isFit(translation);
    hash.update(line);
  });
  return fits && bytes > 0 && bytes <= DICTIONARY_BYTES_MAX ? hash.digest('hex') : undefined;
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
