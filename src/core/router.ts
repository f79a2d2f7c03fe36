// Finds the route for a method and a raw path. There always is one: unmatched requests have a chain of their own.
import type { HeadStep, Step } from './step.ts';
import { isPlainPath } from './plain-path.ts';
import { refuse } from './problem.ts';
import { compileRoute } from './route.ts';
import type { Route, RouteSpec } from './route.ts';

interface PathEntry {
  readonly methods: Map<string, Route>;
  notAllowed: Route;
}

interface Pattern {
  readonly before: string;
  readonly after: string;
  readonly entry: PathEntry;
}

/** `base` and everything below it. */
interface Wildcard {
  readonly base: string;
  readonly entry: PathEntry;
}

/** The route, and the value of its path parameter (empty if it has none). */
export interface Match {
  route: Route;
  parameter: string;
}

export class Router {
  readonly routes: readonly Route[];
  readonly #exact = new Map<string, PathEntry>();
  readonly #patterns: Pattern[] = [];
  /** Longest first, so that the most specific one answers. */
  #wildcards: readonly Wildcard[] = [];
  readonly #notFound: Route;
  /** Returned by every call of `match` and read at once by its only caller, which saves an allocation per request. */
  readonly #match: Match;

  /** `around` are steps that also see requests without a matching route (the access log). */
  constructor(specs: readonly RouteSpec[], around: readonly Step[] = []) {
    this.routes = specs.map((spec) => compileRoute(spec));
    this.#notFound = compileRoute({ method: '*', path: '*', takesBody: false, steps: [...around, NOT_FOUND] }, 'not_found');
    this.#match = { route: this.#notFound, parameter: '' };
    for (const route of this.routes) this.#add(route);
    this.#wildcards = this.#wildcards.toSorted((a, b) => b.base.length - a.base.length);
    for (const [path, entry] of this.#entries()) entry.notAllowed = methodNotAllowed(path, entry, around);
  }

  match(method: string, path: string): Match {
    const match = this.#match;
    match.parameter = '';
    let entry = this.#exact.get(path);
    if (entry === undefined && this.#patterns.length > 0) entry = this.#matchPattern(path, match);
    if (entry === undefined && this.#wildcards.length > 0) entry = this.#matchWildcard(path);
    match.route = entry === undefined ? this.#notFound : (entry.methods.get(method) ?? entry.notAllowed);
    return match;
  }

  #matchPattern(path: string, match: Match): PathEntry | undefined {
    for (const { before, after, entry } of this.#patterns) {
      if (path.length <= before.length + after.length || !path.startsWith(before) || !path.endsWith(after)) continue;
      const parameter = path.slice(before.length, path.length - after.length);
      if (parameter.includes('/')) continue;
      match.parameter = parameter;
      return entry;
    }
    return undefined;
  }

  /** The upstream resolves the path itself, so only paths that it cannot resolve to another one match. */
  #matchWildcard(path: string): PathEntry | undefined {
    const found = this.#wildcards.find(({ base }) => path === base || (path.startsWith(base) && path.charAt(base.length) === '/'));
    return found !== undefined && isPlainPath(path) ? found.entry : undefined;
  }

  #add(route: Route): void {
    const entry = this.#entryFor(route.path);
    if (entry.methods.has(route.method)) throw new Error(`route ${route.name} is listed twice`);
    entry.methods.set(route.method, route);
  }

  #entryFor(path: string): PathEntry {
    const entry: PathEntry = { methods: new Map(), notAllowed: this.#notFound };
    if (path.endsWith('/*')) {
      const base = path.slice(0, -2);
      const known = this.#wildcards.find((wildcard) => wildcard.base === base);
      if (known === undefined) this.#wildcards = [...this.#wildcards, { base, entry }];
      return known?.entry ?? entry;
    }
    const open = path.indexOf('{');
    if (open === -1) {
      const known = this.#exact.get(path);
      if (known === undefined) this.#exact.set(path, entry);
      return known ?? entry;
    }
    const before = path.slice(0, open);
    const after = path.slice(path.indexOf('}') + 1);
    const known = this.#patterns.find((pattern) => pattern.before === before && pattern.after === after);
    if (known === undefined) this.#patterns.push({ before, after, entry });
    return known?.entry ?? entry;
  }

  *#entries(): Generator<[path: string, entry: PathEntry]> {
    yield* this.#exact;
    for (const { before, after, entry } of this.#patterns) yield [`${before}{id}${after}`, entry];
    for (const { base, entry } of this.#wildcards) yield [`${base}/*`, entry];
  }
}

const NOT_FOUND: HeadStep = {
  kind: 'head',
  name: 'not-found',
  run: () => refuse('not_found', 'No endpoint has this path. Paths are case-sensitive and take no trailing slash.'),
};

function methodNotAllowed(path: string, entry: PathEntry, around: readonly Step[]): Route {
  const allow = [...entry.methods.keys()].join(', ');
  const outcome = refuse('method_not_allowed', `This path accepts ${allow}.`, undefined, [['Allow', allow]]);
  const answer: HeadStep = { kind: 'head', name: 'method-not-allowed', run: () => outcome };
  // In the format of the API that the path belongs to.
  const [{ problemForm } = { problemForm: undefined }] = entry.methods.values();
  return compileRoute({ method: '*', path, takesBody: false, problemForm, steps: [...around, answer] }, 'method_not_allowed');
}
