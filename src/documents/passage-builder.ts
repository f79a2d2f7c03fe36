// Collects the pieces of passages whose markup stays: HTML, OpenDocument, XLIFF, subtitles.
import { hasWords, limitMarks, limitTexts } from './passage.ts';
import type { Mark, Passage, TextPiece, SourceSpan } from './passage.ts';
import type { XmlElement, XmlNode } from './xml-scan.ts';

type Event =
  | { readonly kind: 'text'; readonly text: string; readonly span: SourceSpan }
  | { readonly kind: 'open'; readonly key: string; readonly span: SourceSpan; readonly shows: boolean }
  | { readonly kind: 'close'; readonly key: string; readonly span: SourceSpan }
  | { readonly kind: 'empty'; readonly span: SourceSpan; readonly ordered: boolean };

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
  readonly passages: Passage[] = [];
  #events: Event[] = [];
  readonly #source: string;
  readonly #options: BuilderOptions;

  constructor(source: string, options: BuilderOptions) {
    this.#source = source;
    this.#options = options;
  }

  text(text: string, span: SourceSpan): void {
    const last = this.#events.at(-1);
    if (last?.kind === 'text' && last.span.to === span.from) {
      this.#events[this.#events.length - 1] = { kind: 'text', text: last.text + text, span: { from: last.span.from, to: span.to } };
    } else {
      this.#events.push({ kind: 'text', text, span });
    }
  }

  /** Those with the same key belong together. One that does not show is not written again. */
  open(key: string, span: SourceSpan, shows = true): void {
    this.#events.push({ kind: 'open', key, span, shows });
    this.#limit();
  }

  close(key: string, span: SourceSpan): void {
    this.#events.push({ kind: 'close', key, span });
    this.#limit();
  }

  empty(span: SourceSpan, ordered = false): void {
    this.#events.push({ kind: 'empty', span, ordered });
    this.#limit();
  }

  #limit(): void {
    // Elements have two, and there may be others around the text.
    limitMarks(this.#events.length / 4);
  }

  /** Ends the passage, if there is one. `keepsSpace` although white space collapses elsewhere. */
  flush(keepsSpace = false): void {
    if (this.#events.length === 0) return;
    const events = this.#events;
    this.#events = [];
    if (!events.some(({ kind }) => kind === 'text')) return;
    const hidden = new Set<Mark>();
    const all = paired(events, hidden);
    const outer = all.slice(...boundsOf(all, isText));
    // Elements that do not show are left out; the texts around them are one.
    const shown = outer.filter((piece) => piece.kind === 'text' || !hidden.has(piece.mark));
    const pieces = cleaned(joinedTexts(shown), this.#options.collapses && !keepsSpace);
    if (!pieces.some(isText) || (this.#options.needsLetters !== false && !hasWords(pieces))) return;
    limitTexts(this.passages.length + 1);
    const { write } = this.#options;
    const render: Passage['render'] = (translated, raw) => written(translated, raw, write);
    this.passages.push({ ...this.#spanOf(outer), pieces, always: false, render });
  }

  /** Without white space around. */
  #spanOf(pieces: readonly TextPiece[]): SourceSpan {
    let [from, to] = [startOf(pieces[0]!), endOf(pieces.at(-1)!)];
    while (pieces[0]!.kind === 'text' && isSpace(this.#source[from])) from++;
    while (pieces.at(-1)!.kind === 'text' && isSpace(this.#source[to - 1])) to--;
    return { from, to };
  }
}

/** What an element is for the text around it: an element around some of it, or a mark in it. */
type ElementRole = 'around' | 'hidden' | 'ordered' | 'loose';

/** Adds a node of a tree. `item` gets the elements that are marks. */
export function addNode(
  builder: PassageBuilder,
  node: XmlNode,
  roleOf: (element: XmlElement) => ElementRole,
  item?: (element: XmlElement) => void,
): void {
  if (node.kind === 'text') return builder.text(node.text, node);
  const role = roleOf(node);
  if (role === 'ordered' || role === 'loose' || node.close.to === node.close.from) {
    item?.(node);
    return builder.empty({ from: node.open.from, to: node.close.to }, role === 'ordered');
  }
  builder.open(node.name, node.open, role === 'around');
  for (const child of node.children) addNode(builder, child, roleOf, item);
  return builder.close(node.name, node.close);
}

/** The pieces as source. */
function written(pieces: readonly TextPiece[], raw: (span: SourceSpan) => string, write: (text: string) => string): string {
  return pieces
    .map((piece) => {
      if (piece.kind === 'text') return write(piece.text);
      return raw(piece.kind === 'close' ? piece.mark.close! : piece.mark.open);
    })
    .join('');
}

/** What is only opened, or only closed, in the passage stays there as a mark of its own. */
function paired(events: readonly Event[], hidden: Set<Mark>): TextPiece[] {
  const closing = new Map<number, number>();
  const open: { readonly key: string; readonly index: number }[] = [];
  // Without it each end would search all that are open: quadratic time for a file of ends alone.
  const counts = new Map<string, number>();
  const count = (key: string, change: 1 | -1): void => void counts.set(key, (counts.get(key) ?? 0) + change);
  for (const [index, event] of events.entries()) {
    if (event.kind === 'open') {
      open.push({ key: event.key, index });
      count(event.key, 1);
    }
    if (event.kind !== 'close' || (counts.get(event.key) ?? 0) === 0) continue;
    for (let last = open.pop()!; ; last = open.pop()!) {
      count(last.key, -1);
      if (last.key !== event.key) continue;
      closing.set(last.index, index);
      break;
    }
  }
  const marks = new Map<number, Mark>();
  return events.map((event, index): TextPiece => {
    if (event.kind === 'text') return event;
    if (event.kind === 'empty') return { kind: 'empty', mark: { open: event.span, close: undefined, ordered: event.ordered } };
    const opened = marks.get(index);
    if (opened !== undefined) return { kind: 'close', mark: opened };
    const end = closing.get(index);
    if (end === undefined) return { kind: 'empty', mark: { open: event.span, close: undefined, ordered: true } };
    const mark = { open: event.span, close: (events[end] as { readonly span: SourceSpan }).span, ordered: false };
    marks.set(end, mark);
    if (event.kind === 'open' && !event.shows) hidden.add(mark);
    return { kind: 'open', mark };
  });
}

/** The text without white space, marks and elements around all of it, if complete. */
export function boundsOf(pieces: readonly TextPiece[], isWords: (piece: TextPiece) => boolean): readonly [from: number, to: number] {
  let [from, to] = [0, pieces.length];
  for (;;) {
    const inside = pieces.slice(from, to);
    const first = inside.findIndex(isWords);
    if (first === -1) return [from, from];
    const behind = inside.length - 1 - inside.findLastIndex(isWords);
    from += balanced(inside, first, 1);
    to -= balanced(inside.toReversed(), behind, -1);
    const [one, other] = [pieces[from]!, pieces[to - 1]!];
    if (one.kind !== 'open' || other.kind !== 'close' || one.mark !== other.mark) return [from, to];
    from++;
    to--;
  }
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
    const inner = collapses ? piece.text.replaceAll(/[ \t\r\n\f]+/g, ' ') : piece.text;
    return { ...piece, text: trimmedAt(inner, index === 0, index === pieces.length - 1) };
  });
}

function trimmedAt(text: string, start: boolean, end: boolean): string {
  const from = start ? text.search(NOT_SPACE) : 0;
  const cut = from === -1 ? '' : text.slice(from);
  if (!end) return cut;
  let to = cut.length;
  while (to > 0 && isSpace(cut[to - 1])) to--;
  return cut.slice(0, to);
}

/** How many of the pieces before `end` may go. */
function balanced(pieces: readonly TextPiece[], end: number, direction: 1 | -1): number {
  let [depth, count] = [0, 0];
  for (let index = 0; index < end; index++) {
    const { kind } = pieces[index]!;
    if (kind === 'open') depth += direction;
    if (kind === 'close') depth -= direction;
    if (depth === 0) count = index + 1;
  }
  return count;
}

function isText(piece: TextPiece): boolean {
  return piece.kind === 'text' && NOT_SPACE.test(piece.text);
}

function isSpace(unit: string | undefined): boolean {
  return unit !== undefined && !NOT_SPACE.test(unit);
}

function startOf(piece: TextPiece): number {
  return piece.kind === 'text' ? piece.span.from : piece.mark.open.from;
}

function endOf(piece: TextPiece): number {
  return piece.kind === 'text' ? piece.span.to : (piece.kind === 'close' ? piece.mark.close! : piece.mark.open).to;
}
