// Finds the row of a table of routes for a method and a path.
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';

/** The variable segments of the path are as they were sent, by their names. */
export interface MatchedRoute<Route> {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Matching<Route> {
  /** What the variable segment of this name may be, as a regular expression. */
  readonly segment: (name: string) => string;
  readonly what: 'path' | 'page';
  readonly methodsOf: (route: Route) => readonly string[];
}

/** Finds the row for a path; a refusal for another method; `undefined` if there is no such path. */
export function matchingOf<Route extends { readonly path: string }>(
  routes: readonly Route[],
  { segment, what, methodsOf }: Matching<Route>,
): (method: string, path: string) => MatchedRoute<Route> | Refusal | undefined {
  const patterns = routes.map((route) => ({ route, pattern: patternOf(route.path, segment) }));
  return (method, path) => {
    const matching = patterns.flatMap(({ route, pattern }) => {
      const found = pattern.exec(path);
      return found === null ? [] : [{ route, parameters: { ...found.groups } }];
    });
    const found = matching.find(({ route }) => methodsOf(route).includes(method));
    if (found !== undefined || matching.length === 0) return found;
    const Allow = [...new Set(matching.flatMap(({ route }) => methodsOf(route)))].join(', ');
    return refuse('method_not_allowed', `This ${what} accepts ${Allow}.`, undefined, [['Allow', Allow]]);
  };
}

/** A named group for each variable segment; all else stands for itself. */
function patternOf(path: string, segment: (name: string) => string): RegExp {
  const whole = path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, (_braces, name: string) => `(?<${name}>${segment(name)})`);
  return new RegExp(`^${whole}$`);
}
