// The passages of one part of Office Open XML: its paragraphs, with those in text boxes within them, and single texts.
import { textOf } from './marked-text.ts';
import { DRAWINGS, FieldState, SHEETS, WORDS, paragraphPassage } from './ooxml-paragraphs.ts';
import type { Vocabulary } from './ooxml-paragraphs.ts';
import type { PackagePart } from './office-package.ts';
import { hasWords, limitTexts } from './passage.ts';
import type { Passage } from './passage.ts';
import type { DocumentPart } from './read-document.ts';
import { escapeXml, innerText, scanTrees } from './xml-scan.ts';
import type { XmlElement, XmlVisitor } from './xml-scan.ts';

/** Their whole content is one text: legacy comments of slides, threaded comments of sheets. */
const SINGLE: ReadonlySet<string> = new Set(['p:text', '?:text']);

interface PartOptions {
  /** Whether labels that a chart keeps for itself are texts: they are not where they are copies of cells. */
  readonly hasLabels?: boolean;
  /** For what is not within paragraphs. */
  readonly visitor?: XmlVisitor;
  /** Is called for each outermost paragraph with its passage, if there is one. */
  readonly found?: (passage: Passage | undefined) => void;
  readonly skips?: (passage: Passage) => boolean;
}

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
        visitor.open?.(element, depth);
      },
      close(element, depth) {
        if (element.name === 'mc:Fallback') reader.fallbacks--;
        visitor.close?.(element, depth);
      },
    },
  );
  return { source: part.given.text, given: part.given, entry: part.entry, passages: reader.passages, copies: reader.copies };
}

class PartReader {
  readonly passages: Passage[] = [];
  readonly copies = new Map<Passage, Passage[]>();
  /** How many elements for older programs are around. */
  fallbacks = 0;
  readonly #byText = new Map<string, Passage>();
  readonly #fields = new FieldState();
  readonly #source: string;
  readonly #options: PartOptions;

  constructor(part: PackagePart, options: PartOptions) {
    this.#source = part.given.text;
    this.#options = options;
  }

  readRoot(tree: XmlElement): Passage | undefined {
    const before = this.passages.length;
    this.#read(tree);
    return this.passages[before];
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
      if (element.name === 'mc:Fallback') this.fallbacks++;
      for (const child of element.children) if (child.kind === 'element') this.#read(child);
      if (element.name === 'mc:Fallback') this.fallbacks--;
    }
  }

  #single(element: XmlElement): Passage | undefined {
    const text = innerText(element);
    const kept = text.trim();
    const span = { from: element.open.to, to: element.close.from };
    const pieces = [{ kind: 'text' as const, text: kept, span }];
    if (!hasWords(pieces)) return undefined;
    const render: Passage['render'] = (given) => escapeXml(given.map((piece) => (piece.kind === 'text' ? piece.text : '')).join(''));
    return { ...span, pieces, always: false, render };
  }

  #add(passage: Passage | undefined, isCopyOfSame = false): void {
    if (passage === undefined || this.#options.skips?.(passage) === true) return;
    const { text } = textOf(passage.pieces);
    const same = this.#byText.get(text);
    if (this.fallbacks > 0 || (isCopyOfSame && same !== undefined)) {
      if (same !== undefined) this.copies.set(same, [...(this.copies.get(same) ?? []), passage]);
      return;
    }
    this.#byText.set(text, passage);
    this.passages.push(passage);
    limitTexts(this.passages.length);
  }
}
