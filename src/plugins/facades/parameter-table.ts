// The manual's table of other vendors' parameters: every parameter of a described operation, and what it does here.
import { parametersIn } from './parameters.ts';
import type { Described } from './parameters.ts';

/** An operation of one version of a vendor's API. */
export interface DescribedOperation {
  /** For the first column, such as `Azure 3.0`. */
  readonly api: string;
  readonly parameters: Described;
  /** What happens to names that are not described, in words. */
  readonly others: string;
}

interface ParameterRow {
  /** With its place: `inputs[].targets[].tone`. */
  readonly name: string;
  readonly does: string;
  readonly about: string;
}

/** The rows of one operation, members after the object that has them. */
export function rowsOf(parameters: Described, at = ''): readonly ParameterRow[] {
  return parametersIn(parameters).flatMap(({ name, does, but, about, fields = [], entriesMax }) => {
    const place = `${at}${name}${entriesMax === undefined || name === '[]' ? '' : '[]'}`;
    return [{ name: at + name, does: wordsOf(does, but), about }, ...rowsOf(fields, `${place}.`)];
  });
}

function wordsOf(does: 'served' | 'refused' | 'nothing', but: readonly string[] | undefined): string {
  if (does === 'nothing') return 'without effect';
  return does === 'refused' && but !== undefined ? `refused, except ${but.map((one) => `\`${one}\``).join(', ')}` : does;
}

/** Markdown. */
export function parameterTable(operations: readonly DescribedOperation[]): string {
  const rows = operations.flatMap(({ api, parameters, others }) => [
    ...rowsOf(parameters).map(({ name, does, about }) => [api, `\`${name}\``, does, about]),
    [api, 'any other', others, ''],
  ]);
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  return ['| API | parameter | here | |', '|---|---|---|---|', ...lines].join('\n');
}
