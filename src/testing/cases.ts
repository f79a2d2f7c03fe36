// Guarantees as plain functions that fail by throwing: any test runner can run them, one after the other.
import { format } from 'node:util';

/** One guarantee. */
export interface ContractCase {
  readonly name: string;
  /** Rejects, with a difference to read, when it is broken. */
  readonly run: () => Promise<void>;
}

/** How the parts of a suite add their cases. */
export interface AddCase {
  (name: string, run: () => Promise<void> | void): void;
  /** One case for each row. The title is for `util.format`, or names members of the row as `$name`. */
  each<Row>(rows: readonly Row[]): (title: string, run: (...row: RowValues<Row>) => Promise<void> | void) => void;
}

type RowValues<Row> = Row extends readonly [...infer Entries] ? Entries : Row extends readonly unknown[] ? [...Row] : [row: Row];

/** Collects into `cases`; names begin with `part`, and `before` runs ahead of each. */
export function collector(cases: ContractCase[], part: string, before: () => Promise<void> | void): AddCase {
  const add = (name: string, run: () => Promise<void> | void): void => {
    cases.push({
      name: `${part}: ${name}`,
      async run() {
        await before();
        await run();
      },
    });
  };
  const each = <Row>(rows: readonly Row[]) => {
    return (title: string, run: (...row: RowValues<Row>) => Promise<void> | void): void => {
      for (const row of rows) {
        const members = (Array.isArray(row) ? row : [row]) as unknown as RowValues<Row>;
        add(titleOf(title, members), () => run(...members));
      }
    };
  };
  return Object.assign(add, { each });
}

function titleOf(title: string, row: readonly unknown[]): string {
  if (!title.includes('$')) return format(title, ...row.slice(0, title.match(/%[is]/g)?.length ?? 0));
  return title.replaceAll(/\$(\w+)/g, (_whole, name: string) => String((row[0] as Readonly<Record<string, unknown>>)[name]));
}
