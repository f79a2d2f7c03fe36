// The card as text: a table for the terminal, the same as Markdown for the README.
import type { Card, CardRow, Verdict } from './card.ts';

/** What the numbers below the table refer to. */
export interface Setting {
  readonly runtimePackages: number;
  readonly runtimePackagesInAll: number;
  readonly machine: string;
  readonly commit: string;
}

const WIDTHS = [2, 16, 62, 40, 12, 6] as const;
const HEADINGS = ['#', 'what', 'our figure', 'target', 'verdict', 'time'] as const;
const MARKDOWN_HEADINGS = ['#', 'what', 'our figure', 'target', 'met', 'command'] as const;
const MET: Readonly<Record<Verdict, string>> = { met: 'yes', 'not met': 'no', 'not measured': 'not measured' };

export function tableText({ rows }: Card): string {
  const rule = WIDTHS.map((width) => '-'.repeat(width)).join('-+-');
  return [lineText(HEADINGS), ...rows.map((row) => lineText(cellsOf(row, '\n')))].join(`\n${rule}\n`);
}

export function tableMarkdown({ rows }: Card): string {
  const cells = rows.map((row) => {
    const [number, what, figure, target] = cellsOf(row, '<br>').map(escaped);
    return [number, what, figure, target, MET[row.verdict], `\`npm run scorecard -- --rows ${row.row}\``];
  });
  return [MARKDOWN_HEADINGS, MARKDOWN_HEADINGS.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

export function countsText({ rows, counts, seconds }: Card, setting: Setting): string {
  const met = rows.filter(({ verdict }) => verdict === 'met').length;
  const number = (count: number): string => count.toLocaleString('en');
  return [
    `${met} of ${rows.length} rows met in ${Math.floor(seconds / 60)} min ${seconds % 60} s, one after the other`,
    `bad inputs tried: ${number(counts.badInputs)}`,
    `faults injected: ${number(counts.faults)}`,
    `requests checked against every invariant: ${number(counts.requestsChecked)}; under virtual time: ${number(counts.requestsSimulated)}`,
    `runtime packages: ${setting.runtimePackages}, with what they need in turn ${setting.runtimePackagesInAll}`,
    `measured on ${setting.machine}, commit ${setting.commit}`,
  ]
    .map((line) => `- ${line}`)
    .join('\n');
}

function cellsOf({ row, what, figures, target, verdict, reasons, seconds }: CardRow, lineBreak: string): string[] {
  const said = [...figures, ...reasons.map((reason) => `not met: ${reason}`)];
  const figure = said.length === 0 ? 'not measured' : said.join(lineBreak);
  return [String(row), what, figure, target, verdict, seconds === 0 ? '' : `${seconds} s`];
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Each cell wrapped to its column's width. */
function lineText(cells: readonly string[]): string {
  const columns = cells.map((cell, index) => broken(cell, WIDTHS[index]!));
  const height = Math.max(...columns.map(({ length }) => length));
  const lines = Array.from({ length: height }, (_, at) =>
    columns.map((column, index) => (column[at] ?? '').padEnd(WIDTHS[index]!)).join(' | '),
  );
  return lines.map((line) => line.trimEnd()).join('\n');
}

function broken(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const words = paragraph.split(' ').flatMap((word) => (word.length <= width ? [word] : word.match(new RegExp(`.{1,${width}}`, 'gu'))!));
    const lines: string[] = [];
    for (const word of words) {
      const last = lines.at(-1);
      if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
      else lines[lines.length - 1] = `${last} ${word}`;
    }
    return lines;
  });
}
