// PowerPoint: slide by slide in their order, each with its charts and diagrams, notes and comments.
import type { ZipPackage } from './office-package.ts';
import { officePart } from './office-part.ts';
import type { ReadDocument } from './read-document.ts';
import { refuse } from './refused-file.ts';
import { scanXml } from './xml-scan.ts';

const TYPES = ['chart', 'diagramData', 'notesSlide', 'comments', 'comment'];

export function presentation(archive: ZipPackage): ReadDocument {
  const main = archive.main();
  if (!main.name.toLowerCase().startsWith('ppt/')) refuse('the file is no presentation');
  const targets = new Map(archive.relations(main.name).map(({ id, target }) => [id, target]));
  const names = new Set<string>();
  const add = (name: string | undefined): void => {
    if (name !== undefined && archive.has(name)) names.add(name);
  };
  scanXml(main.given, `the part ${main.name}`, {
    open({ name, attributes }) {
      if (name !== 'p:sldId') return;
      const slide = targets.get(attributes.get('r:id') ?? '');
      if (slide === undefined || names.has(slide)) return;
      add(slide);
      const relations = archive.relations(slide);
      for (const wanted of TYPES) for (const { type, target } of relations) if (type === wanted) add(target);
    },
  });
  const parts = [...names].map((name) => officePart(archive.needed(name), { hasLabels: true }));
  return { parts, order: parts.flatMap(({ passages }) => passages) };
}
