// Environment variables and flags: values that replace the file's, each with its origin for
// messages; variables that nothing reads.
import { nearest } from './nearest.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'LINGATE_';

/** The values of the flags that are given, by names without dashes. */
export type ConfigFlags = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One member of the configuration, set from outside the file. */
export interface Override {
  readonly path: readonly [member: string] | readonly [section: string, member: string];
  readonly value: unknown;
  /** Named in errors instead of the file. */
  readonly origin: string;
  readonly fromFlag: boolean;
}

/** The members that flags and variables set. */
const OVERRIDDEN: readonly (readonly [flag: string, variable: string, path: Override['path']])[] = [
  ['store', 'LINGATE_STORE', ['store']],
  ['listen', 'LINGATE_LISTEN', ['listen']],
  ['ops', 'LINGATE_OPS', ['ops']],
  ['engine-url', 'LINGATE_ENGINE_URL', ['engine', 'urls']],
  ['engine-protocol', 'LINGATE_ENGINE_PROTOCOL', ['engine', 'protocol']],
];

/** Flags come first. An empty variable is not set: container tools leave them out that way. */
export function overridesOf(env: Environment, flags: ConfigFlags): Override[] {
  return OVERRIDDEN.flatMap(([name, variable, path]): Override[] => {
    const flag = flags[name];
    if (flag !== undefined) return [{ path, value: flag, origin: `--${name}`, fromFlag: true }];
    const text = env[variable] ?? '';
    const value = name === 'engine-url' ? listOf(text) : text;
    return value.length === 0 ? [] : [{ path, value, origin: variable, fromFlag: false }];
  });
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** The file's value with overrides. A section that is no object is left for the schema. */
export function withOverrides(file: unknown, overrides: readonly Override[]): unknown {
  if (!isObject(file)) return file;
  const result: Record<string, unknown> = { ...file };
  for (const { path, value } of overrides) {
    const [first, second] = path;
    const section = result[first] ?? {};
    if (second === undefined) result[first] = value;
    else if (isObject(section)) result[first] = { ...section, [second]: value };
  }
  return result;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The variables that an operator sets. */
const VARIABLES = ['LINGATE_CONFIG', ...OVERRIDDEN.map(([, variable]) => variable), 'LINGATE_UWS_BUILD'];
/** The admin token's documented name; the README's key for callers; a worker's own. */
const ALSO_KNOWN = ['LINGATE_ADMIN_TOKEN', 'LINGATE_KEY', 'LINGATE_WORKER_OF'];

/** Every NAME in a value as `{ env: NAME }`, or PATH as `{ file: PATH }`: only protocols' schemas know which are secrets. */
export function namedBy(form: 'env' | 'file', value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const members: readonly (readonly [string, unknown])[] = Object.entries(value);
  const [name, place] = members.length === 1 ? members[0]! : [];
  if (name === form && typeof place === 'string') return [place];
  return members.flatMap(([, member]) => namedBy(form, member));
}

/** One line that names all, each with what was probably intended; or `undefined`. `file`: a configuration's value. */
export function strayVariables(env: Environment, file: unknown): string | undefined {
  const named = namedBy('env', file);
  const known = new Set([...VARIABLES, ...ALSO_KNOWN, ...named]);
  const strays = Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && env[name] !== '' && env[name] !== undefined)
    .filter((name) => !known.has(name) && !isKubernetes(name, env))
    .toSorted();
  if (strays.length === 0) return undefined;
  const nearby = strays.map((name) => {
    const likely = nearest(bare(name), [...VARIABLES, ...named].map(bare));
    return likely === undefined ? name : `${name} (did you mean ${PREFIX}${likely}?)`;
  });
  return `nothing reads ${nearby.join(', ')}; the variables are ${VARIABLES.join(', ')}, and those that the configuration names with { env: NAME }`;
}

/** Kubernetes sets `NAME_SERVICE_…` and `NAME_PORT…` for each Service: `lingate`, … */
function isKubernetes(name: string, env: Environment): boolean {
  if (/^LINGATE_(?:SERVICE_|PORT)/.test(name)) return true;
  const service = /^(LINGATE_\w+?)_(?:SERVICE_|PORT)/.exec(name)?.[1];
  return service !== undefined && env[`${service}_SERVICE_HOST`] !== undefined;
}

function bare(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}
