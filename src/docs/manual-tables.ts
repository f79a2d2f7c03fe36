// The tables of the operator's manual: what engine protocols can do and take, limits in the order
// in which they are judged, metrics, the admin API.
import { isSecret } from '../domain/option-schema.ts';
import type { SchemaNode } from '../domain/option-schema.ts';
import { CAPABILITIES, capabilitiesOf } from '../domain/translation-options.ts';
import type { EngineCapabilities } from '../domain/translation-options.ts';
import { LIMITS, WINDOWS } from '../domain/window-limits.ts';
import type { LimitKind } from '../domain/window-limits.ts';

interface DescribedProtocol {
  readonly name: string;
  /** Schema of `engine.options`. */
  readonly options: unknown;
  /** What it declares. */
  readonly can: Partial<EngineCapabilities> | undefined;
}

/** What of a protocol is in its cell. */
function cellOf(name: keyof EngineCapabilities, can: EngineCapabilities): string {
  const value = can[name];
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'any';
  if (typeof value !== 'boolean') return value.join(', ');
  return value && (name !== 'sharedCalls' || can.textsMax > 1) ? 'yes' : 'no';
}

/** Markdown: a row for each capability, a column for each protocol. */
function capabilityTable(protocols: readonly DescribedProtocol[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = (Object.keys(CAPABILITIES) as (keyof EngineCapabilities)[]).map((name) =>
    row([CAPABILITIES[name].manual, ...protocols.map(({ can }) => cellOf(name, capabilitiesOf(can)))]),
  );
  const heads = protocols.map(({ name }) => `\`${name}\``);
  return [row(['', ...heads]), `|${'---|'.repeat(heads.length + 1)}`, ...rows].join('\n');
}

/** Markdown: a row for each option. */
function optionTable({ name, options }: DescribedProtocol): string {
  const { properties = {}, required = [] } = options as SchemaNode;
  const rows = Object.entries(properties).map(([option, shape]) => `| \`${option}\` | ${optionText(shape, required.includes(option))} |`);
  return [`| \`${name}\` | |`, '|---|---|', ...rows].join('\n');
}

/**
 * Puts each table between its marks, `<!-- table of NAME -->` and `<!-- end -->`; that of all is
 * `capabilities`. Throws one line if a protocol has none.
 */
export function withEngineTables(manual: string, protocols: readonly DescribedProtocol[]): string {
  const text = withTable(manual, 'capabilities', capabilityTable(protocols));
  return protocols.reduce((sum, protocol) => withTable(sum, protocol.name, optionTable(protocol)), text);
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
  // Members with a default are filled in, so they may be left out.
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

const TIMES = { second: 'second, sliding', period: 'the period' } as const;

/** A row for each kind; those of windows share one for whatever they count. */
export function limitTable(): string {
  const rows = LIMITS.map(rowOf);
  return ['| `limit_of` | counts | in | answer | in rate limit fields |', '|---|---|---|---|---|', ...new Set(rows)].join('\n');
}

function rowOf({ name, per, counts, code, policy }: LimitKind): string {
  const isWindow = WINDOWS.some((window) => window === per);
  const shown = (text: string): string => `\`${isWindow ? text.replace(per!, 'PER') : text}\``;
  const time = isWindow ? '`PER`' : per === 'second' || per === 'period' ? TIMES[per] : 'no certain time';
  const field = policy === undefined ? '' : shown(policy);
  return `| ${shown(name)} | ${counts} | ${time} | ${statusOf(code)} \`${code}\` | ${field} |`;
}

function statusOf(code: LimitKind['code']): number {
  return code === 'rate_limited' ? 429 : 402;
}

export function metricTable(
  metrics: readonly { readonly name: string; readonly help: string; readonly labels: readonly string[] }[],
): string {
  const rows = metrics.map(
    ({ name, labels, help }) => `| \`${name}\` | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help.replaceAll('|', '\\|')} |`,
  );
  return ['| metric | labels | |', '|---|---|---|', ...rows].join('\n');
}

/** An operation of the admin API. */
interface ListedRoute {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: { readonly properties: object; readonly required?: readonly string[] };
  readonly operation: { readonly command?: string; readonly summary: string };
}

/** Markdown: a row for each operation; `/teams?plan=`, or what its body may have. */
export function adminTable(prefix: string, routes: readonly ListedRoute[]): string {
  const rows = routes.map(({ method, path, query = {}, body, operation: { command, summary } }) => {
    const asked = Object.keys(query).map((name, index) => `${index === 0 ? '?' : '&'}${name}=`);
    const sent = Object.keys(body?.properties ?? {}).map((name) => (body?.required?.includes(name) === true ? name : `${name}?`));
    const members = sent.length === 0 ? '' : ` \`{${sent.join(', ')}}\``;
    return `| \`${method} ${prefix}${path}${asked.join('')}\`${members} | ${command === undefined ? summary.replace(/\.$/, '') : `\`${command}\``} |`;
  });
  return ['| operation | does the same as |', '|---|---|', ...rows].join('\n');
}
