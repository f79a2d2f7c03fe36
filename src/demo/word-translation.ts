// Word-for-word translation by the phrasebook: longest phrase first; keeps case and punctuation,
// and leaves unknown words unchanged.
import { PHRASEBOOK, PHRASEBOOK_LANGUAGES } from './phrasebook.ts';

/** Lower-case phrases of a language, with the phrase as it is written and its translation. */
type Phrases = Map<string, { readonly written: string; readonly translation: string }>;

const WORD = /\p{L}+(?:['’]\p{L}+)*/gu;

/** `undefined` for a language it does not have. A regional code is its base. */
function columnOf(code: string): number | undefined {
  const column = PHRASEBOOK_LANGUAGES.findIndex((language) => language === code.split('-', 1)[0]);
  return column === -1 ? undefined : column;
}

/** Of equal phrases, the first one counts. */
function phrasesOf(pairs: readonly (readonly [string, string])[]): Phrases {
  const written = pairs.toReversed().map(([from, to]) => [from.toLowerCase(), { written: from, translation: to }] as const);
  return new Map(written);
}

/** The single words of each language. */
const vocabularies = PHRASEBOOK_LANGUAGES.map((_, column) => new Set(PHRASEBOOK.flatMap((row) => row[column]!.toLowerCase().split(' '))));

/** The language of most words, or the first such; English if there is none. */
export function detectLanguage(text: string): string {
  const words = text.toLowerCase().match(WORD) ?? [];
  const counts = vocabularies.map((vocabulary) => words.filter((word) => vocabulary.has(word)).length);
  return PHRASEBOOK_LANGUAGES[counts.indexOf(Math.max(...counts))]!;
}

/** Spanish opens an exclamation or a question with a mark; the others do not. */
function withOpeningMarks(text: string, from: number | undefined, to: number | undefined): string {
  if (from === undefined || to === undefined || from === to) return text;
  if (PHRASEBOOK_LANGUAGES[from] === 'ES') return text.replaceAll(/[¡¿]/g, '');
  if (PHRASEBOOK_LANGUAGES[to] !== 'ES') return text;
  return text.replaceAll(/\p{L}[^.!?]*([!?])/gu, (sentence, mark: string) => (mark === '!' ? '¡' : '¿') + sentence);
}

/** `glossary` comes before the phrasebook. A text into an unknown language stays. */
export function translateByPhrasebook(text: string, source: string, target: string, glossary: Readonly<Record<string, string>>): string {
  const from = columnOf(source);
  const to = columnOf(target);
  const own = from === undefined || to === undefined ? [] : PHRASEBOOK.map((row) => [row[from]!, row[to]!] as const);
  const phrases = new Map([...phrasesOf(own), ...phrasesOf(Object.entries(glossary))]);
  const translated = text.replaceAll(anyOf([...phrases.keys()]), (found, at: number) => {
    const { written, translation } = phrases.get(found.toLowerCase().replaceAll(/\s+/g, ' '))!;
    return inCaseOf(found, written, translation, startsSentence(text, at));
  });
  return withOpeningMarks(translated, from, to);
}

/** Matches the longest of the phrases, as whole words with any white space between them. */
function anyOf(phrases: readonly string[]): RegExp {
  const longestFirst = phrases.filter((phrase) => phrase !== '').toSorted((one, other) => other.length - one.length);
  const patterns = longestFirst.map((phrase) => phrase.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll(' ', '\\s+'));
  return new RegExp(`(?<!\\p{L}['’]?)(?:${patterns.join('|') || '(?!)'})(?!['’]?\\p{L})`, 'giu');
}

function startsSentence(text: string, start: number): boolean {
  return /(?:^|[.!?¡¿])\P{L}*$/u.test(text.slice(Math.max(0, start - 4), start));
}

function inCaseOf(original: string, written: string, translation: string, sentenceStart: boolean): string {
  const upper = original.toUpperCase();
  if (original.length > 1 && original === upper && upper !== original.toLowerCase()) return translation.toUpperCase();
  // The capital letter of a German noun has no meaning here.
  const capital = original[0] !== original[0]!.toLowerCase() && (sentenceStart || written[0] === written[0]!.toLowerCase());
  return capital ? translation[0]!.toUpperCase() + translation.slice(1) : translation;
}
