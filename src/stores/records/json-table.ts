// A table of JSON records over a record space: the names of its records, and what a change writes of them and of their entries in indexes.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { GroupChange, IndexEntry, RecordName, RecordSpace, RecordTable } from '../../ports/record-space.ts';

export type Writes = Pick<GroupChange<unknown>, 'put' | 'remove' | 'index' | 'unindex'>;

/** How many records are removed at a time. */
const PIECE = 200;
const TIME_DIGITS = 15;
const LATEST_MS = 10 ** TIME_DIGITS - 1;

export class JsonTable<T> {
  readonly #table: RecordTable;
  /** Where a record is found besides its name; the entries end with its id. */
  readonly entries: (id: string, value: T) => readonly IndexEntry[];

  constructor(table: RecordTable, entries: (id: string, value: T) => readonly IndexEntry[] = () => []) {
    this.#table = table;
    this.entries = entries;
  }

  name(id: string): RecordName {
    return { table: this.#table, id };
  }

  names(ids: readonly string[]): RecordName[] {
    return ids.map((id) => this.name(id));
  }

  read(text: string): T;
  read(text: string | undefined): T | undefined;
  read(text: string | undefined): T | undefined {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }

  /** `before`: the value that is replaced. */
  put(id: string, value: T, before?: T): Required<Pick<Writes, 'put' | 'index' | 'unindex'>> {
    const index = this.entries(id, value);
    const left = before === undefined ? [] : this.entries(id, before);
    const unindex = left.filter((one) => !index.some((other) => other.index === one.index && other.id === one.id));
    return { put: [{ ...this.name(id), value: JSON.stringify(value) }], index, unindex };
  }

  remove(id: string, value: T): Required<Pick<Writes, 'remove' | 'unindex'>> {
    return { remove: [this.name(id)], unindex: this.entries(id, value) };
  }
}

export function joined(...all: readonly Writes[]): Required<Writes> {
  const of = <Name extends keyof Writes>(name: Name) => all.flatMap((one) => (one[name] ?? []) as Required<Writes>[Name][number][]);
  return { put: of('put'), remove: of('remove'), index: of('index'), unindex: of('unindex') };
}

/** Makes many changes of shared records, a few at a time. Rejects if the store does not answer (`answering`). */
export async function writeInPieces(space: RecordSpace, all: readonly Writes[]): Promise<void> {
  for (let at = 0; at < all.length; at += PIECE) {
    const writes = joined(...all.slice(at, at + PIECE));
    answered(await space.change(SHARED_RECORDS, [], () => ({ result: true, ...writes })));
  }
}

/** For indexes: in the order of time, and in the opposite one. */
export function timeDigits(ms: number): string {
  return String(Math.max(0, ms)).padStart(TIME_DIGITS, '0');
}

export function latestFirst(ms: number): string {
  return timeDigits(LATEST_MS - ms);
}
