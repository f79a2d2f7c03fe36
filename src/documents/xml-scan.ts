// Well-formed XML with the positions of its tags, whatever the prefixes; elements as small trees.
import { SaxesParser } from 'saxes';
import { ATTRIBUTES_MAX, XML_DEPTH_MAX, inWords, RefusedFile, refuse } from './limits.ts';
import type { SourceSpan } from './passage.ts';
import { limitDeclared } from './source-text.ts';
import type { SourceText } from './source-text.ts';

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
  [`${TRANSITIONAL}package/2006/content-types`, 'types'],
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
  readonly children: XmlNode[];
}

interface XmlCharacters extends SourceSpan {
  readonly kind: 'text';
  readonly text: string;
}

export type XmlNode = XmlElement | XmlCharacters;

/** `open` and `close` get every element, without children. */
export interface XmlVisitor {
  readonly open?: (element: XmlElement, depth: number) => void;
  readonly close?: (element: XmlElement, depth: number) => void;
  readonly text?: (text: XmlCharacters) => void;
}

/** `what` names the source in refusals. */
export function scanXml(given: SourceText, what: string, visitor: XmlVisitor): void {
  try {
    new Scan(given, what, visitor).run();
  } catch (error) {
    if (error instanceof RefusedFile) throw error;
    refuse(`${what} is not well-formed XML`);
  }
}

/** `tree` gets each outermost element that `isRoot`, whole; `visitor` what is around. */
export function scanTrees(
  given: SourceText,
  what: string,
  isRoot: (element: XmlElement) => boolean,
  tree: (element: XmlElement) => void,
  visitor: XmlVisitor = {},
): void {
  const path: XmlElement[] = [];
  scanXml(given, what, {
    open(element, depth) {
      if (path.length === 0) {
        visitor.open?.(element, depth);
        if (!isRoot(element)) return;
      }
      path.at(-1)?.children.push(element);
      path.push(element);
    },
    close(element, depth) {
      if (path.length > 0) path.pop();
      if (path.length > 0) return;
      if (isRoot(element)) tree(element);
      visitor.close?.(element, depth);
    },
    text(text) {
      if (path.length > 0) path.at(-1)!.children.push(text);
      else visitor.text?.(text);
    },
  });
}

class Scan {
  readonly #given: SourceText;
  readonly #what: string;
  readonly #visitor: XmlVisitor;
  readonly #path: XmlElement[] = [];
  #attributes = 0;
  /** Of the last markup. */
  #end = 0;

  constructor(given: SourceText, what: string, visitor: XmlVisitor) {
    this.#given = given;
    this.#what = what;
    this.#visitor = visitor;
  }

  run(): void {
    const parser = new SaxesParser({ xmlns: true, position: true });
    parser.on('error', () => refuse(`${this.#what} is not well-formed XML`));
    parser.on('doctype', () => refuse(`${this.#what} has a document type declaration, which could declare entities`));
    parser.on('xmldecl', ({ encoding }) => limitDeclared(encoding, this.#given));
    parser.on('opentagstart', () => {
      this.#attributes = 0;
    });
    parser.on('attribute', () => {
      if (++this.#attributes > ATTRIBUTES_MAX) refuse(`${this.#what} has an element with more than ${inWords(ATTRIBUTES_MAX)} attributes`);
    });
    parser.on('opentag', (tag) => this.#opened(tag, parser.position));
    parser.on('closetag', (tag) => this.#closed(tag.isSelfClosing, parser.position));
    parser.on('text', (text) => this.#text(text, this.#next('<')));
    parser.on('cdata', (text) => this.#text(text, parser.position));
    parser.on('comment', () => this.#passed(parser.position));
    parser.on('processinginstruction', () => this.#passed(parser.position));
    parser.write(this.#given.text).close();
  }

  #next(start: string): number {
    const at = this.#given.text.indexOf(start, this.#end);
    return at === -1 ? this.#given.text.length : at;
  }

  #opened(tag: { readonly name: string; readonly uri: string; readonly local: string; readonly attributes: object }, to: number): void {
    const open = { from: this.#next('<'), to };
    this.#passed(to);
    const attributes = new Map<string, string>();
    for (const { uri, local, value } of Object.values(tag.attributes) as { uri: string; local: string; value: string }[]) {
      attributes.set(uri === '' ? local : named(uri, local), value);
    }
    const name = named(tag.uri, tag.local);
    const element: XmlElement = { kind: 'element', name, rawName: tag.name, open, close: { from: to, to }, attributes, children: [] };
    if (this.#path.length >= XML_DEPTH_MAX) refuse(`${this.#what} is nested more than ${XML_DEPTH_MAX} levels deep`);
    this.#visitor.open?.(element, this.#path.length);
    this.#path.push(element);
  }

  #closed(isSelfClosing: boolean, to: number): void {
    const element = this.#path.pop()!;
    if (!isSelfClosing) element.close = { from: this.#next('<'), to };
    this.#passed(to);
    this.#visitor.close?.(element, this.#path.length);
  }

  #text(text: string, to: number): void {
    const from = this.#end;
    this.#passed(to);
    if (this.#path.length > 0) this.#visitor.text?.({ kind: 'text', text, from, to });
  }

  #passed(to: number): void {
    this.#end = to;
  }
}

function named(uri: string, local: string): string {
  return `${uri === '' ? '' : (PREFIXES.get(uri) ?? '?')}:${local}`;
}

/** What XML 1.0 cannot contain is left out: engines may answer anything. */
export function escapeXml(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- exactly those
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  );
}

/** All text in it, of its elements too. */
export function innerText(node: XmlNode): string {
  return node.kind === 'text' ? node.text : node.children.map(innerText).join('');
}
