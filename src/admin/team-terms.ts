// What an operator wants a team to be, held to the plans of the configuration: its limits, its change, or why there is none.
import { MINOR_MAX, minorRoundedUp, toMicro } from '../domain/money.ts';
import { limitsOf } from '../domain/plan.ts';
import type { Plan, TeamLimits } from '../domain/plan.ts';
import type { ChangeOnce, Team, TeamChange } from '../ports/team-registry.ts';
import { done } from './admin-result.ts';
import type { AdminRefusal, AdminResult } from './admin-result.ts';

export type Plans = ReadonlyMap<string, Plan>;

export interface TeamDraft {
  /** Given when the creation may be a repetition: a team that has this id already is the one that the first try made. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly plan: string;
  /** `undefined` when none was named: then any plan will do. */
  readonly creditMinor: number | undefined;
}

export interface TeamEdit {
  readonly name?: string | undefined;
  readonly plan?: string | undefined;
  /** Negative to take credit, which needs a reason. */
  readonly addCreditMinor?: number | undefined;
  /** Kept in the audit. */
  readonly reason?: string | undefined;
  /** Given when the change may be a repetition. */
  readonly once?: ChangeOnce | undefined;
}

export const BALANCE_TOO_LARGE: AdminRefusal = { kind: 'balance_too_large', maxMinor: MINOR_MAX };

/** The limits that a configuration's plan comes to. */
export function planLimits(plans: Plans, name: string): AdminResult<TeamLimits> {
  const limits = limitsOfPlan(plans, name);
  return 'kind' in limits ? limits : done(limits);
}

/** What a new team would be held to, or why there can be none; asks no store. */
export function judgeNewTeam(plans: Plans, { plan, creditMinor }: Pick<TeamDraft, 'plan' | 'creditMinor'>): AdminResult<TeamLimits> {
  const limits = limitsOfPlan(plans, plan);
  if ('kind' in limits) return limits;
  return creditMinor !== undefined && limits.billing !== 'credit' ? { kind: 'plan_takes_no_credit', plan } : done(limits);
}

export function limitsOfPlan(plans: Plans, name: string): TeamLimits | AdminRefusal {
  const plan = plans.get(name);
  return plan === undefined ? { kind: 'no_such_plan', plan: name, plans: [...plans.keys()] } : limitsOf(plan);
}

/** What is to be changed of a team that is held to `team.limits` now. */
export function judgeTeamEdit(plans: Plans, team: Team, { name, plan, addCreditMinor = 0, reason }: TeamEdit): TeamChange | AdminRefusal {
  const limits = plan === undefined ? team.limits : limitsOfPlan(plans, plan);
  if ('kind' in limits) return limits;
  if (addCreditMinor !== 0 && limits.billing !== 'credit') return { kind: 'plan_takes_no_credit', plan: plan ?? team.plan };
  if (addCreditMinor < 0 && reason === undefined) return { kind: 'reason_missing' };
  // Beyond this, millionths of a minor unit are no exact integers any more.
  if (addCreditMinor > 0 && minorRoundedUp(team.balanceMicro) + addCreditMinor > MINOR_MAX) return BALANCE_TOO_LARGE;
  return {
    ...(name === undefined ? {} : { name }),
    ...(plan === undefined ? {} : { plan: { name: plan, limits } }),
    ...(addCreditMinor === 0 ? {} : { addMicro: toMicro(addCreditMinor) }),
  };
}
