// How the reference store judges a change of a team.
import type { Audited, BalanceOutOfBounds, CreditNotFree, Micro, OtherRequest, Team, TeamChange } from 'lingate';
import { isPeriod } from './calendar.ts';

export function changeOfTeam(
  team: Team,
  heldMicro: Micro,
  { name, reference, plan, nextPlan, addMicro = 0 }: TeamChange,
  by: Audited | undefined,
): Team | BalanceOutOfBounds | CreditNotFree {
  const balanceMicro = team.balanceMicro + addMicro;
  if (!Number.isSafeInteger(balanceMicro)) return { kind: 'balance_out_of_bounds' };
  if (addMicro < 0 && balanceMicro < heldMicro) return { kind: 'credit_not_free', freeMicro: team.balanceMicro - heldMicro };
  for (const one of [plan, nextPlan]) if (one && !isPeriod(one.limits.period)) throw new RangeError(`not a period: ${one.limits.period}`);
  const changed: { -readonly [Member in keyof Team]: Team[Member] } = { ...team, balanceMicro, name: name ?? team.name };
  if (plan !== undefined) Object.assign(changed, { plan: plan.name, limits: plan.limits });
  if (reference === null) delete changed.reference;
  if (typeof reference === 'string') changed.reference = reference;
  if (nextPlan === null) delete changed.nextPlan;
  if (nextPlan) changed.nextPlan = by === undefined ? nextPlan : { ...nextPlan, by };
  return changed;
}

export function isRefusal(
  answer: Team | BalanceOutOfBounds | CreditNotFree | OtherRequest,
): answer is BalanceOutOfBounds | CreditNotFree | OtherRequest {
  return 'kind' in answer;
}
