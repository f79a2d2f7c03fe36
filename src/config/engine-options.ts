// Judges what the configuration says of the engine against what its protocol declares: options, secrets, and what does not fit.
import type { TSchema } from 'typebox';
import { secret } from '../domain/option-schema.ts';
import { Type } from '../domain/schema-type.ts';
import type { EngineCapabilities, EngineProtocol } from '../ports/engine.ts';
import type { Config } from './config.ts';
import { ConfigError } from './config-error.ts';
import { faultsOf, shown } from './faults.ts';
import type { Fault } from './faults.ts';
import { labelOf } from './load.ts';
import { nearest } from './nearest.ts';
import type { Environment } from './overrides.ts';
import { clone, withDefaults } from './plain-schema.ts';
import { reveal } from './secrets.ts';

/** A protocol with all that it needs. Holds secrets: not to be shown. */
export interface EngineSettings {
  readonly protocol: EngineProtocol;
  readonly can: EngineCapabilities;
  /** As the protocol's schema has them. */
  readonly options: unknown;
  /** Header fields that are added to every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Which pairs are offered. */
  readonly pairs: 'any' | 'ask' | readonly string[];
  /** Names of the options that are given. */
  readonly given: readonly string[];
  /** Paths of the secrets that are there. */
  readonly secrets: readonly string[];
}

export interface EngineSources {
  readonly protocols: ReadonlyMap<string, EngineProtocol>;
  readonly env: Environment;
  /** Whether an operator may add a request field of this name. */
  readonly isFieldName: (name: string) => boolean;
}

const HEADERS_MAX = 32;

/** What every protocol takes besides its own. */
const CommonOptions = Type.Object({
  headers: Type.Optional(
    Type.Record(Type.String(), secret(''), {
      maxProperties: HEADERS_MAX,
      description: 'More fields for every request, for an engine behind a token: `{ x-token: { env: ENGINE_TOKEN } }`.',
    }),
  ),
});

const ABLE: EngineCapabilities = {
  textsMax: Infinity,
  formats: ['text'],
  formality: true,
  context: true,
  glossaries: true,
  detection: true,
  sharedCalls: true,
};

/** A protocol's capabilities, with defaults for those that it does not declare. */
export function capabilitiesOf({ can = {} }: EngineProtocol): EngineCapabilities {
  return { ...ABLE, ...can };
}

/** The schema of `engine.options` for a protocol. */
export function optionsSchemaOf({ options }: EngineProtocol): TSchema {
  const { properties: own = {} }: { readonly properties?: Readonly<Record<string, TSchema>> } = options ?? {};
  return Type.Object({ ...own, ...CommonOptions.properties }, { additionalProperties: false });
}

/** Throws a `ConfigError` with every fault; reads the files and variables that hold secrets. */
export function engineSettings(config: Config, { protocols, env, isFieldName }: EngineSources): EngineSettings {
  const { engine, file } = config;
  const protocol = protocols.get(engine.protocol);
  if (protocol === undefined) throw new ConfigError([unknownProtocol(config, [...protocols.keys()])]);
  const can = capabilitiesOf(protocol);
  const schema = optionsSchemaOf(protocol);
  const { value, faults: secretFaults, found } = reveal(schema, engine.options, { env, file }, 'engine.options');
  const options = withDefaults(schema, clone(value)) as { readonly headers?: Readonly<Record<string, string>> };
  const faults = [
    ...secretFaults,
    ...faultsOf(schema, options, 'engine.options'),
    ...batchFaults(config, can),
    ...pairFaults(config, protocol),
  ];
  const { headers = {}, ...own } = options;
  for (const name of Object.keys(headers)) {
    if (!isFieldName(name)) faults.push({ path: 'engine.options.headers', reason: `${shown(name)} is not a field that can be added` });
  }
  if (faults.length > 0) throw refused(config, faults);
  const pairs = pairsOf(engine.pairs, protocol);
  return { protocol, can, options: own, headers, pairs, given: Object.keys(engine.options), secrets: found };
}

/** Names the flag or the variable where it comes from one, as other faults do. */
function unknownProtocol({ engine: { protocol: name }, sources, file }: Config, known: readonly string[]): string {
  const meant = nearest(name, known);
  const place = /^(?:--|LINGATE_)/.exec(sources.engineProtocol) === null ? `${labelOf(file)}: engine.protocol` : sources.engineProtocol;
  const right = meant === undefined ? '' : `did you mean ${meant}? `;
  return `${place}: there is no ${shown(name)}; ${right}there are ${known.join(', ')}`;
}

function batchFaults({ engine }: Config, { textsMax, sharedCalls }: EngineCapabilities): Fault[] {
  if (engine.batch === undefined) return [];
  const because = !sharedCalls ? 'whose calls callers may not share' : textsMax === 1 ? 'which takes one text a call' : undefined;
  if (because === undefined) return [];
  return [{ path: 'engine.batch', reason: `does not fit the protocol ${engine.protocol}, ${because}; leave it out` }];
}

/** What `engine.pairs` comes to for a protocol. */
export function pairsOf(pairs: Config['engine']['pairs'], protocol: EngineProtocol): EngineSettings['pairs'] {
  return pairs ?? (protocol.pairs === undefined ? 'any' : 'ask');
}

function pairFaults({ engine }: Config, protocol: EngineProtocol): Fault[] {
  if (engine.pairs !== 'ask' || protocol.pairs !== undefined) return [];
  return [
    {
      path: 'engine.pairs',
      reason: `"ask" does not fit the protocol ${engine.protocol}, whose engines cannot tell; write any or a list of pairs`,
    },
  ];
}

function refused({ file }: Config, faults: readonly Fault[]): ConfigError {
  return new ConfigError(faults.map(({ path, reason }) => `${labelOf(file)}: ${path}: ${reason}`));
}
