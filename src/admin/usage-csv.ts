// Usage as CSV (RFC 4180), safe to open in a spreadsheet.
import type { UsageQuestion, UsageRow } from './usage-rows.ts';

const COLUMNS = ['team_id', 'name', 'plan', 'date', 'character_count', 'request_count'] as const satisfies readonly (keyof UsageRow)[];
const KEY_COLUMNS = ['key_id', 'display', 'label', 'mode'] as const satisfies readonly (keyof UsageRow)[];

export const CSV_TYPE = 'text/csv; charset=utf-8';

/** Writes rows as lines; `head` is the first line. */
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
 * What a spreadsheet takes for a formula: one of its signs at the beginning, also after white space, invisible characters and quotes;
 * in some locales also full-width signs. If the list separator is a semicolon, one within a cell begins another cell.
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

/** `usage-2026-11-01-to-2026-11-30.csv`, as a header value. */
export function dispositionOf(from: string, to: string): string {
  return `attachment; filename="usage-${from}-to-${to}.csv"`;
}
