// A route: a method, a path and the fixed array of steps that answers it.
import type { ProblemForm } from './problem.ts';
import type { CallerStep, Step } from './step.ts';

interface RouteBase {
  readonly method: string;
  /** Literal segments, at most one of which is a parameter written `{name}`; with `/*` at its end, that and everything below. */
  readonly path: string;
  /** Whether the steps look at the whole body; a route that does not starts its whole chain at once. */
  readonly takesBody: boolean;
  /** The body is not read until a step takes it by `Sink.incoming`, piece by piece. Not with `takesBody`. */
  readonly streams?: boolean;
  /** Without it problems are answered as problem documents. */
  readonly problemForm?: ProblemForm | undefined;
}

/** A route whose steps are named, not made yet. */
export interface RouteRow<Name extends string = string> extends RouteBase {
  readonly steps: readonly Name[];
}

export interface RouteSpec extends RouteBase {
  readonly steps: readonly Step[];
}

export interface Route extends RouteSpec {
  /** `METHOD path`, for logs and metrics: a fixed set, whatever callers send. */
  readonly name: string;
  /** Steps before this index run without the body. */
  readonly headCount: number;
  /** Steps before this index find out who calls; then `enter` of those that have it is called. */
  readonly entryAt: number;
  readonly entering: readonly Step[];
  /** What has to know that a body is long. */
  readonly forLongBody: CallerStep | undefined;
}

/** `METHOD path`: what logs, metrics and plugins call a route. */
export function routeName({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}

/** Whether some path matches both. A segment with a parameter counts as matching every segment. */
export function pathsOverlap(one: string, other: string): boolean {
  const others = other.split('/');
  const segments = one.split('/');
  const same = (segment: string, index: number): boolean =>
    segment === others[index] || segment.includes('{') || others[index]!.includes('{');
  return segments.length === others.length && segments.every(same);
}

/** Replaces the names of steps by the steps. Throws when there is no step of a name. */
export function specOf(row: RouteRow, steps: ReadonlyMap<string, Step>): RouteSpec {
  const found = row.steps.map((name) => {
    const step = steps.get(name);
    if (step === undefined) throw new Error(`route ${routeName(row)}: there is no step "${name}"`);
    return step;
  });
  return { ...row, steps: found };
}

/** Checks the order of a chain once, at boot. Throws with the route's name when it is wrong. */
export function compileRoute(spec: RouteSpec, name = routeName(spec)): Route {
  const { steps } = spec;
  const firstOther = steps.findIndex((step) => step.kind !== 'head');
  const firstBody = steps.findIndex((step) => step.kind === 'body');
  const headCount = firstBody === -1 ? steps.length : firstBody;
  const entryAt = Math.max(headCount, steps.findLastIndex((step) => step.kind === 'caller') + 1);
  const early = steps.slice(0, headCount);
  const seen = new Set<string>();
  for (const [index, step] of steps.entries()) {
    if (seen.has(step.name)) throw new Error(`route ${name}: two steps are called "${step.name}"`);
    seen.add(step.name);
    if (step.kind === 'head' && firstOther !== -1 && index > firstOther) {
      throw new Error(`route ${name}: head step "${step.name}" stands behind a ${steps[firstOther]!.kind} step; head steps come first`);
    }
  }
  return {
    ...spec,
    name,
    headCount,
    entryAt,
    entering: steps.slice(0, entryAt).filter((step) => step.enter !== undefined),
    forLongBody: early.find((step) => step.kind === 'caller' && step.longBody !== undefined) as CallerStep | undefined,
  };
}
