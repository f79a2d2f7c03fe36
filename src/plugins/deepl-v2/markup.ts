// Markup that is free of charge, in one pass over a text: how much stands outside of it, and what an
// engine has changed in it is put back. So nobody has words translated for nothing that they hide in it.
import { countCharacters } from 'lingate';

export type MarkupFormat = 'html' | 'xml';

/** A tag, a comment, an instruction or a declaration, which are free, or a section of CDATA, which is text. */
interface MarkupToken {
  /** UTF-16 code units. */
  readonly from: number;
  readonly to: number;
  /** The name of a tag, with a slash in front for an end tag; `!` for other markup, `[` for CDATA. */
  readonly key: string;
}

const CDATA = ['<![CDATA[', ']]>', '['] as const;
const SECTIONS = [['<!--', '-->', '!'], CDATA, ['<?', '?>', '!']] as const;
/** Any other `<` is text. */
const TAG_START = /<(?:!|\/?[^\s<>/!?=\d'"&][^\s/>]*)/y;

/** `isWhole`: every part has an end. Otherwise what follows the last one is text. */
function scan(text: string): { readonly tokens: readonly MarkupToken[]; readonly isWhole: boolean } {
  const tokens: MarkupToken[] = [];
  for (let from = text.indexOf('<'); from !== -1;) {
    const section = SECTIONS.find(([opening]) => text.startsWith(opening, from));
    TAG_START.lastIndex = from;
    const start = section === undefined ? TAG_START.exec(text)?.[0] : section[0];
    if (start === undefined) {
      from = text.indexOf('<', from + 1);
      continue;
    }
    const to = section === undefined ? tagEnd(text, from + 1) : sectionEnd(text, from + start.length, section[1]);
    if (to === -1) return { tokens, isWhole: false };
    tokens.push({ from, to, key: section === undefined ? start.slice(1) : section[2] });
    from = text.indexOf('<', to);
  }
  return { tokens, isWhole: true };
}

function sectionEnd(text: string, from: number, closing: string): number {
  const at = text.indexOf(closing, from);
  return at === -1 ? -1 : at + closing.length;
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
  return -1;
}

/** Code points outside of markup; `undefined` for a text that is malformed, of which nothing is free. */
export function measureMarkup(text: string, format: MarkupFormat): number | undefined {
  const { tokens, isWhole } = scan(text);
  if (!isWhole || (format === 'xml' && !isXml(text, tokens))) return undefined;
  let characters = 0;
  let done = 0;
  for (const { from, to, key } of tokens) {
    characters += countText(text.slice(done, from));
    if (key === '[') characters += countCharacters(text.slice(from + CDATA[0].length, to - CDATA[1].length).replaceAll('\r\n', '\n'));
    done = to;
  }
  return characters + countText(text.slice(done));
}

/** What counts as one character: references to characters that are known by number or by a common name, and line ends. */
const ONE =
  /&(?:#\d+|#x[\da-f]+|amp|lt|gt|quot|apos|nbsp|shy|copy|reg|deg|euro|hellip|bull|middot|[mn]dash|[lr][sd]?a?quo|szlig|(?:AE|ae|OE|oe)lig|[a-z](?:acute|grave|circ|tilde|uml|cedil|ring|slash|caron));|\r\n/gi;

function countText(text: string): number {
  return countCharacters(text.replaceAll(ONE, '.'));
}

const NAME_START =
  ':A-Z_a-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}\\u{200d}\\u{2070}-\\u{218f}\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}';
const NAME = `[${NAME_START}][-.\\d\\u{b7}\\u{300}-\\u{36f}\\u{203f}\\u{2040}${NAME_START}]*`;
const SPACE = '[ \\t\\r\\n]';
const OPENING = new RegExp(`<${NAME}`, 'uy');
const ATTRIBUTE = new RegExp(`${SPACE}+(${NAME})${SPACE}*=${SPACE}*("[^"<]*"|'[^'<]*')`, 'uy');
const OPENING_END = new RegExp(`${SPACE}*(/?)>`, 'uy');
const CLOSING = new RegExp(`^</${NAME}${SPACE}*>$`, 'u');
const INSTRUCTION = new RegExp(`^<\\?(${NAME})(?:${SPACE}[^]*)?\\?>$`, 'u');
const DECLARED = /^<!DOCTYPE[ \t\r\n]/;
/** An entity that XML does not know by itself, and what has to be written as one. */
const NOT_TEXT = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)|<|\]\]>/;
const NOT_A_CHARACTER = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Whether it is well-formed: a document, or a fragment with any number of elements. */
function isXml(text: string, tokens: readonly MarkupToken[]): boolean {
  if (NOT_A_CHARACTER.test(text)) return false;
  const open: string[] = [];
  let done = 0;
  for (const { from, to, key } of tokens) {
    if (NOT_TEXT.test(text.slice(done, from))) return false;
    done = to;
    const raw = text.slice(from, to);
    if (key === '[') continue;
    if (key === '!') {
      if (!isXmlMarkup(raw, text.slice(0, from))) return false;
    } else if (key.startsWith('/')) {
      if (!CLOSING.test(raw) || open.pop() !== key.slice(1)) return false;
    } else {
      const tag = openingTag(raw);
      if (tag === undefined) return false;
      if (!tag.isEmpty) open.push(tag.name);
    }
  }
  return open.length === 0 && !NOT_TEXT.test(text.slice(done));
}

function isXmlMarkup(raw: string, before: string): boolean {
  if (raw.startsWith('<!--')) return !raw.slice('<!--'.length, -'->'.length).includes('--');
  if (DECLARED.test(raw)) return !/<(?:!D|[^!?])/.test(before);
  const target = INSTRUCTION.exec(raw)?.[1];
  return target !== undefined && (target.toLowerCase() !== 'xml' || (target === 'xml' && before === ''));
}

function openingTag(raw: string): { readonly name: string; readonly isEmpty: boolean } | undefined {
  OPENING.lastIndex = 0;
  const name = OPENING.exec(raw)?.[0].slice(1);
  if (name === undefined) return undefined;
  const seen = new Set<string>();
  let at = OPENING.lastIndex;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const [, attribute, value] = ATTRIBUTE.exec(raw) ?? [];
    if (attribute === undefined) break;
    if (seen.has(attribute) || NOT_TEXT.test(value!.replaceAll(']]>', ''))) return undefined;
    seen.add(attribute);
    at = ATTRIBUTE.lastIndex;
  }
  OPENING_END.lastIndex = at;
  const end = OPENING_END.exec(raw);
  return end !== null && OPENING_END.lastIndex === raw.length ? { name, isEmpty: end[1] === '/' } : undefined;
}

/** For a tag that the source does not have: without what it may say. */
const BARE = /^<\/?[^\s/>]+/;

/** The translation with the markup of its source. */
export function keptMarkup(source: string, translation: string): string {
  const given = markupIn(source);
  /** How often each part of the source is not yet found in the translation. */
  const left = new Map<string, number>();
  for (const { raw } of given) left.set(raw, (left.get(raw) ?? 0) + 1);
  const changed = markupIn(translation).filter(({ raw }) => !takeOne(left, raw) && raw !== bareOf(raw));
  if (changed.length === 0) return translation;
  /** The parts of the source that the translation does not have, by key, in order. */
  const missing = new Map<string, string[]>();
  for (const { raw, key } of given) {
    if (!takeOne(left, raw)) continue;
    const same = missing.get(key);
    if (same === undefined) missing.set(key, [raw]);
    else same.push(raw);
  }
  const used = new Map<string, number>();
  let result = '';
  let done = 0;
  for (const { from, to, key, raw } of changed) {
    const index = used.get(key) ?? 0;
    used.set(key, index + 1);
    result += translation.slice(done, from) + (missing.get(key)?.[index] ?? bareOf(raw));
    done = to;
  }
  return result + translation.slice(done);
}

function markupIn(text: string) {
  const free = scan(text).tokens.filter(({ key }) => key !== '[');
  return free.map((token) => ({ ...token, raw: text.slice(token.from, token.to) }));
}

/** Whether there was one left. */
function takeOne(left: Map<string, number>, raw: string): boolean {
  const count = left.get(raw) ?? 0;
  if (count > 0) left.set(raw, count - 1);
  return count > 0;
}

/** A tag that says nothing but its name; nothing for other markup. */
function bareOf(raw: string): string {
  if (raw.startsWith('<!') || raw.startsWith('<?')) return '';
  const name = BARE.exec(raw)?.[0];
  return name === undefined ? '' : `${name}${raw.endsWith('/>') ? '/' : ''}>`;
}
