// The engines of a configuration with their protocols, built in or of a plugin: reads and checks
// their options and secrets, and refuses what a protocol does not support.
import type { Config, EngineConfig } from '../config/config.ts';
import { ConfigError, labelOf, linesOf } from '../config/config-error.ts';
import type { Fault } from '../config/config-error.ts';
import type { Environment } from '../config/environment.ts';
import { faultsOf, shown } from '../config/faults.ts';
import { nearest } from '../config/nearest.ts';
import { withPlugins } from '../config/plugins.ts';
import { reveal } from '../config/secrets.ts';
import { capabilitiesOf } from '../domain/translation-options.ts';
import { Clone, Default } from '../domain/typebox.ts';
import { isFieldName } from '../engines/http1/client.ts';
import { builtInProtocols, optionsSchemaOf } from '../engines/protocols/built-in.ts';
import type { EngineCapabilities, EngineProtocol } from '../ports/engine.ts';

/** An engine's protocol with its settings. Contains secrets: do not print it. */
export interface EngineSettings {
  readonly config: EngineConfig;
  readonly protocol: EngineProtocol;
  readonly can: EngineCapabilities;
  /** As in the protocol's schema. */
  readonly options: unknown;
  /** Headers added to every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Which pairs are offered. */
  readonly pairs: 'any' | 'ask' | readonly string[];
  /** Names of the options that are set. */
  readonly given: readonly string[];
  /** Paths of the secrets that were found. */
  readonly secrets: readonly string[];
}

/**
 * In the file's order. `added` are plugins' protocols. Reads files and variables with secrets.
 * Throws a `ConfigError` with all faults of all engines.
 */
export function setUpEngines(
  config: Config,
  added: ReadonlyMap<string, EngineProtocol>,
  env: Environment = process.env,
): readonly EngineSettings[] {
  const taken = [...added.keys()].find((name) => builtInProtocols.has(name));
  if (taken !== undefined)
    throw new ConfigError([`plugins: the protocol "${taken}" is the gateway's own and cannot be replaced; choose another name`]);
  const protocols = new Map([...builtInProtocols, ...added]);
  const judged = config.engines.map((engine) => settingsOf(config, engine, protocols, env));
  const lines = judged.flatMap((one) => (Array.isArray(one) ? one : []));
  if (lines.length > 0) throw new ConfigError(lines, areFromFlag(lines, config));
  return judged as readonly EngineSettings[];
}

/** Without a gateway, store or port. Sets up plugins only for a protocol that is not built in. */
export async function withEngines<T>(
  config: Config,
  env: Environment,
  use: (settings: readonly EngineSettings[]) => Promise<T>,
): Promise<T> {
  const areBuiltIn = config.engines.every(({ protocol }) => builtInProtocols.has(protocol));
  if (areBuiltIn || config.plugins.length === 0) return use(setUpEngines(config, new Map(), env));
  return withPlugins(config.plugins, (plugins) => use(setUpEngines(config, plugins.engines, env)));
}

/** Of an engine's faults, only an unknown protocol can come from a flag. */
function areFromFlag(lines: readonly string[], { sources: { engineProtocol: origin } }: Config): boolean {
  return origin.startsWith('--') && lines.every((line) => line.startsWith(`${origin}: `));
}

/** The settings of one engine, or its faults. */
function settingsOf(
  config: Config,
  engine: EngineConfig,
  protocols: ReadonlyMap<string, EngineProtocol>,
  env: Environment,
): EngineSettings | string[] {
  const { file, sources } = config;
  const protocol = protocols.get(engine.protocol);
  if (protocol === undefined) return [unknownProtocol(config, engine, [...protocols.keys()])];
  const can = capabilitiesOf(protocol.can);
  const schema = optionsSchemaOf(protocol);
  const at = `${engine.place}.options`;
  const { value, faults: secretFaults, found } = reveal(schema, engine.options, { env, file, files: sources.files }, at);
  const options = Default(schema, Clone(value)) as { readonly headers?: Readonly<Record<string, string>> };
  const faults = [...secretFaults, ...faultsOf(schema, options, at), ...batchFaults(engine, can), ...pairFaults(engine, protocol)];
  const { headers = {}, ...own } = options;
  for (const name of Object.keys(headers)) {
    if (!isFieldName(name)) faults.push({ path: `${at}.headers`, reason: `${shown(name)} is not a header that can be added` });
  }
  if (faults.length > 0) return linesOf(file, faults);
  const pairs = pairsOf(engine.pairs, protocol);
  return { config: engine, protocol, can, options: own, headers, pairs, given: Object.keys(engine.options), secrets: found };
}

/** Names the flag or variable if the value comes from one, as other faults do. */
function unknownProtocol({ sources, file }: Config, { protocol: name, place: at }: EngineConfig, known: readonly string[]): string {
  const nearby = nearest(name, known);
  const place = /^(?:--|LINGATE_)/.exec(sources.engineProtocol) === null ? `${labelOf(file)}: ${at}.protocol` : sources.engineProtocol;
  const right = nearby === undefined ? '' : `did you mean ${nearby}? `;
  return `${place}: there is no ${shown(name)}; ${right}the protocols are ${known.join(', ')}`;
}

function batchFaults({ batch, protocol, place }: EngineConfig, { textsMax, sharedCalls }: EngineCapabilities): Fault[] {
  if (batch === undefined) return [];
  const because = !sharedCalls ? 'whose calls callers must not share' : textsMax === 1 ? 'which takes one text per call' : undefined;
  if (because === undefined) return [];
  return [{ path: `${place}.batch`, reason: `does not work with the protocol ${protocol}, ${because}; leave it out` }];
}

/** The meaning of an engine's `pairs` for a protocol. */
export function pairsOf(pairs: EngineConfig['pairs'], protocol: EngineProtocol): EngineSettings['pairs'] {
  return pairs ?? (protocol.pairs === undefined ? 'any' : 'ask');
}

function pairFaults({ pairs, protocol: name, place }: EngineConfig, protocol: EngineProtocol): Fault[] {
  if (pairs !== 'ask' || protocol.pairs !== undefined) return [];
  const reason = `"ask" does not work with the protocol ${name}, whose engines cannot report pairs; write any or a list of pairs`;
  return [{ path: `${place}.pairs`, reason }];
}
