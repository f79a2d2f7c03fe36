// A passage of a source: a text between positions, made of pieces; the text that is translated, the
// pieces of its translation, and how the source is put together again.
import type { DocumentText } from '../ports/document-formats.ts';
import type { SourceText } from './source-text.ts';
import type { ZipEntry } from './zip-archive.ts';
import { MARKS_MAX, TEXTS_MAX, inWords, refuse } from './limits.ts';

/** Positions in the source, in UTF-16 units; `to` is behind the last. */
export interface SourceSpan {
  readonly from: number;
  readonly to: number;
}

/** Stands in a text for what is no text: an element around some of it, or something within it. */
export interface Mark {
  readonly open: SourceSpan;
  /** `undefined` for what contains no text, such as a line break or a picture. */
  readonly close: SourceSpan | undefined;
  /** Begins or ends something, so it must not swap with other such marks. */
  readonly ordered: boolean;
  /** In Office Open XML, a run's properties as in the source: that of its texts, or around it. */
  readonly properties?: string;
}

export type TextPiece =
  | { readonly kind: 'text'; readonly text: string; readonly span: SourceSpan }
  | { readonly kind: 'open' | 'close' | 'empty'; readonly mark: Mark };

export interface Passage extends SourceSpan {
  readonly pieces: readonly TextPiece[];
  /** Whether it is written even if it is unchanged: into an empty place of its own. */
  readonly always: boolean;
  /** The same text again, such as a drawing for older programs: it gets that translation. */
  readonly copyOf?: Passage | undefined;
  /** What replaces the passage. `raw` gives a span of the source with translations in it. */
  readonly render: (pieces: readonly TextPiece[], raw: (span: SourceSpan) => string, language: string) => string;
}

/** Where the source names its language; `language` is the target's in BCP 47. */
export function labelPassage(span: SourceSpan, write: (language: string) => string): Passage {
  return { ...span, pieces: [], always: true, render: (_pieces, _raw, language) => write(language) };
}

/** Those with a text of their own. */
export function textsAmong(passages: readonly Passage[]): readonly Passage[] {
  return passages.filter(({ pieces, copyOf }) => pieces.length > 0 && copyOf === undefined);
}

export interface DocumentPart {
  readonly given: SourceText;
  /** `undefined` if the part is the whole file. */
  readonly entry: ZipEntry | undefined;
  /** In order of reading. They do not overlap, but one may be within a mark of another. */
  readonly passages: readonly Passage[];
}

export interface ReadDocument {
  readonly parts: readonly DocumentPart[];
  /** Each text once, in order of reading. */
  readonly order: readonly Passage[];
}

/** Of what is not in the source as it is. */
export const NOWHERE: SourceSpan = { from: 0, to: 0 };

const HAS_LETTER = /\p{L}/u;

/** Whether there is something to translate. */
export function hasWords(pieces: readonly TextPiece[]): boolean {
  return pieces.some((piece) => piece.kind === 'text' && HAS_LETTER.test(piece.text));
}

/** A text that is all of a span; `undefined` if there is nothing to translate in it. */
export function plainPassage(text: string, span: SourceSpan, write: (translation: string) => string): Passage | undefined {
  const pieces = [{ kind: 'text' as const, text, span }];
  if (!hasWords(pieces)) return undefined;
  const render: Passage['render'] = (given) => write(given.map((piece) => (piece.kind === 'text' ? piece.text : '')).join(''));
  return { ...span, pieces, always: false, render };
}

export function limitTexts(count: number): void {
  if (count > TEXTS_MAX) refuse(`the file has more than ${inWords(TEXTS_MAX)} texts`);
}

/** In the order in which they are numbered. */
function marksOf(pieces: readonly TextPiece[]): Mark[] {
  const marks = pieces.flatMap((piece) => (piece.kind === 'open' || piece.kind === 'empty' ? [piece.mark] : []));
  limitMarks(marks.length);
  return marks;
}

export function limitMarks(count: number): void {
  if (count > MARKS_MAX) refuse(`one of the texts has more than ${inWords(MARKS_MAX)} changes of its formatting`);
}

/** Engines put white space into tags, and some write them in capitals. */
const TAG = /<\s*(\/?)\s*x(\d{1,6})\s*(\/?)\s*>/gi;
const ENTITY = /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi;
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

export function textOf(pieces: readonly TextPiece[]): DocumentText {
  const numbers = new Map(marksOf(pieces).map((mark, index) => [mark, index + 1]));
  if (numbers.size === 0) return { text: pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join(''), format: 'text' };
  const written = pieces.map((piece) => {
    if (piece.kind === 'text') return escaped(piece.text);
    const name = `x${numbers.get(piece.mark)!}`;
    return piece.kind === 'open' ? `<${name}>` : piece.kind === 'close' ? `</${name}>` : `<${name}/>`;
  });
  return { text: written.join(''), format: 'xml' };
}

/**
 * Every mark within the text is there exactly once. An engine that breaks elements costs
 * formatting, no text and no picture: the text is one piece, and the marks follow.
 */
export function translatedPieces(translation: string, original: readonly TextPiece[]): readonly TextPiece[] {
  const marks = marksOf(original);
  if (marks.length === 0) return [{ kind: 'text', text: translation, span: NOWHERE }];
  const placed = placedPieces(translation, marks);
  if (placed !== undefined) return placed;
  const text: TextPiece = { kind: 'text', text: unescaped(translation.replaceAll(TAG, '')), span: NOWHERE };
  return [text, ...marks.flatMap((mark): TextPiece[] => (mark.close === undefined ? [{ kind: 'empty', mark }] : []))];
}

/** `undefined` if elements are nested wrongly or marks that have an order lost it. */
function placedPieces(translation: string, marks: readonly Mark[]): readonly TextPiece[] | undefined {
  const pieces: TextPiece[] = [];
  const open: Mark[] = [];
  const used = new Set<Mark>();
  let at = 0;
  const addText = (text: string): void => {
    if (text !== '') pieces.push({ kind: 'text', text: unescaped(text), span: NOWHERE });
  };
  for (const match of translation.matchAll(TAG)) {
    addText(translation.slice(at, match.index));
    at = match.index + match[0].length;
    const mark = marks[Number(match[2]) - 1];
    const closes = match[1] === '/';
    if (mark === undefined || (closes && mark.close === undefined)) continue;
    if (closes) {
      if (open.at(-1) !== mark) return undefined;
      open.pop();
      pieces.push({ kind: 'close', mark });
    } else {
      if (used.has(mark)) return undefined;
      used.add(mark);
      pieces.push({ kind: mark.close === undefined ? 'empty' : 'open', mark });
      if (mark.close === undefined) continue;
      if (match[3] === '/') pieces.push({ kind: 'close', mark });
      else open.push(mark);
    }
  }
  addText(translation.slice(at));
  const lost = marks.filter((mark) => mark.close === undefined && !used.has(mark));
  pieces.push(...lost.map((mark): TextPiece => ({ kind: 'empty', mark })));
  return open.length === 0 && isInOrder(pieces, marks) ? pieces : undefined;
}

function isInOrder(pieces: readonly TextPiece[], marks: readonly Mark[]): boolean {
  const ordered = marks.filter((mark) => mark.ordered && mark.close === undefined);
  const found = pieces.flatMap((piece) => (piece.kind === 'empty' && piece.mark.ordered ? [piece.mark] : []));
  return found.every((mark, index) => mark === ordered[index]);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Entities of XML as what they stand for. */
export function unescaped(text: string): string {
  return text.replaceAll(ENTITY, (entity, name: string | undefined, decimal: string | undefined, hex: string | undefined) => {
    if (name !== undefined) return NAMED[name.toLowerCase()]!;
    const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : entity;
  });
}

/** The source with what `written` gives for passages; otherwise these stay. */
export function spliced(
  source: string,
  passages: readonly Passage[],
  written: (passage: Passage, raw: (span: SourceSpan) => string) => string | undefined,
): string {
  const sorted = passages.toSorted((a, b) => a.from - b.from || b.to - a.to);
  const raw = ({ from, to }: SourceSpan): string => {
    const parts: string[] = [];
    let at = from;
    for (let index = firstFrom(sorted, from); index < sorted.length && sorted[index]!.from <= to; index++) {
      const passage = sorted[index]!;
      if (passage.from < at || passage.to > to) continue;
      const text = written(passage, raw);
      if (text === undefined) continue;
      parts.push(source.slice(at, passage.from), text);
      at = passage.to;
    }
    parts.push(source.slice(at, to));
    return parts.join('');
  };
  return raw({ from: 0, to: source.length });
}

/** The index of the first passage that begins at `from` or later. */
function firstFrom(sorted: readonly Passage[], from: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.from < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
