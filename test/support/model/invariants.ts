// Invariants of a team's account, written independently of the model that keeps it.
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { Standing, Team } from '../../../src/ports/team-registry.ts';

/** Always: what is wrong with the account, or `undefined`. */
export function unsound(standing: Standing | undefined): string | undefined {
  if (standing === undefined) return 'a team without an account';
  const whole = Object.values(standing).every((count) => Number.isSafeInteger(count) && count >= 0);
  if (!whole) return `a count that is negative or inexact: ${JSON.stringify(standing)}`;
  if (standing.allowanceUsed > standing.usedCharacters || standing.allowanceHeld > standing.heldCharacters)
    return `more for nothing than altogether: ${JSON.stringify(standing)}`;
  return standing.heldMicro <= standing.balanceMicro ? undefined : `more credit held than there is: ${JSON.stringify(standing)}`;
}

/**
 * Right after a reservation was made: whether it exceeded the quota, or with a test key the plan's allowance for those. Later, the limit
 * may have been lowered.
 */
export function overdrawn(standing: Standing | undefined, team: Team | undefined, mode: KeyMode): string | undefined {
  if (standing === undefined || team === undefined) return 'a reservation of a team that does not exist';
  const { limits } = team;
  const ofAllowance = standing.allowanceUsed + standing.allowanceHeld;
  if (mode === 'test' && limits.testAllowance > 0) {
    return ofAllowance <= limits.testAllowance ? undefined : `more than ${limits.testAllowance} for nothing: ${JSON.stringify(standing)}`;
  }
  if (limits.billing === 'credit') return undefined;
  const most = limits.characterLimit + limits.overageCharacters;
  const charged = standing.usedCharacters + standing.heldCharacters - ofAllowance;
  return charged <= most ? undefined : `more than ${most} reserved: ${JSON.stringify(standing)}`;
}
