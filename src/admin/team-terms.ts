// Checks a new or changed team against the configured plans: what it comes to, or its refusal.
import { hash } from 'node:crypto';
import { nearest } from '../config/nearest.ts';
import { amountText, MINOR_MAX, minorRoundedDown, minorRoundedUp, toMicro } from '../domain/money.ts';
import type { Micro } from '../domain/money.ts';
import { limitsOf } from '../domain/plan.ts';
import type { TeamLimits } from '../domain/plan.ts';
import type { Team, TeamChange } from '../ports/team-registry.ts';
import { costlierText } from './costlier.ts';
import type { Costlier } from './costlier.ts';
import type { Plans } from './operation-context.ts';
import { RefusedError, refused } from './operation.ts';
import type { AskedBefore, OperationRefusal } from './operation.ts';

/** When a change of plan takes effect. */
export const PLAN_TIMES = ['now', 'next-period', 'never'] as const;
export type PlanTime = (typeof PLAN_TIMES)[number];

/** What is to be changed of a team. */
export interface TeamEdit {
  readonly name?: string | undefined;
  /** `null` removes it. */
  readonly reference?: string | null | undefined;
  readonly plan?: string | undefined;
  /** `never` takes back the change that waits for the end of the period. By default `now`. */
  readonly when?: PlanTime | undefined;
  /** Negative to deduct credit, which needs a reason. */
  readonly add_credit_minor?: number | undefined;
  readonly reason?: string | undefined;
}

/** The limits of a new team, without asking the store. Without credit any plan will do. */
export function judgeNewTeam(
  plans: Plans,
  { plan, credit_minor: credit }: { readonly plan: string; readonly credit_minor?: number },
): TeamLimits {
  const limits = limitsOfPlan(plans, plan);
  if (credit !== undefined && limits.billing !== 'credit') throw new RefusedError(takesNoCredit('credit_minor', plan));
  return limits;
}

/** The limits in a configuration's plan. */
export function limitsOfPlan(plans: Plans, name: string, more: Partial<OperationRefusal> = {}): TeamLimits {
  const plan = plans.get(name);
  if (plan !== undefined) return limitsOf(plan);
  const all = [...plans.keys()];
  const similar = nearest(name, all);
  const named = `the configuration has no plan ${JSON.stringify(name)}; the plans are ${all.join(', ')}`;
  throw new RefusedError({
    ...refused('plan', `there is no such plan; the plans are ${all.join(', ')}`),
    named: similar === undefined ? named : `${named}; did you mean ${similar}?`,
    ...more,
  });
}

function takesNoCredit(field: 'credit_minor' | 'add_credit_minor', plan: string): OperationRefusal {
  const words = `plan ${plan} has billing quota, which takes no credit; leave out {${field}} or choose a credit plan`;
  return { ...refused(field, words), named: words };
}

export const BALANCE_TOO_LARGE = refused(
  'add_credit_minor',
  `the balance would be more than a team can have, ${MINOR_MAX} minor units; add less`,
);

export function creditNotFree(freeMicro: Micro, { balanceMicro, limits: { currency } }: Team): OperationRefusal {
  const most = `${amountText(minorRoundedDown(freeMicro), currency)} ${currency}`;
  const rest = freeMicro < balanceMicro ? 'open reservations hold the rest' : 'the whole balance';
  return refused('add_credit_minor', `at most ${most} can be deducted: ${rest}`);
}

/** What is asked before a plan is changed that makes somebody pay more, or refuses somebody. */
export function questionOf(costlier: Costlier, { name, limits }: NonNullable<TeamChange['plan']>): AskedBefore {
  const { teams, refused: refusals } = costlier;
  const mark = markOf([name, limits, teams, refusals]);
  return { does: `This ${costlierText(costlier, limits.currency)}.`, refuses: refusals > 0, mark, word: name, wordIs: "the plan's name" };
}

/** Of a question, by what it shows. */
export function markOf(shown: unknown): string {
  return hash('sha256', JSON.stringify(shown), 'base64url');
}

/** Such a change, if nobody has confirmed it. */
export function unconfirmed(costlier: Costlier, currency: string): OperationRefusal {
  const otherwise = 'send "confirm": true to change it anyway, or "when": "next-period"';
  return { ...refused('confirm', `this ${costlierText(costlier, currency)}; ${otherwise}`), members: { dearer: { ...costlier } } };
}

/** The change of a team whose current limits are `team.limits`. */
export function judgeTeamEdit(plans: Plans, team: Team, edit: TeamEdit): TeamChange {
  const { name, reference, plan, when = 'now', add_credit_minor: added = 0 } = edit;
  const planned = plan === undefined ? undefined : { name: plan, limits: limitsOfPlan(plans, plan) };
  const charged = when === 'now' && planned !== undefined ? planned : { name: team.plan, limits: team.limits };
  if (added !== 0 && charged.limits.billing !== 'credit') throw new RefusedError(takesNoCredit('add_credit_minor', charged.name));
  // Above this, millionths of a minor unit are no longer exact integers.
  if (added > 0 && minorRoundedUp(team.balanceMicro) + added > MINOR_MAX) throw new RefusedError(BALANCE_TOO_LARGE);
  return {
    ...(name === undefined ? {} : { name: name.trim() }),
    ...(reference === undefined ? {} : { reference: reference === null ? null : reference.trim() }),
    ...planChange(planned, when),
    ...(added === 0 ? {} : { addMicro: toMicro(added) }),
  };
}

/** A change at once replaces the one that waits. */
function planChange(plan: TeamChange['plan'], when: PlanTime): Pick<TeamChange, 'plan' | 'nextPlan'> {
  if (when === 'never') return { nextPlan: null };
  if (plan === undefined) return {};
  return when === 'now' ? { plan, nextPlan: null } : { nextPlan: plan };
}
