// A passage of a source: a text between positions, made of pieces, and how the source is put together again with translations.
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
  /** Begins or ends something, so it must not change places with other such marks. */
  readonly ordered: boolean;
  /** In Office Open XML, the properties of a run as they are in the source: of texts directly in it, or of the run in which it stands. */
  readonly properties?: string;
}

export type TextPiece =
  | { readonly kind: 'text'; readonly text: string; readonly span: SourceSpan }
  | { readonly kind: 'open' | 'close' | 'empty'; readonly mark: Mark };

export interface Passage extends SourceSpan {
  readonly pieces: readonly TextPiece[];
  /** Whether it is written even if the translation is the text: into a place of its own, which was empty. */
  readonly always: boolean;
  /** What replaces the passage. `raw` gives the source of a span, with the translations of passages in it. */
  readonly render: (pieces: readonly TextPiece[], raw: (span: SourceSpan) => string) => string;
}

/** A source with its passages, in order of reading. Passages do not overlap, but one may be within a mark of another. */
export interface PassageSource {
  readonly source: string;
  readonly passages: readonly Passage[];
  /** The same texts once more, such as a drawing for older programs: they get the translation of the passage. */
  readonly copies: ReadonlyMap<Passage, readonly Passage[]>;
  /** Where the source says which language it is in, and that it is not translated. */
  readonly labels?: readonly SourceLabel[];
}

export interface SourceLabel extends SourceSpan {
  /** What is there instead, with the target language as BCP 47 writes it. */
  readonly write: (language: string) => string;
}

export interface DocumentPart extends PassageSource {
  readonly given: SourceText;
  /** `undefined` if the part is the whole file. */
  readonly entry: ZipEntry | undefined;
}

export interface ReadDocument {
  readonly parts: readonly DocumentPart[];
  /** Each passage once, in order of reading. */
  readonly order: readonly Passage[];
}

export const NO_COPIES: PassageSource['copies'] = new Map();

const HAS_LETTER = /\p{L}/u;

/** Whether there is something to translate. */
export function hasWords(pieces: readonly TextPiece[]): boolean {
  return pieces.some((piece) => piece.kind === 'text' && HAS_LETTER.test(piece.text));
}

export function limitTexts(count: number): void {
  if (count > TEXTS_MAX) refuse(`the file has more than ${inWords(TEXTS_MAX)} texts`);
}

/** In the order in which they are numbered. */
export function marksOf(pieces: readonly TextPiece[]): Mark[] {
  const marks = pieces.flatMap((piece) => (piece.kind === 'open' || piece.kind === 'empty' ? [piece.mark] : []));
  limitMarks(marks.length);
  return marks;
}

export function limitMarks(count: number): void {
  if (count > MARKS_MAX) refuse(`one of the texts has more than ${inWords(MARKS_MAX)} changes of its formatting`);
}

/** The source with what `written` gives for passages; a passage for which it gives nothing stays as it is. */
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
