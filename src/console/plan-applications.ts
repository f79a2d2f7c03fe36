// Plans being applied: with many teams this takes longer than a browser waits, so it runs in the
// background and the page shows its progress.
import type { OperationContext } from '../admin/operation-context.ts';
import { RefusedError } from '../admin/operation.ts';
import type { Done, OperationRefusal } from '../admin/operation.ts';
import { applyPlan, OutdatedPlanError } from '../admin/operations/plans.ts';
import type { ComparedPlan, PlanAppliedRow } from '../admin/operations/plans.ts';
import { StoreError } from '../domain/store-unavailable.ts';

/** The latest application of a plan. */
export type Application =
  /** `behind` are the teams to change; 0 while they are being determined. */
  | { readonly kind: 'running'; readonly changed: number; readonly behind: number }
  | { readonly kind: 'applied'; readonly made: Done<PlanAppliedRow>; readonly atMs: number }
  /** Before all teams were changed. Without a refusal the store was away. */
  | {
      readonly kind: 'stopped';
      readonly changed: number;
      readonly refusal: OperationRefusal | undefined;
      /** How the plan stands, if that is not what was agreed to. */
      readonly outdated: ComparedPlan | undefined;
      readonly atMs: number;
    };

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
   * Unless that is in progress. Resolves when it is done, or after a second with its progress.
   * `onDone` is called when it is done.
   */
  async start(context: OperationContext, plan: string, agreed: string, onDone: (applied: PlanAppliedRow) => void): Promise<Application> {
    const before = this.of(plan);
    if (before?.kind === 'running') return before;
    const { promise: tooLong, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, WAIT_MS, undefined);
    const ended = await Promise.race([this.#run(context, plan, agreed, onDone), tooLong]);
    clearTimeout(timer);
    // A refusal in time is the answer itself; only one that comes later is shown beside the plan.
    if (ended?.kind === 'stopped' && ended.refusal !== undefined) this.#latest.delete(plan);
    return ended ?? this.of(plan)!;
  }

  async #run(context: OperationContext, plan: string, agreed: string, onDone: (applied: PlanAppliedRow) => void): Promise<Application> {
    let changed = 0;
    this.#latest.set(plan, { kind: 'running', changed, behind: 0 });
    const onProgress = (now: number, behind: number): void =>
      void this.#latest.set(plan, { kind: 'running', changed: (changed = now), behind });
    try {
      const made = (await applyPlan.run!(context, { name: plan }, { onProgress, agreed })) as Done<PlanAppliedRow>;
      onDone(made.value);
      return this.#ended(plan, { kind: 'applied', made, atMs: this.#nowMs() });
    } catch (error) {
      // It is no longer in progress; a bug is reported once, to the request that started it.
      this.#latest.delete(plan);
      const refusal = error instanceof RefusedError ? error.refusal : undefined;
      if (refusal?.code === 'not_found' || (refusal === undefined && !(error instanceof StoreError))) throw error;
      const outdated = error instanceof OutdatedPlanError ? error.compared : undefined;
      return this.#ended(plan, { kind: 'stopped', changed, refusal, outdated, atMs: this.#nowMs() });
    }
  }

  #ended(plan: string, ended: Application): Application {
    this.#latest.set(plan, ended);
    return ended;
  }
}
