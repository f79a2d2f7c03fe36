// Excel: strings in the order in which the cells of the sheets show them, each once, then comments, drawings and charts of each sheet.
import { SHEETS_MAX, inWords } from './document-limits.ts';
import { textOf } from './marked-text.ts';
import type { ZipPackage } from './office-package.ts';
import { officePart } from './office-part.ts';
import type { Passage } from './passage.ts';
import type { DocumentPart, ReadDocument } from './read-document.ts';
import { refuse } from './refused-file.ts';
import { scanXml } from './xml-scan.ts';

const BESIDES = ['comments', 'threadedComment', 'drawing'];

/** What a cell shows: a string of its own, or a number of a shared one. */
type Shown = Passage | number;

export function workbook(archive: ZipPackage): ReadDocument {
  const main = archive.main();
  if (!main.name.toLowerCase().startsWith('xl/')) refuse('the file is no workbook');
  const relations = archive.relations(main.name);
  const sheets = sheetsOf(archive, main.name, new Map(relations.map(({ id, target }) => [id, target])));
  const columns = columnsOf(archive, sheets);
  const skips = (passage: Passage): boolean => columns.has(textOf(passage.pieces).text);
  const shared: (Passage | undefined)[] = [];
  const parts: DocumentPart[] = [];
  const stringsName = relations.find(({ type }) => type === 'sharedStrings')?.target;
  const strings = stringsName === undefined ? undefined : archive.part(stringsName);
  if (strings !== undefined) parts.push(officePart(strings, { skips, found: (passage) => shared.push(passage) }));
  const order = new Set<Passage>();
  for (const sheet of sheets) {
    const { part, shown } = sheetPart(archive, sheet, skips);
    parts.push(part);
    for (const one of shown) {
      const passage = typeof one === 'number' ? shared[one] : one;
      if (passage !== undefined) order.add(passage);
    }
    for (const name of besides(archive, sheet)) {
      if (parts.some(({ entry }) => entry?.name === archive.needed(name).name)) continue;
      const beside = officePart(archive.needed(name));
      parts.push(beside);
      for (const passage of beside.passages) order.add(passage);
    }
  }
  // Those that no cell shows.
  for (const { passages } of parts) for (const passage of passages) order.add(passage);
  return { parts, order: [...order] };
}

function sheetsOf(archive: ZipPackage, main: string, targets: ReadonlyMap<string, string>): string[] {
  const names = new Set<string>();
  let count = 0;
  scanXml(archive.needed(main).given, `the part ${main}`, {
    open({ name, attributes }) {
      if (name !== 'x:sheet') return;
      if (++count > SHEETS_MAX) refuse(`the file has more than ${inWords(SHEETS_MAX)} sheets`);
      const target = targets.get(attributes.get('r:id') ?? '');
      if (target !== undefined && archive.has(target)) names.add(target);
    },
  });
  return [...names];
}

/**
 * The names of columns of tables: formulas use them, they must be unique, and the cell above the column must say the same. So they
 * stay.
 */
function columnsOf(archive: ZipPackage, sheets: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const sheet of sheets) {
    for (const { type, target } of archive.relations(sheet)) {
      const part = type === 'table' ? archive.part(target) : undefined;
      if (part === undefined) continue;
      scanXml(part.given, `the part ${part.name}`, {
        open({ name, attributes }) {
          if (name === 'x:tableColumn') found.add((attributes.get('name') ?? '').replaceAll(/_x000[aA]_/g, '\n').trim());
        },
      });
    }
  }
  return found;
}

function sheetPart(
  archive: ZipPackage,
  sheet: string,
  skips: (passage: Passage) => boolean,
): { part: DocumentPart; shown: readonly Shown[] } {
  const shown: Shown[] = [];
  let isShared = false;
  let inValue = false;
  const part = officePart(archive.needed(sheet), {
    skips,
    found(passage) {
      if (passage !== undefined) shown.push(passage);
    },
    visitor: {
      open({ name, attributes }) {
        if (name === 'x:c') isShared = attributes.get('t') === 's';
        inValue = name === 'x:v';
      },
      close() {
        inValue = false;
      },
      text({ text }) {
        if (isShared && inValue && /^\s*\d{1,9}\s*$/.test(text)) shown.push(Number(text));
      },
    },
  });
  return { part, shown };
}

function besides(archive: ZipPackage, sheet: string): string[] {
  const names = new Set<string>();
  const relations = archive.relations(sheet);
  for (const wanted of BESIDES) {
    for (const { type, target } of relations) {
      if (type !== wanted || !archive.has(target)) continue;
      names.add(target);
      if (type !== 'drawing') continue;
      for (const inner of archive.relations(target)) if (inner.type === 'chart' && archive.has(inner.target)) names.add(inner.target);
    }
  }
  return [...names];
}
