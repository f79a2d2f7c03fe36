// What must hold of a team's books, said apart from the model that keeps them.
import type { Standing, Team } from '../../../src/ports/team-registry.ts';

/** At every moment: what is wrong with the books, or `undefined`. */
export function unsound(standing: Standing | undefined): string | undefined {
  if (standing === undefined) return 'a team without books';
  const whole = Object.values(standing).every((count) => Number.isSafeInteger(count) && count >= 0);
  if (!whole) return `a count that is negative or inexact: ${JSON.stringify(standing)}`;
  return standing.heldMicro <= standing.balanceMicro ? undefined : `more credit held than there is: ${JSON.stringify(standing)}`;
}

/** When a reservation has just been made: whether it passed the quota. Later the limit may have been lowered. */
export function overdrawn(standing: Standing | undefined, team: Team | undefined): string | undefined {
  if (standing === undefined || team === undefined) return 'a reservation of a team that is not there';
  const { limits } = team;
  if (limits.billing === 'credit') return undefined;
  const most = limits.characterLimit + limits.overageCharacters;
  return standing.usedCharacters + standing.heldCharacters <= most ? undefined : `more than ${most} reserved: ${JSON.stringify(standing)}`;
}
