// The chains of forward routes: the shared steps, each route's charge before the admission, and the step that forwards.
import type { Config } from '../config/config.ts';
import { routeName } from '../core/route.ts';
import type { Step } from '../core/step.ts';
import { traceparentForward, traceparentUnsampled } from '../domain/traceparent.ts';
import { chargedAdmission, forwardStep } from '../forward/forward-step.ts';
import type { ProxyUpstream, ProxyUpstreamOptions } from '../forward/upstream.ts';
import type { ChainParts } from './chain.ts';

/** The steps of each forward route, by its name. */
export function stepsOfForward(
  { forward, upstream, now, log, tracer }: ChainParts,
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
    passTraceparent: tracer === undefined ? traceparentForward : traceparentUnsampled,
    now,
    onFailures: (x, failures, answered) =>
      log.warn('forward attempts failed', { request_id: x.id, route: x.route.name, causes: failures.join(' '), answered }),
  });
  return new Map(named.map(([name, route]) => [name, new Map([...shared, ['forward', step], ['admit', chargedAdmission(admit, route)]])]));
}

/** What forwards requests; `undefined` if there are no forward routes, so that http-proxy-3 is not loaded. */
export async function openUpstream({ forward }: Config, options: ProxyUpstreamOptions): Promise<ProxyUpstream | undefined> {
  if (forward.length === 0) return undefined;
  const { openProxyUpstream } = await import('../forward/upstream.ts');
  return openProxyUpstream(options);
}
