// Paragraphs of Office Open XML: the runs of a paragraph are one text, those with other properties than most of it are marks.
import type { Mark, Passage, TextPiece, SourceSpan } from './passage.ts';
import { hasWords } from './passage.ts';
import { escapeXml } from './xml-scan.ts';
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

/** Complex fields go on from run to run and over paragraphs: one state for a part. Results that are computed are no text. */
export class FieldState {
  readonly #open: { instruction: string; inResult: boolean }[] = [];

  get isText(): boolean {
    const field = this.#open.at(-1);
    return field === undefined || (field.inResult && TEXT_FIELD.test(field.instruction));
  }

  begin(): void {
    this.#open.push({ instruction: '', inResult: false });
  }

  instruction(text: string): void {
    const field = this.#open.at(-1);
    if (field !== undefined && !field.inResult) field.instruction += text;
  }

  separate(): void {
    const field = this.#open.at(-1);
    if (field !== undefined) field.inResult = true;
  }

  end(): void {
    this.#open.pop();
  }
}

type Atom =
  | { readonly kind: 'text'; readonly text: string; readonly properties: string }
  | { readonly kind: 'item'; readonly span: SourceSpan; readonly properties: string | undefined; readonly ordered: boolean }
  | { readonly kind: 'open'; readonly span: SourceSpan; readonly close: SourceSpan }
  | { readonly kind: 'close' };

/** `undefined` if it has nothing to translate. `inner` gets the elements in it that are no runs: text boxes have paragraphs of their own. */
export function paragraphPassage(
  paragraph: XmlElement,
  source: string,
  vocabulary: Vocabulary,
  fields: FieldState,
  inner: (element: XmlElement) => void,
): Passage | undefined {
  const reader = new ParagraphReader(source, vocabulary, fields, inner);
  reader.readAll(paragraph.children);
  if (paragraph.close.from === paragraph.close.to) return undefined;
  const pieces = merged(piecesOf(reader.atoms, vocabulary));
  const { before, text, after } = trimmed(pieces);
  if (!hasWords(text)) return undefined;
  const [from, to] = contentOf(paragraph, vocabulary);
  const prefix = paragraph.rawName.slice(0, paragraph.rawName.lastIndexOf(':') + 1);
  const writer = { prefix, vocabulary, base: baseOf(reader.atoms, 0, vocabulary), isIn: reader.inRuns, hasRuns: reader.hasRuns };
  return { from, to, pieces: text, always: false, render: (given, raw) => written([...before, ...given, ...after], raw, writer) };
}

class ParagraphReader {
  readonly atoms: Atom[] = [];
  /** Spans of what stands in a run, and the properties of that run. */
  readonly inRuns = new Map<SourceSpan, string>();
  hasRuns = false;
  readonly #source: string;
  readonly #names: Vocabulary;
  readonly #fields: FieldState;
  readonly #inner: (element: XmlElement) => void;

  constructor(source: string, vocabulary: Vocabulary, fields: FieldState, inner: (element: XmlElement) => void) {
    this.#source = source;
    this.#names = vocabulary;
    this.#fields = fields;
    this.#inner = inner;
  }

  readAll(nodes: readonly XmlNode[]): void {
    for (const node of nodes) {
      if (node.kind !== 'element' || this.#names.borders.has(node.name) || this.#names.dropped.has(node.name)) continue;
      if (node.name === this.#names.run) this.#readRun(node);
      else if (node.name === this.#names.text) this.#addText(node, '');
      else if (this.#isWrapper(node) && node.close.to > node.close.from) this.#readWrapper(node);
      else this.#addItem(node, undefined);
    }
  }

  #isWrapper({ name, attributes }: XmlElement): boolean {
    return this.#names.wrappers.has(name) || (name === 'w:fldSimple' && TEXT_FIELD.test(attributes.get('w:instr') ?? ''));
  }

  #readRun(run: XmlElement): void {
    this.hasRuns = true;
    const given = run.children.find((node): node is XmlElement => node.kind === 'element' && node.name === this.#names.properties);
    const properties = given === undefined ? '' : this.#source.slice(given.open.from, given.close.to);
    for (const node of run.children) {
      if (node.kind !== 'element' || node === given || this.#names.dropped.has(node.name)) continue;
      this.#followField(node);
      if (node.name === this.#names.text && this.#fields.isText) this.#addText(node, properties);
      else this.#addItem(node, properties);
    }
  }

  #followField(node: XmlElement): void {
    if (node.name === 'w:instrText')
      this.#fields.instruction(node.children.map((child) => (child.kind === 'text' ? child.text : '')).join(''));
    if (node.name !== 'w:fldChar') return;
    const type = node.attributes.get('w:fldCharType');
    if (type === 'begin') this.#fields.begin();
    if (type === 'separate') this.#fields.separate();
    if (type === 'end') this.#fields.end();
  }

  /** Of a content control, all before its content belongs to its beginning. */
  #readWrapper(node: XmlElement): void {
    const content = node.children.find((child): child is XmlElement => child.kind === 'element' && child.name === 'w:sdtContent');
    const inside = node.name === 'w:sdt' ? content : node;
    if (inside === undefined || inside.close.from === inside.close.to) {
      this.#addItem(node, undefined);
      return;
    }
    this.atoms.push({
      kind: 'open',
      span: { from: node.open.from, to: inside.open.to },
      close: { from: inside.close.from, to: node.close.to },
    });
    this.readAll(inside.children);
    this.atoms.push({ kind: 'close' });
  }

  #addText(node: XmlElement, properties: string): void {
    const text = node.children.map((child) => (child.kind === 'text' ? child.text : '')).join('');
    if (text !== '') this.atoms.push({ kind: 'text', text, properties });
  }

  #addItem(node: XmlElement, properties: string | undefined): void {
    this.#inner(node);
    const span = { from: node.open.from, to: node.close.to };
    if (properties !== undefined) this.inRuns.set(span, properties);
    const ordered = !/:(?:br|tab|cr|drawing|pict|sym|footnoteReference|endnoteReference|noBreakHyphen|softHyphen)$/.test(node.name);
    this.atoms.push({ kind: 'item', span, properties, ordered });
  }
}

const visible = (properties: string, { invisible }: Vocabulary): string =>
  properties.replaceAll(invisible, '').replace(/^<([\w.:-]+)\s*(?:\/>|><\/\1\s*>)$/, '');

/** The properties of most of the text directly in the wrapper that begins before `from`. */
function baseOf(atoms: readonly Atom[], from: number, vocabulary: Vocabulary): string {
  const lengths = new Map<string, { length: number; properties: string }>();
  let depth = 0;
  for (let index = from; index < atoms.length && depth >= 0; index++) {
    const atom = atoms[index]!;
    if (atom.kind === 'open') depth++;
    if (atom.kind === 'close') depth--;
    if (atom.kind !== 'text' || depth !== 0) continue;
    const key = visible(atom.properties, vocabulary);
    const found = lengths.get(key);
    if (found === undefined) lengths.set(key, { length: atom.text.length, properties: atom.properties });
    else found.length += atom.text.length;
  }
  return [...lengths.values()].reduce((most, next) => (next.length > most.length ? next : most), { length: 0, properties: '' }).properties;
}

function piecesOf(atoms: readonly Atom[], vocabulary: Vocabulary): TextPiece[] {
  const pieces: TextPiece[] = [];
  const wrappers: { readonly mark: Mark | undefined; readonly base: string }[] = [{ mark: undefined, base: baseOf(atoms, 0, vocabulary) }];
  let current: Mark | undefined;
  const end = (): void => {
    if (current !== undefined) pieces.push({ kind: 'close', mark: current });
    current = undefined;
  };
  for (const [index, atom] of atoms.entries()) {
    if (atom.kind === 'text') {
      const key = visible(atom.properties, vocabulary);
      const inBase = key === visible(wrappers.at(-1)!.base, vocabulary);
      if (current !== undefined && (inBase || visible(current.properties!, vocabulary) !== key)) end();
      if (!inBase && current === undefined) {
        current = { open: NOWHERE, close: NOWHERE, ordered: false, properties: atom.properties };
        pieces.push({ kind: 'open', mark: current });
      }
      pieces.push({ kind: 'text', text: atom.text, span: NOWHERE });
    } else if (atom.kind === 'item') {
      if (current !== undefined && atom.properties === undefined) end();
      pieces.push({ kind: 'empty', mark: { open: atom.span, close: undefined, ordered: atom.ordered } });
    } else {
      end();
      if (atom.kind === 'open') {
        const base = baseOf(atoms, index + 1, vocabulary);
        const mark = { open: atom.span, close: atom.close, ordered: false, properties: base };
        wrappers.push({ mark, base });
        pieces.push({ kind: 'open', mark });
      } else {
        pieces.push({ kind: 'close', mark: wrappers.pop()!.mark! });
      }
    }
  }
  end();
  return pieces;
}

const NOWHERE: SourceSpan = { from: 0, to: 0 };

/** DocumentTexts that follow each other are one. */
function merged(pieces: readonly TextPiece[]): TextPiece[] {
  const result: TextPiece[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text') result[result.length - 1] = { ...last, text: last.text + piece.text };
    else result.push(piece);
  }
  return result;
}

/** What surrounds the text is not part of it, but written with it. */
function trimmed(pieces: readonly TextPiece[]): { readonly before: TextPiece[]; readonly text: TextPiece[]; readonly after: TextPiece[] } {
  let [start, end] = [0, pieces.length];
  const before: TextPiece[] = [];
  const after: TextPiece[] = [];
  const isEmpty = (piece: TextPiece | undefined): boolean =>
    piece?.kind === 'empty' || (piece?.kind === 'text' && piece.text.trim() === '');
  for (;;) {
    while (start < end && isEmpty(pieces[start])) before.push(pieces[start++]!);
    while (end > start && isEmpty(pieces[end - 1])) after.unshift(pieces[--end]!);
    const [first, last] = [pieces[start], pieces[end - 1]];
    if (first?.kind !== 'open' || last?.kind !== 'close' || first.mark !== last.mark) break;
    before.push(first);
    after.unshift(last);
    start++;
    end--;
  }
  const text = pieces.slice(start, end);
  const [first, last] = [text[0], text.at(-1)];
  if (last?.kind === 'text') {
    const kept = last.text.trimEnd();
    if (kept !== last.text) after.unshift({ ...last, text: last.text.slice(kept.length) });
    text[text.length - 1] = { ...last, text: kept };
  }
  if (first?.kind === 'text') {
    const now = text[0] as typeof first;
    const kept = now.text.trimStart();
    if (kept !== now.text) before.push({ ...now, text: now.text.slice(0, now.text.length - kept.length) });
    text[0] = { ...now, text: kept };
  }
  return { before, text, after };
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
  readonly isIn: ReadonlyMap<SourceSpan, string>;
  /** A string of a sheet without formatting has none. */
  readonly hasRuns: boolean;
}

function written(given: readonly TextPiece[], raw: (span: SourceSpan) => string, writer: Writer): string {
  const parts: string[] = [];
  const properties: string[] = [writer.base];
  const run = (content: string, inRun: string): string =>
    writer.hasRuns ? `<${writer.prefix}r>${inRun}${content}</${writer.prefix}r>` : content;
  for (const piece of merged(given)) {
    if (piece.kind === 'text') {
      const text = escapeXml(piece.text);
      if (text === '') continue;
      const space = writer.vocabulary === DRAWINGS || text.trim() === text ? '' : ' xml:space="preserve"';
      parts.push(run(`<${writer.prefix}t${space}>${text}</${writer.prefix}t>`, properties.at(-1)!));
    } else if (piece.kind === 'empty') {
      const inRun = writer.isIn.get(piece.mark.open);
      parts.push(inRun === undefined ? raw(piece.mark.open) : run(raw(piece.mark.open), inRun));
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
