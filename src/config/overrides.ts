// Values from environment variables and flags that replace the file's, each with its origin for error messages.

/** The values of the flags that are given. */
export interface ConfigFlags {
  readonly store?: string | undefined;
  readonly listen?: string | undefined;
  readonly ops?: string | undefined;
  readonly engineUrls?: readonly string[] | undefined;
  readonly engineProtocol?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** One member of the configuration, set from outside the file. */
export interface Override {
  readonly path: readonly [member: string] | readonly [section: string, member: string];
  readonly value: unknown;
  /** Named in errors instead of the file. */
  readonly origin: string;
  readonly fromFlag: boolean;
}

/** Flags override the environment. An empty variable counts as not set, because container tools leave variables out that way. */
export function overridesOf(env: Environment, flags: ConfigFlags): Override[] {
  const urls = env['LINGATE_ENGINE_URL']
    ?.split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
  return [
    ...choose(['store'], '--store', flags.store, 'LINGATE_STORE', env['LINGATE_STORE']),
    ...choose(['listen'], '--listen', flags.listen, 'LINGATE_LISTEN', env['LINGATE_LISTEN']),
    ...choose(['ops'], '--ops', flags.ops, 'LINGATE_OPS', env['LINGATE_OPS']),
    ...choose(['engine', 'urls'], '--engine-url', flags.engineUrls, 'LINGATE_ENGINE_URL', urls?.length === 0 ? undefined : urls),
    ...choose(['engine', 'protocol'], '--engine-protocol', flags.engineProtocol, 'LINGATE_ENGINE_PROTOCOL', env['LINGATE_ENGINE_PROTOCOL']),
  ];
}

function choose(path: Override['path'], flag: string, fromFlag: unknown, variable: string, fromEnv: unknown): Override[] {
  if (fromFlag !== undefined) return [{ path, value: fromFlag, origin: flag, fromFlag: true }];
  if (fromEnv === undefined || fromEnv === '') return [];
  return [{ path, value: fromEnv, origin: variable, fromFlag: false }];
}

/** The file's value with the overrides. A section that is not an object is left for the schema to refuse. */
export function withOverrides(file: unknown, overrides: readonly Override[]): unknown {
  if (!isObject(file)) return file;
  const result: Record<string, unknown> = { ...file };
  for (const { path, value } of overrides) {
    const [first, second] = path;
    if (second === undefined) {
      result[first] = value;
      continue;
    }
    const section = result[first] ?? {};
    if (isObject(section)) result[first] = { ...section, [second]: value };
  }
  return result;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
