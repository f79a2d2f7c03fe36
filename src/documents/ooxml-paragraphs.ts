// Paragraphs of Office Open XML: the runs of a paragraph are one text, those with other properties
// than most of it are marks.
import { boundsOf, joinedTexts } from './passage-builder.ts';
import { hasWords, NOWHERE, textPiece } from './passage.ts';
import type { Mark, Passage, TextPiece, SourceSpan } from './passage.ts';
import { elementsOf, escapeXml, innerText } from './xml-scan.ts';
import type { XmlElement, XmlNode } from './xml-scan.ts';

/** Words and drawings have the same structure under other names. */
interface Vocabulary {
  readonly paragraph: ReadonlySet<string>;
  readonly run: string;
  readonly properties: string;
  readonly text: string;
  /** Around runs: links, insertions; their content is text of the paragraph. */
  readonly wrappers: ReadonlySet<string>;
  /** Not written again: notes of spelling, of former line breaks, of pronunciation. */
  readonly dropped: ReadonlySet<string>;
  /** At the borders of a paragraph, outside of its runs. */
  readonly borders: ReadonlySet<string>;
  /** Of properties, what does not show. */
  readonly invisible: RegExp;
}

type Names = Record<'paragraph' | 'wrappers' | 'dropped' | 'borders', string>;

function vocabulary(prefix: string, names: Names, invisible: RegExp): Vocabulary {
  const all = (list: string): ReadonlySet<string> => new Set(list.split(' ').map((name) => `${prefix}:${name}`));
  return {
    paragraph: all(names.paragraph),
    run: `${prefix}:r`,
    properties: `${prefix}:rPr`,
    text: `${prefix}:t`,
    wrappers: all(names.wrappers),
    dropped: all(names.dropped),
    borders: all(names.borders),
    invisible,
  };
}

export const WORDS = vocabulary(
  'w',
  {
    // The text that a ruby annotates has runs of its own.
    paragraph: 'p rubyBase',
    wrappers: 'hyperlink ins moveTo smartTag customXml sdt dir bdo',
    dropped: 'proofErr lastRenderedPageBreak',
    borders: 'pPr',
  },
  /<[\w.-]*:?(?:lang|noProof)(?:\s[^>]*)?\/>|\s[\w.-]*:?hint="[^"]*"/g,
);
export const DRAWINGS = vocabulary(
  'a',
  { paragraph: 'p', wrappers: '', dropped: '', borders: 'pPr endParaRPr' },
  /\s(?:lang|altLang|dirty|err|smtClean)="[^"]*"/g,
);
export const SHEETS = vocabulary('x', { paragraph: 'si is text', wrappers: '', dropped: 'rPh phoneticPr', borders: '' }, /(?!)/g);

/** Fields whose results are written by people, or copied from what they have written. */
const TEXT_FIELD = /^\s*(?:HYPERLINK|TOC|INDEX|REF\b|QUOTE|FORMTEXT|$)/i;

/** Complex fields go on over runs and paragraphs: the open ones, the innermost last. */
export type OpenFields = { instruction: string; inResult: boolean }[];

function followField(fields: OpenFields, node: XmlElement): void {
  const field = fields.at(-1);
  const type = node.name === 'w:fldChar' ? node.attributes.get('w:fldCharType') : undefined;
  if (node.name === 'w:instrText' && field?.inResult === false) field.instruction += innerText(node);
  if (type === 'begin') fields.push({ instruction: '', inResult: false });
  if (type === 'separate' && field !== undefined) field.inResult = true;
  if (type === 'end') fields.pop();
}

/** Results that are computed are no text. */
function isText(fields: OpenFields): boolean {
  const field = fields.at(-1);
  return field === undefined || (field.inResult && TEXT_FIELD.test(field.instruction));
}

interface Reading {
  readonly source: string;
  readonly names: Vocabulary;
  readonly fields: OpenFields;
  /** Gets text boxes and the like. */
  readonly inner: (element: XmlElement) => void;
}

/** One, or none if there is nothing to translate. */
export function paragraphPassages(paragraph: XmlElement, reading: Reading): readonly Passage[] {
  const { names } = reading;
  const read = styledPieces(paragraph.children, reading);
  if (paragraph.close.from === paragraph.close.to) return [];
  const pieces = joinedTexts(read.pieces).flatMap(apart);
  const [start, end] = boundsOf(pieces, (piece) => piece.kind === 'text' && piece.text.trim() !== '');
  const text = joinedTexts(pieces.slice(start, end));
  if (!hasWords(text)) return [];
  // White space around the text is not part of it, but written with it.
  const [before, after] = [pieces.slice(0, start), pieces.slice(end)];
  const content = elementsOf(paragraph).filter(({ name }) => !names.borders.has(name));
  // A string of a sheet without formatting has no runs.
  const hasRuns = names !== SHEETS || content.some(({ name }) => name === names.run);
  const prefix = paragraph.rawName.slice(0, paragraph.rawName.lastIndexOf(':') + 1);
  const [from, to] = [content[0]!.open.from, content.at(-1)!.close.to];
  const writer = { prefix, names, base: read.base, hasRuns };
  return [{ from, to, pieces: text, render: (given, raw) => written([...before, ...given, ...after], raw, writer) }];
}

/** Words apart from the white space around them. */
function apart(piece: TextPiece): TextPiece[] {
  if (piece.kind !== 'text' || piece.text.trim() === '') return [piece];
  const words = piece.text.trim();
  const at = piece.text.indexOf(words);
  const parts = [piece.text.slice(0, at), words, piece.text.slice(at + words.length)];
  return parts.filter((part) => part !== '').map((part) => textPiece(part));
}

/** A text with the properties of its run, before it is known which of them most of the text has. */
interface StyledText {
  readonly kind: 'styled';
  readonly text: string;
  readonly properties: string;
}

type Styled = StyledText | TextPiece;

/** Texts with other properties than `base`, those of most of the text, are within marks. */
interface StyledPieces {
  readonly pieces: readonly TextPiece[];
  readonly base: string;
}

function styledPieces(nodes: readonly XmlNode[], reading: Reading): StyledPieces {
  const { names } = reading;
  const all = nodes.flatMap((node): readonly Styled[] => {
    if (node.kind !== 'element' || names.borders.has(node.name) || names.dropped.has(node.name)) return [];
    if (node.name === names.run) return runPieces(node, reading);
    if (node.name === names.text) return textIn(node, '');
    const isField = node.name === 'w:fldSimple' && TEXT_FIELD.test(node.attributes.get('w:instr') ?? '');
    return names.wrappers.has(node.name) || isField ? wrapperPieces(node, reading) : [itemPiece(node, undefined, reading)];
  });
  const visible = (properties: string): string =>
    properties.replaceAll(names.invisible, '').replace(/^<([\w.:-]+)\s*(?:\/>|><\/\1\s*>)$/, '');
  const base = baseOf(all, visible);
  return { base, pieces: markedPieces(all, base, visible) };
}

function runPieces(run: XmlElement, reading: Reading): readonly Styled[] {
  const { names, fields, source } = reading;
  const elements = elementsOf(run);
  const given = elements.find(({ name }) => name === names.properties);
  const properties = given === undefined ? '' : source.slice(given.open.from, given.close.to);
  return elements.flatMap((node): readonly Styled[] => {
    if (node === given || names.dropped.has(node.name)) return [];
    followField(fields, node);
    return node.name === names.text && isText(fields) ? textIn(node, properties) : [itemPiece(node, properties, reading)];
  });
}

/** Of a content control, all before its content belongs to its beginning. */
function wrapperPieces(node: XmlElement, reading: Reading): readonly TextPiece[] {
  const inside = node.name === 'w:sdt' ? elementsOf(node).find(({ name }) => name === 'w:sdtContent') : node;
  if (inside === undefined || inside.close.from === inside.close.to) return [itemPiece(node, undefined, reading)];
  const { pieces, base } = styledPieces(inside.children, reading);
  const open = { from: node.open.from, to: inside.open.to };
  const mark: Mark = { open, close: { from: inside.close.from, to: node.close.to }, ordered: false, properties: base };
  return [{ kind: 'begin', mark }, ...pieces, { kind: 'end', mark }];
}

/** `properties` are those of the run around it; without them it stands outside of runs. */
function itemPiece(node: XmlElement, properties: string | undefined, { inner }: Reading): TextPiece {
  inner(node);
  const ordered = !/:(?:br|tab|cr|drawing|pict|sym|footnoteReference|endnoteReference|noBreakHyphen|softHyphen)$/.test(node.name);
  return { kind: 'begin', mark: { open: { from: node.open.from, to: node.close.to }, close: undefined, ordered, properties } };
}

function textIn(node: XmlElement, properties: string): readonly StyledText[] {
  const text = innerText(node);
  return text === '' ? [] : [{ kind: 'styled', text, properties }];
}

/** The properties of most of the text, without that in wrappers. */
function baseOf(all: readonly Styled[], visible: (properties: string) => string): string {
  const lengths = new Map<string, { length: number; readonly properties: string }>();
  for (const one of all) {
    if (one.kind !== 'styled') continue;
    const key = visible(one.properties);
    const found = lengths.get(key) ?? { length: 0, properties: one.properties };
    found.length += one.text.length;
    lengths.set(key, found);
  }
  return [...lengths.values()].reduce((most, next) => (next.length > most.length ? next : most), { length: 0, properties: '' }).properties;
}

function markedPieces(all: readonly Styled[], base: string, visible: (properties: string) => string): TextPiece[] {
  const pieces: TextPiece[] = [];
  const baseKey = visible(base);
  /** The mark that has begun, and what its texts look like; without one they look like the base. */
  let current: { readonly mark: Mark; readonly key: string } | undefined;
  const goOn = (key: string, properties: string): void => {
    if ((current?.key ?? baseKey) === key) return;
    if (current !== undefined) pieces.push({ kind: 'end', mark: current.mark });
    current = key === baseKey ? undefined : { key, mark: { open: NOWHERE, close: NOWHERE, ordered: false, properties } };
    if (current !== undefined) pieces.push({ kind: 'begin', mark: current.mark });
  };
  for (const one of all) {
    if (one.kind === 'styled') {
      goOn(visible(one.properties), one.properties);
      pieces.push(textPiece(one.text));
      continue;
    }
    // An item within a run ends no mark: it is written in a run of its own.
    const isInRun = one.kind === 'begin' && one.mark.close === undefined && one.mark.properties !== undefined;
    if (!isInRun) goOn(baseKey, base);
    pieces.push(one);
  }
  goOn(baseKey, base);
  return pieces;
}

interface Writer {
  readonly prefix: string;
  readonly names: Vocabulary;
  readonly base: string;
  readonly hasRuns: boolean;
}

function written(given: readonly TextPiece[], raw: (span: SourceSpan) => string, { prefix, names, base, hasRuns }: Writer): string {
  const parts: string[] = [];
  const properties: string[] = [base];
  const run = (content: string, inRun: string): string => (hasRuns ? `<${prefix}r>${inRun}${content}</${prefix}r>` : content);
  for (const piece of joinedTexts(given)) {
    if (piece.kind === 'text') {
      const text = escapeXml(piece.text);
      if (text === '') continue;
      const space = names === DRAWINGS || text.trim() === text ? '' : ' xml:space="preserve"';
      parts.push(run(`<${prefix}t${space}>${text}</${prefix}t>`, properties.at(-1)!));
      continue;
    }
    const { open, close, properties: inRun } = piece.mark;
    const [isEmpty, span] = [close === undefined, piece.kind === 'end' ? close! : open];
    if (piece.kind === 'end') properties.pop();
    else if (!isEmpty) properties.push(inRun ?? properties.at(-1)!);
    if (span !== NOWHERE) parts.push(isEmpty && inRun !== undefined ? run(raw(span), inRun) : raw(span));
  }
  return parts.join('');
}
