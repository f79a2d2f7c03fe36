// What /readyz answers: whether a gateway can serve, and what is wrong with it.
import type { ReplicaHealth } from '../ports/engine.ts';

interface EngineReadiness {
  readonly ok: boolean;
  /** The failure of a replica, or `untried`. */
  readonly cause?: string;
}

export interface Readiness {
  /** Depends on the store, its clock and draining alone. */
  readonly ready: boolean;
  readonly store: { readonly ok: boolean; readonly cause?: string };
  /** By engine: `ok` while a replica could be used when it was last tried, and is not set aside. */
  readonly engines: Readonly<Record<string, EngineReadiness>>;
  /** Not `ok` while the store's clock is wrong; negative if it is behind. */
  readonly clock: { readonly ok: boolean; readonly step_seconds?: number };
  readonly draining: boolean;
}

/** While `serve` waits for its store. */
export const WAITING: Readiness = {
  ready: false,
  store: { ok: false, cause: 'waiting' },
  engines: {},
  clock: { ok: true },
  draining: false,
};

export function engineReadiness(replicas: readonly ReplicaHealth[]): EngineReadiness {
  if (replicas.some(({ reached, asideMs }) => reached === true && asideMs === undefined)) return { ok: true };
  return { ok: false, cause: replicas.find(({ lastFailure }) => lastFailure !== undefined)?.lastFailure?.failure ?? 'untried' };
}

/** Of several processes, all of which must be ready; `undefined` stands for one that does not answer. */
export function readinessOfAll(found: readonly (Readiness | undefined)[]): Readiness {
  const answered = found.filter((one) => one !== undefined);
  return {
    ready: answered.length === found.length && answered.every(({ ready }) => ready),
    store: answered.find(({ store }) => !store.ok)?.store ?? answered[0]?.store ?? { ok: true },
    engines: Object.assign(
      {},
      ...answered.map(({ engines }) => engines),
      ...answered.map(({ engines }) => failing(engines)),
    ) as Readiness['engines'],
    clock: answered.find(({ clock }) => !clock.ok)?.clock ?? { ok: true },
    draining: answered.some(({ draining }) => draining),
  };
}

/** Those that some process cannot use count for all. */
function failing(engines: Readiness['engines']): Readiness['engines'] {
  return Object.fromEntries(Object.entries(engines).filter(([, { ok }]) => !ok));
}
