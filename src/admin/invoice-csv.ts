// Invoices as CSV (RFC 4180), as a file that is read while it is sent.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { dateOf } from '../domain/usage-days.ts';
import type { AdminRefusal } from './admin-result.ts';
import { INVOICE_COLUMNS } from './invoice-rows.ts';
import type { InvoiceRow } from './invoice-rows.ts';
import type { InvoicePart, InvoiceReading } from './invoice-reading.ts';
import type { InvoiceQuestion } from './invoice-question.ts';
import { csvLine } from './usage-csv.ts';
import type { Download } from './usage-csv.ts';

/** The first line. */
export const INVOICE_CSV_HEAD = csvLine(INVOICE_COLUMNS);

/** What is `null` is an empty cell. */
export function invoiceCsvLines(rows: readonly InvoiceRow[]): string {
  return rows.map((row) => csvLine(INVOICE_COLUMNS.map((name) => row[name]))).join('');
}

/** Reads the first teams before anything is sent, so that a store that is down is still a refusal. */
export async function invoiceDownload(
  reading: InvoiceReading,
  question: InvoiceQuestion,
): Promise<Download | AdminRefusal | StoreUnavailable> {
  const parts = reading.walk(question);
  const first = await parts.next();
  if (first.done !== true && first.value.kind !== 'done') return first.value;
  const lines = ({ rows }: InvoicePart): string => invoiceCsvLines(rows.map(({ row }) => row));
  async function* pieces(): AsyncGenerator<string, void, void> {
    yield INVOICE_CSV_HEAD + (first.done !== true && first.value.kind === 'done' ? lines(first.value.value) : '');
    for await (const part of parts) {
      if (part.kind !== 'done') throw new Error('the store has failed midway');
      if (part.value.rows.length > 0) yield lines(part.value);
    }
  }
  const { from, to } = question.range;
  return {
    kind: 'download',
    contentType: 'text/csv; charset=utf-8',
    disposition: `attachment; filename="invoices-${dateOf(from)}-to-${dateOf(to)}.csv"`,
    pieces: pieces(),
  };
}
