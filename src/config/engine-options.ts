// Checks the configuration of engines against their protocols: options, secrets, and what the protocol does not support.
import type { TSchema } from 'typebox';
import { capabilitiesOf } from '../domain/engine-offer.ts';
import { secret } from '../domain/option-schema.ts';
import { Type } from '../domain/typebox.ts';
import type { EngineCapabilities, EngineProtocol } from '../ports/engine.ts';
import type { Config, EngineConfig } from './config.ts';
import { ConfigError, labelOf, linesOf } from './config-error.ts';
import type { Fault } from './config-error.ts';
import { faultsOf, shown } from './faults.ts';
import { nearest } from './nearest.ts';
import type { Environment } from './environment.ts';
import { Clone, Default } from '../domain/typebox.ts';
import { reveal } from './secrets.ts';

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

interface EngineSources {
  readonly protocols: ReadonlyMap<string, EngineProtocol>;
  readonly env: Environment;
  /** Whether an operator may add a request header with this name. */
  readonly isFieldName: (name: string) => boolean;
}

const HEADERS_MAX = 32;

/** The options of every protocol. */
const CommonOptions = Type.Object({
  headers: Type.Optional(
    Type.Record(Type.String(), secret(''), {
      maxProperties: HEADERS_MAX,
      description: 'More fields for every request: `{ x-token: { env: ENGINE_TOKEN } }`.',
    }),
  ),
});

/** The schema of `engine.options` for a protocol. */
export function optionsSchemaOf({ options }: EngineProtocol): TSchema {
  const { properties: own = {} }: { readonly properties?: Readonly<Record<string, TSchema>> } = options ?? {};
  return Type.Object({ ...own, ...CommonOptions.properties }, { additionalProperties: false });
}

/** Throws a `ConfigError` with all faults of all engines; reads the files and variables with secrets. In the order of the file. */
export function engineSettings(config: Config, sources: EngineSources): readonly EngineSettings[] {
  const lines: string[] = [];
  const settings = config.engines.flatMap((engine) => {
    const judged = settingsOf(config, engine, sources);
    if (!Array.isArray(judged)) return [judged];
    lines.push(...judged);
    return [];
  });
  if (lines.length > 0) throw new ConfigError(lines, areFromFlag(lines, config));
  return settings;
}

/** Of an engine's faults, only an unknown protocol can come from a flag. */
function areFromFlag(lines: readonly string[], { sources: { engineProtocol: origin } }: Config): boolean {
  return origin.startsWith('--') && lines.every((line) => line.startsWith(`${origin}: `));
}

/** The settings of one engine, or its faults. */
function settingsOf(config: Config, engine: EngineConfig, { protocols, env, isFieldName }: EngineSources): EngineSettings | string[] {
  const {
    file,
    sources: { files },
  } = config;
  const protocol = protocols.get(engine.protocol);
  if (protocol === undefined) return [unknownProtocol(config, engine, [...protocols.keys()])];
  const can = capabilitiesOf(protocol.can);
  const schema = optionsSchemaOf(protocol);
  const at = `${engine.place}.options`;
  const { value, faults: secretFaults, found } = reveal(schema, engine.options, { env, file, files }, at);
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
