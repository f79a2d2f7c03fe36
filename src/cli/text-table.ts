// Formats text for people: aligned columns, and labelled lines.

/** Columns as wide as their widest cell; the last one is not padded. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ''))));
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One line per member: its name in plain words, and its value. */
export function labelled(members: Readonly<Record<string, string | number>>): string {
  const entries = Object.entries(members).map(([name, value]) => [name.replaceAll('_', ' '), String(value)] as const);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(width - widthOf(cell));
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
