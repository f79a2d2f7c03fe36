// What a change makes of a team's record.
import type { Audited } from '../domain/audit-entry.ts';
import { isPeriodRule } from '../domain/period.ts';
import type { TeamLimits } from '../domain/plan.ts';
import type { Team, TeamChange } from '../ports/team-registry.ts';

/** But for its balance. Throws a `RangeError` for a plan whose period is none. */
export function changedTeam(team: Team, change: TeamChange, by: Audited | undefined): Team {
  const { reference: referenceBefore, nextPlan: waiting, ...rest } = team;
  const { name = team.name, reference = referenceBefore, plan, nextPlan } = change;
  if (plan !== undefined) assertPeriod(plan.limits);
  if (nextPlan) assertPeriod(nextPlan.limits);
  const next = nextPlan ? { ...nextPlan, by } : nextPlan === null ? undefined : waiting;
  const planned = plan && { plan: plan.name, limits: plan.limits };
  return { ...rest, name, ...planned, reference: reference ?? undefined, nextPlan: next };
}

/** The team with the plan that has waited for the end of its period. */
export function withNextPlan({ nextPlan, ...team }: Team): Team {
  return nextPlan === undefined ? team : { ...team, plan: nextPlan.name, limits: nextPlan.limits };
}

export function assertPeriod({ period }: TeamLimits): void {
  if (isPeriodRule(period)) return;
  throw new RangeError(`"${period}" is not a period; write an ISO 8601 duration of whole units, such as P1M.`);
}
