// Word-for-word translation by the phrasebook: longest phrase first; keeps case and punctuation, and leaves unknown words unchanged.
import { PHRASEBOOK, PHRASEBOOK_LANGUAGES } from './phrasebook.ts';

/** Lower-case phrases of a language, with the phrase as it is written and its translation. */
type Phrases = ReadonlyMap<string, { readonly written: string; readonly translation: string }>;

const WORD = /\p{L}+(?:['’]\p{L}+)*/gu;
const PHRASE_WORDS_MAX = 4;

/** `undefined` for a language that the phrasebook does not have. A regional code is treated as its base. */
function columnOf(code: string): number | undefined {
  const column = PHRASEBOOK_LANGUAGES.findIndex((language) => language === code.split('-', 1)[0]);
  return column === -1 ? undefined : column;
}

const phrases: readonly (readonly Phrases[])[] = PHRASEBOOK_LANGUAGES.map((_from, from) =>
  PHRASEBOOK_LANGUAGES.map((_to, to) => phrasesOf(PHRASEBOOK.map((row) => [row[from]!, row[to]!]))),
);

/** The single words of each language. */
const vocabularies = phrases.map((row) => new Set([...row[0]!.keys()].flatMap((phrase) => phrase.split(' '))));

function phrasesOf(pairs: readonly (readonly [string, string])[]): Phrases {
  const map = new Map<string, { written: string; translation: string }>();
  for (const [written, translation] of pairs) {
    if (!map.has(written.toLowerCase())) map.set(written.toLowerCase(), { written, translation });
  }
  return map;
}

/** The language with the most words in the text; English if there is none or a tie. */
export function detectLanguage(text: string): string {
  const words = wordsOf(text);
  let best = 0;
  let bestCount = 0;
  for (let column = 0; column < PHRASEBOOK_LANGUAGES.length; column++) {
    const count = words.filter(({ word }) => vocabularies[column]!.has(word.toLowerCase())).length;
    if (count > bestCount) {
      best = column;
      bestCount = count;
    }
  }
  return PHRASEBOOK_LANGUAGES[best]!;
}

/** Spanish opens an exclamation or a question with a mark of its own, which the other languages do not have. */
function withOpeningMarks(text: string, from: number | undefined, to: number | undefined): string {
  if (from === undefined || to === undefined || from === to) return text;
  if (PHRASEBOOK_LANGUAGES[from] === 'ES') return text.replaceAll(/[¡¿]/g, '');
  if (PHRASEBOOK_LANGUAGES[to] !== 'ES') return text;
  return text.replaceAll(/\p{L}[^.!?]*([!?])/gu, (sentence, mark: string) => (mark === '!' ? '¡' : '¿') + sentence);
}

/** `glossary` terms take precedence over the phrasebook. A text into an unknown language is returned unchanged. */
export function translateByPhrasebook(text: string, source: string, target: string, glossary: Readonly<Record<string, string>>): string {
  const from = columnOf(source);
  const to = columnOf(target);
  const terms = phrasesOf(Object.entries(glossary));
  const known = from === undefined || to === undefined ? new Map<string, never>() : phrases[from]![to]!;
  const words = wordsOf(text);
  let result = '';
  let done = 0;
  for (let i = 0; i < words.length;) {
    const length = phraseLength(text, words, i, (phrase) => terms.has(phrase) || known.has(phrase));
    const start = words[i]!.start;
    const end = words[i + Math.max(length, 1) - 1]!.end;
    const original = text.slice(start, end);
    const phrase = phraseAt(text, words, i, length);
    const entry = terms.get(phrase) ?? known.get(phrase);
    const replaced = entry === undefined ? original : inCaseOf(original, entry.written, entry.translation, startsSentence(text, start));
    result += text.slice(done, start) + replaced;
    done = end;
    i += Math.max(length, 1);
  }
  return withOpeningMarks(result + text.slice(done), from, to);
}

interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

function wordsOf(text: string): Word[] {
  return Array.from(text.matchAll(WORD), (match) => ({ word: match[0], start: match.index, end: match.index + match[0].length }));
}

/** How many words, starting at `index`, the longest known phrase has; 0 if there is none. */
function phraseLength(text: string, words: readonly Word[], index: number, isKnown: (phrase: string) => boolean): number {
  for (let length = Math.min(PHRASE_WORDS_MAX, words.length - index); length > 0; length--) {
    if (isKnown(phraseAt(text, words, index, length))) return length;
  }
  return 0;
}

/** Empty if there is anything but white space between the words. */
function phraseAt(text: string, words: readonly Word[], index: number, length: number): string {
  const chosen = words.slice(index, index + length);
  const together = chosen.every((word, i) => i === 0 || text.slice(chosen[i - 1]!.end, word.start).trim() === '');
  return together ? chosen.map(({ word }) => word.toLowerCase()).join(' ') : '';
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
