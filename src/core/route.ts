// A route: a method, a path and the fixed array of steps that answers it.
import type { Step } from './step.ts';

export interface RouteSpec {
  readonly method: string;
  /** Literal segments, at most one of which is a parameter written `{name}`. */
  readonly path: string;
  /** Whether the steps look at the body; a route that does not starts its whole chain at once. */
  readonly takesBody: boolean;
  readonly steps: readonly Step[];
}

export interface Route extends RouteSpec {
  /** `METHOD path`, for logs and metrics: a fixed set, whatever callers send. */
  readonly name: string;
  /** Steps before this index are head steps. */
  readonly headCount: number;
}

/** Checks the order of a chain once, at boot. Throws with the route's name when it is wrong. */
export function compileRoute(spec: RouteSpec, name = `${spec.method} ${spec.path}`): Route {
  const firstBody = spec.steps.findIndex((step) => step.kind === 'body');
  const headCount = firstBody === -1 ? spec.steps.length : firstBody;
  const seen = new Set<string>();
  for (const [index, step] of spec.steps.entries()) {
    if (seen.has(step.name)) throw new Error(`route ${name}: two steps are called "${step.name}"`);
    seen.add(step.name);
    if (step.kind === 'head' && index >= headCount) {
      throw new Error(`route ${name}: head step "${step.name}" stands behind a body step; head steps come first`);
    }
  }
  return { ...spec, name, headCount };
}
