// A passage as the text that is translated, and the pieces of its translation.
import type { DocumentText } from '../ports/document-formats.ts';
import { marksOf } from './passage.ts';
import type { Mark, TextPiece, SourceSpan } from './passage.ts';

const NOWHERE: SourceSpan = { from: 0, to: 0 };
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
 * Every mark that stands for something within the text is among them exactly once. An engine that loses or breaks elements loses
 * formatting, no text and no picture: then the text is one piece, and the marks follow it.
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
