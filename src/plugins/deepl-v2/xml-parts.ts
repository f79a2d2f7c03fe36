// Where the markup of XML is: exact for XML that is well-formed, and for an engine's answer as good as it can be. Linear in its length.
import type { MarkupPart } from './markup-text.ts';

/** What begins a part that is neither a tag nor a declaration with brackets, and what ends it. */
const SECTIONS = [
  ['<!--', '-->', '!'],
  ['<![CDATA[', ']]>', undefined],
  ['<?', '?>', '!'],
] as const;

/** A part without an end extends to the end of the text. */
export function* xmlParts(text: string): Generator<MarkupPart, void> {
  for (let from = text.indexOf('<'); from !== -1;) {
    const section = SECTIONS.find(([opening]) => text.startsWith(opening, from));
    const to = section === undefined ? tagEnd(text, from + 1) : sectionEnd(text, from + section[0].length, section[1]);
    const key = section === undefined ? keyOf(text.slice(from, to)) : section[2];
    // CDATA is text.
    if (key !== undefined) yield { from, to, key };
    from = text.indexOf('<', to);
  }
}

function sectionEnd(text: string, from: number, closing: string): number {
  const at = text.indexOf(closing, from);
  return at === -1 ? text.length : at + closing.length;
}

/** After the `>` that is neither quoted nor in brackets, which only a document type has. */
function tagEnd(text: string, from: number): number {
  let quote = '';
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const one = text[at]!;
    if (quote !== '') quote = one === quote ? '' : quote;
    else if (one === '"' || one === "'") quote = one;
    else if (one === '[') depth++;
    else if (one === ']') depth--;
    else if (one === '>' && depth <= 0) return at + 1;
  }
  return text.length;
}

const NAME = /^<(!|\/?[^\s/>]*)/;

function keyOf(tag: string): string {
  return NAME.exec(tag)?.[1] ?? '';
}
