// Word: the text, then footnotes, endnotes, comments, headers, footers, charts and diagrams.
import { refuse } from './refused-file.ts';
import type { ZipPackage } from './office-package.ts';
import { officeParts } from './office-part.ts';
import type { ReadDocument } from './read-document.ts';

/** In this order behind the text. */
const TYPES = ['footnotes', 'endnotes', 'comments', 'header', 'footer', 'chart', 'diagramData', 'diagramDrawing'];

export function wordDocument(archive: ZipPackage): ReadDocument {
  const main = archive.main();
  if (!main.name.toLowerCase().startsWith('word/')) refuse('the file is no document of Word');
  const relations = archive.relations(main.name);
  const types = new Map([[main.name, '']]);
  for (const wanted of TYPES) {
    for (const { type, target } of relations) if (type === wanted && archive.has(target)) types.set(target, type);
  }
  return officeParts(archive, types);
}
