// What a reload takes over: members whose schema says so. Others wait for a restart.
import { isDeepStrictEqual } from 'node:util';
import { ConfigError, labelOf } from './config-error.ts';
import { ENGINE_URLS, toConfig, namedFiles } from './config.ts';
import type { Config } from './config.ts';
import type { FileContents } from './file-set.ts';
import { ConfigFile } from './schema.ts';
import type { Reloading } from './schema-parts.ts';

type Values = Readonly<Record<string, unknown>>;

/** The part of a schema that is read here. */
interface ReloadSchema extends Reloading {
  readonly properties?: Readonly<Record<string, object>>;
}

/** Engines, of which there is one or a record by name, have rules of their own. */
type EngineMembers = Pick<ConfigFile, 'engine' | 'engines' | 'routing'>;
const ENGINE: ReloadSchema = ConfigFile.properties.engine;

/** From now on, and the changed members that keep their old values, as named in the file. */
export function reloadOf(running: Config, next: Config): { readonly config: Config; readonly waiting: readonly string[] } {
  const waiting: string[] = [];
  const { engine: _engine, engines: _engines, routing: _routing, ...others } = ConfigFile.properties;
  const raw = {
    ...taken({ properties: others }, running.raw, next.raw, '', waiting),
    ...takenEngines(running.raw, next.raw, waiting),
  } as ConfigFile;
  const { written, files } = next.sources;
  const sources = { ...running.sources, written };
  const config = toConfig(raw, running.file, sources, next.languagesFile, next.languages);
  return { config: { ...config, sources: { ...sources, files: filesOf(config, running.sources.files, files) } }, waiting };
}

/**
 * What a reload never takes away: it is likely half a file, and a default engine would get callers'
 * texts. Names in one row stand in for each other.
 */
const REQUIRED_SECTIONS = [['engine', 'engines'], [ENGINE_URLS, 'engines'], ['plans'], ['store'], ['admin'], ['plugins']] as const;

/** Throws a `ConfigError` with one line if `next` has lost whole sections of the file in force. */
export function assertNoSectionLost({ sources: { written } }: Config, { file, sources: next }: Config): void {
  const lost = REQUIRED_SECTIONS.flatMap((names) => (names.some((name) => next.written.includes(name)) ? [] : names));
  const gone = [...new Set<string>(lost)]
    .filter((name) => written.includes(name))
    // The URLs are part of a section that is named already.
    .filter((name, _index, all) => name !== ENGINE_URLS || !all.includes('engine'));
  if (gone.length === 0) return;
  const [is, it] = gone.length === 1 ? ['is', 'it'] : ['are', 'them'];
  throw new ConfigError([
    `${labelOf(file)}: ${gone.join(', ')}: ${is} gone, and a reload does not take ${it} away; restart the gateway to run without`,
  ]);
}

/** With the members of `next` that a reload takes; `place` is its path, with a dot at the end. */
function taken({ properties = {} }: ReloadSchema, running: Values, next: Values, place: string, waiting: string[]): Values {
  const members = Object.entries(properties as Readonly<Record<string, ReloadSchema>>).map(([name, schema]) => {
    const [before, now] = [running[name], next[name]];
    if (schema.reload === true) return [name, now];
    if (schema.properties !== undefined && isSection(before) && isSection(now)) {
      return [name, schema.reload === 'members' ? now : taken(schema, before, now, `${place}${name}.`, waiting)];
    }
    if (!isDeepStrictEqual(before, now)) waiting.push(place + name);
    return [name, before];
  });
  return Object.fromEntries(members) as Values;
}

function isSection(value: unknown): value is Values {
  return typeof value === 'object' && value !== null;
}

/** Only added and removed at the start; rules that name one that is not there wait too. */
function takenEngines(running: EngineMembers, next: EngineMembers, waiting: string[]): EngineMembers {
  const { engine, engines, routing } = running;
  if (engines === undefined || next.engines === undefined) {
    if (engines === next.engines)
      return { engine: taken(ENGINE, engine, next.engine, 'engine.', waiting) as typeof engine, routing: next.routing };
    waiting.push('engines');
    return { engine, engines, routing };
  }
  const [names, nextNames] = [Object.keys(engines), Object.keys(next.engines)];
  const isSame = nextNames.length === names.length && nextNames.every((name) => names.includes(name));
  if (!isSame) waiting.push('engines');
  const isRoutable = next.routing?.every((rule) => rule.engines.every((name) => names.includes(name))) ?? isSame;
  if (!isRoutable) waiting.push('routing');
  // Without rules, their order matters.
  const order = isSame && isRoutable ? nextNames : names;
  const merged = order.map((name) => {
    const now = next.engines![name];
    return [name, now === undefined ? engines[name] : taken(ENGINE, engines[name]!, now, `engines.${name}.`, waiting)];
  });
  return { engine, engines: Object.fromEntries(merged) as typeof engines, routing: isRoutable ? next.routing : routing };
}

/** Of every named file: what waits for a restart may name files that `next` does not. */
function filesOf(config: Config, running: FileContents, next: FileContents): FileContents {
  return new Map(
    namedFiles(config).flatMap((path) => {
      const read = [next.get(path), running.get(path)].find((found) => found !== undefined && found.kind !== 'unreadable');
      return read === undefined ? [] : [[path, read] as const];
    }),
  );
}
