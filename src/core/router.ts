// Finds the route for a method and a raw path; unmatched requests have a chain of their own. Also
// tells which paths every server reads alike: only these may be forwarded unchanged.
import type { HeadStep, Step } from './pipeline.ts';
import { refuse } from './problem.ts';
import { compileRoute } from './route.ts';
import type { Lenience, Route, RouteSpec } from './route.ts';

/** The routes of a path. */
interface PathEntry {
  readonly path: string;
  readonly methods: Map<string, Route>;
  /** For all other methods. */
  otherwise: Route;
  readonly lenient: Lenience | undefined;
}

/** A path with parameters; the first group is the first one's value. */
interface Pattern {
  readonly test: RegExp;
  readonly entry: PathEntry;
}

/** `base` and everything below it. */
interface Wildcard {
  readonly base: string;
  readonly entry: PathEntry;
}

/** The route, and the value of its first path parameter (empty if it has none). */
interface Match {
  route: Route;
  parameter: string;
}

export class Router {
  readonly routes: readonly Route[];
  readonly #exact = new Map<string, PathEntry>();
  readonly #patterns: readonly Pattern[];
  /** Longest first, so that the most specific one answers. */
  readonly #wildcards: readonly Wildcard[];
  /** Exact paths for which the case of letters does not matter, in lower case. */
  readonly #anyCase = new Map<string, string>();
  readonly #isLenient: boolean;
  readonly #notFound: Route;
  /** Returned by every `match` and read at once, which saves an allocation per request. */
  readonly #match: Match;

  /** `around` are steps that also see requests without a matching route (the access log). */
  constructor(specs: readonly RouteSpec[], around: readonly Step[] = []) {
    this.routes = specs.map((spec) => compileRoute(spec));
    this.#notFound = compileRoute({ method: '*', path: '*', takesBody: false, steps: [...around, NOT_FOUND] }, 'not_found');
    this.#match = { route: this.#notFound, parameter: '' };
    const entries = this.#entries(around);
    this.#patterns = entries.filter(({ path }) => path.includes('{')).map((entry) => ({ test: patternOf(entry.path), entry }));
    this.#wildcards = entries
      .filter(({ path }) => path.endsWith('/*'))
      .map((entry) => ({ base: entry.path.slice(0, -2), entry }))
      .toSorted((a, b) => b.base.length - a.base.length);
    this.#isLenient = entries.some(({ lenient }) => lenient !== undefined);
    for (const entry of entries) {
      if (/\{|\/\*$/.test(entry.path)) continue;
      this.#exact.set(entry.path, entry);
      if (entry.lenient === 'letters') this.#addAnyCase(entry.path);
    }
  }

  match(method: string, path: string): Match {
    const match = this.#match;
    match.parameter = '';
    const entry = this.#exact.get(path) ?? this.#matchOther(path, match);
    match.route = entry === undefined ? this.#notFound : (entry.methods.get(method) ?? entry.otherwise);
    return match;
  }

  #matchOther(path: string, match: Match): PathEntry | undefined {
    const entry = this.#matchPattern(path, match);
    if (entry !== undefined) return entry;
    // Only paths that the upstream, which resolves them itself, cannot resolve to another one.
    const below = this.#wildcards.find((one) => isBelow(path, one));
    const wildcard = below !== undefined && isPlainPath(path) ? below : undefined;
    return (this.#isLenient ? this.#matchLenient(path, wildcard, match) : undefined) ?? wildcard?.entry;
  }

  #matchPattern(path: string, match: Match): PathEntry | undefined {
    for (const { test, entry } of this.#patterns) {
      const found = test.exec(path);
      if (found === null) continue;
      match.parameter = found[1]!;
      return entry;
    }
    return undefined;
  }

  /**
   * What a lenient path answers with other slashes or letters. What another route answers as it was
   * sent stays there; a wildcard gives way only to paths below it.
   */
  #matchLenient(path: string, wildcard: Wildcard | undefined, match: Match): PathEntry | undefined {
    const plain = withoutSpareSlashes(path);
    const written = (this.#anyCase.size === 0 || !ASCII_PATH.test(plain) ? undefined : this.#anyCase.get(plain.toLowerCase())) ?? plain;
    if (written === path || (wildcard !== undefined && !isBelow(written, wildcard))) return undefined;
    const entry = this.#exact.get(written) ?? this.#matchPattern(written, match);
    if (entry?.lenient !== undefined) return entry;
    match.parameter = '';
    return undefined;
  }

  /** One for each path, whatever its parameters are called. */
  #entries(around: readonly Step[]): readonly PathEntry[] {
    const entries = new Map<string, PathEntry>();
    for (const route of this.routes) {
      const { path, lenient, method } = route;
      const name = path.replaceAll(PARAMETER, '{}');
      const entry = entries.get(name) ?? { path, methods: new Map<string, Route>(), otherwise: this.#notFound, lenient };
      entries.set(name, entry);
      if (entry.methods.has(method)) throw new Error(`route ${route.name} is listed twice`);
      entry.methods.set(method, route);
    }
    const all = [...entries.values()];
    for (const entry of all) entry.otherwise = entry.methods.get(ANY_METHOD) ?? methodNotAllowed(entry, around);
    return all;
  }

  #addAnyCase(path: string): void {
    const letters = path.toLowerCase();
    const known = this.#anyCase.get(letters) ?? path;
    if (known !== path) throw new Error(`routes ${known} and ${path} differ only in the case of letters, which does not matter there`);
    this.#anyCase.set(letters, path);
  }
}

const PARAMETER = /\{\w+\}/g;

/** A parameter is not empty and has no slash. */
function patternOf(path: string): RegExp {
  const literals = path.split(PARAMETER).map((literal) => literal.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${literals.join('([^/]+?)')}$`);
}

const ANY_METHOD = '*';
/** Only these are lowered: Unicode's would turn a Kelvin sign into a k. */
const ASCII_PATH = /^[!-~]*$/;

function isBelow(path: string, { base }: Wildcard): boolean {
  return path === base || (path.startsWith(base) && path.charAt(base.length) === '/');
}

function withoutSpareSlashes(path: string): string {
  const single = path.includes('//') ? path.replaceAll(/\/{2,}/g, '/') : path;
  return single.length > 1 && single.endsWith('/') ? single.slice(0, -1) : single;
}

const NOT_FOUND: HeadStep = {
  kind: 'head',
  name: 'not-found',
  run: () => refuse('not_found', 'No endpoint has this path. Paths are case-sensitive and take no trailing slash.'),
};

function methodNotAllowed({ path, methods }: PathEntry, around: readonly Step[]): Route {
  const allow = [...methods.keys()].join(', ');
  const outcome = refuse('method_not_allowed', `This path accepts ${allow}.`, undefined, [['Allow', allow]]);
  const answer: HeadStep = { kind: 'head', name: 'method-not-allowed', run: () => outcome };
  // In the format of the API that the path belongs to.
  const [{ problemForm } = { problemForm: undefined }] = methods.values();
  return compileRoute({ method: '*', path, takesBody: false, problemForm, steps: [...around, answer] }, 'method_not_allowed');
}

/** Non-empty segments of the characters that RFC 3986 allows in them. */
const SEGMENTS = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+$/;
/** `.`, `..` and empty segments, also with parameters (`..;x`), which some servers strip. */
const DOT_SEGMENT = /\/(?:\.{1,2}(?:;[^/]*)?|;[^/]*)?(?:\/|$)/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/**
 * Escapes that can be misread: dots, slashes, backslashes, control characters, and the first bytes
 * of overlong UTF-8, which can encode any of these.
 */
const BAD_ESCAPE = /%(?:2[ef]|5c|[01][0-9a-f]|7f|c[01]|e0%[89][0-9a-f]|f0%8[0-9a-f]|f[89a-f]%[89ab][0-9a-f])/i;
const ASCII_ESCAPE = /%[2-7][0-9a-f]/gi;
/** No legitimate path is escaped more often. */
const DECODINGS_MAX = 4;

/** Whether the path keeps its meaning, however often it is decoded on its way. */
export function isPlainPath(path: string): boolean {
  if (!SEGMENTS.test(path) || DOT_SEGMENT.test(path) || BROKEN_ESCAPE.test(path)) return false;
  let decoded = path;
  for (let times = 0; times < DECODINGS_MAX; times++) {
    if (BAD_ESCAPE.test(decoded)) return false;
    const next = decoded.replace(ASCII_ESCAPE, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
    if (next === decoded) return true;
    // An escaped semicolon after dots.
    if (DOT_SEGMENT.test(next)) return false;
    decoded = next;
  }
  return false;
}
