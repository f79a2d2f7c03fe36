// The table of routes for a configuration: ours, the documentation's, those of plugins, which are
// checked here, and forward routes.
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { ForwardConfig } from '../config/forward.ts';
import { withPlugins } from '../config/plugins.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import { routeName, pathsOverlap, placeSteps } from '../core/route.ts';
import type { RouteRow } from '../core/route.ts';
import { documentPaths } from '../docs/openapi-document.ts';
import type { LoadedRoute, PluginApis } from '../ports/plugin-route.ts';
import { documentRow, ROWS_OF_DOCUMENTS, forwardRow, ROUTES } from '../routes.ts';
import type { Step } from '../core/pipeline.ts';
import { isScope, SCOPES } from '../domain/scopes.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';

export type Documented = Pick<PluginApis, 'documents'>;

/** With the steps of plugins. Throws a `ConfigError` if one cannot be placed. */
export function routeRows(
  config: Pick<Config, 'forward' | 'docs' | 'documents'>,
  plugins: LoadedPlugins,
): readonly (RouteRow | LoadedRoute)[] {
  const own = ownRows(config, plugins);
  const ofPlugins = pluginRows(own, plugins).map((row) => withUpload(row, config));
  const rows: readonly (RouteRow | LoadedRoute)[] = [...own, ...ofPlugins, ...forwardRows(config.forward)];
  return inConfiguration(() => placeSteps(rows, plugins.placements));
}

/** Without documents, nothing reads the body. */
function withUpload(row: LoadedRoute, { documents }: Pick<Config, 'documents'>): LoadedRoute | (LoadedRoute & RouteRow) {
  return row.upload === true && documents !== undefined ? { ...row, streamsBody: true } : row;
}

/** Turns errors about routes and steps into a `ConfigError`, because the operator must fix them. */
export function inConfiguration<T>(build: () => T): T {
  try {
    return build();
  } catch (error) {
    throw new ConfigError([`plugins: ${error instanceof Error ? error.message : 'a step cannot be placed'}`]);
  }
}

/** The gateway's own routes; no plugin and no forward route may have the same path. */
export function ownRows(config: Pick<Config, 'docs' | 'documents'>, plugins: Documented): RouteRow[] {
  const { documents } = config;
  const uploads = documents === undefined ? [] : ROWS_OF_DOCUMENTS;
  return [...ROUTES, ...uploads, ...documentRows(config, plugins)];
}

/** Their names: requests for them do not count as traffic. */
export function documentRouteNames(config: Config, plugins: Documented): ReadonlySet<string> {
  return new Set(documentRows(config, plugins).map(routeName));
}

/** Empty if only operators may read the documentation. */
function documentRows({ docs }: Pick<Config, 'docs'>, { documents }: Documented): RouteRow[] {
  return docs.public ? documentPaths([...documents.keys()]).map(documentRow) : [];
}

function forwardRows(forward: readonly ForwardConfig[]): RouteRow[] {
  return forward.flatMap(({ path, methods, name }) => methods.map((method) => forwardRow(method, path, name)));
}

/** The final steps of every route, with plugins'. Opens neither the store nor a port. */
export function describeRoutes(config: Config): Promise<{ route: string; steps: string[] }[]> {
  return withPlugins(config.plugins, (plugins) =>
    routeRows(config, plugins).map((row) => ({ route: routeName(row), steps: [...row.steps] })),
  );
}

const METHOD = /^(?:[A-Z]+|\*)$/;
/** Whole segments, each with a parameter or without; at the end perhaps a slash, or a wildcard. */
const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()+,;=:@{}-]+)+(?:\/\*?)?$/;
const PARAMETER = /\{\w+\}/g;
/** Which of our steps, one of these, must come before another one. */
const AUTHENTICATES = ['authenticate', 'authenticate-body-key'] as const;
const NEEDS: Readonly<Record<string, readonly string[]>> = { 'team-shed': AUTHENTICATES, admit: AUTHENTICATES };

/** `own` are the gateway's. Throws a `ConfigError` that names every invalid route, and why. */
export function pluginRows(own: readonly RouteRow[], { routes }: Pick<LoadedPlugins, 'routes'>): readonly LoadedRoute[] {
  const faults = routes.flatMap((route, index) => {
    const fault = formFault(route) ?? scopeFault(route) ?? chainFault(route) ?? placeFault(route, own, routes.slice(0, index));
    return fault === undefined ? [] : [`plugins: route "${routeName(route)}" of plugin "${route.plugin}": ${fault}`];
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return routes;
}

function formFault({ method, path, lenient }: LoadedRoute): string | undefined {
  if (!METHOD.test(method)) return 'the method must be in capital letters, or *';
  if (lenient !== undefined && /^\/v1\/.*[^*]$/.test(path)) return 'paths below /v1 are exact; leave out `lenient`';
  const isClear = path.split('/').every((segment) => (segment.match(PARAMETER)?.length ?? 0) <= 1);
  if (PATH.test(path) && isClear && !/[{}]/.test(path.replaceAll(PARAMETER, ''))) return undefined;
  return 'the path must be like /a/b or /a/{id}/b: segments that are not empty, with at most one parameter each';
}

function scopeFault({ scope }: LoadedRoute): string | undefined {
  if (scope === undefined || isScope(scope)) return undefined;
  return `its scope must be one of ${SCOPES.join(', ')}, or forward: and a name`;
}

function chainFault({ steps }: LoadedRoute): string | undefined {
  if (steps[0] !== 'access-log') return 'its first step must be "access-log", because every request is logged';
  for (const [step, before] of Object.entries(NEEDS)) {
    const index = steps.indexOf(step);
    if (index !== -1 && !steps.slice(0, index).some((one) => before.includes(one))) return `"${step}" must come after "${before[0]!}"`;
  }
  return undefined;
}

function placeFault(route: LoadedRoute, own: readonly RouteRow[], earlier: readonly LoadedRoute[]): string | undefined {
  const ours = own.find(({ path }) => pathsOverlap(path, route.path));
  if (ours !== undefined) return `"${routeName(ours)}" is the gateway's own and cannot be replaced; choose another path`;
  const taken = earlier.find((other) => {
    if (other.plugin === route.plugin) return routeName(other) === routeName(route);
    return pathsOverlap(other.path, route.path);
  });
  if (taken === undefined) return undefined;
  const advice = [route, taken].find(({ whenTaken }) => whenTaken !== undefined);
  const how = advice === undefined ? '' : `; with ${advice.whenTaken!} of plugin "${advice.plugin}" both can be used`;
  return `"${routeName(taken)}" of plugin "${taken.plugin}" already has this path${how}`;
}

/** The steps that plugins' routes name: ours, placed ones, their own. Throws a `ConfigError`. */
export function stepsOfPlugins(
  plugins: LoadedPlugins,
  services: GatewayServices,
  shared: ReadonlyMap<string, Step>,
): ReadonlyMap<string, ReadonlyMap<string, Step>> {
  return new Map(
    [...plugins.routeSteps(services)].map(([plugin, own]) => {
      const taken = own.find(({ name }, index) => shared.has(name) || own.findIndex((other) => other.name === name) !== index);
      if (taken !== undefined) {
        throw new ConfigError([`plugins: plugin "${plugin}": another step is called "${taken.name}"; choose another name`]);
      }
      return [plugin, new Map([...shared, ...own.map((step): [string, Step] => [step.name, step])])];
    }),
  );
}
