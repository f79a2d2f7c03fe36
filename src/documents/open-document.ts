// OpenDocument texts: paragraphs, headings and descriptions of pictures, then headers and footers;
// deleted text and fields stay.
import { limitTexts } from './passage.ts';
import type { DocumentPart, Passage, ReadDocument } from './passage.ts';
import { addNode, PassageBuilder } from './passage-builder.ts';
import type { PackagePart, ZipPackage } from './office-package.ts';
import { refuse } from './limits.ts';
import { escapeXml, scanTrees, scanXml } from './xml-scan.ts';
import type { XmlElement } from './xml-scan.ts';

const PARAGRAPHS: ReadonlySet<string> = new Set(['text:p', 'text:h', 'svg:title', 'svg:desc']);
const PAIRS: ReadonlySet<string> = new Set(['text:span', 'text:a', 'text:meta', 'text:placeholder']);
/** May swap with others of their kind. */
const LOOSE: ReadonlySet<string> = new Set(['text:note', 'text:tab', 'text:line-break', 'drawing:frame', 'text:s']);
const MIME_TYPES = /^application\/vnd\.oasis\.opendocument\.text(?:-template)?$/;

export function openDocument(archive: ZipPackage): ReadDocument {
  if (!MIME_TYPES.test(archive.needed('mimetype').given.text.trim())) refuse('the file is no OpenDocument text');
  const manifest = archive.part('META-INF/manifest.xml');
  if (manifest !== undefined) limitEncryption(manifest);
  const names = ['content.xml', ...(archive.has('styles.xml') ? ['styles.xml'] : [])];
  const parts = names.map((name) => openPart(archive.needed(name)));
  return { parts, order: parts.flatMap(({ passages }) => passages) };
}

function limitEncryption({ given, name: part }: PackagePart): void {
  scanXml(given, `the part ${part}`, {
    open({ name }) {
      if (name === 'manifest:encryption-data') refuse('the file is encrypted: remove its password');
    },
  });
}

function openPart(part: PackagePart): DocumentPart {
  const passages: Passage[] = [];
  const styles = new HiddenStyles();
  /** How many elements with deleted text are around. */
  let deleted = 0;
  scanTrees(
    part.given,
    `the part ${part.name}`,
    ({ name }) => PARAGRAPHS.has(name),
    (tree) => {
      if (deleted === 0) readParagraph(tree, part.given.text, passages, styles);
      limitTexts(passages.length);
    },
    {
      open(element) {
        styles.open(element);
        if (element.name === 'text:tracked-changes') deleted++;
      },
      close({ name }) {
        if (name === 'text:tracked-changes') deleted--;
      },
    },
  );
  return { given: part.given, entry: part.entry, passages };
}

function readParagraph(paragraph: XmlElement, source: string, passages: Passage[], styles: HiddenStyles): void {
  const builder = new PassageBuilder(source, { write: escapeXml, collapses: true });
  const inner: XmlElement[] = [];
  for (const child of paragraph.children)
    addNode(
      builder,
      child,
      (element) => roleOf(element, styles),
      (item) => void inner.push(item),
    );
  builder.flush();
  passages.push(...builder.passages);
  for (const element of inner) readWithin(element, source, passages, styles);
}

/** Notes, text boxes and comments have paragraphs of their own. */
function readWithin(element: XmlElement, source: string, passages: Passage[], styles: HiddenStyles): void {
  if (PARAGRAPHS.has(element.name)) {
    readParagraph(element, source, passages, styles);
    return;
  }
  for (const child of element.children) if (child.kind === 'element') readWithin(child, source, passages, styles);
}

function roleOf({ name, attributes }: XmlElement, styles: HiddenStyles): 'around' | 'hidden' | 'ordered' | 'loose' {
  if (!PAIRS.has(name)) return LOOSE.has(name) ? 'loose' : 'ordered';
  return name === 'text:span' && styles.has(attributes.get('text:style-name') ?? '') ? 'hidden' : 'around';
}

/** Styles that only number a session: LibreOffice gives one to each piece that was changed. */
class HiddenStyles {
  readonly #names = new Set<string>();
  /** Of the style that is being read. */
  #name = '';

  open({ name, attributes }: XmlElement): void {
    if (name === 'style:style') {
      this.#name = attributes.get('style:name') ?? '';
      const isPlain = attributes.get('style:family') === 'text' && !attributes.has('style:parent-style-name');
      if (isPlain) this.#names.add(this.#name);
    } else if (name === 'style:text-properties') {
      if ([...attributes.keys()].some((key) => key !== '?:rsid' && key !== '?:paragraph-rsid')) this.#names.delete(this.#name);
    }
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }
}
