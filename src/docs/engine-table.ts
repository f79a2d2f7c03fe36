// The table of an engine protocol in the operator's manual, generated from what the protocol declares.
import { isSecret } from '../domain/option-schema.ts';
import type { SchemaNode } from '../domain/option-schema.ts';
import type { EngineCapabilities } from '../ports/engine.ts';

interface DescribedProtocol {
  readonly name: string;
  /** Schema of `engine.options`. */
  readonly options: unknown;
  readonly can: EngineCapabilities;
}

/** Markdown: a row for each option, and one for each capability. */
function engineTable({ name, options, can }: DescribedProtocol): string {
  const { properties = {}, required = [] } = options as SchemaNode;
  const rows = [
    ...Object.entries(properties).map(([option, shape]) => [`\`${option}\``, optionText(shape, required.includes(option))]),
    ['texts per call', Number.isFinite(can.textsMax) ? String(can.textsMax) : 'all of a request'],
    ['formats', can.formats.join(', ')],
    ['formality', can.formality ? 'yes' : 'no: `more` and `less` are refused, `/v1/languages` says so'],
    ['context', can.context ? 'yes' : 'no: it is only a hint, and is left out'],
    ['glossaries', can.glossaries ? 'yes' : 'no: a `glossary_id` is refused'],
    ['style', styleText(can)],
    ['source language', can.detection ? 'detected if none is given' : 'not reported if none is given'],
    ['`engine.batch`', batchText(can)],
  ];
  return [`| \`${name}\` | |`, '|---|---|', ...rows.map(([head, text]) => `| ${head} | ${text} |`)].join('\n');
}

/** Puts each table between its marks, `<!-- table of NAME -->` and `<!-- end -->`. Throws one line if a protocol has none. */
export function withEngineTables(manual: string, protocols: readonly DescribedProtocol[]): string {
  return protocols.reduce((text, protocol) => withTable(text, protocol.name, engineTable(protocol)), manual);
}

/** Puts a table between the marks of its name. */
export function withTable(text: string, name: string, table: string): string {
  const opening = `<!-- table of ${name} -->\n`;
  const from = text.indexOf(opening) + opening.length;
  const to = text.indexOf('<!-- end -->', from);
  if (from < opening.length || to === -1) {
    throw new Error(`the manual has no place for the table of ${name}: put "${opening.trimEnd()}" and "<!-- end -->" into its section`);
  }
  return `${text.slice(0, from)}${table}\n${text.slice(to)}`;
}

function optionText(shape: SchemaNode, required: boolean): string {
  // Members with a default are filled in, so they may be left out although the schema requires them.
  const needed = required && shape.default === undefined ? 'required' : undefined;
  const facts = [needed, isSecret(shape) ? 'secret' : undefined, choiceText(shape), defaultText(shape)];
  const known = facts.filter((fact) => fact !== undefined);
  return `${shape.description ?? ''}${known.length === 0 ? '' : ` *${known.join('; ')}*`}`;
}

function choiceText({ enum: values, minimum, maximum }: SchemaNode): string | undefined {
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(' or ');
  return minimum === undefined ? undefined : `${minimum} to ${maximum}`;
}

function defaultText({ default: value }: SchemaNode): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? `default \`${value}\`` : undefined;
}

function styleText({ instructions, styles }: EngineCapabilities): string {
  if (!instructions) return 'no: `custom_instructions`, `style_id` and translation memories of the DeepL API are refused';
  return styles ? 'instructions, style rules and translation memories' : 'instructions; `style_id` and translation memories are refused';
}

function batchText({ sharedCalls, textsMax }: EngineCapabilities): string {
  if (!sharedCalls) return 'refused: callers never share a call';
  return textsMax === 1 ? 'refused: it takes one text per call' : 'yes';
}
