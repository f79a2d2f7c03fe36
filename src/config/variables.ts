// Finds environment variables with our prefix that nothing reads, which are mostly mistyped.
import { nearest } from './nearest.ts';
import type { Environment } from './overrides.ts';

const PREFIX = 'LINGATE_';
/** The variables that an operator sets; the first ones replace flags. */
const VARIABLES = [
  'LINGATE_CONFIG',
  'LINGATE_STORE',
  'LINGATE_LISTEN',
  'LINGATE_OPS',
  'LINGATE_ENGINE_URL',
  'LINGATE_ENGINE_PROTOCOL',
  'LINGATE_UWS_BUILD',
];
/** The admin token under its documented name, whether this configuration has one or not; the README's key for callers; a worker's own. */
const ALSO_KNOWN = ['LINGATE_ADMIN_TOKEN', 'LINGATE_KEY', 'LINGATE_WORKER_OF'];

/** Every NAME in a file's value as `{ env: NAME }`. */
export function variablesNamedIn(value: unknown): Set<string> {
  const found = new Set<string>();
  const look = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const members = Object.entries(part);
    const [name, variable] = members.length === 1 ? members[0]! : [];
    if (name === 'env' && typeof variable === 'string') found.add(variable);
    for (const [, member] of members) look(member);
  };
  look(value);
  return found;
}

/** One line that names all of them, each with what was probably meant; `undefined` if there are none. */
export function strayVariables(env: Environment, named: ReadonlySet<string>): string | undefined {
  const known = new Set([...VARIABLES, ...ALSO_KNOWN, ...named]);
  const strays = Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && env[name] !== '' && env[name] !== undefined)
    .filter((name) => !known.has(name) && !isKubernetes(name, env))
    .toSorted();
  if (strays.length === 0) return undefined;
  const meant = strays.map((name) => {
    const likely = nearest(bare(name), [...VARIABLES, ...named].map(bare));
    return likely === undefined ? name : `${name} (did you mean ${PREFIX}${likely}?)`;
  });
  return `nothing reads ${meant.join(', ')}; the variables are ${VARIABLES.join(', ')}, and those that the configuration names with { env: NAME }`;
}

/** Kubernetes sets `NAME_SERVICE_…` and `NAME_PORT…` in every container for each Service: `lingate`, `lingate-ops`, … */
function isKubernetes(name: string, env: Environment): boolean {
  if (/^LINGATE_(?:SERVICE_|PORT)/.test(name)) return true;
  const service = /^(LINGATE_\w+?)_(?:SERVICE_|PORT)/.exec(name)?.[1];
  return service !== undefined && env[`${service}_SERVICE_HOST`] !== undefined;
}

function bare(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}
