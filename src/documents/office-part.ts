// Word and PowerPoint: the parts of a file in order of reading, and the passages of each: its
// paragraphs, with those in text boxes within them, and single texts.
import type { PackagePart, ZipPackage } from './office-package.ts';
import { DRAWINGS, paragraphPassage, SHEETS, WORDS } from './ooxml-paragraphs.ts';
import type { OpenFields, Vocabulary } from './ooxml-paragraphs.ts';
import { limitTexts, plainPassage, textOf, textsAmong } from './passage.ts';
import type { DocumentPart, Passage, ReadDocument } from './passage.ts';
import { refuse } from './limits.ts';
import { escapeXml, innerText, scanTrees, scanXml } from './xml-scan.ts';
import type { XmlElement, XmlVisitor } from './xml-scan.ts';

/** Their whole content is one text: legacy comments of slides, threaded comments of sheets. */
const SINGLE: ReadonlySet<string> = new Set(['p:text', '?:text']);

interface PartOptions {
  /** Whether a chart's own labels are texts: not where they are copies of cells. */
  readonly hasLabels?: boolean;
  /** For what is not within paragraphs. */
  readonly visitor?: XmlVisitor;
  /** Is called for each outermost paragraph with its passage, if there is one. */
  readonly found?: (passage: Passage | undefined) => void;
  readonly skips?: (passage: Passage) => boolean;
  /** Texts of other parts, by text: those that this part repeats get their translations. */
  readonly repeated?: ReadonlyMap<string, Passage>;
}

/** Descriptions of pictures, items of lists, and hints for those who fill in a sheet. */
const DESCRIBED = /:(?:docPr|cNvPr|listItem|dataValidation)$/;
const DESCRIPTIONS = /\s(?:[\w.-]+:)?(descr|title|displayText|promptTitle|prompt|errorTitle|error)\s*=\s*["']/g;
/** Excel takes no more of these. */
const LENGTHS: Readonly<Record<string, number>> = { promptTitle: 32, prompt: 255, errorTitle: 32, error: 225 };

function vocabularyOf(name: string): Vocabulary | undefined {
  return [WORDS, DRAWINGS, SHEETS].find(({ paragraph }) => paragraph.includes(name));
}

export function officePart(part: PackagePart, options: PartOptions = {}): DocumentPart {
  const reader = new PartReader(part, options);
  const { visitor = {} } = options;
  const isLabels = (name: string): boolean => options.hasLabels === true && (name === 'c:strCache' || name === 'c:strLit');
  scanTrees(
    part.given,
    `the part ${part.name}`,
    ({ name }) => vocabularyOf(name) !== undefined || SINGLE.has(name) || isLabels(name),
    (tree) => {
      const passage = reader.readRoot(tree);
      options.found?.(passage);
    },
    {
      ...visitor,
      open(element, depth) {
        if (element.name === 'mc:Fallback') reader.fallbacks++;
        reader.readDescriptions(element);
        visitor.open?.(element, depth);
      },
      close(element, depth) {
        if (element.name === 'mc:Fallback') reader.fallbacks--;
        visitor.close?.(element, depth);
      },
    },
  );
  return { given: part.given, entry: part.entry, passages: reader.passages };
}

class PartReader {
  readonly passages: Passage[] = [];
  /** How many elements for older programs are around. */
  fallbacks = 0;
  readonly #byText = new Map<string, Passage>();
  readonly #fields: OpenFields = [];
  readonly #source: string;
  readonly #options: PartOptions;

  constructor(part: PackagePart, options: PartOptions) {
    this.#source = part.given.text;
    this.#options = options;
  }

  readRoot(tree: XmlElement): Passage | undefined {
    const before = this.passages.length;
    this.#read(tree);
    return textsAmong(this.passages.slice(before))[0];
  }

  #read(element: XmlElement): void {
    const vocabulary = vocabularyOf(element.name);
    if (vocabulary !== undefined) {
      const inner: XmlElement[] = [];
      const add = (nested: XmlElement): void => void inner.push(nested);
      this.#add(paragraphPassage(element, this.#source, vocabulary, this.#fields, add));
      for (const nested of inner) this.#read(nested);
    } else if (SINGLE.has(element.name)) {
      this.#add(this.#single(element));
    } else if (element.name === 'c:v') {
      // Every series of a chart repeats the labels.
      this.#add(this.#single(element), true);
    } else {
      this.readDescriptions(element);
      if (element.name === 'mc:Fallback') this.fallbacks++;
      for (const child of element.children) if (child.kind === 'element') this.#read(child);
      if (element.name === 'mc:Fallback') this.fallbacks--;
    }
  }

  /** Attributes are texts of their own. */
  readDescriptions({ name: element, open, attributes }: XmlElement): void {
    if (!DESCRIBED.test(element)) return;
    const source = this.#source.slice(open.from, open.to);
    for (const { 0: start, 1: name = '', index } of source.matchAll(DESCRIPTIONS)) {
      const from = index + start.length;
      const span = { from: open.from + from, to: open.from + source.indexOf(source[from - 1]!, from) };
      const text = attributes.get(name) ?? attributes.get(`w:${name}`) ?? '';
      const write = (given: string): string => escapeXml(given.slice(0, LENGTHS[name])).replaceAll('"', '&quot;').replaceAll("'", '&apos;');
      this.#add(plainPassage(text.trim(), span, write));
    }
  }

  #single(element: XmlElement): Passage | undefined {
    return plainPassage(innerText(element).trim(), { from: element.open.to, to: element.close.from }, escapeXml);
  }

  #add(passage: Passage | undefined, isCopyOfSame = false): void {
    if (passage === undefined || this.#options.skips?.(passage) === true) return;
    const { text } = textOf(passage.pieces);
    const repeated = this.#options.repeated?.get(text);
    const same = this.#byText.get(text) ?? repeated;
    if (this.fallbacks > 0 || (same !== undefined && (isCopyOfSame || repeated !== undefined))) {
      if (same !== undefined) this.passages.push({ ...passage, copyOf: same });
      return;
    }
    this.#byText.set(text, passage);
    this.passages.push(passage);
    limitTexts(this.passages.length);
  }
}

/** Parts with the relation that leads to each. What draws a diagram repeats its data's texts. */
function officeParts(archive: ZipPackage, types: ReadonlyMap<string, string>): ReadDocument {
  const diagrams = new Map<string, Passage>();
  const parts: DocumentPart[] = [];
  for (const [name, type] of types) {
    // Placeholders of layouts only say what to write there.
    let isPlaceholder = false;
    const open: XmlVisitor['open'] = ({ name: element }) => {
      if (element === 'p:sp') isPlaceholder = false;
      if (element === 'p:ph') isPlaceholder = type === 'slideLayout' || type === 'slideMaster';
    };
    const part = officePart(archive.needed(name), {
      hasLabels: true,
      visitor: { open },
      skips: () => isPlaceholder,
      ...(type === 'diagramDrawing' && { repeated: diagrams }),
    });
    if (type === 'diagramData') for (const passage of textsAmong(part.passages)) diagrams.set(textOf(passage.pieces).text, passage);
    parts.push(part);
  }
  return { parts, order: textsAmong(parts.flatMap(({ passages }) => passages)) };
}

/** Adds the parts that relations of these types lead to, type by type. */
function addRelated(archive: ZipPackage, from: string, added: readonly string[], types: Map<string, string>): void {
  const relations = archive.relations(from);
  for (const one of added) {
    for (const { type, target } of relations) if (type === one && archive.has(target)) types.set(target, type);
  }
}

/** In this order behind the text. */
const WORD_TYPES = ['footnotes', 'endnotes', 'comments', 'header', 'footer', 'chart', 'diagramData', 'diagramDrawing'];

/** The text, then footnotes, endnotes, comments, headers, footers, charts and diagrams. */
export function wordDocument(archive: ZipPackage): ReadDocument {
  const main = archive.main();
  if (!main.name.toLowerCase().startsWith('word/')) refuse('the file is no document of Word');
  const types = new Map([[main.name, '']]);
  addRelated(archive, main.name, WORD_TYPES, types);
  return officeParts(archive, types);
}

/** In this order behind a slide. */
const SLIDE_TYPES = ['chart', 'diagramData', 'diagramDrawing', 'notesSlide', 'comments', 'comment'];

/** Slide by slide, each with what belongs to it; then their layouts and masters. */
export function presentation(archive: ZipPackage): ReadDocument {
  const main = archive.main();
  if (!main.name.toLowerCase().startsWith('ppt/')) refuse('the file is no presentation');
  const targets = new Map(archive.relations(main.name).map(({ id, target }) => [id, target]));
  const types = new Map<string, string>();
  scanXml(main.given, `the part ${main.name}`, {
    open({ name, attributes }) {
      if (name !== 'p:sldId') return;
      const slide = targets.get(attributes.get('r:id') ?? '');
      if (slide === undefined || types.has(slide) || !archive.has(slide)) return;
      types.set(slide, 'slide');
      addRelated(archive, slide, SLIDE_TYPES, types);
    },
  });
  for (const [from, to] of [
    ['slide', 'slideLayout'],
    ['slideLayout', 'slideMaster'],
  ] as const) {
    for (const [name, type] of types) if (type === from) addRelated(archive, name, [to], types);
  }
  return officeParts(archive, types);
}
