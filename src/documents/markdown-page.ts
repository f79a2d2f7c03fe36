// Markdown: paragraphs, headings and cells of tables are texts, with emphasis, links and code as marks; blocks of code stay.
import { GFM, parser } from '@lezer/markdown';
import { htmlPassages } from './html-page.ts';
import { NO_COPIES, limitTexts } from './passage.ts';
import type { Passage, PassageSource } from './passage.ts';
import { PassageBuilder } from './passage-builder.ts';

/** Blocks whose content is a line of text. */
const BLOCKS = /^(?:Paragraph|ATXHeading\d|SetextHeading\d|TableCell|Task)$/;
const CONTAINERS = new Set(['Document', 'Blockquote', 'BulletList', 'OrderedList', 'ListItem', 'Table', 'TableHeader', 'TableRow']);
const EMPHASIS = new Set(['Emphasis', 'StrongEmphasis', 'Strikethrough']);
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&nbsp;': '\u00a0',
};
const FRONT_MATTER = /^---[ \t]*\r?\n[^]*?\n---[ \t]*(?:\r?\n|$)/;

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

const markdown = parser.configure([GFM]);

export function markdownPage(source: string): PassageSource {
  // YAML about the page, which is no Markdown: as white space for the parser, so that positions stay.
  const front = FRONT_MATTER.exec(source)?.[0] ?? '';
  const reader = new MarkdownReader(source);
  // Left where only some lines end in one. The parser takes a carriage return for text.
  const page = source.slice(front.length).replaceAll('\r', ' ');
  reader.read(markdown.parse(front.replaceAll(/[^\n]/g, ' ') + page).topNode);
  return { source, passages: reader.passages, copies: NO_COPIES };
}

class MarkdownReader {
  readonly passages: Passage[] = [];
  readonly #source: string;
  readonly #labels = new Set<string>();

  constructor(source: string) {
    this.#source = source;
  }

  read(top: SyntaxNode): void {
    const blocks: SyntaxNode[] = [];
    // A stack of its own: lists may be nested deeply.
    const open: SyntaxNode[] = [top];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (node.name === 'LinkReference') this.#labels.add(this.#labelOf(node));
      else if (BLOCKS.test(node.name) || node.name === 'HTMLBlock') blocks.push(node);
      else if (CONTAINERS.has(node.name)) open.push(...childrenOf(node).toReversed());
    }
    for (const block of blocks) {
      if (block.name === 'HTMLBlock') this.#readHtml(block);
      else this.#readBlock(block);
      limitTexts(this.passages.length);
    }
  }

  #labelOf(node: SyntaxNode): string {
    const label = node.getChild('LinkLabel') ?? node;
    return this.#source.slice(label.from, label.to).toLowerCase();
  }

  #readHtml({ from, to }: SyntaxNode): void {
    // Positions of the page, not of the block.
    for (const passage of htmlPassages(this.#source.slice(from, to))) {
      this.passages.push(moved(passage, from));
    }
  }

  #readBlock(block: SyntaxNode): void {
    const inTable = block.name === 'TableCell';
    const builder = new PassageBuilder(this.#source, { write: (text) => escapeMarkdown(text, inTable), collapses: true });
    this.#readInline(builder, block);
    builder.flush();
    this.passages.push(...builder.passages);
  }

  #readInline(builder: PassageBuilder, parent: SyntaxNode, from = parent.from, to = parent.to): void {
    let at = from;
    const text = (until: number): void => {
      if (until > at) builder.text(this.#source.slice(at, until), { from: at, to: until });
      at = Math.max(at, until);
    };
    for (const node of childrenOf(parent)) {
      if (node.from < from || node.to > to || node.from < at) continue;
      text(node.from);
      at = node.to;
      if (node.name === 'HardBreak') at = this.#endOfBreak(node);
      this.#readNode(builder, node, at);
    }
    text(to);
  }

  /** With the markers of quotations before the next line. */
  #endOfBreak(node: SyntaxNode): number {
    let at = node.to;
    while (/[ \t>]/.test(this.#source[at] ?? '')) at++;
    return at;
  }

  #readNode(builder: PassageBuilder, node: SyntaxNode, end: number): void {
    const { name, from, to } = node;
    const source = this.#source.slice(from, to);
    const marks = childrenOf(node).filter((child) => child.name === 'LinkMark' || child.name.endsWith('Mark'));
    if (name === 'HeaderMark' || name === 'TaskMarker') builder.empty({ from, to });
    else if (name === 'QuoteMark') builder.text(' ', { from, to });
    else if (name === 'Escape') builder.text(source.slice(1), { from, to });
    else if (name === 'Entity' && ENTITIES[source] !== undefined) builder.text(ENTITIES[source], { from, to });
    else if (EMPHASIS.has(name) && marks.length > 1) this.#readPair(builder, node, marks[0]!.to, marks.at(-1)!.from);
    else if ((name === 'Link' || name === 'Image') && marks.length > 1) this.#readLink(builder, node, marks[0]!.to, marks[1]!.from);
    else if (name === 'HTMLTag') this.#readTag(builder, node, source);
    else builder.empty({ from, to: end });
  }

  #readPair(builder: PassageBuilder, node: SyntaxNode, from: number, to: number): void {
    const key = `${node.name} ${node.from}`;
    builder.open(key, { from: node.from, to: from });
    this.#readInline(builder, node, from, to);
    builder.close(key, { from: to, to: node.to });
  }

  /** What a reference has as its label must stay; in brackets without a reference is text. */
  #readLink(builder: PassageBuilder, node: SyntaxNode, from: number, to: number): void {
    const hasTarget = node.getChild('URL') !== null || node.getChild('LinkLabel') !== null;
    const label = this.#source.slice(from - 1, to + 1).toLowerCase();
    const isShort = !hasTarget || this.#source.slice(to, node.to) === '][]';
    if (!isShort || this.#source[to + 1] === '(') {
      this.#readPair(builder, node, from, to);
    } else if (this.#labels.has(label) || label.startsWith('[^')) {
      builder.empty({ from: node.from, to: node.to });
    } else {
      builder.text(this.#source.slice(node.from, from), { from: node.from, to: from });
      this.#readInline(builder, node, from, to);
      builder.text(this.#source.slice(to, node.to), { from: to, to: node.to });
    }
  }

  #readTag(builder: PassageBuilder, { from, to }: SyntaxNode, source: string): void {
    const [, closes, name] = /^<(\/?)([a-z][\w-]*)/i.exec(source) ?? [];
    if (name === undefined || source.endsWith('/>') || /^(?:br|img|wbr|input)$/i.test(name)) builder.empty({ from, to });
    else if (closes === '/') builder.close(name.toLowerCase(), { from, to });
    else builder.open(name.toLowerCase(), { from, to });
  }
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) found.push(child);
  return found;
}

function moved(passage: Passage, by: number): Passage {
  const span = <T extends { readonly from: number; readonly to: number }>(given: T): T => ({
    ...given,
    from: given.from + by,
    to: given.to + by,
  });
  return { ...span(passage), render: (pieces, raw) => passage.render(pieces, (given) => raw(span(given))) };
}

/** What would be markup there: a word like snake_case needs no backslash, a number with a point at the start does. */
export function escapeMarkdown(text: string, inTable: boolean): string {
  const escaped = text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/[\\`*[\]<]|~(?=~)|(?<=~)~|&(?=#?\w+;)|(?<![\p{L}\p{N}_])_|_(?![\p{L}\p{N}_])/gu, String.raw`\$&`)
    .replace(/^(\s*)([#+>=-])/, String.raw`$1\$2`)
    .replace(/^(\s*\d+)([.)])/, String.raw`$1\$2`);
  return inTable ? escaped.replaceAll('|', String.raw`\|`) : escaped;
}
