// Formats text for people: aligned columns, and labelled lines.

/** Columns as wide as their widest cell; the last one is not padded. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return new GrowingTable(head).lines(rows).replace(/\n$/, '');
}

function lineOf(row: readonly string[], widths: readonly number[], areFigures: readonly boolean[]): string {
  return row
    .map((cell, column) => pad(cell, widths[column]!, areFigures[column]))
    .join('  ')
    .trimEnd();
}

/** A table whose rows are not all known yet: columns are as wide as the cells so far. */
export class GrowingTable {
  readonly #head: readonly string[];
  readonly #areFigures: readonly boolean[];
  #widths: readonly number[] | undefined;

  /** Columns of figures are aligned to the right. */
  constructor(head: readonly string[], areFigures: readonly boolean[] = []) {
    this.#head = head;
    this.#areFigures = areFigures;
  }

  /** The rows, each with a line feed, below the head if they are the first. */
  lines(rows: readonly (readonly string[])[]): string {
    const isFirst = this.#widths === undefined;
    const before = this.#widths ?? this.#head.map(widthOf);
    this.#widths = before.map((width, column) => rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? '')), width));
    return (isFirst ? [this.#head, ...rows] : rows).map((row) => `${lineOf(row, this.#widths!, this.#areFigures)}\n`).join('');
  }
}

/** One line per member: its name in plain words, and its value. */
export function labelled(members: Readonly<Record<string, string | number>>): string {
  const entries = Object.entries(members).map(([name, value]) => [name.replaceAll('_', ' '), String(value)] as const);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

function pad(cell: string, width: number, isFigure = false): string {
  const space = ' '.repeat(width - widthOf(cell));
  return isFigure ? space + cell : cell + space;
}

/** The number of characters that people see: `é` is one, however it is encoded. */
function widthOf(cell: string): number {
  if (/^[ -~]*$/.test(cell)) return cell.length;
  // Created only if needed: it takes several milliseconds.
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let width = 0;
  for (const _ of graphemes.segment(cell)) width++;
  return width;
}

let graphemes: Intl.Segmenter | undefined;
