// Usage as CSV (RFC 4180), safe to be opened in a spreadsheet.
import type { UsageQuestion, UsageRow } from './usage-rows.ts';

const COLUMNS = ['team_id', 'name', 'plan', 'date', 'character_count', 'request_count'] as const satisfies readonly (keyof UsageRow)[];
const KEY_COLUMNS = ['key_id', 'display', 'label', 'mode'] as const satisfies readonly (keyof UsageRow)[];

export const CSV_TYPE = 'text/csv; charset=utf-8';

/** Writes the lines of rows; `head` is the first line. */
export interface UsageCsv {
  readonly head: string;
  readonly lines: (rows: readonly UsageRow[]) => string;
}

export function usageCsv({ keys }: Pick<UsageQuestion, 'keys'>): UsageCsv {
  const columns: readonly (keyof UsageRow)[] = keys ? [...COLUMNS, ...KEY_COLUMNS] : COLUMNS;
  return { head: lineOf(columns), lines: (rows) => rows.map((row) => lineOf(columns.map((name) => row[name]))).join('') };
}

function lineOf(values: readonly (string | number | null | undefined)[]): string {
  return `${values.map((value) => (typeof value === 'string' ? cell(value) : String(value ?? ''))).join(',')}\r\n`;
}

/**
 * What a spreadsheet takes for a formula: a sign of one at the beginning, also behind white space, marks that are not seen,
 * and quotes; full-width signs count in some languages. Where lists are separated by semicolons, one within a cell begins another.
 */
const FORMULA = /(^|[;\t\r\n])([\s\p{Cf}"'“”‘’«»`]*)(?=[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20\u2212])/gu;
const NEEDS_QUOTES = /[",\r\n;\t]|^\s|\s$/;

/** Most cells: nothing in them needs a closer look. */
const PLAIN = /^\w(?:[\w .-]*\w)?$/;

/** An apostrophe before what would run makes text of it. */
function cell(text: string): string {
  if (PLAIN.test(text)) return text;
  const safe = text.replace(FORMULA, "$1'$2");
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `usage-2026-11-01-to-2026-11-30.csv`, as a field's value. */
export function dispositionOf(from: string, to: string): string {
  return `attachment; filename="usage-${from}-to-${to}.csv"`;
}
