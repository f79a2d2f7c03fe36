// Guarantees as plain functions that fail by throwing, so that any test runner can run them one after another.
import { format } from 'node:util';

/** One guarantee. */
export interface ContractCase {
  readonly name: string;
  /** Rejects with a readable difference if the guarantee is broken. */
  readonly run: () => Promise<void>;
}

/** How the parts of a suite add their cases. */
export interface AddCase<Fixture = unknown> {
  (name: string, run: (fixture: Fixture) => Promise<void> | void): void;
  /** Adds one case per row. The title is formatted by `util.format`, or refers to members of the row as `$name`. */
  each<Row>(rows: readonly Row[]): (title: string, run: (...row: RowValues<Row>) => Promise<void> | void) => void;
}

type RowValues<Row> = Row extends readonly [...infer Entries] ? Entries : Row extends readonly unknown[] ? [...Row] : [row: Row];

/**
 * Collects cases and prefixes their names with `part`. `begin` runs before each case.
 */
export function collector<Fixture>(
  cases: ContractCase[],
  part: string,
  fixture: Fixture,
  begin: () => Promise<void> = () => Promise.resolve(),
): AddCase<Fixture> {
  const add = (name: string, run: (fixture: Fixture) => Promise<void> | void): void => {
    cases.push({
      name: `${part}: ${name}`,
      async run() {
        await begin();
        await run(fixture);
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
