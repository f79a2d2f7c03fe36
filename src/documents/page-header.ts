// Of page headers and footers of sheets, such as `&C&"Arial,Bold"Report &P`, what is printed: codes
// are marks; a position begins a text.
import { PassageBuilder } from './passage-builder.ts';
import { textPiece, unescaped } from './passage.ts';
import type { Passage, TextPiece } from './passage.ts';
import { escapeXml, innerText } from './xml-scan.ts';
import type { XmlElement } from './xml-scan.ts';

export const PAGE_HEADERS: ReadonlySet<string> = new Set(
  ['odd', 'even', 'first'].flatMap((pages) => [`x:${pages}Header`, `x:${pages}Footer`]),
);

const CODES =
  /&amp;(?:&amp;|(?:"[^"]*"|&quot;.*?&quot;|K[\dA-F]{6}|K\d\d[+-]\d{3}|\d{1,3}|[A-Z]))|&(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);/gi;
/** Excel calls a file with a longer one damaged; codes count, and `&` as `&&`. */
const LENGTH_MAX = 255;

export function pageHeader(header: XmlElement, source: string): readonly Passage[] {
  const [start, end] = [header.open.to, header.close.from];
  const builder = new PassageBuilder(source, { write: (text) => escapeXml(doubled(text)), collapses: false });
  let at = start;
  const text = (to: number): void => {
    if (to > at) builder.text(source.slice(at, to), { from: at, to });
  };
  for (const { 0: code, index } of source.slice(start, end).matchAll(CODES)) {
    const span = { from: start + index, to: start + index + code.length };
    text(span.from);
    at = span.to;
    if (code === '&amp;&amp;') builder.text('&', span);
    else if (!code.startsWith('&amp;')) builder.text(unescaped(code), span);
    else if (/^&amp;[LCR]$/i.test(code)) builder.flush();
    else builder.empty(span, true);
  }
  text(end);
  builder.flush();
  const passages = builder.found.all;
  const room = Math.floor(Math.max(0, LENGTH_MAX - innerText(header).length) / passages.length);
  return passages.map((passage) => {
    const most = passage.pieces.reduce((sum, piece) => sum + (piece.kind === 'text' ? doubled(piece.text).length : 0), room);
    return { ...passage, render: (pieces, raw, language) => passage.render(shortened(pieces, most), raw, language) };
  });
}

function doubled(text: string): string {
  return text.replaceAll('&', '&&');
}

/** The texts up to `most` units in all; every code stays. */
function shortened(pieces: readonly TextPiece[], most: number): readonly TextPiece[] {
  let left = most;
  return pieces.map((piece) => {
    if (piece.kind !== 'text') return piece;
    let text = '';
    for (const sign of piece.text) {
      left -= doubled(sign).length;
      if (left < 0) break;
      text += sign;
    }
    return textPiece(text);
  });
}
