// One list of columns per table: the columns of SELECT and UPDATE and the names of a row's values are made from it.
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';

/** A row by the names of its columns. */
export type SqlRow = Record<string, SQLOutputValue>;

/** From a property's name to its column's. */
export type Columns = Readonly<Record<string, string>>;

/** A row of whole numbers by the names of its properties. */
export type Numbers<C extends Columns> = { -readonly [Name in keyof C]: number };

/** `t.one, t.two`: in the order of the list. */
export function selected(columns: Columns, table: string): string {
  return Object.values(columns)
    .map((column) => `${table}.${column}`)
    .join(', ');
}

/** `one = ?, two = ?`: in the order of the list. */
export function assigned(columns: Columns): string {
  return Object.values(columns)
    .map((column) => `${column} = ?`)
    .join(', ');
}

export function valuesOf<Name extends string>(
  columns: Readonly<Partial<Record<Name, string>>>,
  row: Readonly<Record<Name, SQLInputValue>>,
): SQLInputValue[] {
  const values: SQLInputValue[] = [];
  for (const name in columns) values.push(row[name]);
  return values;
}

/** Names the values of a row that begin at `first`. The caller knows their types from the schema. */
export function named(columns: Columns, row: readonly SQLOutputValue[], first: number): Record<string, SQLOutputValue> {
  const result: Record<string, SQLOutputValue> = {};
  let at = first;
  for (const name in columns) result[name] = row[at++]!;
  return result;
}
