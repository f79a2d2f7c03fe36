// Paragraphs of Office Open XML: the runs of a paragraph are one text, those with other properties
// than most of it are marks.
import { boundsOf, joinedTexts } from './passage-builder.ts';
import type { Mark, Passage, TextPiece, SourceSpan } from './passage.ts';
import { hasWords, NOWHERE } from './passage.ts';
import { escapeXml, innerText } from './xml-scan.ts';
import type { XmlElement, XmlNode } from './xml-scan.ts';

/** Words and drawings have the same structure under other names. */
export interface Vocabulary {
  readonly paragraph: readonly string[];
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

const words = (prefix: string, names: string): Set<string> => new Set(names.split(' ').map((name) => `${prefix}:${name}`));

export const WORDS: Vocabulary = {
  // The text that a ruby annotates has runs of its own.
  paragraph: ['w:p', 'w:rubyBase'],
  run: 'w:r',
  properties: 'w:rPr',
  text: 'w:t',
  wrappers: words('w', 'hyperlink ins moveTo smartTag customXml sdt dir bdo'),
  dropped: words('w', 'proofErr lastRenderedPageBreak'),
  borders: words('w', 'pPr'),
  invisible: /<[\w.-]*:?(?:lang|noProof)(?:\s[^>]*)?\/>|\s[\w.-]*:?hint="[^"]*"/g,
};
export const DRAWINGS: Vocabulary = {
  paragraph: ['a:p'],
  run: 'a:r',
  properties: 'a:rPr',
  text: 'a:t',
  wrappers: new Set(),
  dropped: new Set(),
  borders: words('a', 'pPr endParaRPr'),
  invisible: /\s(?:lang|altLang|dirty|err|smtClean)="[^"]*"/g,
};
export const SHEETS: Vocabulary = {
  paragraph: ['x:si', 'x:is', 'x:text'],
  run: 'x:r',
  properties: 'x:rPr',
  text: 'x:t',
  wrappers: new Set(),
  dropped: words('x', 'rPh phoneticPr'),
  borders: new Set(),
  invisible: /(?!)/g,
};

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

/** `properties` are those of the run around it; an item may stand outside of runs. */
type Atom =
  | { readonly kind: 'text'; readonly text: string; readonly properties: string }
  | { readonly kind: 'item'; readonly mark: Mark }
  | { readonly kind: 'wrapper'; readonly open: SourceSpan; readonly close: SourceSpan; readonly atoms: readonly Atom[] };

/** `undefined` if nothing is to be translated. `inner` gets text boxes and the like. */
export function paragraphPassage(
  paragraph: XmlElement,
  source: string,
  vocabulary: Vocabulary,
  fields: OpenFields,
  inner: (element: XmlElement) => void,
): Passage | undefined {
  const atoms = atomsOf(paragraph.children, { source, names: vocabulary, fields, inner });
  if (paragraph.close.from === paragraph.close.to) return undefined;
  const base = baseOf(atoms, vocabulary);
  const pieces = joinedTexts(piecesOf(atoms, base, vocabulary)).flatMap(apart);
  const [start, end] = boundsOf(pieces, (piece) => piece.kind === 'text' && piece.text.trim() !== '');
  const text = joinedTexts(pieces.slice(start, end));
  if (!hasWords(text)) return undefined;
  // White space around the text is not part of it, but written with it.
  const [before, after] = [pieces.slice(0, start), pieces.slice(end)];
  const prefix = paragraph.rawName.slice(0, paragraph.rawName.lastIndexOf(':') + 1);
  // A string of a sheet without formatting has no runs.
  const hasRuns = paragraph.children.some((node) => node.kind === 'element' && node.name === vocabulary.run);
  const writer = { prefix, vocabulary, base, hasRuns: hasRuns || vocabulary !== SHEETS };
  const [from, to] = contentOf(paragraph, vocabulary);
  return { from, to, pieces: text, always: false, render: (given, raw) => written([...before, ...given, ...after], raw, writer) };
}

/** Words apart from the white space around them. */
function apart(piece: TextPiece): TextPiece[] {
  if (piece.kind !== 'text' || piece.text.trim() === '') return [piece];
  const [from, to] = [piece.text.length - piece.text.trimStart().length, piece.text.trimEnd().length];
  const parts = [piece.text.slice(0, from), piece.text.slice(from, to), piece.text.slice(to)];
  return parts.filter((part) => part !== '').map(textPiece);
}

interface Reading {
  readonly source: string;
  readonly names: Vocabulary;
  readonly fields: OpenFields;
  readonly inner: (element: XmlElement) => void;
}

function atomsOf(nodes: readonly XmlNode[], reading: Reading): readonly Atom[] {
  const { names } = reading;
  return nodes.flatMap((node): readonly Atom[] => {
    if (node.kind !== 'element' || names.borders.has(node.name) || names.dropped.has(node.name)) return [];
    if (node.name === names.run) return runAtoms(node, reading);
    if (node.name === names.text) return textAtoms(node, '');
    const isField = node.name === 'w:fldSimple' && TEXT_FIELD.test(node.attributes.get('w:instr') ?? '');
    return [names.wrappers.has(node.name) || isField ? wrapperAtom(node, reading) : itemAtom(node, undefined, reading)];
  });
}

function runAtoms(run: XmlElement, reading: Reading): readonly Atom[] {
  const { names, fields, source } = reading;
  const elements = run.children.filter((node) => node.kind === 'element');
  const given = elements.find(({ name }) => name === names.properties);
  const properties = given === undefined ? '' : source.slice(given.open.from, given.close.to);
  return elements.flatMap((node): readonly Atom[] => {
    if (node === given || names.dropped.has(node.name)) return [];
    followField(fields, node);
    return node.name === names.text && isText(fields) ? textAtoms(node, properties) : [itemAtom(node, properties, reading)];
  });
}

/** Of a content control, all before its content belongs to its beginning. */
function wrapperAtom(node: XmlElement, reading: Reading): Atom {
  const content = node.children.find((child): child is XmlElement => child.kind === 'element' && child.name === 'w:sdtContent');
  const inside = node.name === 'w:sdt' ? content : node;
  if (inside === undefined || inside.close.from === inside.close.to) return itemAtom(node, undefined, reading);
  const open = { from: node.open.from, to: inside.open.to };
  const close = { from: inside.close.from, to: node.close.to };
  return { kind: 'wrapper', open, close, atoms: atomsOf(inside.children, reading) };
}

function itemAtom(node: XmlElement, properties: string | undefined, { inner }: Reading): Atom {
  inner(node);
  const ordered = !/:(?:br|tab|cr|drawing|pict|sym|footnoteReference|endnoteReference|noBreakHyphen|softHyphen)$/.test(node.name);
  return { kind: 'item', mark: { open: { from: node.open.from, to: node.close.to }, close: undefined, ordered, properties } };
}

function textAtoms(node: XmlElement, properties: string): readonly Atom[] {
  const text = innerText(node);
  return text === '' ? [] : [{ kind: 'text', text, properties }];
}

const visible = (properties: string, { invisible }: Vocabulary): string =>
  properties.replaceAll(invisible, '').replace(/^<([\w.:-]+)\s*(?:\/>|><\/\1\s*>)$/, '');

/** The properties of most of the text, without that in wrappers. */
function baseOf(atoms: readonly Atom[], vocabulary: Vocabulary): string {
  const lengths = new Map<string, { length: number; properties: string }>();
  for (const atom of atoms) {
    if (atom.kind !== 'text') continue;
    const key = visible(atom.properties, vocabulary);
    const found = lengths.get(key);
    if (found === undefined) lengths.set(key, { length: atom.text.length, properties: atom.properties });
    else found.length += atom.text.length;
  }
  return [...lengths.values()].reduce((most, next) => (next.length > most.length ? next : most), { length: 0, properties: '' }).properties;
}

/** Texts with other properties than `base` are within marks. */
function piecesOf(atoms: readonly Atom[], base: string, vocabulary: Vocabulary): TextPiece[] {
  const pieces: TextPiece[] = [];
  let current: Mark | undefined;
  const end = (): void => {
    if (current !== undefined) pieces.push({ kind: 'close', mark: current });
    current = undefined;
  };
  const baseKey = visible(base, vocabulary);
  for (const atom of atoms) {
    if (atom.kind === 'text') {
      const key = visible(atom.properties, vocabulary);
      if (current !== undefined && (key === baseKey || visible(current.properties!, vocabulary) !== key)) end();
      if (key !== baseKey && current === undefined) {
        current = { open: NOWHERE, close: NOWHERE, ordered: false, properties: atom.properties };
        pieces.push({ kind: 'open', mark: current });
      }
      pieces.push(textPiece(atom.text));
    } else if (atom.kind === 'item') {
      if (atom.mark.properties === undefined) end();
      pieces.push({ kind: 'empty', mark: atom.mark });
    } else {
      end();
      const inner = baseOf(atom.atoms, vocabulary);
      const mark = { open: atom.open, close: atom.close, ordered: false, properties: inner };
      pieces.push({ kind: 'open', mark });
      for (const piece of piecesOf(atom.atoms, inner, vocabulary)) pieces.push(piece);
      pieces.push({ kind: 'close', mark });
    }
  }
  end();
  return pieces;
}

function textPiece(text: string): TextPiece {
  return { kind: 'text', text, span: NOWHERE };
}

/** Between the elements at its borders. */
function contentOf(paragraph: XmlElement, { borders }: Vocabulary): [number, number] {
  const elements = paragraph.children.filter((node) => node.kind === 'element');
  const inner = elements.filter(({ name }) => !borders.has(name));
  return [inner[0]!.open.from, inner.at(-1)!.close.to];
}

interface Writer {
  readonly prefix: string;
  readonly vocabulary: Vocabulary;
  readonly base: string;
  readonly hasRuns: boolean;
}

function written(given: readonly TextPiece[], raw: (span: SourceSpan) => string, writer: Writer): string {
  const parts: string[] = [];
  const properties: string[] = [writer.base];
  const run = (content: string, inRun: string): string =>
    writer.hasRuns ? `<${writer.prefix}r>${inRun}${content}</${writer.prefix}r>` : content;
  for (const piece of joinedTexts(given)) {
    if (piece.kind === 'text') {
      const text = escapeXml(piece.text);
      if (text === '') continue;
      const space = writer.vocabulary === DRAWINGS || text.trim() === text ? '' : ' xml:space="preserve"';
      parts.push(run(`<${writer.prefix}t${space}>${text}</${writer.prefix}t>`, properties.at(-1)!));
    } else if (piece.kind === 'empty') {
      const { open, properties: inRun } = piece.mark;
      parts.push(inRun === undefined ? raw(open) : run(raw(open), inRun));
    } else if (piece.kind === 'open') {
      properties.push(piece.mark.properties ?? properties.at(-1)!);
      if (piece.mark.open !== NOWHERE) parts.push(raw(piece.mark.open));
    } else {
      properties.pop();
      if (piece.mark.close !== NOWHERE) parts.push(raw(piece.mark.close!));
    }
  }
  return parts.join('');
}
