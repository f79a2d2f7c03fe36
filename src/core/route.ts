// A route: a method, a path and the fixed array of steps that handles it; plugins' steps are placed
// after the step that each names, in every chain that has it.
import type { ProblemForm } from './problem.ts';
import type { CallerStep, Step } from './pipeline.ts';

/**
 * Which differences of a path do not matter: `slashes`, repeated ones and those at the end;
 * `letters`, these and the case of ASCII letters. An exact path takes precedence.
 */
export type Lenience = 'slashes' | 'letters';

interface RouteBase {
  /** In capital letters; `*` is every method that the path has no other route for. */
  readonly method: string;
  /** Literal segments, some with a parameter `{name}`; a trailing `/*` matches everything below. */
  readonly path: string;
  /** Whether the steps need the whole body; without it, the chain starts after the head. */
  readonly takesBody: boolean;
  /** A step reads the body as it arrives (`Sink.incoming`): on node:http, without `takesBody`. */
  readonly streamsBody?: boolean;
  /** Its replies have a validator and are the same for everybody: they may be stored. */
  readonly revalidated?: boolean;
  readonly lenient?: Lenience;
  /** The scope that opens the route to keys with scopes (domain/scopes.ts); none by default. */
  readonly scope?: string | undefined;
  /** Defaults to problem documents. */
  readonly problemForm?: ProblemForm | undefined;
}

/** A route with the names of its steps instead of the steps. */
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
  /** Steps before this index identify the caller; after them, `enter` is called. */
  readonly entryAt: number;
  readonly entering: readonly Step[];
  /** The step that may refuse a request before it is reached. */
  readonly foreseeing: Step | undefined;
  /** The step to notify when the body turns out to be long. */
  readonly forLongBody: CallerStep | undefined;
}

/** `METHOD path`: the name of a route in logs, metrics and plugins. */
export function routeName({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}

/** Whether some path matches both. A segment with a parameter counts as matching any segment. */
export function pathsOverlap(one: string, other: string): boolean {
  const others = other.split('/');
  const segments = one.split('/');
  const same = (segment: string, index: number): boolean =>
    segment === others[index] || segment.includes('{') || others[index]!.includes('{');
  return segments.length === others.length && segments.every(same);
}

/** Resolves the step names. Throws if a step does not exist. */
export function specOf(row: RouteRow, steps: ReadonlyMap<string, Step>): RouteSpec {
  const found = row.steps.map((name) => {
    const step = steps.get(name);
    if (step === undefined) throw new Error(`route ${routeName(row)}: there is no step "${name}"`);
    return step;
  });
  return { ...row, steps: found };
}

/** Validates the order of a chain once, at boot. Throws with the route's name if it is wrong. */
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
      throw new Error(`route ${name}: head step "${step.name}" comes after a ${steps[firstOther]!.kind} step; head steps come first`);
    }
  }
  return {
    ...spec,
    name,
    headCount,
    entryAt,
    entering: steps.slice(0, entryAt).filter((step) => step.enter !== undefined),
    foreseeing: steps.find((step) => step.foresee !== undefined),
    forLongBody: early.find((step) => step.kind === 'caller' && step.longBody !== undefined) as CallerStep | undefined,
  };
}

export interface StepPlacement {
  readonly step: Step;
  /** Name of the step after which this one runs; several after the same one keep their order. */
  readonly after: string;
  /** Names of routes (`POST /v1/translate`); by default every route that has the step `after`. */
  readonly routes?: readonly string[];
}

/**
 * Inserts plugins' steps into the chains. Throws, listing what is available, if a placement matches
 * nothing or a name is taken.
 */
export function placeSteps<Row extends RouteRow>(rows: readonly Row[], placements: readonly StepPlacement[]): Row[] {
  const ours = new Set(rows.flatMap((row) => row.steps));
  const placed = new Map<string, Step>();
  const chains = rows.map((row) => ({ row, name: routeName(row), steps: [...row.steps] }));
  const placedBehind = new Map<string, string>();
  for (const { step, after, routes } of placements) {
    if (ours.has(step.name) || (placed.get(step.name) ?? step) !== step) {
      throw new Error(`step "${step.name}": another step has this name; choose one that begins with the plugin's`);
    }
    const unknown = routes?.find((name) => !chains.some((chain) => chain.name === name));
    if (unknown !== undefined) throw new Error(`step "${step.name}": there is no route "${unknown}"`);
    let insertions = 0;
    for (const { steps, name } of chains) {
      if (routes !== undefined && !routes.includes(name)) continue;
      const anchor = steps.indexOf(after);
      if (anchor === -1) continue;
      let index = anchor + 1;
      while (index < steps.length && placedBehind.get(steps[index]!) === after) index++;
      steps.splice(index, 0, step.name);
      insertions++;
    }
    if (insertions === 0)
      throw new Error(`step "${step.name}": no route has a step "${after}"; there are ${[...ours, ...placed.keys()].join(', ')}`);
    placedBehind.set(step.name, after);
    placed.set(step.name, step);
  }
  return chains.map(({ row, steps }) => ({ ...row, steps }));
}
