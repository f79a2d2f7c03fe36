// Loads the plugins that the configuration lists: imports each module, checks its options, and runs its setup once.
import type { TSchema } from 'typebox';
import { reserveSlot } from '../core/exchange.ts';
import type { StepPlacement } from '../core/step-placement.ts';
import type { Step } from '../core/step.ts';
import { otherSchemeOf } from '../domain/store-url.ts';
import type { TextStage } from '../domain/text-stages.ts';
import type { EngineProtocol } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';
import type { NamedFigures, OpenPluginStore, PluginDefinition, PluginHost, PluginMetric, PluginParts } from '../ports/plugin.ts';
import type { LoadedProblem, PluginApis } from '../ports/plugin-route.ts';
import { ConfigError, labelOf } from './config-error.ts';
import { faultsOf } from './faults.ts';
import { nearest } from './nearest.ts';
import { Clone, Default } from '../domain/typebox.ts';
import { importPluginModule, shippedInstead } from './plugin-import.ts';
import { loadedProblems, problemFaults, refuseBy, undeclaredCodes } from './plugin-problems.ts';

export interface PluginEntry {
  /** An absolute path, or the name of an installed package. */
  readonly module: string;
  /** Absolute path of the file that names it: packages are resolved from there. */
  readonly from: string;
  readonly options: unknown;
}

export interface LoadedPlugins extends PluginApis {
  readonly placements: readonly StepPlacement[];
  /** In the order in which texts pass them on their way to the engine. */
  readonly textStages: readonly TextStage[];
  readonly engines: ReadonlyMap<string, EngineProtocol>;
  /** The modules of those protocols, as named in the configuration, by protocol. */
  readonly engineModules: ReadonlyMap<string, string>;
  /** Of every plugin that has any, with its name. */
  readonly metrics: readonly { readonly plugin: string; readonly metric: PluginMetric }[];
  /** The figures of plugins for the console, by plugin name. */
  figures(): readonly NamedFigures[];
  /** Of the plugins that store data of teams. */
  readonly forgetful: readonly ForgetfulPlugin[];
  /** By the scheme of their URLs. */
  readonly stores: ReadonlyMap<string, OpenPluginStore>;
  /** Each plugin's steps for its own routes, by plugin name. */
  routeSteps(services: GatewayServices): ReadonlyMap<string, readonly Step[]>;
  close(): Promise<void>;
}

interface ForgetfulPlugin {
  readonly plugin: string;
  readonly forget: (teamId: string | undefined) => number | undefined | Promise<number | undefined>;
}

/** Loads the listed plugins without a gateway, and closes them again; they log nothing. Rejects as `loadPlugins` and `use` do. */
export async function withPlugins<T>(entries: readonly PluginEntry[], use: (plugins: LoadedPlugins) => T | Promise<T>): Promise<T> {
  const plugins = await loadPlugins(entries);
  try {
    return await use(plugins);
  } finally {
    await plugins.close();
  }
}

type Definition = PluginDefinition<TSchema, string>;

const SHIPPED_BELOW = 'lingate/plugins/';

/** Throws a `ConfigError` that names every plugin that cannot be loaded, and why; the others are then closed. */
export async function loadPlugins(entries: readonly PluginEntry[], log?: Log): Promise<LoadedPlugins> {
  const loaded: NamedParts[] = [];
  const names = new Set<string>();
  const problems = new Map<string, LoadedProblem>();
  const lines: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const where = `plugins.${index}`;
    try {
      const definition = await importPlugin(entry, where);
      if (names.has(definition.name)) throw new ConfigError([`${where}: plugin "${definition.name}" is listed twice`]);
      names.add(definition.name);
      const faults = problemFaults(definition.problems, problems);
      if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${where}: ${fault}`));
      const own = loadedProblems(definition.name, definition.problems);
      for (const [code, problem] of own) problems.set(code, problem);
      const options = optionsOf(definition, entry.options, where);
      const parts = await setup(definition, options, own, where, log);
      loaded.push({ name: definition.name, module: entry.module, parts });
      lines.push(...undeclaredCodes(parts.routes ?? [], own).map((fault) => `${where}: ${fault}`));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      lines.push(...error.lines);
    }
  }
  lines.push(...nameFaults(loaded.map(({ parts }) => parts)));
  if (lines.length > 0) {
    await closeAll(loaded);
    throw new ConfigError(lines.map((line) => `${labelOf(entries[0]!.from)}: ${line}`));
  }
  return together(loaded, problems);
}

interface NamedParts {
  readonly name: string;
  readonly module: string;
  readonly parts: PluginParts;
}

function together(loaded: readonly NamedParts[], problems: ReadonlyMap<string, LoadedProblem>): LoadedPlugins {
  return {
    placements: loaded.flatMap(({ parts }) => parts.steps ?? []),
    textStages: loaded.flatMap(({ name, parts }) => textStagesOf(name, parts)),
    metrics: loaded.flatMap(({ name, parts }) => (parts.metrics ?? []).map((metric) => ({ plugin: name, metric }))),
    figures: () => loaded.flatMap(({ name, parts }) => (parts.figures === undefined ? [] : [{ plugin: name, figures: parts.figures() }])),
    forgetful: loaded.flatMap(({ name, parts }) =>
      parts.forget === undefined ? [] : [{ plugin: name, forget: (teamId: string | undefined) => parts.forget!(teamId) }],
    ),
    engines: new Map(loaded.flatMap(({ parts }) => Object.entries(parts.engines ?? {}))),
    engineModules: new Map(loaded.flatMap(({ module, parts }) => Object.keys(parts.engines ?? {}).map((name) => [name, module]))),
    routes: loaded.flatMap(({ name, parts }) => (parts.routes ?? []).map((route) => ({ ...route, plugin: name }))),
    documents: new Map(loaded.flatMap(({ name, parts: { document } }) => (document === undefined ? [] : [[name, document]]))),
    problems,
    stores: new Map(loaded.flatMap(({ parts }) => Object.entries(parts.stores ?? {}))),
    routeSteps: (services) => new Map(loaded.map(({ name, parts }) => [name, parts.routeSteps?.(services) ?? []])),
    close: () => closeAll(loaded),
  };
}

/** For a gateway without plugins. */
export const NO_PLUGINS = together([], new Map());

function textStagesOf(plugin: string, parts: PluginParts): readonly TextStage[] {
  const stages: TextStage[] = [];
  if (parts.texts !== undefined) stages.push({ kind: 'change', plugin, run: (work) => parts.texts!(work) });
  if (parts.answers !== undefined) stages.push({ kind: 'answer', plugin, run: (work) => parts.answers!(work) });
  return stages;
}

async function closeAll(loaded: readonly NamedParts[]): Promise<void> {
  for (const { parts } of loaded.toReversed()) await parts.close?.();
}

/** Two stores or two engines with one name: one would silently replace the other. */
function nameFaults(parts: readonly PluginParts[]): string[] {
  const schemes = parts.flatMap(({ stores = {} }) => Object.keys(stores));
  const unfit = schemes.filter((scheme) => otherSchemeOf(`${scheme}:x`) !== scheme);
  const engines = parts.flatMap((part) => Object.keys(part.engines ?? {}));
  const twice = [schemes, engines].flatMap((names) => [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]);
  return [
    ...unfit.map((scheme) => `plugins: a store cannot be called "${scheme}"; choose a name that none of the gateway's stores has`),
    ...twice.map((name) => `plugins: two plugins provide "${name}"; leave one out`),
  ];
}

async function importPlugin({ module, from }: PluginEntry, where: string): Promise<Definition> {
  const others = shippedInstead(module);
  if (others !== undefined) {
    const meant = nearest(module.slice(SHIPPED_BELOW.length), others);
    const names = (meant === undefined ? others : [meant]).map((name) => SHIPPED_BELOW + name).join(', ');
    const hint = meant === undefined ? `they are ${names}` : `did you mean ${names}?`;
    throw new ConfigError([`${where}.module: ${module} is not one of the plugins that come with the gateway; ${hint}`]);
  }
  let namespace: { readonly default?: unknown };
  try {
    namespace = await importPluginModule(module, from);
  } catch (error) {
    throw new ConfigError([`${where}.module: ${module} cannot be loaded: ${firstLine(error)}`]);
  }
  const candidate = namespace.default;
  if (
    typeof candidate !== 'object' ||
    candidate === null ||
    !('name' in candidate) ||
    !('options' in candidate) ||
    !('setup' in candidate)
  ) {
    throw new ConfigError([`${where}.module: ${module} has no plugin as its default export; make one with definePlugin`]);
  }
  return candidate as Definition;
}

/** With the defaults of the plugin's schema. */
function optionsOf(definition: Definition, given: unknown, where: string): unknown {
  const options = Default(definition.options, Clone(given));
  const faults = faultsOf(definition.options, options, `${where}.options`);
  if (faults.length > 0) throw new ConfigError(faults.map(({ path, reason }) => `${path}: ${reason}`));
  return options;
}

async function setup(
  definition: Definition,
  options: unknown,
  problems: ReadonlyMap<string, LoadedProblem>,
  where: string,
  log: Log | undefined,
): Promise<PluginParts> {
  const host: PluginHost<string> = {
    refuse: refuseBy(problems),
    reserveSlot: (name) => reserveSlot(`${definition.name}: ${name}`),
    log: (message, fields) => log?.info(message, { ...fields, plugin: definition.name }),
    warn: (message, fields) => log?.warn(message, { ...fields, plugin: definition.name }),
  };
  try {
    return await definition.setup(options, host);
  } catch (error) {
    throw new ConfigError([`${where}: the setup of plugin "${definition.name}" failed: ${firstLine(error)}`]);
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0]!;
}
