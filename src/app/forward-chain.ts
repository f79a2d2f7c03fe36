// The chains of forward routes: the shared steps, each route's own charge before the admission, and what passes it on.
import { routeName } from '../core/route.ts';
import type { Step } from '../core/step.ts';
import { chargedAdmission } from '../forward/charged-admission.ts';
import { forwardStep } from '../forward/forward-step.ts';
import type { ChainParts } from './chain.ts';

/** The steps of each forward route, by its name. */
export function stepsOfForward(
  { forward, upstream, now, log }: ChainParts,
  leaseMs: number,
  admit: Step,
  shared: ReadonlyMap<string, Step>,
): ReadonlyMap<string, ReadonlyMap<string, Step>> {
  if (upstream === undefined) return new Map();
  const named = forward.flatMap((route) => route.methods.map((method) => [routeName({ method, path: route.path }), route] as const));
  const step = forwardStep({
    routes: new Map(named),
    upstream,
    leaseMs,
    now,
    onFailures: (x, failures, answered) =>
      log.warn('forward attempts failed', { request_id: x.id, route: x.route.name, causes: failures.join(' '), answered }),
  });
  return new Map(named.map(([name, route]) => [name, new Map([...shared, ['forward', step], ['admit', chargedAdmission(admit, route)]])]));
}
