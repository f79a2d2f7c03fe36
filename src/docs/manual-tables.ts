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

/** Markdown. */
export function tableText(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [heads, ...rows].map((cells) => `|${cells.map((cell) => (cell === '' ? ' |' : ` ${cell} |`)).join('')}`);
  return lines.toSpliced(1, 0, `|${'---|'.repeat(heads.length)}`).join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** A row for each capability, a column for each protocol. */
function capabilityTable(protocols: readonly DescribedProtocol[]): string {
  const rows = (Object.keys(CAPABILITIES) as (keyof EngineCapabilities)[]).map((name) => [
    CAPABILITIES[name].manual,
    ...protocols.map(({ can }) => cellOf(name, capabilitiesOf(can))),
  ]);
  return tableText(['', ...protocols.map(({ name }) => code(name))], rows);
}

function optionTable({ name, options }: DescribedProtocol): string {
  const { properties = {}, required = [] } = options as SchemaNode;
  const rows = Object.entries(properties).map(([option, shape]) => [code(option), optionText(shape, required.includes(option))]);
  return tableText([code(name), ''], rows);
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
  if (values !== undefined) return values.map((value) => code(String(value))).join(' or ');
  return minimum === undefined ? undefined : `${minimum} to ${maximum}`;
}

function defaultText({ default: value }: SchemaNode): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? `default ${code(String(value))}` : undefined;
}

const TIMES = { second: 'second, sliding', period: 'the period' } as const;

/** A row for each kind; those of windows share one for whatever they count. */
export function limitTable(): string {
  const heads = [code('limit_of'), 'counts', 'in', 'answer', 'in rate limit fields'];
  return tableText(heads, [...new Map(LIMITS.map((limit) => [rowOf(limit).join(), rowOf(limit)])).values()]);
}

function rowOf({ name, per, counts, code: problem, policy = '' }: LimitKind): string[] {
  const isWindow = WINDOWS.some((window) => window === per);
  const shown = (text: string): string => (text === '' ? '' : code(isWindow ? text.replace(per!, 'PER') : text));
  const time = isWindow ? code('PER') : per === 'second' || per === 'period' ? TIMES[per] : 'no certain time';
  return [shown(name), counts, time, `${problem === 'rate_limited' ? 429 : 402} ${code(problem)}`, shown(policy)];
}

export function metricTable(
  metrics: readonly { readonly name: string; readonly help: string; readonly labels: readonly string[] }[],
): string {
  const rows = metrics.map(({ name, labels, help }) => [code(name), labels.map(code).join(', '), help.replaceAll('|', '\\|')]);
  return tableText(['metric', 'labels', ''], rows);
}

/** An operation of the admin API. */
interface ListedRoute {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: { readonly properties: object; readonly required?: readonly string[] };
  readonly operation: { readonly command?: string; readonly summary: string };
}

/** A row for each operation; `/teams?plan=`, or what its body may have. */
export function adminTable(prefix: string, routes: readonly ListedRoute[]): string {
  const rows = routes.map(({ method, path, query = {}, body, operation: { command, summary } }) => {
    const asked = Object.keys(query).map((name, index) => `${index === 0 ? '?' : '&'}${name}=`);
    const sent = Object.keys(body?.properties ?? {}).map((name) => (body?.required?.includes(name) === true ? name : `${name}?`));
    const members = sent.length === 0 ? '' : ` ${code(`{${sent.join(', ')}}`)}`;
    const does = command === undefined ? summary.replace(/\.$/, '') : code(command);
    return [`${code(`${method} ${prefix}${path}${asked.join('')}`)}${members}`, does];
  });
  return tableText(['operation', 'does the same as'], rows);
}
