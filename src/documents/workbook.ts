// Excel: strings in the order in which the cells of the sheets show them, each once, then page
// headers, comments, drawings and charts of each sheet.
import { SHEETS_MAX, inWords, refuse } from './limits.ts';
import type { PackagePart, ZipPackage } from './office-package.ts';
import { officePart } from './office-part.ts';
import { PassageBuilder } from './passage-builder.ts';
import { textsAmong, unescaped } from './passage.ts';
import type { DocumentPart, Passage, ReadDocument, SourceSpan, TextPiece } from './passage.ts';
import { escapeXml, innerText, scanTrees, scanXml } from './xml-scan.ts';
import type { XmlElement } from './xml-scan.ts';

const BESIDES = ['comments', 'threadedComment', 'drawing'];

/** A cell that shows a shared string. */
interface SharedCell {
  readonly index: number;
  readonly isHeader: boolean;
  readonly cell: XmlElement;
  readonly value: SourceSpan;
}

interface Sheet {
  readonly part: DocumentPart;
  readonly shown: readonly (Passage | SharedCell)[];
}

export function workbook(archive: ZipPackage): ReadDocument {
  const main = archive.main();
  if (!main.name.toLowerCase().startsWith('xl/')) refuse('the file is no workbook');
  const relations = archive.relations(main.name);
  const sheets = sheetsOf(archive, main.name, new Map(relations.map(({ id, target }) => [id, target])));
  const strings = stringsOf(archive, relations.find(({ type }) => type === 'sharedStrings')?.target);
  const parts: DocumentPart[] = [];
  const read = sheets.map((name) => ({ name, ...sheetPart(archive, name) }));
  const cells = read.flatMap(({ shown }) => shown).filter((one) => 'cell' in one);
  const inBodies = new Set(cells.flatMap(({ index, isHeader }) => (isHeader ? [] : [index])));
  /** Those that only headers of tables show, or that cannot be written apart, stay. */
  const staying = new Set(cells.flatMap((one) => (one.isHeader && !(inBodies.has(one.index) && strings.isLike(one)) ? [one.index] : [])));
  const shared = strings.shared.map((passage, index) => (staying.has(index) ? undefined : passage));
  if (strings.part !== undefined) parts.push({ ...strings.part, passages: shared.filter((passage) => passage !== undefined) });
  const order = new Set<Passage>();
  for (const { name, part: cellsOf, shown } of read) {
    const copies: Passage[] = [];
    for (const one of shown) {
      const passage = 'cell' in one ? shared[one.index] : one;
      if (passage === undefined) continue;
      if (!('cell' in one && one.isHeader)) order.add(passage);
      else copies.push(...strings.ownOf(one, passage, cellsOf.given.text));
    }
    parts.push({ ...cellsOf, passages: [...cellsOf.passages, ...copies] });
    for (const beside of besides(archive, name)) {
      if (parts.some(({ entry }) => entry?.name === archive.needed(beside).name)) continue;
      const part = officePart(archive.needed(beside));
      parts.push(part);
      for (const passage of textsAmong(part.passages)) order.add(passage);
    }
  }
  // Those that no cell shows.
  for (const { passages } of parts) for (const passage of textsAmong(passages)) order.add(passage);
  return { parts, order: [...order] };
}

/** One shown by a table's header and other cells is written into the header, which stays. */
function stringsOf(archive: ZipPackage, name: string | undefined) {
  const shared: (Passage | undefined)[] = [];
  const strings = name === undefined ? undefined : archive.part(name);
  const part = strings && officePart(strings, { found: (passage) => shared.push(passage) });
  const rawOf = ({ from, to }: SourceSpan): string => part!.given.text.slice(from, to);
  const prefixOf = (tag: string): string => /^<?((?:[\w.-]+:)?)/.exec(tag)![1]!;
  return {
    shared,
    part,
    isLike({ index, cell }: SharedCell): boolean {
      const passage = shared[index];
      return passage !== undefined && prefixOf(rawOf(passage)) === prefixOf(cell.rawName);
    },
    ownOf({ cell, value }: SharedCell, passage: Passage, source: string): Passage[] {
      const type = /\st\s*=\s*["']s["']/.exec(source.slice(cell.open.from, cell.open.to))!;
      const from = cell.open.from + type.index;
      const prefix = prefixOf(cell.rawName);
      const written = (span: SourceSpan, text: string): Passage => ({ ...passage, ...span, copyOf: passage, render: () => text });
      return [
        written({ from, to: from + type[0].length }, ' t="inlineStr"'),
        written(value, `<${prefix}is>${rawOf(passage)}</${prefix}is>`),
      ];
    },
  };
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

/** Names of tables' columns stay: formulas use them, and the cell must say the same. */
function headersOf(archive: ZipPackage, sheet: string): (row: number, column: number) => boolean {
  const areas: { readonly row: number; readonly from: number; readonly to: number }[] = [];
  for (const { type, target } of archive.relations(sheet)) {
    const part = type === 'table' ? archive.part(target) : undefined;
    if (part === undefined) continue;
    scanXml(part.given, `the part ${part.name}`, {
      open({ name, attributes }) {
        if (name !== 'x:table' || attributes.get('headerRowCount') === '0') return;
        const [first = '', last = first] = (attributes.get('ref') ?? '').split(':');
        const [begin, end] = [placeOf(first), placeOf(last)];
        if (begin !== undefined && end !== undefined) areas.push({ row: begin.row, from: begin.column, to: end.column });
      },
    });
  }
  return (row, column) => areas.some((area) => area.row === row && area.from <= column && column <= area.to);
}

/** `B7` */
function placeOf(reference: string): { readonly row: number; readonly column: number } | undefined {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  return { row: Number(digits), column: Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) };
}

function sheetPart(archive: ZipPackage, sheet: string): Sheet {
  const isHeaderAt = headersOf(archive, sheet);
  const shown: (Passage | SharedCell)[] = [];
  let place = { row: 0, column: 0 };
  let cell: XmlElement | undefined;
  let isHeader = false;
  let index: number | undefined;
  const given = archive.needed(sheet);
  const part = officePart(given, {
    skips: () => isHeader,
    found(passage) {
      if (passage !== undefined) shown.push(passage);
    },
    visitor: {
      open(element) {
        const { name, attributes } = element;
        if (name === 'x:row') place = { row: Number(attributes.get('r') ?? place.row + 1), column: 0 };
        if (name !== 'x:c') return;
        place = placeOf(attributes.get('r') ?? '') ?? { ...place, column: place.column + 1 };
        isHeader = isHeaderAt(place.row, place.column);
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
  const headers = pageHeaders(given);
  return { part: { ...part, passages: [...part.passages, ...headers] }, shown: [...shown, ...headers] };
}

/** Of `&C&"Arial,Bold"Report &P` what is printed: codes are marks; a position begins a text. */
const CODES =
  /&amp;(?:&amp;|(?:"[^"]*"|&quot;.*?&quot;|K[\dA-F]{6}|K\d\d[+-]\d{3}|\d{1,3}|[A-Z]))|&(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);/gi;
/** Excel calls a file with a longer one damaged; codes count, and `&` as `&&`. */
const PAGE_HEADER_MAX = 255;

function pageHeaders({ given, name: partName }: PackagePart): readonly Passage[] {
  const found: Passage[] = [];
  scanTrees(
    given,
    `the part ${partName}`,
    ({ name }) => /^x:(?:odd|even|first)(?:Header|Footer)$/.test(name),
    (header) => void found.push(...pageHeader(header, given.text)),
  );
  return found;
}

function pageHeader(header: XmlElement, source: string): readonly Passage[] {
  const [start, end] = [header.open.to, header.close.from];
  const builder = new PassageBuilder(source, { write: (text) => escapeXml(doubled(text)), collapses: false });
  let at = start;
  const text = (to: number): void => {
    if (to > at) builder.text(source.slice(at, to), { from: at, to });
  };
  for (const { 0: code, index } of source.slice(start, end).matchAll(CODES)) {
    const span = { from: start + index, to: start + index + code.length };
    text(span.from);
    at = span.to;
    if (code === '&amp;&amp;') builder.text('&', span);
    else if (!code.startsWith('&amp;')) builder.text(unescaped(code), span);
    else if (/^&amp;[LCR]$/i.test(code)) builder.flush();
    else builder.empty(span, true);
  }
  text(end);
  builder.flush();
  const { passages } = builder;
  const room = Math.floor(Math.max(0, PAGE_HEADER_MAX - innerText(header).length) / passages.length);
  return passages.map((passage) => {
    const most = passage.pieces.reduce((sum, piece) => sum + (piece.kind === 'text' ? doubled(piece.text).length : 0), room);
    return { ...passage, render: (pieces, raw, language) => passage.render(shortened(pieces, most), raw, language) };
  });
}

function doubled(text: string): string {
  return text.replaceAll('&', '&&');
}

/** The texts up to `most` units in all; every code stays. */
function shortened(pieces: readonly TextPiece[], most: number): readonly TextPiece[] {
  let left = most;
  return pieces.map((piece) => {
    if (piece.kind !== 'text') return piece;
    let text = '';
    for (const sign of piece.text) {
      left -= doubled(sign).length;
      if (left < 0) break;
      text += sign;
    }
    return { ...piece, text };
  });
}

function besides(archive: ZipPackage, sheet: string): string[] {
  const names = new Set<string>();
  const relations = archive.relations(sheet);
  for (const one of BESIDES) {
    for (const { type, target } of relations) {
      if (type !== one || !archive.has(target)) continue;
      names.add(target);
      if (type !== 'drawing') continue;
      for (const inner of archive.relations(target)) if (inner.type === 'chart' && archive.has(inner.target)) names.add(inner.target);
    }
  }
  return [...names];
}
