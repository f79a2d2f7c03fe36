// Usage as a file: the lines of all rows, read while they are sent.
import { dateOf } from '../domain/usage-days.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { AdminRefusal } from './admin-result.ts';
import { CSV_TYPE, dispositionOf, usageCsv } from './usage-csv.ts';
import type { UsageReading } from './usage-reading.ts';
import type { UsageQuestion } from './usage-rows.ts';

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
  return { kind: 'download', contentType: CSV_TYPE, disposition: dispositionOf(dateOf(from), dateOf(to)), pieces: pieces() };
}
