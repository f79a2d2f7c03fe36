// Collects the pieces of passages whose markup stays: HTML, OpenDocument, XLIFF, subtitles.
import { hasWords, limitMarks, Passages, textPiece } from './passage.ts';
import type { Mark, TextPiece, SourceSpan } from './passage.ts';
import type { XmlElement, XmlNode } from './xml-scan.ts';

interface BuilderOptions {
  /** A piece of text as it is written into the source. */
  readonly write: (text: string) => string;
  /** Whether white space within a text means no more than a space. */
  readonly collapses: boolean;
  /** Whether a text without a letter, such as a number, is left as it is. */
  readonly needsLetters?: boolean;
}

const NOT_SPACE = /[^ \t\r\n\f]/;

export class PassageBuilder {
  readonly found = new Passages();
  #pieces: TextPiece[] = [];
  /** Those that have begun, and how many by key: an end without a beginning searches none of them. */
  #open: { readonly key: string; readonly mark: Mark }[] = [];
  readonly #counts = new Map<string, number>();
  readonly #source: string;
  readonly #options: BuilderOptions;

  constructor(source: string, options: BuilderOptions) {
    this.#source = source;
    this.#options = options;
  }

  text(text: string, span: SourceSpan): void {
    const last = this.#pieces.at(-1);
    if (last?.kind === 'text' && last.span.to === span.from) {
      this.#pieces[this.#pieces.length - 1] = textPiece(last.text + text, { from: last.span.from, to: span.to });
    } else this.#pieces.push(textPiece(text, span));
  }

  /** Those with the same key belong together; without an end it is a mark with an order. */
  open(key: string, span: SourceSpan, isHidden = false): void {
    const mark: Mark = { open: span, close: undefined, ordered: true, isHidden };
    this.#open.push({ key, mark });
    this.#count(key, 1);
    this.#add({ kind: 'begin', mark });
  }

  close(key: string, span: SourceSpan): void {
    if ((this.#counts.get(key) ?? 0) === 0) return this.empty(span, true);
    let last;
    do {
      last = this.#open.pop()!;
      this.#count(last.key, -1);
    } while (last.key !== key);
    last.mark.close = span;
    return this.#add({ kind: 'end', mark: last.mark });
  }

  empty(span: SourceSpan, ordered = false): void {
    this.#add({ kind: 'begin', mark: { open: span, close: undefined, ordered } });
  }

  #count(key: string, change: 1 | -1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + change);
  }

  #add(piece: TextPiece): void {
    this.#pieces.push(piece);
    // Elements have two, and there may be others around the text.
    limitMarks(this.#pieces.length / 4);
  }

  /** Ends the passage, if there is one. `keepsSpace` although white space collapses elsewhere. */
  flush(keepsSpace = false): void {
    const { write, collapses, needsLetters = true } = this.#options;
    const outer = this.#pieces.slice(...boundsOf(this.#pieces, isText));
    this.#pieces = [];
    this.#open = [];
    this.#counts.clear();
    if (outer.length === 0) return;
    // Elements that do not show are left out; the texts around them are one.
    const shown = outer.filter((piece) => piece.kind === 'text' || piece.mark.isHidden !== true);
    const pieces = cleaned(joinedTexts(shown), collapses && !keepsSpace);
    if (needsLetters && !hasWords(pieces)) return;
    this.found.add({ ...this.#spanOf(outer), pieces, render: (translated, raw) => written(translated, raw, write) });
  }

  /** Without white space around. */
  #spanOf(pieces: readonly TextPiece[]): SourceSpan {
    const [first, last] = [pieces[0]!, pieces.at(-1)!];
    let { from } = first.kind === 'text' ? first.span : first.mark.open;
    let { to } = last.kind === 'text' ? last.span : (last.mark.close ?? last.mark.open);
    while (first.kind === 'text' && !NOT_SPACE.test(this.#source[from]!)) from++;
    while (last.kind === 'text' && !NOT_SPACE.test(this.#source[to - 1]!)) to--;
    return { from, to };
  }
}

/** What an element is for the text around it: an element around some of it, or a mark in it. */
export type ElementRole = 'around' | 'hidden' | 'ordered' | 'loose';

/** Adds nodes of a tree. `item` gets the elements that are marks. */
export function addNodes(
  builder: PassageBuilder,
  nodes: readonly XmlNode[],
  roleOf: (element: XmlElement) => ElementRole,
  item?: (element: XmlElement) => void,
): void {
  for (const node of nodes) {
    if (node.kind === 'text') {
      builder.text(node.text, node);
      continue;
    }
    const role = roleOf(node);
    if (role === 'ordered' || role === 'loose' || node.close.to === node.close.from) {
      item?.(node);
      builder.empty({ from: node.open.from, to: node.close.to }, role === 'ordered');
    } else {
      builder.open(node.name, node.open, role === 'hidden');
      addNodes(builder, node.children, roleOf, item);
      builder.close(node.name, node.close);
    }
  }
}

/** The pieces as source. */
function written(pieces: readonly TextPiece[], raw: (span: SourceSpan) => string, write: (text: string) => string): string {
  return pieces
    .map((piece) => {
      if (piece.kind === 'text') return write(piece.text);
      return raw(piece.kind === 'end' ? piece.mark.close! : piece.mark.open);
    })
    .join('');
}

/** From the first words to the last, with the whole of each element that has only some of them in it. */
export function boundsOf(pieces: readonly TextPiece[], isWords: (piece: TextPiece) => boolean): readonly [from: number, to: number] {
  const [first, last] = [pieces.findIndex(isWords), pieces.findLastIndex(isWords)];
  if (first === -1) return [0, 0];
  let [from, to] = [first, last];
  const begun = new Map<Mark, number>();
  for (const [at, piece] of pieces.entries()) {
    if (piece.kind === 'begin') begun.set(piece.mark, at);
    if (piece.kind !== 'end' || at < first) continue;
    const began = begun.get(piece.mark)!;
    const isAround = began < first && at > last;
    if (isAround || began > last) continue;
    [from, to] = [Math.min(from, began), Math.max(to, at)];
  }
  return [from, to + 1];
}

/** Texts that follow each other are one. */
export function joinedTexts(pieces: readonly TextPiece[]): TextPiece[] {
  const result: TextPiece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text') result[result.length - 1] = { ...last, text: last.text + piece.text };
    else result.push(piece);
  }
  return result;
}

function cleaned(pieces: readonly TextPiece[], collapses: boolean): TextPiece[] {
  return pieces.map((piece, index) => {
    if (piece.kind !== 'text') return piece;
    let text = collapses ? piece.text.replaceAll(/[ \t\r\n\f]+/g, ' ') : piece.text;
    if (index === 0) text = text.replace(/^[ \t\r\n\f]+/, '');
    // Looks at each run of white space once, however long it is.
    if (index === pieces.length - 1) text = text.replace(/(?<![ \t\r\n\f])[ \t\r\n\f]+$/, '');
    return { ...piece, text };
  });
}

function isText(piece: TextPiece): boolean {
  return piece.kind === 'text' && NOT_SPACE.test(piece.text);
}
