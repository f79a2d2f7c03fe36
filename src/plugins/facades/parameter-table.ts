// The manual's table of other vendors' parameters, and whether each is served.
import { parametersIn } from './parameters.ts';
import type { Described, ParameterDoc } from './parameters.ts';

/** An operation of one version of a vendor's API. */
export interface DescribedOperation {
  /** The heading, such as `Azure 3.0`. */
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

function wordsOf(does: ParameterDoc['does'], but: readonly string[] | undefined): string {
  if (does !== 'refused') return does === undefined ? 'served' : 'without effect';
  return but === undefined ? does : `refused, except ${but.map((one) => `\`${one}\``).join(', ')}`;
}

/** Markdown: a section for each operation. The OpenAPI document has what served ones do. */
export function parameterTable(operations: readonly DescribedOperation[]): string {
  return operations.map(sectionOf).join('\n\n');
}

/** Parameters of which the same is said share a row. */
function sectionOf({ api, parameters, others }: DescribedOperation): string {
  const names = new Map<string, string[]>();
  for (const { name, does, about } of rowsOf(parameters)) {
    const why = does.startsWith('refused') ? ` | ${about.replaceAll('|', '\\|')} |` : ' | |';
    const row = `${does}\n${why}`;
    names.set(row, [...(names.get(row) ?? []), `\`${name}\``]);
  }
  const rows = [...names].map(([row, shared]) => `| ${row.replace('\n', ` | ${shared.join(', ')}`)}`);
  return [`## ${api}`, '', '| here | parameters | why |', '|---|---|---|', ...rows, `| ${others} | any other | |`].join('\n');
}
