// Excel: strings in the order in which the cells of the sheets show them, each once, then page
// headers, comments, drawings and charts of each sheet.
import { inWords, refuse, SHEETS_MAX } from './limits.ts';
import type { PackagePart, ZipPackage } from './office-package.ts';
import { readPart } from './part-reader.ts';
import { textsAmong } from './passage.ts';
import type { DocumentPart, Passage, ReadDocument, SourceSpan } from './passage.ts';
import { scanXml } from './xml-scan.ts';
import type { XmlElement } from './xml-scan.ts';

/** A cell that shows a shared string. */
interface SharedCell {
  readonly index: number;
  /** Heads a column of a table. */
  readonly isHeader: boolean;
  readonly cell: XmlElement;
  readonly value: SourceSpan;
}

export function workbook(archive: ZipPackage): ReadDocument {
  const main = archive.main('xl/', 'workbook');
  const [table] = archive.relations(main.name, ['sharedStrings']);
  const strings = table === undefined ? undefined : sharedStrings(archive.needed(table.target));
  const sheets = sheetsOf(archive, main).map((name) => ({ name, ...readSheet(archive, name) }));
  const shared = translatable(
    strings,
    sheets.flatMap(({ shown }) => shown.filter((one) => 'cell' in one)),
  );
  const order = new Set<Passage>();
  const parts: DocumentPart[] = [];
  if (strings !== undefined) parts.push({ ...strings.part, passages: shared.filter((passage) => passage !== undefined) });
  const names = new Set<string>();
  for (const { name, part, shown } of sheets) {
    const copies: Passage[] = [];
    for (const one of shown) {
      const passage = 'cell' in one ? shared[one.index] : one;
      if (passage === undefined) continue;
      if ('cell' in one && one.isHeader) copies.push(...ownText(one, passage, part.source.text, rawOf(strings!, passage)));
      else order.add(passage);
    }
    parts.push({ ...part, passages: [...part.passages, ...copies] });
    for (const beside of besides(archive, name)) {
      if (names.has(beside)) continue;
      names.add(beside);
      const read = readPart(archive.needed(beside));
      parts.push(read);
      for (const passage of textsAmong(read.passages)) order.add(passage);
    }
  }
  // Those that no cell shows.
  for (const { passages } of parts) for (const passage of textsAmong(passages)) order.add(passage);
  return { parts, order: [...order] };
}

interface SharedStrings {
  readonly part: DocumentPart;
  /** By index; `undefined` without a text. */
  readonly all: readonly (Passage | undefined)[];
}

function sharedStrings(part: PackagePart): SharedStrings {
  const all: (Passage | undefined)[] = [];
  return { all, part: readPart(part, { found: ([passage]) => void all.push(passage) }) };
}

/** A string that only headers of tables show, or that cannot be written apart for them, stays. */
function translatable(strings: SharedStrings | undefined, cells: readonly SharedCell[]): readonly (Passage | undefined)[] {
  if (strings === undefined) return [];
  const inBodies = new Set(cells.flatMap(({ index, isHeader }) => (isHeader ? [] : [index])));
  const staying = new Set<number>();
  for (const { index, isHeader, cell } of cells) {
    const passage = strings.all[index];
    const isWritable = passage !== undefined && prefixOf(rawOf(strings, passage)) === prefixOf(cell.rawName);
    if (isHeader && !(inBodies.has(index) && isWritable)) staying.add(index);
  }
  return strings.all.map((passage, index) => (staying.has(index) ? undefined : passage));
}

function rawOf({ part }: SharedStrings, { from, to }: SourceSpan): string {
  return part.source.text.slice(from, to);
}

/** Of a name, or of the name in a tag. */
function prefixOf(tag: string): string {
  return /^<?((?:[\w.-]+:)?)/.exec(tag)![1]!;
}

/** What a table's header says as other cells do is written into the header, which stays. */
function ownText({ cell, value }: SharedCell, passage: Passage, source: string, raw: string): Passage[] {
  const type = /\st\s*=\s*["']s["']/.exec(source.slice(cell.open.from, cell.open.to))!;
  const from = cell.open.from + type.index;
  const prefix = prefixOf(cell.rawName);
  const written = (span: SourceSpan, text: string): Passage => ({ ...passage, ...span, copyOf: passage, render: () => text });
  return [written({ from, to: from + type[0].length }, ' t="inlineStr"'), written(value, `<${prefix}is>${raw}</${prefix}is>`)];
}

function sheetsOf(archive: ZipPackage, main: PackagePart): string[] {
  const targets = new Map(archive.relations(main.name).map(({ id, target }) => [id, target]));
  const names = new Set<string>();
  let count = 0;
  scanXml(main, {
    open({ name, attributes }) {
      if (name !== 'x:sheet') return;
      if (++count > SHEETS_MAX) refuse(`the file has more than ${inWords(SHEETS_MAX)} sheets`);
      const target = targets.get(attributes.get('r:id') ?? '');
      if (target !== undefined) names.add(target);
    },
  });
  return [...names];
}

/** Names of tables' columns stay: formulas use them, and the cell must say the same. */
function headersOf(archive: ZipPackage, sheet: string): (place: Place) => boolean {
  const areas: { readonly begin: Place; readonly end: Place }[] = [];
  for (const { target } of archive.relations(sheet, ['table'])) {
    scanXml(archive.needed(target), {
      open({ name, attributes }) {
        if (name !== 'x:table' || attributes.get('headerRowCount') === '0') return;
        const [first = '', last = first] = (attributes.get('ref') ?? '').split(':');
        const [begin, end] = [placeOf(first), placeOf(last)];
        if (begin !== undefined && end !== undefined) areas.push({ begin, end });
      },
    });
  }
  return ({ row, column }) => areas.some(({ begin, end }) => begin.row === row && begin.column <= column && column <= end.column);
}

interface Place {
  readonly row: number;
  readonly column: number;
}

/** `B7` */
function placeOf(reference: string): Place | undefined {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  return { row: Number(digits), column: Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) };
}

function readSheet(archive: ZipPackage, sheet: string): { readonly part: DocumentPart; readonly shown: readonly (Passage | SharedCell)[] } {
  const isHeaderAt = headersOf(archive, sheet);
  const shown: (Passage | SharedCell)[] = [];
  let place: Place = { row: 0, column: 0 };
  let cell: XmlElement | undefined;
  let isHeader = false;
  let index: number | undefined;
  const part = readPart(archive.needed(sheet), {
    skips: () => isHeader,
    found: (texts) => void shown.push(...texts),
    visitor: {
      open(element) {
        const { name, attributes } = element;
        if (name === 'x:row') place = { row: Number(attributes.get('r') ?? place.row + 1), column: 0 };
        if (name !== 'x:c') return;
        place = placeOf(attributes.get('r') ?? '') ?? { ...place, column: place.column + 1 };
        isHeader = isHeaderAt(place);
        cell = attributes.get('t') === 's' ? element : undefined;
      },
      text({ text }) {
        index = cell !== undefined && /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : undefined;
      },
      close({ name, open, close }) {
        if (name === 'x:v' && cell !== undefined && index !== undefined)
          shown.push({ index, isHeader, cell, value: { from: open.from, to: close.to } });
        if (name === 'x:c') [cell, isHeader, index] = [undefined, false, undefined];
      },
    },
  });
  return { part, shown };
}

/** Comments, then drawings, each with its charts. */
function besides(archive: ZipPackage, sheet: string): string[] {
  return archive
    .relations(sheet, ['comments', 'threadedComment', 'drawing'])
    .flatMap(({ type, target }) => [
      target,
      ...(type === 'drawing' ? archive.relations(target, ['chart']) : []).map((chart) => chart.target),
    ]);
}
