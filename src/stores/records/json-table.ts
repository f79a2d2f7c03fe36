// Records as their subjects have them: a group of a record space, which throws what the store does not answer (`answeringAll` makes values
// of that again), and its tables of JSON.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { DecideChange, GroupChange, GroupHead, IndexEntry, IndexPage } from '../../ports/record-space.ts';
import type { RecordName, RecordSpace, RecordTable } from '../../ports/record-space.ts';

export type Writes = Pick<GroupChange<unknown>, 'put' | 'remove' | 'index' | 'unindex'>;
type Values = readonly (string | undefined)[];

/** How many records are removed at a time. */
const PIECE = 200;
const TIME_DIGITS = 15;
const LATEST_MS = 10 ** TIME_DIGITS - 1;

/** A team's records, or the shared ones. */
export class RecordGroup {
  readonly #space: RecordSpace;
  readonly #id: string;

  constructor(space: RecordSpace, id = SHARED_RECORDS) {
    [this.#space, this.#id] = [space, id];
  }

  async read(names: readonly RecordName[]): Promise<Values> {
    return answered(await this.#space.read(this.#id, names));
  }

  async list(table: RecordTable): Promise<ReadonlyMap<string, string>> {
    return answered(await this.#space.list(this.#id, table));
  }

  async page(page: IndexPage): Promise<readonly string[]> {
    return answered(await this.#space.page(this.#id, page));
  }

  /** `undefined` if there is no such team, as for `head`. */
  async change<Result>(names: readonly RecordName[], decide: DecideChange<Result>) {
    return answered(await this.#space.change(this.#id, names, decide));
  }

  head(): Promise<GroupHead | undefined> {
    return this.change([], (_values, head) => ({ result: head }));
  }

  async write(writes: Writes): Promise<void> {
    await this.change([], () => ({ result: undefined, ...writes }));
  }

  /** Many, a few at a time. */
  async writeAll(all: readonly Writes[]): Promise<void> {
    for (let at = 0; at < all.length; at += PIECE) await this.write(joined(...all.slice(at, at + PIECE)));
  }
}

/** What becomes of a record, and what else is written: `undefined` leaves it as it is, `null` removes it. */
export interface Decided<Result, Value> extends GroupChange<Result> {
  readonly next?: Value | null | undefined;
}

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

  async find(group: RecordGroup, id: string): Promise<T | undefined> {
    return this.read((await group.read([this.name(id)]))[0]);
  }

  /** In any order. */
  async list(group: RecordGroup): Promise<(readonly [id: string, value: T])[]> {
    return [...(await group.list(this.#table))].map(([id, text]) => [id, this.read(text)]);
  }

  /** Decides on a record, and on `others` by their texts; what is decided is written if all are still so. */
  change<Result>(
    group: RecordGroup,
    id: string,
    others: readonly RecordName[],
    decide: (known: T | undefined, head: GroupHead, others: Values) => Decided<Result, T>,
  ) {
    return group.change<Result>([this.name(id), ...others], ([text, ...values], head) => {
      const known = this.read(text);
      const { next, ...change } = decide(known, head, values);
      if (next === undefined) return change;
      if (next !== null) return { ...change, ...joined(change, this.put(id, next, known)) };
      return known === undefined ? change : { ...change, ...joined(change, this.remove(id, known)) };
    });
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

/** For indexes: in the order of time, and in the opposite one. */
export function timeDigits(ms: number): string {
  return String(Math.max(0, ms)).padStart(TIME_DIGITS, '0');
}

export function latestFirst(ms: number): string {
  return timeDigits(LATEST_MS - ms);
}
