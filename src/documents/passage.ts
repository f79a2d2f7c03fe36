// A passage of a source: a text between two positions, in pieces; the text that is translated, and
// the pieces of its translation.
import type { DocumentText } from './formats.ts';
import type { ZipPackage } from './office-package.ts';
import type { Source } from './source.ts';
import { inWords, MARKS_MAX, refuse, TEXTS_MAX } from './limits.ts';

/** Positions in the source, in UTF-16 units; `to` is behind the last. */
export interface SourceSpan {
  readonly from: number;
  readonly to: number;
}

/** Stands in a text for what is no text: an element around some of it, or something within it. */
export interface Mark {
  readonly open: SourceSpan;
  /** `undefined` for what contains no text, such as a line break or a picture. */
  close: SourceSpan | undefined;
  /** Without `close`: begins or ends something, so it must not swap with other such marks. */
  readonly ordered: boolean;
  /** An element that is neither shown in the text nor written again. */
  readonly isHidden?: boolean;
  /** In Office Open XML, a run's properties as in the source: that of its texts, or around it. */
  readonly properties?: string | undefined;
}

/** What contains no text only begins. */
export type TextPiece =
  | { readonly kind: 'text'; readonly text: string; readonly span: SourceSpan }
  | { readonly kind: 'begin' | 'end'; readonly mark: Mark };

export interface Passage extends SourceSpan {
  /** None in a label, where the source names its language. */
  readonly pieces: readonly TextPiece[];
  /** Written even if it is unchanged: into an empty place of its own. */
  readonly always?: boolean;
  /** The same text again, such as a drawing for older programs: it gets that translation. */
  readonly copyOf?: Passage;
  /**
   * What replaces the passage. `raw` gives a span of the source with translations in it; `language`
   * is the target's in BCP 47.
   */
  readonly render: (pieces: readonly TextPiece[], raw: (span: SourceSpan) => string, language: string) => string;
}

export interface DocumentPart {
  readonly source: Source;
  /** In order of reading. They do not overlap, but one may be within a mark of another. */
  readonly passages: readonly Passage[];
}

export interface ReadDocument {
  readonly parts: readonly DocumentPart[];
  /** Each text once, in order of reading; by default that of the parts. */
  readonly order?: readonly Passage[];
  /** Of which the sources are parts. */
  readonly archive?: ZipPackage;
}

export function labelPassage(span: SourceSpan, write: (language: string) => string): Passage {
  return { ...span, pieces: [], render: (_pieces, _raw, language) => write(language) };
}

/** Those with a text of their own. */
export function textsAmong(passages: readonly Passage[]): readonly Passage[] {
  return passages.filter(isText);
}

function isText({ pieces, copyOf }: Passage): boolean {
  return pieces.length > 0 && copyOf === undefined;
}

export function limitTexts(count: number): void {
  if (count > TEXTS_MAX) refuse(`the file has more than ${inWords(TEXTS_MAX)} texts`);
}

/** Those of a source as they are found: more texts than a file may have would take its memory. */
export class Passages {
  readonly all: Passage[] = [];
  #texts = 0;

  add(...found: readonly Passage[]): void {
    for (const passage of found) {
      if (isText(passage)) limitTexts(++this.#texts);
      this.all.push(passage);
    }
  }
}

/** Of what is not in the source as it is. */
export const NOWHERE: SourceSpan = { from: 0, to: 0 };

export function textPiece(text: string, span = NOWHERE): TextPiece {
  return { kind: 'text', text, span };
}

/** Without marks. */
function wordsOf(pieces: readonly TextPiece[]): string {
  return pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
}

/** Whether there is something to translate. */
export function hasWords(pieces: readonly TextPiece[]): boolean {
  return /\p{L}/u.test(wordsOf(pieces));
}

/** A text that is all of a span, if there is something to translate in it. */
export function plainPassage(text: string, span: SourceSpan, write: (translation: string) => string): readonly Passage[] {
  const pieces = [textPiece(text, span)];
  return hasWords(pieces) ? [{ ...span, pieces, render: (given) => write(wordsOf(given)) }] : [];
}

/** In the order in which they are numbered. */
function marksOf(pieces: readonly TextPiece[]): Mark[] {
  const marks = pieces.flatMap((piece) => (piece.kind === 'begin' ? [piece.mark] : []));
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
  if (numbers.size === 0) return { text: wordsOf(pieces), format: 'text' };
  const written = pieces.map((piece) => {
    if (piece.kind === 'text') return escapeMarkup(piece.text);
    const name = `x${numbers.get(piece.mark)!}`;
    if (piece.kind === 'end') return `</${name}>`;
    return piece.mark.close === undefined ? `<${name}/>` : `<${name}>`;
  });
  return { text: written.join(''), format: 'xml' };
}

/**
 * Every mark within the text is there exactly once. An engine that breaks elements costs
 * formatting, no text and no picture: the text is one piece, and the marks follow.
 */
export function translatedPieces(translation: string, original: readonly TextPiece[]): readonly TextPiece[] {
  const marks = marksOf(original);
  if (marks.length === 0) return [textPiece(translation)];
  return placedPieces(translation, marks) ?? [textPiece(unescaped(translation.replaceAll(TAG, ''))), ...emptyOnes(marks)];
}

/** `undefined` if elements are nested wrongly or marks that have an order lost it. */
function placedPieces(translation: string, marks: readonly Mark[]): readonly TextPiece[] | undefined {
  const pieces: TextPiece[] = [];
  const open: Mark[] = [];
  const left = new Set(marks);
  let at = 0;
  for (const { 0: tag, 1: closes, 2: number, 3: isEmpty, index } of translation.matchAll(TAG)) {
    pieces.push(textPiece(unescaped(translation.slice(at, index))));
    at = index + tag.length;
    const mark = marks[Number(number) - 1];
    if (mark === undefined || (closes === '/' && mark.close === undefined)) continue;
    if (closes !== '/') {
      if (!left.delete(mark)) return undefined;
      pieces.push({ kind: 'begin', mark });
      if (mark.close !== undefined) open.push(mark);
    }
    if (mark.close === undefined || (closes !== '/' && isEmpty !== '/')) continue;
    if (open.pop() !== mark) return undefined;
    pieces.push({ kind: 'end', mark });
  }
  pieces.push(textPiece(unescaped(translation.slice(at))), ...emptyOnes([...left]));
  return open.length === 0 && isInOrder(pieces, marks) ? pieces : undefined;
}

function emptyOnes(marks: readonly Mark[]): TextPiece[] {
  return marks.filter(({ close }) => close === undefined).map((mark) => ({ kind: 'begin', mark }));
}

function isInOrder(pieces: readonly TextPiece[], marks: readonly Mark[]): boolean {
  const ordered = (all: readonly Mark[]): Mark[] => all.filter((mark) => mark.ordered && mark.close === undefined);
  const before = ordered(marks);
  return ordered(marksOf(pieces)).every((mark, index) => mark === before[index]);
}

export function escapeMarkup(text: string): string {
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
