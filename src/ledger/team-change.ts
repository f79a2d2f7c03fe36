// What a change makes of a team; every store decides it here and then writes it, if the team is still as it was read.
import { teamDifference } from '../domain/audit-entry.ts';
import type { AuditDifference, Audited } from '../domain/audit-entry.ts';
import type { Micro } from '../domain/money.ts';
import { isPeriodRule, sameLength } from '../domain/period.ts';
import type { TeamLimits } from '../domain/plan.ts';
import type { BalanceOutOfBounds, CreditNotFree, OtherRequest, Team, TeamChange } from '../ports/team-registry.ts';

/** A team whose ended leases and period have been brought up to date. */
interface FoundTeam {
  readonly team: Team;
  readonly heldMicro: Micro;
  /** The request of the change that was made under this one's id within a day. */
  readonly known: string | undefined;
}

interface DecidedChange {
  readonly answer: Team | BalanceOutOfBounds | CreditNotFree | OtherRequest;
  /** `undefined` if nothing is to be written, nor remembered. */
  readonly write?: TeamWrite;
}

interface TeamWrite {
  /** The team as it becomes; its balance includes what was added. */
  readonly team: Team;
  /** Whether its period ends now: the next one is counted from now, and what is added to the balance belongs to it. */
  readonly beginsPeriod: boolean;
  /** For the audit; `undefined` if nothing differs. */
  readonly difference: AuditDifference | undefined;
}

/** Throws a `RangeError` for a plan whose period is none. */
export function decideTeamChange({ team, heldMicro, known }: FoundTeam, change: TeamChange, by: Audited | undefined): DecidedChange {
  const { addMicro = 0, once, plan } = change;
  if (known !== undefined) return { answer: known === once?.request ? team : { kind: 'other_request' } };
  const balanceMicro = team.balanceMicro + addMicro;
  if (!Number.isSafeInteger(balanceMicro)) return { answer: { kind: 'balance_out_of_bounds' } };
  if (addMicro < 0 && balanceMicro < heldMicro) return { answer: { kind: 'credit_not_free', freeMicro: team.balanceMicro - heldMicro } };
  const changed = { ...changedTeam(team, change, by), balanceMicro };
  const beginsPeriod = plan !== undefined && !sameLength(plan.limits.period, team.limits.period);
  return { answer: changed, write: { team: changed, beginsPeriod, difference: teamDifference(team, changed) } };
}

function changedTeam(team: Team, change: TeamChange, by: Audited | undefined): Team {
  const { reference: referenceBefore, nextPlan: waiting, ...rest } = team;
  const { name = team.name, reference = referenceBefore, plan, nextPlan } = change;
  if (plan !== undefined) assertPeriod(plan.limits);
  if (nextPlan) assertPeriod(nextPlan.limits);
  const next = nextPlan ? { ...nextPlan, ...(by === undefined ? {} : { by }) } : nextPlan === null ? undefined : waiting;
  return {
    ...rest,
    name,
    ...(plan === undefined ? {} : { plan: plan.name, limits: plan.limits }),
    ...(typeof reference === 'string' ? { reference } : {}),
    ...(next === undefined ? {} : { nextPlan: next }),
  };
}

/** The team with the plan that has waited for the end of its period. */
export function withNextPlan({ nextPlan, ...team }: Team): Team {
  return nextPlan === undefined ? team : { ...team, plan: nextPlan.name, limits: nextPlan.limits };
}

export function assertPeriod({ period }: TeamLimits): void {
  if (isPeriodRule(period)) return;
  throw new RangeError(`"${period}" is not a period; write an ISO 8601 duration of whole units, such as P1M.`);
}
