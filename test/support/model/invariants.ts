// What must hold of a team's books, said apart from the model that keeps them.
import type { KeyDay, PeriodUse } from '../../../src/ports/usage-history.ts';
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

/** What a team was charged on each day, as the answers to commits said: whether its days have it, and its periods add up to it. */
export function unaccounted(
  charged: ReadonlyMap<number, number>,
  days: readonly KeyDay[],
  periods: readonly Pick<PeriodUse, 'characters'>[],
): string | undefined {
  const counted = new Map<number, number>();
  for (const { day, characters } of days) counted.set(day, (counted.get(day) ?? 0) + characters);
  for (const day of new Set([...charged.keys(), ...counted.keys()])) {
    const [was, is] = [charged.get(day) ?? 0, counted.get(day) ?? 0];
    if (was !== is) return `${was} characters were committed on day ${day}, and ${is} are counted`;
  }
  const [all, billed] = [sum(charged.values()), sum(periods.map(({ characters }) => characters))];
  return all === billed ? undefined : `${all} characters were committed, and periods came to ${billed}: ${JSON.stringify(periods)}`;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const one of numbers) total += one;
  return total;
}
