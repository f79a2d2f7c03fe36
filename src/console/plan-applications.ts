// Plans being applied: with many teams this takes longer than a browser waits, so it runs in the background and the page shows its progress.
import type { OperationContext } from '../admin/operation-context.ts';
import type { OperationRefusal } from '../admin/operation.ts';
import { applyPlan } from '../admin/operations/plans.ts';
import type { PlanAppliedRow } from '../admin/operations/plans.ts';

/** The latest application of a plan. */
export type Application =
  | {
      readonly kind: 'running';
      readonly changed: number;
      /** Teams to change; 0 while they are being determined. */ readonly behind: number;
    }
  | { readonly kind: 'done'; readonly applied: PlanAppliedRow; readonly replicated?: boolean | undefined; readonly atMs: number }
  /** The store did not answer; changes until then remain. */
  | { readonly kind: 'stopped'; readonly changed: number; readonly atMs: number };

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

  /**
   * Starts to apply the plan, unless that is in progress. Resolves when it is done, or after a second with its progress.
   * `onDone` is called when it is done.
   */
  async start(context: OperationContext, plan: string, onDone: (applied: PlanAppliedRow) => void): Promise<Application | OperationRefusal> {
    const before = this.#latest.get(plan);
    if (before?.kind === 'running') return before;
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, WAIT_MS, undefined);
    const ended = await Promise.race([this.#run(context, plan, onDone), late]);
    clearTimeout(timer);
    return ended ?? this.#latest.get(plan)!;
  }

  async #run(context: OperationContext, plan: string, onDone: (applied: PlanAppliedRow) => void): Promise<Application | OperationRefusal> {
    let changed = 0;
    const stands = <T extends Application>(application: T): T => {
      this.#latest.set(plan, application);
      return application;
    };
    stands({ kind: 'running', changed: 0, behind: 0 });
    const onProgress = (now: number, behind: number): void => void stands({ kind: 'running', changed: (changed = now), behind });
    // The question has said what becomes costlier, and is asked again when that changes.
    const result = await applyPlan.run!(context, { name: plan, confirm: true }, { onProgress }).catch((bug: unknown) => {
      // It is no longer in progress; the error is reported once, to the request that started it.
      this.#latest.delete(plan);
      throw bug;
    });
    if (result.kind === 'done') {
      const applied = result.value as PlanAppliedRow;
      onDone(applied);
      return stands({ kind: 'done', applied, replicated: result.replicated, atMs: this.#nowMs() });
    }
    if (result.kind === 'unavailable') return stands({ kind: 'stopped', changed, atMs: this.#nowMs() });
    this.#latest.delete(plan);
    return result;
  }
}
