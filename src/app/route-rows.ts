// The table of routes for a configuration: ours, the documentation's, those of plugins, and forward routes.
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { ForwardConfig } from '../config/forward.ts';
import { withPlugins } from '../config/plugins.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import { routeName } from '../core/route.ts';
import type { RouteRow } from '../core/route.ts';
import { placeSteps } from '../core/step-placement.ts';
import { documentPaths } from '../docs/openapi-document.ts';
import type { LoadedRoute, PluginApis } from '../ports/plugin-route.ts';
import { documentRow, ROWS_OF_DOCUMENTS, forwardRow, ROUTES } from '../routes.ts';
import { pluginRows } from './plugin-routes.ts';

export type Documented = Pick<PluginApis, 'documents'>;

/** The whole table of routes, with the steps of plugins in their places. Throws a `ConfigError` if one cannot be placed. */
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

/** The final order of the steps of every route, including those of plugins. Opens neither the store nor a port. */
export function describeRoutes(config: Config): Promise<{ route: string; steps: string[] }[]> {
  return withPlugins(config.plugins, (plugins) =>
    routeRows(config, plugins).map((row) => ({ route: routeName(row), steps: [...row.steps] })),
  );
}
