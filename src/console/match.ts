// Finds the route of a path: by whole segments, the variable ones of harmless characters only.
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import type { ConsoleRoute } from './console-route.ts';

const SEGMENT = /^[A-Za-z0-9_-]{1,100}$/;
const NO_PAGE = refuse('not_found', 'The console has no such page.');

export interface Matched {
  readonly route: ConsoleRoute;
  readonly parameters: Readonly<Record<string, string>>;
}

/** `path` is as it was sent, without the prefix. HEAD is answered as GET. */
export function match(routes: readonly ConsoleRoute[], method: string, path: string): Matched | Refusal {
  const allowed: string[] = [];
  for (const route of routes) {
    const parameters = parametersOf(route.path, path);
    if (parameters === undefined) continue;
    if (route.method === (method === 'HEAD' ? 'GET' : method)) return { route, parameters };
    allowed.push(...(route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  }
  if (allowed.length === 0) return NO_PAGE;
  const Allow = [...new Set(allowed)].join(', ');
  return refuse('method_not_allowed', `This page takes ${Allow}.`, undefined, [['Allow', Allow]]);
}

function parametersOf(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const segment = given[index]!;
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== segment : !SEGMENT.test(segment)) return undefined;
    if (name !== undefined) parameters[name] = segment;
  }
  return parameters;
}
