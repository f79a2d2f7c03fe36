// Usage as CSV (RFC 4180), safe to open in a spreadsheet; as a file, read while it is sent.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { dateOf } from '../domain/usage-days.ts';
import type { AdminRefusal } from './admin-result.ts';
import type { UsageReading } from './usage-reading.ts';
import type { UsageQuestion, UsageRow } from './usage-rows.ts';

const COLUMNS = ['team_id', 'name', 'plan', 'date', 'character_count', 'request_count'] as const satisfies readonly (keyof UsageRow)[];
const KEY_COLUMNS = ['key_id', 'display', 'label', 'mode'] as const satisfies readonly (keyof UsageRow)[];

/** At the end, so that the others keep their places. */
const LAST_COLUMNS = ['test_character_count', 'reference'] as const satisfies readonly (keyof UsageRow)[];
const TAG_COLUMNS = ['tag', 'reference'] as const satisfies readonly (keyof UsageRow)[];

/** Writes rows as lines; `head` is the first line. */
export function usageCsv({ keys, tags = false }: Pick<UsageQuestion, 'keys' | 'tags'>) {
  const last = tags ? TAG_COLUMNS : LAST_COLUMNS;
  const columns: readonly (keyof UsageRow)[] = [...COLUMNS, ...(keys ? KEY_COLUMNS : []), ...last];
  return {
    head: csvLine(columns),
    lines: (rows: readonly UsageRow[]): string => rows.map((row) => csvLine(columns.map((name) => row[name]))).join(''),
  };
}

/** What is `null` or absent is an empty cell. */
export function csvLine(values: readonly (string | number | boolean | null | undefined)[]): string {
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

export interface Download {
  readonly kind: 'download';
  readonly contentType: string;
  readonly disposition: string;
  /** Throws if the store fails midway, so that a partial file does not look complete. */
  readonly pieces: AsyncIterable<string>;
}

/** Reads the first teams before anything is sent, so that a store that is down is still a refusal. */
export async function usageDownload(reading: UsageReading, question: UsageQuestion): Promise<Download | AdminRefusal | StoreUnavailable> {
  const parts = reading.walk(question);
  const first = await parts.next();
  if (first.done !== true && first.value.kind !== 'done') return first.value;
  const { head, lines } = usageCsv(question);
  async function* pieces(): AsyncGenerator<string, void, void> {
    yield first.done === true ? head : head + lines(first.value.kind === 'done' ? first.value.value.rows : []);
    for await (const part of parts) {
      if (part.kind !== 'done') throw new Error('the store has failed midway');
      if (part.value.rows.length > 0) yield lines(part.value.rows);
    }
  }
  const { from, to } = question.range;
  return {
    kind: 'download',
    contentType: 'text/csv; charset=utf-8',
    disposition: `attachment; filename="usage-${dateOf(from)}-to-${dateOf(to)}.csv"`,
    pieces: pieces(),
  };
}
