// Loads the plugins that the configuration lists: imports each module, checks its options and
// problem codes, and runs its setup once.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON, registerHooks, stripTypeScriptTypes } from 'node:module';
import type { LoadFnOutput, ResolveFnOutput, ResolveHookContext } from 'node:module';
import { basename, extname, isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { TSchema } from 'typebox';
import { reserveSlot } from '../core/exchange.ts';
import type { Step } from '../core/pipeline.ts';
import { otherSchemeOf } from '../domain/store-url.ts';
import type { TextStage } from '../domain/text-stages.ts';
import type { Log } from '../ports/log.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';
import type { NamedFigures, PluginDefinition, PluginHost, PluginParts, PluginProblem } from '../ports/plugin.ts';
import type { LoadedProblem, LoadedRoute, PluginApis, PluginRoute } from '../ports/plugin-route.ts';
import { ConfigError, labelOf } from './config-error.ts';
import { faultsOf } from './faults.ts';
import { nearest } from './nearest.ts';
import { matching } from '../domain/option-schema.ts';
import { Clone, Default, Type } from '../domain/typebox.ts';
import { BACK_OFF, problems as ownProblems, refuseAs } from '../core/problem.ts';
import type { ProblemKind } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';

export interface PluginEntry {
  /** An absolute path, or the name of an installed package. */
  readonly module: string;
  /** Absolute path of the file that names it: packages are resolved from there. */
  readonly from: string;
  readonly options: unknown;
}

/** What all plugins provide. */
export type LoadedPlugins = Readonly<ReturnType<typeof together>>;

/** Without a gateway, and closes them again; they log nothing. Rejects as `loadPlugins`. */
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

/** Throws a `ConfigError` that names every plugin that fails, and why; the others are closed. */
export async function loadPlugins(entries: readonly PluginEntry[], log?: Log): Promise<LoadedPlugins> {
  const loaded: NamedParts[] = [];
  const names = new Set<string>();
  const problems = new Map<string, LoadedProblem>();
  const lines: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const where = `plugins.${index}`;
    try {
      const definition = await importPlugin(entry, where);
      const { name } = definition;
      if (names.has(name)) throw new ConfigError([`${where}: plugin "${name}" is listed twice`]);
      names.add(name);
      const own = problemsOf(definition, problems, where);
      for (const [code, problem] of own) problems.set(code, problem);
      const parts = await setup(definition, optionsOf(definition, entry.options, where), own, where, log);
      loaded.push({ name, module: entry.module, parts });
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
  /** As named in the configuration. */
  readonly module: string;
  readonly parts: PluginParts;
}

function together(loaded: readonly NamedParts[], problems: ReadonlyMap<string, LoadedProblem>) {
  /** `named`: the name of the plugin that has them. */
  const all = <T>(of: (parts: PluginParts, named: { readonly plugin: string }, module: string) => readonly T[]): readonly T[] =>
    loaded.flatMap(({ name: plugin, module, parts }) => of(parts, { plugin }, module));
  const mapped = <T>(of: (parts: PluginParts) => Readonly<Record<string, T>> | undefined): ReadonlyMap<string, T> =>
    new Map(all((parts) => Object.entries(of(parts) ?? {})));
  return {
    placements: all(({ steps }) => steps ?? []),
    /** In the order in which texts pass them on their way to the engine. */
    textStages: all((parts, { plugin }) => textStagesOf(plugin, parts)),
    metrics: all(({ metrics }, named) => (metrics ?? []).map((metric) => ({ ...named, metric }))),
    /** For the console. */
    figures: (): readonly NamedFigures[] =>
      all((parts, named) => (parts.figures === undefined ? [] : [{ ...named, figures: parts.figures() }])),
    /** Those that store data of teams. */
    forgetful: all((parts, named) =>
      parts.forget === undefined ? [] : [{ ...named, forget: (teamId: string | undefined) => parts.forget!(teamId) }],
    ),
    engines: mapped(({ engines }) => engines),
    /** The modules of those protocols. */
    engineModules: new Map(all(({ engines }, _named, module) => Object.keys(engines ?? {}).map((protocol) => [protocol, module] as const))),
    routes: all(({ routes }, named): LoadedRoute[] => (routes ?? []).map((route) => ({ ...route, ...named }))),
    documents: new Map(all(({ document }, { plugin }) => (document === undefined ? [] : [[plugin, document] as const]))),
    problems,
    /** By the scheme of their URLs. */
    stores: mapped(({ stores }) => stores),
    /** Each plugin's steps for its own routes, by plugin name. */
    routeSteps: (services: GatewayServices): ReadonlyMap<string, readonly Step[]> =>
      new Map(all((parts, { plugin }) => [[plugin, parts.routeSteps?.(services) ?? []] as const])),
    close: () => closeAll(loaded),
  } satisfies PluginApis & Record<string, unknown>;
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
    const nearby = nearest(module.slice(SHIPPED_BELOW.length), others);
    const names = (nearby === undefined ? others : [nearby]).map((name) => SHIPPED_BELOW + name).join(', ');
    const hint = nearby === undefined ? `they are ${names}` : `did you mean ${names}?`;
    throw new ConfigError([`${where}.module: ${module} is not one of the plugins that come with the gateway; ${hint}`]);
  }
  let namespace: { readonly default?: unknown };
  try {
    namespace = await importPluginModule(module, from);
  } catch (error) {
    throw new ConfigError([`${where}.module: ${module} cannot be loaded: ${firstLine(error)}`]);
  }
  const candidate = namespace.default;
  if (typeof candidate !== 'object' || candidate === null || !['name', 'options', 'setup'].every((member) => member in candidate)) {
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

const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

/** Of a plugin's own codes; `taken` are the codes of plugins before it. Throws a `ConfigError`. */
function problemsOf({ name: plugin, problems = {} }: Definition, taken: ReadonlyMap<string, LoadedProblem>, where: string) {
  const written: unknown = problems;
  const faults =
    typeof written !== 'object' || written === null
      ? ['problems: must be an object of codes']
      : Object.entries(written).flatMap(([code, problem]) => [
          ...codeFaults(code, taken).map((fault) => `problems: ${fault}`),
          ...faultsOf(Problem, problem, `problems.${code}`).map(({ path, reason }) => `${path}: ${reason}`),
        ]);
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${where}: ${fault}`));
  return new Map(Object.entries(problems).map(([code, problem]) => [code, { plugin, kind: kindOf(problem) }]));
}

function codeFaults(code: string, taken: ReadonlyMap<string, LoadedProblem>): string[] {
  if (!CODE.test(code)) return [`"${code}" is not a code; write it in lower case with underscores, for example back_soon`];
  if (code in ownProblems || code === 'ok' || code === 'client_closed') return [`${code} belongs to the gateway; choose another word`];
  const other = taken.get(code);
  return other === undefined ? [] : [`${code} already belongs to plugin "${other.plugin}"; choose another word`];
}

const Words = matching('a few words', /\S/);
const Problem = Type.Object({
  status: Type.Integer({ minimum: 400, maximum: 599, is: 'a whole number from 400 to 599' }),
  title: Words,
  retry: Type.Boolean(),
  meaning: Type.Optional(Words),
  advice: Type.Optional(Words),
});

/** Codes named in a route's documentation that do not exist. */
function undeclaredCodes(routes: readonly PluginRoute[], own: ReadonlyMap<string, LoadedProblem>): string[] {
  const named = new Set(routes.flatMap(({ doc }) => doc?.problems ?? []));
  return [...named]
    .filter((code) => !(code in ownProblems || own.has(code)))
    .map((code) => `a route's documentation names the problem "${code}"; declare it under problems`);
}

function kindOf({ status, title, retry, meaning = `${title}.`, advice }: PluginProblem): ProblemKind {
  const usual = retry ? BACK_OFF : '`detail` says what to change.';
  const headers = retry ? (['Retry-After'] as const) : [];
  return { status, title, meaning, advice: advice ?? usual, retry, members: {}, headers, to: [] };
}

/** `host.refuse` of a plugin. Throws for a code that it has not declared, which is its bug. */
function refuseBy(own: ReadonlyMap<string, LoadedProblem>) {
  return (code: string, detail: string, fields?: Readonly<Record<string, string | number>>): Refusal => {
    const kind = own.get(code)?.kind;
    if (kind === undefined) throw new Error(`the plugin has no problem code "${code}"; declare it under problems`);
    return refuseAs(code, kind, detail, fields);
  };
}

/** With its own copy of these, a plugin would reserve slots that requests do not have. */
const OWN = /^(?:lingate|typebox)(?:\/|$)/;
const SHIPPED = /^lingate\/plugins\/([\w-]+)$/;
/** Imports by a path, from the importing file or its package. */
const BY_PATH = /^(?:\.{0,2}\/|file:|#)/;
/** The condition in package.json's `exports` for the sources, which exist only in a checkout. */
const SOURCES = 'lingate-sources';

type NextResolve = (specifier: string, context?: ResolveHookContext) => ResolveFnOutput;

/** URLs of the plugins' own files: their modules, and what those import by a path. */
const files = new Set<string>();
/** URL of the file from which a package is currently being resolved. */
let lookingFrom: string | undefined;
let hooked = false;

/**
 * Rejects as `import` does. `module` is an absolute path, or a package as `from`, an absolute path,
 * would import it; `lingate/plugins/…` are the gateway's own.
 */
async function importPluginModule(module: string, from: string): Promise<{ readonly default?: unknown }> {
  if (!hooked) registerHooks({ resolve: resolvePluginImport, load: loadPluginFile });
  hooked = true;
  const url = isAbsolute(module) ? pathToFileURL(module).href : (shipped(module) ?? locate(module, from));
  files.add(url);
  return (await import(url)) as { readonly default?: unknown };
}

/** Of a plugin that comes with the gateway: beside this file, not through `node_modules`. */
function shipped(name: string): string | undefined {
  const found = SHIPPED.exec(name);
  return found === null ? undefined : new URL(`../plugins/${found[1]!}${extname(import.meta.url)}`, import.meta.url).href;
}

/** Whether one of that name would come with the gateway. Those have no engines or stores. */
export function isShipped(name: string): boolean {
  return SHIPPED.test(name);
}

/** Of our plugins, without `lingate/plugins/`, if `name` is like theirs but none of them. */
function shippedInstead(name: string): readonly string[] | undefined {
  const url = shipped(name);
  if (url === undefined || existsSync(fileURLToPath(url))) return undefined;
  const extension = extname(url);
  const beside = readdirSync(fileURLToPath(new URL('.', url))).filter((file) => extname(file) === extension);
  return beside.map((file) => basename(file, extension)).toSorted();
}

function locate(name: string, from: string): string {
  lookingFrom = pathToFileURL(from).href;
  try {
    return import.meta.resolve(name);
  } finally {
    lookingFrom = undefined;
  }
}

function resolvePluginImport(specifier: string, context: ResolveHookContext, next: NextResolve): ResolveFnOutput {
  if (context.parentURL === import.meta.url) return next(specifier, ourContext(specifier, context));
  if (context.parentURL === undefined || !files.has(context.parentURL)) return next(specifier, context);
  // Not by `next` with another `parentURL`: `require` in a CommonJS plugin ignores that.
  if (OWN.test(specifier)) return { url: import.meta.resolve(specifier), shortCircuit: true };
  const found = next(specifier, context);
  if (BY_PATH.test(specifier)) files.add(found.url);
  return found;
}

/** For this file: plugins from the file that names them, our own copies from here. */
function ourContext(specifier: string, context: ResolveHookContext): ResolveHookContext {
  if (!OWN.test(specifier)) return lookingFrom === undefined ? context : { ...context, parentURL: lookingFrom };
  return import.meta.url.endsWith('.ts') ? { ...context, conditions: [...context.conditions, SOURCES] } : context;
}

/** Node does not strip types below `node_modules`, but plugins must work there as well. */
function loadPluginFile(url: string, context: unknown, next: (url: string, context?: never) => LoadFnOutput): LoadFnOutput {
  if (!files.has(url) || !/\/node_modules\/.*\.[cm]?ts$/.test(url)) return next(url, context as never);
  const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
  return { format: isCommonJs(url) ? 'commonjs' : 'module', source, shortCircuit: true };
}

function isCommonJs(url: string): boolean {
  if (/\.[cm]ts$/.test(url)) return url.endsWith('.cts');
  const manifest = findPackageJSON(url);
  return manifest !== undefined && (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly type?: unknown }).type === 'commonjs';
}
