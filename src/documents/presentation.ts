// PowerPoint: slide by slide in their order, each with its charts and diagrams, notes and comments; then
// what their layouts and masters say themselves.
import type { ZipPackage } from './office-package.ts';
import { officeParts } from './office-part.ts';
import type { ReadDocument } from './read-document.ts';
import { refuse } from './refused-file.ts';
import { scanXml } from './xml-scan.ts';

const TYPES = ['chart', 'diagramData', 'diagramDrawing', 'notesSlide', 'comments', 'comment'];

export function presentation(archive: ZipPackage): ReadDocument {
  const main = archive.main();
  if (!main.name.toLowerCase().startsWith('ppt/')) refuse('the file is no presentation');
  const targets = new Map(archive.relations(main.name).map(({ id, target }) => [id, target]));
  const types = new Map<string, string>();
  const add = (from: string, wanted: readonly string[]): void => {
    const relations = archive.relations(from);
    for (const one of wanted) {
      for (const { type, target } of relations) if (type === one && archive.has(target)) types.set(target, type);
    }
  };
  scanXml(main.given, `the part ${main.name}`, {
    open({ name, attributes }) {
      if (name !== 'p:sldId') return;
      const slide = targets.get(attributes.get('r:id') ?? '');
      if (slide === undefined || types.has(slide) || !archive.has(slide)) return;
      types.set(slide, 'slide');
      add(slide, TYPES);
    },
  });
  for (const [from, to] of [
    ['slide', 'slideLayout'],
    ['slideLayout', 'slideMaster'],
  ] as const) {
    for (const [name, type] of types) if (type === from) add(name, [to]);
  }
  return officeParts(archive, types);
}
