// Plans being applied: with many teams this takes longer than a browser waits, so it runs in the
// background and the page shows its progress.
import { setTimeout as delay } from 'node:timers/promises';
import { RefusedError } from '../admin/operation.ts';
import type { Done, OperationAttempt } from '../admin/operation.ts';
import type { PlanAppliedRow } from '../admin/operations/plans.ts';
import { StoreError } from '../domain/store-unavailable.ts';

/** The latest application of a plan. */
export interface Application {
  /** The teams to change; 0 while they are being determined. */
  behind: number;
  changed: number;
  /** `undefined` while it runs. */
  endedAtMs?: number;
  /** `undefined` if it ended before all teams were changed. */
  made?: Done<PlanAppliedRow>;
  /** Why that was; `undefined` if the store was away. */
  refused?: RefusedError;
}

type Apply = (onProgress: NonNullable<OperationAttempt['onProgress']>) => Promise<Done<PlanAppliedRow>>;

/** How long the answer to the form waits; most plans are applied by then. */
const WAIT_MS = 1000;

export class PlanApplications {
  readonly #nowMs: () => number;
  /** By the plan's name; as many as the configuration has had plans. */
  readonly #latest = new Map<string, Application>();

  /** `nowMs` is the wall clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  of(plan: string): Application | undefined {
    return this.#latest.get(plan);
  }

  /** Unless that is in progress. Resolves when it is done, or after a second with its progress. */
  async start(plan: string, apply: Apply): Promise<Application> {
    const before = this.of(plan);
    if (before !== undefined && before.endedAtMs === undefined) return before;
    const application: Application = { behind: 0, changed: 0 };
    this.#latest.set(plan, application);
    await Promise.race([this.#run(plan, application, apply), delay(WAIT_MS, undefined, { ref: false })]);
    // In time, a refusal is the answer itself; only one that comes later is shown beside the plan.
    if (application.refused === undefined) return application;
    this.#latest.delete(plan);
    throw application.refused;
  }

  async #run(plan: string, application: Application, apply: Apply): Promise<void> {
    try {
      application.made = await apply((changed, behind) => Object.assign(application, { changed, behind }));
    } catch (error) {
      if (error instanceof RefusedError) application.refused = error;
      else if (!(error instanceof StoreError)) {
        // It is no longer in progress; a bug is reported once, to the request that started it.
        this.#latest.delete(plan);
        throw error;
      }
    }
    application.endedAtMs = this.#nowMs();
  }
}
