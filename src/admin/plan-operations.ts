// The operations on plans: compare them with teams, apply them, and say what a change makes dearer.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Team, TeamChange } from '../ports/team-registry.ts';
import { done } from './admin-result.ts';
import type { AdminResult } from './admin-result.ts';
import type { Dearer } from './dearer.ts';
import type { OperationContext } from './operation-context.ts';
import type { PlanChange, PlanComparison, TeamsPlans } from './plan-comparison.ts';
import type { PlanReport } from './reports.ts';
import { limitsOfPlan } from './team-terms.ts';
import type { PlanTime } from './team-terms.ts';

export interface PlanApplied {
  readonly plan: string;
  /** Teams on the plan. */
  readonly teams: number;
  /** Those of them that had other numbers. */
  readonly changed: number;
  readonly changes: readonly PlanChange[];
  /** What became dearer in running periods. */
  readonly dearer: Dearer;
}

interface PlanApplyOptions {
  /** By default now. */
  readonly when?: PlanTime;
  /** Changes nothing, and returns what would change. */
  readonly dryRun?: boolean;
  /** Whether it may make running periods dearer; otherwise it is refused then, with nothing changed. */
  readonly confirmed?: boolean;
  /** Called after each changed team. */
  readonly onProgress?: (changed: number, behind: number) => void;
}

/** Of `AdminOperations`. The comparison is imported late, because most commands need none of it. */
export class PlanOperations {
  readonly #context: OperationContext;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  list(): readonly PlanReport[] {
    return [...this.#context.options.plans()].map(([name, plan]) => ({ name, ...plan }));
  }

  /** Plans of the first `teamsMax` teams that the configuration lacks. */
  async missing(teamsMax: number): Promise<AdminResult<TeamsPlans>> {
    const { missingPlans } = await import('./plan-comparison.ts');
    const checked = await missingPlans(this.#context.options.teams, this.#context.options.plans(), teamsMax);
    return isUnavailable(checked) ? checked : done(checked);
  }

  /** Which of the first `teamsMax` teams have other numbers than the plan. */
  async compare(name: string, teamsMax: number): Promise<AdminResult<PlanComparison>> {
    const limits = limitsOfPlan(this.#context.options.plans(), name);
    if ('kind' in limits) return limits;
    const { comparePlan } = await import('./plan-comparison.ts');
    const compared = await comparePlan(this.#context.options.teams, name, limits, teamsMax);
    return 'kind' in compared ? compared : done(compared);
  }

  /** After an interruption, a second run changes the remaining teams. */
  async apply(name: string, options: PlanApplyOptions = {}): Promise<AdminResult<PlanApplied>> {
    const { when = 'now', dryRun = false, confirmed = false, onProgress } = options;
    const limits = limitsOfPlan(this.#context.options.plans(), name);
    if ('kind' in limits) return limits;
    const { teams } = this.#context.options;
    const { teamsBehind } = await import('./plan-comparison.ts');
    const found = await teamsBehind(teams, name, limits, when);
    if ('kind' in found) return found;
    const { members, changes, dearer } = found;
    if (dryRun) return done({ plan: name, teams: members, changed: found.behind.length, changes, dearer });
    if (dearer.teams > 0 && !confirmed) return { kind: 'dearer', dearer, currency: limits.currency };
    let changed = 0;
    const apply = async (): Promise<StoreUnavailable | undefined> => {
      for (const { teamId, change } of found.behind) {
        const team = await teams.updateTeam(teamId, change, this.#context.by('applyPlan'));
        if (isUnavailable(team)) return team;
        if (team !== undefined) changed++;
        onProgress?.(changed, found.behind.length);
      }
      return undefined;
    };
    const failed = await this.#context.changing(apply());
    if (failed !== undefined) return failed;
    return done(
      { plan: name, teams: members, changed, changes, dearer },
      changed === 0 ? undefined : await this.#context.replicated(found.behind.map(({ teamId }) => teamId)),
    );
  }

  /** What a change of plan at once makes dearer; `undefined` if nothing. */
  async dearer({ teamId, limits }: Team, { plan }: TeamChange): Promise<Dearer | StoreUnavailable | undefined> {
    if (plan === undefined) return undefined;
    const { canBeDearer, DearerSum } = await import('./dearer.ts');
    if (!canBeDearer(limits, plan.limits)) return undefined;
    const used = await this.#context.options.teams.usage(teamId);
    if (used === undefined || isUnavailable(used)) return used;
    const sum = new DearerSum();
    sum.add(used.team.limits, plan.limits, used);
    return sum.sum.teams === 0 ? undefined : sum.sum;
  }
}
