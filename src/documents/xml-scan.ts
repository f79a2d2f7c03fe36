// Well-formed XML with the positions of its tags, whatever the prefixes; elements as small trees.
import { SaxesParser } from 'saxes';
import { ATTRIBUTES_MAX, XML_DEPTH_MAX, inWords, RefusedFile, refuse } from './limits.ts';
import { escapeMarkup } from './passage.ts';
import type { SourceSpan } from './passage.ts';
import { limitDeclared } from './source.ts';
import type { Source } from './source.ts';

const OPEN_DOCUMENT = 'urn:oasis:names:tc:opendocument:xmlns:';
const TRANSITIONAL = 'http://schemas.openxmlformats.org/';
const STRICT = 'http://purl.oclc.org/ooxml/';
/** The prefixes of elements here; those of other namespaces are `?:name`, of none `:name`. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ...[TRANSITIONAL, STRICT].flatMap((base) => {
    const year = base === TRANSITIONAL ? '/2006' : '';
    return [
      [`${base}wordprocessingml${year}/main`, 'w'],
      [`${base}drawingml${year}/main`, 'a'],
      [`${base}drawingml${year}/chart`, 'c'],
      [`${base}spreadsheetml${year}/main`, 'x'],
      [`${base}presentationml${year}/main`, 'p'],
      [`${base}officeDocument${year}/relationships`, 'r'],
    ] as const;
  }),
  [`${TRANSITIONAL}package/2006/relationships`, 'rel'],
  [`${TRANSITIONAL}markup-compatibility/2006`, 'mc'],
  ...['text', 'office', 'table', 'style', 'drawing', 'manifest'].map((name) => [`${OPEN_DOCUMENT}${name}:1.0`, name] as const),
  [`${OPEN_DOCUMENT}svg-compatible:1.0`, 'svg'],
  ['urn:oasis:names:tc:xliff:document:1.2', 'xliff1'],
  ['urn:oasis:names:tc:xliff:document:2.0', 'xliff2'],
  ['urn:oasis:names:tc:xliff:document:2.2', 'xliff2'],
]);

export interface XmlElement {
  readonly kind: 'element';
  readonly name: string;
  /** As in the source, with its own prefix. */
  readonly rawName: string;
  readonly open: SourceSpan;
  /** Empty at the end of `open` if the element closes itself. */
  close: SourceSpan;
  /** By the same names as elements. */
  readonly attributes: ReadonlyMap<string, string>;
  /** Only in a tree. */
  readonly children: XmlNode[];
}

interface XmlCharacters extends SourceSpan {
  readonly kind: 'text';
  readonly text: string;
}

export type XmlNode = XmlElement | XmlCharacters;

export interface XmlVisitor {
  /** Whether the element is read as a tree: `tree` gets it whole, after `open`. */
  readonly isTree?: (element: XmlElement) => boolean;
  readonly tree?: (element: XmlElement) => void;
  /** Of what is in no tree, and of the roots of trees. */
  readonly open?: (element: XmlElement) => void;
  readonly close?: (element: XmlElement) => void;
  readonly text?: (text: XmlCharacters) => void;
}

export function scanXml(source: Source, visitor: XmlVisitor): void {
  try {
    new Scan(source, visitor).run();
  } catch (error) {
    if (error instanceof RefusedFile) throw error;
    refuse(`${source.what} is not well-formed XML`);
  }
}

class Scan {
  readonly #source: Source;
  readonly #visitor: XmlVisitor;
  readonly #path: XmlElement[] = [];
  /** Of the tree that is being read. */
  #root: XmlElement | undefined;
  #attributes = 0;
  /** Of the last markup. */
  #end = 0;

  constructor(source: Source, visitor: XmlVisitor) {
    this.#source = source;
    this.#visitor = visitor;
  }

  run(): void {
    const { text, what } = this.#source;
    const parser = new SaxesParser({ xmlns: true, position: true });
    parser.on('error', () => refuse(`${what} is not well-formed XML`));
    parser.on('doctype', () => refuse(`${what} has a document type declaration, which could declare entities`));
    parser.on('xmldecl', ({ encoding }) => limitDeclared(encoding, this.#source));
    parser.on('opentagstart', () => (this.#attributes = 0));
    parser.on('attribute', () => {
      if (++this.#attributes > ATTRIBUTES_MAX) refuse(`${what} has an element with more than ${inWords(ATTRIBUTES_MAX)} attributes`);
    });
    parser.on('opentag', (tag) => this.#opened(tag, parser.position));
    parser.on('closetag', ({ isSelfClosing }) => this.#closed(isSelfClosing, parser.position));
    parser.on('text', (characters) => this.#text(characters, this.#next()));
    parser.on('cdata', (characters) => this.#text(characters, parser.position));
    parser.on('comment', () => (this.#end = parser.position));
    parser.on('processinginstruction', () => (this.#end = parser.position));
    parser.write(text).close();
  }

  /** Where the next markup begins. */
  #next(): number {
    const at = this.#source.text.indexOf('<', this.#end);
    return at === -1 ? this.#source.text.length : at;
  }

  #opened(tag: { readonly name: string; readonly uri: string; readonly local: string; readonly attributes: object }, to: number): void {
    const open = { from: this.#next(), to };
    this.#end = to;
    const given = Object.values(tag.attributes) as { readonly uri: string; readonly local: string; readonly value: string }[];
    const attributes = new Map(given.map(({ uri, local, value }) => [uri === '' ? local : named(uri, local), value]));
    const name = named(tag.uri, tag.local);
    const element: XmlElement = { kind: 'element', name, rawName: tag.name, open, close: { from: to, to }, attributes, children: [] };
    if (this.#path.length >= XML_DEPTH_MAX) refuse(`${this.#source.what} is nested more than ${XML_DEPTH_MAX} levels deep`);
    if (this.#root === undefined) {
      this.#visitor.open?.(element);
      if (this.#visitor.isTree?.(element) === true) this.#root = element;
    } else this.#path.at(-1)!.children.push(element);
    this.#path.push(element);
  }

  #closed(isSelfClosing: boolean, to: number): void {
    const element = this.#path.pop()!;
    if (!isSelfClosing) element.close = { from: this.#next(), to };
    this.#end = to;
    if (element === this.#root) {
      this.#root = undefined;
      this.#visitor.tree?.(element);
    }
    if (this.#root === undefined) this.#visitor.close?.(element);
  }

  #text(text: string, to: number): void {
    const characters: XmlCharacters = { kind: 'text', text, from: this.#end, to };
    this.#end = to;
    if (this.#root !== undefined) this.#path.at(-1)!.children.push(characters);
    else if (this.#path.length > 0) this.#visitor.text?.(characters);
  }
}

function named(uri: string, local: string): string {
  return `${uri === '' ? '' : (PREFIXES.get(uri) ?? '?')}:${local}`;
}

/** What XML 1.0 cannot contain is left out: engines may answer anything. */
export function escapeXml(text: string): string {
  // oxlint-disable-next-line no-control-regex -- exactly those
  return escapeMarkup(text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ''));
}

/** All text in it, of its elements too. */
export function innerText(node: XmlNode): string {
  return node.kind === 'text' ? node.text : node.children.map(innerText).join('');
}

export function elementsOf({ children }: XmlElement): XmlElement[] {
  return children.filter((node) => node.kind === 'element');
}
