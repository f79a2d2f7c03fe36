// Reads a part of an office file: its paragraphs, with those in text boxes within them, and single
// texts such as descriptions of pictures.
import { DRAWINGS, paragraphPassages, SHEETS, WORDS } from './ooxml-paragraphs.ts';
import type { OpenFields } from './ooxml-paragraphs.ts';
import { PAGE_HEADERS, pageHeader } from './page-header.ts';
import { Passages, plainPassage, textOf, textsAmong } from './passage.ts';
import type { DocumentPart, Passage } from './passage.ts';
import type { Source } from './source.ts';
import { elementsOf, escapeXml, innerText, scanXml } from './xml-scan.ts';
import type { XmlElement, XmlVisitor } from './xml-scan.ts';

/** Elements that are texts. */
interface Paragraphs {
  readonly names: ReadonlySet<string>;
  /** `inner` gets what may have paragraphs of its own. */
  readonly passagesOf: (element: XmlElement, inner: (element: XmlElement) => void) => readonly Passage[];
}

interface PartOptions {
  /** Those of Office Open XML, if there are no others. */
  readonly paragraphs?: Paragraphs;
  /** Whether a chart's own labels are texts: not where they are copies of cells. */
  readonly hasLabels?: boolean;
  /** For what is not within paragraphs. */
  readonly visitor?: Pick<XmlVisitor, 'open' | 'close' | 'text'>;
  /** Is called for each outermost paragraph with its texts. */
  readonly found?: (texts: readonly Passage[]) => void;
  /** Whether what is read now is left as it is. */
  readonly skips?: () => boolean;
  /** Texts of other parts, by text: those that this part repeats get their translations. */
  readonly repeated?: ReadonlyMap<string, Passage> | undefined;
}

/** Their whole content is one text: legacy comments of slides, threaded comments of sheets. */
const SINGLE: ReadonlySet<string> = new Set(['p:text', '?:text']);
/** Every series of a chart repeats the labels. */
const LABEL = 'c:v';
/** Descriptions of pictures, items of lists, and hints for those who fill in a sheet. */
const DESCRIBED = /:(?:docPr|cNvPr|listItem|dataValidation)$/;
const DESCRIPTIONS = /\s(?:[\w.-]+:)?(descr|title|displayText|promptTitle|prompt|errorTitle|error)\s*=\s*["']/g;
/** Excel takes no more of these. */
const LENGTHS: Readonly<Record<string, number>> = { promptTitle: 32, prompt: 255, errorTitle: 32, error: 225 };

export function readPart(source: Source, options: PartOptions = {}): DocumentPart {
  const { visitor = {}, hasLabels = false, found } = options;
  const reader = new PartReader(source, options);
  scanXml(source, {
    isTree: (element) =>
      reader.kindOf(element) !== undefined || (hasLabels && (element.name === 'c:strCache' || element.name === 'c:strLit')),
    tree(element) {
      const before = reader.passages.all.length;
      reader.read(element);
      found?.(textsAmong(reader.passages.all.slice(before)));
    },
    open(element) {
      reader.enter(element);
      visitor.open?.(element);
    },
    close(element) {
      reader.leave(element);
      visitor.close?.(element);
    },
    text: visitor.text,
  });
  return { source, passages: reader.passages.all };
}

class PartReader {
  readonly passages = new Passages();
  readonly #kinds: readonly Paragraphs[];
  readonly #byText = new Map<string, Passage>();
  readonly #source: string;
  readonly #options: PartOptions;
  /** How many elements for older programs are around. */
  #fallbacks = 0;

  constructor({ text }: Source, options: PartOptions) {
    this.#source = text;
    this.#options = options;
    this.#kinds = options.paragraphs === undefined ? officeParagraphs(text) : [options.paragraphs];
  }

  kindOf({ name }: XmlElement): Paragraphs | undefined {
    return this.#kinds.find(({ names }) => names.has(name));
  }

  read(element: XmlElement): void {
    const kind = this.kindOf(element);
    if (kind === undefined && element.name !== LABEL) {
      this.enter(element);
      for (const child of elementsOf(element)) this.read(child);
      this.leave(element);
      return;
    }
    const inner: XmlElement[] = [];
    const passages = (kind?.passagesOf ?? single)(element, (one) => void inner.push(one));
    for (const passage of passages) this.#add(passage, kind === undefined);
    for (const one of inner) this.read(one);
  }

  /** Attributes are texts of their own. */
  enter({ name: element, open, attributes }: XmlElement): void {
    if (element === 'mc:Fallback') this.#fallbacks++;
    if (!DESCRIBED.test(element)) return;
    const source = this.#source.slice(open.from, open.to);
    for (const { 0: start, 1: name = '', index } of source.matchAll(DESCRIPTIONS)) {
      const from = index + start.length;
      const span = { from: open.from + from, to: open.from + source.indexOf(source[from - 1]!, from) };
      const text = attributes.get(name) ?? attributes.get(`w:${name}`) ?? '';
      const write = (given: string): string => escapeXml(given.slice(0, LENGTHS[name])).replaceAll('"', '&quot;').replaceAll("'", '&apos;');
      for (const passage of plainPassage(text.trim(), span, write)) this.#add(passage);
    }
  }

  leave({ name }: XmlElement): void {
    if (name === 'mc:Fallback') this.#fallbacks--;
  }

  #add(passage: Passage, isLabel = false): void {
    if (this.#options.skips?.() === true) return;
    const { text } = textOf(passage.pieces);
    const repeated = this.#options.repeated?.get(text);
    const same = this.#byText.get(text) ?? repeated;
    if (this.#fallbacks > 0 || (same !== undefined && (isLabel || repeated !== undefined))) {
      if (same !== undefined) this.passages.add({ ...passage, copyOf: same });
      return;
    }
    this.#byText.set(text, passage);
    this.passages.add(passage);
  }
}

function officeParagraphs(source: string): readonly Paragraphs[] {
  const fields: OpenFields = [];
  const kinds = [WORDS, DRAWINGS, SHEETS].map((names): Paragraphs => ({
    names: names.paragraph,
    passagesOf: (element, inner) => paragraphPassages(element, { source, names, fields, inner }),
  }));
  const headers = { names: PAGE_HEADERS, passagesOf: (element: XmlElement) => pageHeader(element, source) };
  return [...kinds, headers, { names: SINGLE, passagesOf: single }];
}

function single(element: XmlElement): readonly Passage[] {
  return plainPassage(innerText(element).trim(), { from: element.open.to, to: element.close.from }, escapeXml);
}
