// Checks a new team, or a change of a team, against the plans of the configuration: returns its limits, or why it is refused.
import { MINOR_MAX, minorRoundedUp, toMicro } from '../domain/money.ts';
import { limitsOf } from '../domain/plan.ts';
import type { Plan, TeamLimits } from '../domain/plan.ts';
import type { ChangeOnce, Team, TeamChange } from '../ports/team-registry.ts';
import { done } from './admin-result.ts';
import type { AdminRefusal, AdminResult } from './admin-result.ts';

export type Plans = ReadonlyMap<string, Plan>;

export interface TeamDraft {
  /** Set if the creation may be a repetition: a team that already has this id was created by the first attempt. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly reference?: string | undefined;
  readonly plan: string;
  /** `undefined` if none was named: then any plan will do. */
  readonly creditMinor: number | undefined;
}

/** When a change of plan takes effect. */
export const PLAN_TIMES = ['now', 'next-period', 'never'] as const;

export type PlanTime = (typeof PLAN_TIMES)[number];

export function isPlanTime(text: string): text is PlanTime {
  return PLAN_TIMES.some((time) => time === text);
}

export interface TeamEdit {
  readonly name?: string | undefined;
  /** `null` removes it. */
  readonly reference?: string | null | undefined;
  readonly plan?: string | undefined;
  /** When `plan` takes effect; `never` takes back the change that waits for the end of the period. By default `now`. */
  readonly when?: PlanTime | undefined;
  /** Whether a change of plan may make the running period dearer. */
  readonly confirmed?: boolean | undefined;
  /** Negative to deduct credit, which needs a reason. */
  readonly addCreditMinor?: number | undefined;
  /** For the audit. */
  readonly reason?: string | undefined;
  /** Set if the change may be a repetition. */
  readonly once?: ChangeOnce | undefined;
}

export const BALANCE_TOO_LARGE: AdminRefusal = { kind: 'balance_too_large', maxMinor: MINOR_MAX };

/** The limits of a new team, or why it is refused; without asking the store. */
export function judgeNewTeam(plans: Plans, { plan, creditMinor }: Pick<TeamDraft, 'plan' | 'creditMinor'>): AdminResult<TeamLimits> {
  const limits = limitsOfPlan(plans, plan);
  if ('kind' in limits) return limits;
  return creditMinor !== undefined && limits.billing !== 'credit' ? { kind: 'plan_takes_no_credit', plan } : done(limits);
}

/** The limits in a configuration's plan. */
export function limitsOfPlan(plans: Plans, name: string): TeamLimits | AdminRefusal {
  const plan = plans.get(name);
  return plan === undefined ? { kind: 'no_such_plan', plan: name, plans: [...plans.keys()] } : limitsOf(plan);
}

/** The change of a team whose current limits are `team.limits`. */
export function judgeTeamEdit(plans: Plans, team: Team, edit: TeamEdit): TeamChange | AdminRefusal {
  const { name, reference, plan, when = 'now', addCreditMinor = 0, reason } = edit;
  const wanted = plan === undefined ? undefined : limitsOfPlan(plans, plan);
  if (wanted !== undefined && 'kind' in wanted) return wanted;
  const isNow = when === 'now';
  const limits = isNow ? (wanted ?? team.limits) : team.limits;
  if (addCreditMinor !== 0 && limits.billing !== 'credit')
    return { kind: 'plan_takes_no_credit', plan: isNow ? (plan ?? team.plan) : team.plan };
  if (addCreditMinor < 0 && reason === undefined) return { kind: 'reason_missing' };
  // Above this, millionths of a minor unit are no longer exact integers.
  if (addCreditMinor > 0 && minorRoundedUp(team.balanceMicro) + addCreditMinor > MINOR_MAX) return BALANCE_TOO_LARGE;
  return {
    ...(name === undefined ? {} : { name }),
    ...(reference === undefined ? {} : { reference }),
    ...(when === 'never' ? { nextPlan: null } : planChange(plan, wanted, isNow)),
    ...(addCreditMinor === 0 ? {} : { addMicro: toMicro(addCreditMinor) }),
  };
}

/** A change at once replaces the one that waits. */
function planChange(name: string | undefined, limits: TeamLimits | undefined, isNow: boolean): Pick<TeamChange, 'plan' | 'nextPlan'> {
  if (name === undefined || limits === undefined) return {};
  return isNow ? { plan: { name, limits }, nextPlan: null } : { nextPlan: { name, limits } };
}
