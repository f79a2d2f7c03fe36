// What commands print: labelled lines, and rows of lists as a table, as JSON or as CSV.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { csvOf } from '../admin/csv.ts';
import { span } from '../admin/fields.ts';
import type { GivenMembers } from '../admin/input.ts';
import type { RowPart } from '../admin/listing.ts';
import type { AdminOperation, Cell } from '../admin/operation.ts';
import { amountText } from '../domain/money.ts';
import { CommandFailure } from './command.ts';
import type { CommandContext } from './command.ts';

/** Writes a table whose rows are not all known yet: columns are as wide as the cells so far. */
function growingTable(head: readonly string[], isFigures: (column: number) => boolean) {
  let widths: readonly number[] | undefined;
  /** The rows, each with a line feed, below the head if they are the first. */
  return (more: readonly (readonly string[])[]): string => {
    const rows = widths === undefined ? [head.map((one) => one.toUpperCase()), ...more] : more;
    const before = widths ?? head.map(() => 0);
    const wide = before.map((width, column) => rows.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? '')), width));
    widths = wide;
    const padded = (cell: string, column: number): string => {
      const space = ' '.repeat(wide[column]! - widthOf(cell));
      return isFigures(column) ? space + cell : cell + space;
    };
    return rows.map((row) => `${row.map(padded).join('  ').trimEnd()}\n`).join('');
  };
}

/** The number of characters that people see: `é` is one, however it is encoded. */
function widthOf(cell: string): number {
  if (/^[ -~]*$/.test(cell)) return cell.length;
  // Created only if needed: it takes several milliseconds.
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return [...graphemes.segment(cell)].length;
}

let graphemes: Intl.Segmenter | undefined;

export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return growingTable(head, () => false)(rows).trimEnd();
}

/** One line per member: its name in plain words, and its value. */
export function labelled(members: Readonly<Record<string, string | number>>): string {
  const entries = Object.entries(members).map(([name, value]) => [name.replaceAll('_', ' '), value] as const);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
}

/** A record by the names of its members, and what is below it. */
export function recordText(one: AdminOperation, value: unknown, nowMs: number): string {
  const cells: readonly (readonly [string, Cell])[] =
    one.facts === undefined
      ? columnsOf(one).map(({ head, cell }) => [head.toLowerCase(), cell(value as never, nowMs) ?? '-'])
      : Object.entries(one.facts(value)).filter(([, cell]) => cell !== undefined);
  const below = one.below?.rows(value, nowMs).map((row) => row.map((cell) => shown(cell, nowMs))) ?? [];
  const parts = [
    cells.length === 0 ? undefined : labelled(Object.fromEntries(cells.map(([name, cell]) => [name, shown(cell, nowMs)]))),
    below.length === 0 ? one.below?.none : textTable(one.below!.heads, below),
  ];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

function columnsOf({ columns = [] }: AdminOperation, input?: GivenMembers) {
  return columns.filter(({ only, when }) => only !== 'console' && (input === undefined || when?.(input) !== false));
}

/** Rows as they are read, so that their number does not matter. */
interface RowWriter {
  readonly head: string;
  lines(rows: readonly unknown[]): string;
  /** `isEmpty`: no rows were written. */
  end(isEmpty: boolean, missing: readonly string[]): string;
}

function writerFor(one: AdminOperation, context: CommandContext, input: GivenMembers): RowWriter {
  const { file, missing: beside } = one.listing ?? {};
  if (context.json) {
    let separator = '\n';
    return {
      head: `{"${one.list}":[`,
      lines(rows) {
        const text = separator + rows.map((row) => JSON.stringify(row)).join(',\n');
        separator = ',\n';
        return text;
      },
      end: (isEmpty, missing) => `${isEmpty ? '' : '\n'}]${missing.length > 0 ? `,"${beside!.member}":${missing.length}` : ''}}\n`,
    };
  }
  if (file !== undefined && context.on('csv')) return { ...csvOf(file.columns(input)), end: () => '' };
  const columns = columnsOf(one, input);
  const table = growingTable(
    columns.map(({ head }) => head),
    (column) => columns[column]!.holds === 'figures',
  );
  const totals = file?.totals?.();
  return {
    head: '',
    lines(rows) {
      totals?.add(rows);
      const nowMs = context.io.nowMs();
      return table(rows.map((row) => columns.map(({ cell }) => shown(cell(row as never, nowMs), nowMs))));
    },
    end: (isEmpty) => (isEmpty ? `${one.none ?? 'There are none.'}\n` : (totals?.text() ?? '')),
  };
}

/** Prints the rows of a list, and on standard error how far an export has come. */
export async function printList(
  one: AdminOperation,
  context: CommandContext,
  input: GivenMembers,
  parts: AsyncIterable<RowPart> | Iterable<RowPart>,
): Promise<void> {
  const { io } = context;
  const writer = writerFor(one, context, input);
  const progress = progressOn(context);
  let [began, isEmpty] = [false, true];
  const missing: string[] = [];
  try {
    for await (const { rows, checked, missing: toCome } of parts) {
      missing.push(...toCome);
      // Not before the first result: if nothing can be read, standard output stays empty.
      if (!began) io.out(writer.head);
      began = true;
      if (rows.length > 0) io.out(writer.lines(rows));
      isEmpty = isEmpty && rows.length === 0;
      if (one.listing?.file !== undefined) progress.show(checked);
      // Whether the reader has closed the output is only known a moment after writing.
      await nextTurn();
      if (io.abandoned()) return;
    }
  } finally {
    progress.end();
  }
  const failure = isEmpty ? one.noneFails : undefined;
  if (failure === undefined || context.json) io.out((began ? '' : writer.head) + writer.end(isEmpty, missing));
  if (failure !== undefined) throw new CommandFailure(failure);
  if (missing.length > 0) io.err(`lingate ${context.command.name}: warning: ${one.listing!.missing!.words(missing)}\n`);
}

const LINE_TEAMS = 25_000;
const TERMINAL_MS = 200;

/** A counter of teams at a terminal that shows nothing else, otherwise a line now and then. */
function progressOn({ io, command: { name } }: CommandContext) {
  let [shownAtMs, lines, counted] = [io.nowMs(), 0, ''];
  return {
    show(teams: number): void {
      if (!io.watched) {
        if (Math.floor(teams / LINE_TEAMS) > lines) io.err(`lingate ${name}: ${teams} teams\n`);
        lines = Math.floor(teams / LINE_TEAMS);
      } else if (!io.shown && io.nowMs() - shownAtMs >= TERMINAL_MS) {
        [shownAtMs, counted] = [io.nowMs(), `${teams} teams`];
        io.err(`\r${counted}`);
      }
    },
    /** Clears the counter. */
    end: () => counted !== '' && io.err(`\r${' '.repeat(counted.length)}\r`),
  };
}

function shown(cell: Cell, nowMs: number): string {
  if (cell === undefined) return '-';
  if (typeof cell !== 'object') return String(cell);
  switch (cell.kind) {
    case 'moment':
    case 'day':
      return cell.at;
    case 'ago':
      // Exact, because a rotation waits until it stops. A future time, by a slow clock, is now.
      return cell.at === null ? 'never' : `${span(Math.max(0, nowMs - Date.parse(cell.at)))} ago (${cell.at})`;
    case 'team':
      return cell.name ?? cell.id;
    case 'key':
      return cell.label || cell.id;
    case 'bytes':
      return String(cell.bytes);
    case 'share':
      return `${cell.used} of ${cell.of}${cell.until === undefined ? '' : `, until ${cell.until}`}`;
    case 'money':
      return `${amountText(cell.minor, cell.currency)} ${cell.currency}`;
    case 'below':
      return `${shown(cell.cell, nowMs)} (${cell.below})`;
    case 'status':
      return cell.status;
    case 'word':
      return cell.word;
    case 'changes':
      return changesText(cell);
    case 'problem':
      return `${cell.before ?? ''}${cell.code}`;
    case 'code':
    case 'path':
      return cell.text;
  }
}

/** `balance_minor 700 -> 200, reason "…"`. */
function changesText({ before, after }: Extract<Cell, { kind: 'changes' }>): string {
  const members = Object.keys({ ...before, ...after }).map((name) => {
    const [was, is] = [before[name], after[name]].map((value) => (value === undefined ? undefined : JSON.stringify(value)));
    return was === undefined ? `${name} ${is}` : `${name} ${was} -> ${is ?? 'none'}`;
  });
  return members.join(', ');
}
