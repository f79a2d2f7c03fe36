// Checks the routes of plugins, and finds the steps that they name.
import { ConfigError } from '../config/config-error.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import { pathsOverlap, routeName } from '../core/route.ts';
import type { RouteRow } from '../core/route.ts';
import type { Step } from '../core/step.ts';
import { isScope, SCOPES } from '../domain/scopes.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';
import type { LoadedRoute } from '../ports/plugin-route.ts';

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

/** Finds the steps that plugins' routes name: ours, those placed everywhere, or the plugin's own. Throws a `ConfigError`. */
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
