// What /readyz answers: whether a gateway can serve, and what is wrong with it.
export interface Readiness {
  /** Depends on the store and on draining alone. */
  readonly ready: boolean;
  readonly store: { readonly ok: boolean; readonly cause?: string };
  /** Not `ok` while the clock is not believed; negative if it is behind. */
  readonly clock: { readonly ok: boolean; readonly step_seconds?: number };
  readonly draining: boolean;
}

/** While `serve` waits for its store. */
export const WAITING: Readiness = { ready: false, store: { ok: false, cause: 'waiting' }, clock: { ok: true }, draining: false };

/** Of several processes, all of which must be ready; `undefined` stands for one that does not answer. */
export function readinessOfAll(found: readonly (Readiness | undefined)[]): Readiness {
  const answered = found.filter((one) => one !== undefined);
  return {
    ready: answered.length === found.length && answered.every(({ ready }) => ready),
    store: answered.find(({ store }) => !store.ok)?.store ?? answered[0]?.store ?? { ok: true },
    clock: answered.find(({ clock }) => !clock.ok)?.clock ?? { ok: true },
    draining: answered.some(({ draining }) => draining),
  };
}
