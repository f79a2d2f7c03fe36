// CSV (RFC 4180), safe to open in a spreadsheet; as lines, and as a file read while it is sent.
import type { GivenMembers } from './input.ts';
import { allRows } from './listing.ts';
import type { OperationContext } from './operation-context.ts';
import type { AdminOperation } from './operation.ts';

type Values = Readonly<Record<string, unknown>>;

/** Writes rows as lines, with these members as columns; `head` is the first line. */
export function csvOf(columns: readonly string[]) {
  return {
    head: csvLine(columns),
    lines: (rows: readonly unknown[]): string => rows.map((row) => csvLine(columns.map((name) => (row as Values)[name]))).join(''),
  };
}

/** What is `null` or absent is an empty cell. */
function csvLine(values: readonly unknown[]): string {
  return `${values.map((value) => (typeof value === 'string' ? cell(value) : value === undefined || value === null ? '' : JSON.stringify(value))).join(',')}\r\n`;
}

/**
 * A spreadsheet's formula: one of its signs at the beginning, also after what is invisible, in some
 * locales full-width. A semicolon may begin another cell.
 */
const FORMULA = /(^|[;\t\r\n])([\s\p{Cf}"'“”‘’«»`]*)(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20\u2212])/gu;
const NEEDS_QUOTES = /[",\r\n;\t]|^\s|\s$/;

/** Most cells: they need no closer check. */
const PLAIN = /^\w(?:[\w .-]*\w)?$/;

/** An apostrophe in front makes it text. */
function cell(text: string): string {
  if (PLAIN.test(text)) return text;
  const safe = text.replace(FORMULA, "$1'$2");
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export interface Download {
  readonly kind: 'download';
  readonly contentType: string;
  readonly disposition: string;
  /** Throws if the store fails midway, so that a partial file does not look complete. */
  readonly pieces: AsyncIterable<string>;
}

/** As a file. Reads the first rows before it is sent: a store that is down is a refusal. */
export async function downloadOf(one: AdminOperation, context: OperationContext, input: GivenMembers): Promise<Download> {
  const { columns, name } = one.listing!.file!;
  const parts = allRows(one, context, input);
  const { rows: firstRows } = (await parts.next()).value ?? { rows: [] };
  const { head, lines } = csvOf(columns(input));
  async function* pieces(): AsyncGenerator<string, void, void> {
    yield head + lines(firstRows);
    for await (const { rows } of parts) if (rows.length > 0) yield lines(rows);
  }
  return {
    kind: 'download',
    contentType: 'text/csv; charset=utf-8',
    disposition: `attachment; filename="${name(input, context.nowMs())}.csv"`,
    pieces: pieces(),
  };
}
