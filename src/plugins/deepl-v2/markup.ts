// Markup that is free of charge: how much of a text stands outside of it, and what an engine has
// changed in it is put back. So nobody has words translated for nothing that they hide in it.
import { SaxesParser } from 'saxes';
import { countCharacters } from 'lingate';

export type MarkupFormat = 'html' | 'xml';

/** Tags, comments, instructions and declarations are free; a section of CDATA is text. */
interface MarkupToken {
  /** UTF-16 code units. */
  readonly from: number;
  readonly to: number;
  /** A tag's name, with a slash for an end tag; `!` for other markup, `[` for CDATA. */
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

/** Outside of markup; `undefined` for a malformed text, of which nothing is free. */
export function measureMarkup(text: string, format: MarkupFormat): number | undefined {
  return format === 'xml' ? measureXml(text) : measureHtml(text);
}

const BEGINS_DOCUMENT = /^(?:<\?xml[ \t\r\n]|(?:[ \t\r\n]|<!--(?:(?!-->)[^])*-->)*<!DOCTYPE[ \t\r\n])/;

/** A document, or a fragment, which gets a root: outside of one more is let pass. */
function measureXml(text: string): number | undefined {
  const parser = new SaxesParser();
  let characters = 0;
  parser.on('text', (part) => void (characters += countCharacters(part)));
  parser.on('cdata', (part) => void (characters += countCharacters(part)));
  parser.on('error', (error) => {
    throw error;
  });
  try {
    parser.write(BEGINS_DOCUMENT.test(text) ? text : `<a>${text}</a>`).close();
    return characters;
  } catch {
    return undefined;
  }
}

function measureHtml(text: string): number | undefined {
  const { tokens, isWhole } = scan(text);
  if (!isWhole) return undefined;
  let characters = 0;
  let done = 0;
  for (const { from, to, key } of tokens) {
    characters += countText(text.slice(done, from));
    if (key === '[') characters += countCharacters(text.slice(from + CDATA[0].length, to - CDATA[1].length).replaceAll('\r\n', '\n'));
    done = to;
  }
  return characters + countText(text.slice(done));
}

/** One character: references by number or by a common name, and line ends. */
const ONE =
  /&(?:#\d+|#x[\da-f]+|amp|lt|gt|quot|apos|nbsp|shy|copy|reg|deg|euro|hellip|bull|middot|[mn]dash|[lr][sd]?a?quo|szlig|(?:AE|ae|OE|oe)lig|[a-z](?:acute|grave|circ|tilde|uml|cedil|ring|slash|caron));|\r\n/gi;

function countText(text: string): number {
  return countCharacters(text.replaceAll(ONE, '.'));
}

/** For a tag that the source does not have: without what it may say. */
const BARE = /^<\/?[^\s/>]+/;

/** The translation with the markup of its source. */
export function restoredMarkup(source: string, translation: string): string {
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
