// Word and PowerPoint: the parts of a file in order of reading.
import type { ZipPackage } from './office-package.ts';
import { readPart } from './part-reader.ts';
import { textOf, textsAmong } from './passage.ts';
import type { DocumentPart, Passage, ReadDocument } from './passage.ts';
import { scanXml } from './xml-scan.ts';

/** In this order behind the text. */
const WORD_TYPES = ['footnotes', 'endnotes', 'comments', 'header', 'footer', 'chart', 'diagramData', 'diagramDrawing'];

export function wordDocument(archive: ZipPackage): ReadDocument {
  const { name } = archive.main('word/', 'document of Word');
  return readParts(archive, new Map([[name, ''], ...related(archive, name, WORD_TYPES)]));
}

/** In this order behind a slide. */
const SLIDE_TYPES = ['chart', 'diagramData', 'diagramDrawing', 'notesSlide', 'comments', 'comment'];

/** Slide by slide, each with what belongs to it; then their layouts and masters. */
export function presentation(archive: ZipPackage): ReadDocument {
  const main = archive.main('ppt/', 'presentation');
  const targets = new Map(archive.relations(main.name).map(({ id, target }) => [id, target]));
  const types = new Map<string, string>();
  const add = (all: readonly (readonly [string, string])[]): void => {
    for (const [name, type] of all) types.set(name, type);
  };
  scanXml(main, {
    open({ name, attributes }) {
      const slide = name === 'p:sldId' ? targets.get(attributes.get('r:id') ?? '') : undefined;
      if (slide !== undefined && !types.has(slide)) add([[slide, 'slide'], ...related(archive, slide, SLIDE_TYPES)]);
    },
  });
  for (const [from, to] of [
    ['slide', 'slideLayout'],
    ['slideLayout', 'slideMaster'],
  ] as const) {
    for (const [name, type] of types) if (type === from) add(related(archive, name, [to]));
  }
  return readParts(archive, types);
}

function related(archive: ZipPackage, from: string, types: readonly string[]): (readonly [name: string, type: string])[] {
  return archive.relations(from, types).map(({ target, type }) => [target, type]);
}

/** Parts with the relation that leads to each. What draws a diagram repeats its data's texts. */
function readParts(archive: ZipPackage, types: ReadonlyMap<string, string>): ReadDocument {
  const diagrams = new Map<string, Passage>();
  const parts: DocumentPart[] = [];
  for (const [name, type] of types) {
    // Placeholders of layouts only say what to write there.
    let isPlaceholder = false;
    const part = readPart(archive.needed(name), {
      hasLabels: true,
      visitor: {
        open({ name: element }) {
          if (element === 'p:sp') isPlaceholder = false;
          if (element === 'p:ph') isPlaceholder = type === 'slideLayout' || type === 'slideMaster';
        },
      },
      skips: () => isPlaceholder,
      repeated: type === 'diagramDrawing' ? diagrams : undefined,
    });
    if (type === 'diagramData') for (const passage of textsAmong(part.passages)) diagrams.set(textOf(passage.pieces).text, passage);
    parts.push(part);
  }
  return { parts };
}
