// Word: the text, then footnotes, endnotes, comments, headers, footers, charts and diagrams.
import { refuse } from './refused-file.ts';
import type { ZipPackage } from './office-package.ts';
import { officePart } from './office-part.ts';
import type { ReadDocument } from './read-document.ts';

/** In this order behind the text. */
const TYPES = ['footnotes', 'endnotes', 'comments', 'header', 'footer', 'chart', 'diagramData'];

export function wordDocument(archive: ZipPackage): ReadDocument {
  const main = archive.main();
  if (!main.name.toLowerCase().startsWith('word/')) refuse('the file is no document of Word');
  const relations = archive.relations(main.name);
  const others = TYPES.flatMap((wanted) => relations.filter(({ type }) => type === wanted).map(({ target }) => target));
  const names = new Set([main.name, ...others].filter((name) => archive.has(name)));
  const parts = [...names].map((name) => officePart(archive.needed(name), { hasLabels: true }));
  return { parts, order: parts.flatMap(({ passages }) => passages) };
}
