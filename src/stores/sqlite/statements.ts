// Prepared statements, with the type of their rows next to the SQL.
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';

/** A row by column name. */
type SqlRow = Record<string, SQLOutputValue>;

type Values = (SQLInputValue | Record<string, SQLInputValue>)[];

/** The rows have the type given with the SQL: tables are STRICT, so that the schema guarantees it. */
export interface Statement<Row> {
  get(...values: Values): Row | undefined;
  all(...values: Values): Row[];
  iterate(...values: Values): Iterable<Row>;
  run(...values: Values): ReturnType<StatementSync['run']>;
}

/** A statement's SQL. */
interface Sql<Row> {
  readonly text: string;
  readonly asArrays: boolean;
  /** Only carries the type. */
  readonly row?: Row;
}

type List = Readonly<Record<string, string | Sql<unknown>>>;
export type Statements<L extends List> = { readonly [Name in keyof L]: Statement<L[Name] extends Sql<infer Row> ? Row : SqlRow> };

/** SQL whose rows are objects. */
export function objects<Row>(text: string): Sql<Row> {
  return { text, asArrays: false };
}

/** SQL whose rows are arrays, which the driver creates three times as fast (2 instead of 6 microseconds at the width of a team). */
export function tuples<Row extends readonly SQLOutputValue[]>(text: string): Sql<Row> {
  return { text, asArrays: true };
}

export function prepared<L extends List>(database: DatabaseSync, list: L): Statements<L> {
  const statements: Record<string, StatementSync> = {};
  for (const [name, sql] of Object.entries(list)) {
    statements[name] = database.prepare(typeof sql === 'string' ? sql : sql.text);
    if (typeof sql === 'object' && sql.asArrays) statements[name].setReturnArrays(true);
  }
  return statements as unknown as Statements<L>;
}
