// A group of records of the reference store: tables, the ids of indexes, and blobs.
import type { EntryPieces, GroupChange, RecordName } from 'lingate';

const EMPTY: ReadonlyMap<string, string> = new Map();

export class RecordGroup {
  readonly tables = new Map<string, Map<string, string>>();
  readonly blobs = new Map<string, EntryPieces>();

  table(name: string): ReadonlyMap<string, string> {
    return this.tables.get(name) ?? EMPTY;
  }

  get(table: string, id: string): string | undefined {
    return this.tables.get(table)?.get(id);
  }

  put(table: string, id: string, value: string): void {
    this.tables.set(table, (this.tables.get(table) ?? new Map<string, string>()).set(id, value));
  }

  values(names: readonly RecordName[]): (string | undefined)[] {
    return names.map(({ table, id }) => this.get(table, id));
  }

  write({ remove = [], unindex = [], put = [], index = [] }: Omit<GroupChange<unknown>, 'result'>): void {
    for (const { table, id } of remove) this.tables.get(table)?.delete(id);
    for (const entry of unindex) this.tables.get(entry.index)?.delete(entry.id);
    for (const { table, id, value } of put) this.put(table, id, value);
    for (const entry of index) this.put(entry.index, entry.id, '');
  }
}
