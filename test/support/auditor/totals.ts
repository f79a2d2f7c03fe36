// What is wrong with a team's account, whatever was done to it, and whether a reservation exceeds what was left.
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { Standing } from '../../../src/ports/team-registry.ts';

/** L3, always: what is wrong with the account, or `undefined`. */
export function unsound(standing: Standing | undefined): string | undefined {
  if (standing === undefined) return 'a team without an account';
  const isWhole = Object.values(standing).every((count) => Number.isSafeInteger(count) && count >= 0);
  if (!isWhole) return `a count that is negative or inexact: ${JSON.stringify(standing)}`;
  const { allowanceUsed, usedCharacters, allowanceHeld, heldCharacters } = standing;
  if (allowanceUsed > usedCharacters || allowanceHeld > heldCharacters)
    return `more for nothing than altogether: ${JSON.stringify(standing)}`;
  return beyondCredit(standing);
}

/**
 * L3, right after a reservation was made, which is in the account: whether it exceeds the quota or the credit, or with a test key the
 * plan's allowance for those. Later, the limit may have been lowered.
 */
export function overdrawn(account: Omit<Standing, 'openReservations'>, limits: TeamLimits, mode: KeyMode): string | undefined {
  const free = account.allowanceUsed + account.allowanceHeld;
  if (isForNothing(limits, mode))
    return free <= limits.testAllowance ? undefined : `more than ${limits.testAllowance} for nothing: ${JSON.stringify(account)}`;
  if (limits.billing === 'credit') return beyondCredit(account);
  const most = limits.characterLimit + limits.overageCharacters;
  const paid = account.usedCharacters + account.heldCharacters - free;
  return paid <= most ? undefined : `more than ${most} reserved: ${JSON.stringify(account)}`;
}

function beyondCredit(account: Pick<Standing, 'heldMicro' | 'balanceMicro'>): string | undefined {
  return account.heldMicro <= account.balanceMicro ? undefined : `more credit held than there is: ${JSON.stringify(account)}`;
}

/** Whether a key's requests use the plan's allowance, and neither quota nor credit. */
function isForNothing(limits: TeamLimits, mode: KeyMode): boolean {
  return mode === 'test' && limits.testAllowance > 0;
}

/** In millionths. */
export function priceOf(characters: number, limits: TeamLimits, mode: KeyMode): number {
  return limits.billing === 'credit' && !isForNothing(limits, mode) ? characters * limits.minorPerMillion : 0;
}
