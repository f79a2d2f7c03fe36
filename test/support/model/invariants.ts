// Invariants of a team's account, written independently of the model that keeps it.
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { TagDay } from '../../../src/ports/tag-history.ts';
import type { KeyDay, PeriodUse } from '../../../src/ports/usage-history.ts';
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

/** Compares a team's charges by day, according to the answers to commits, with its days and the sum of its periods. */
export function unaccounted(
  charged: ReadonlyMap<number, number>,
  days: readonly KeyDay[],
  periods: readonly Pick<PeriodUse, 'characters'>[],
): string | undefined {
  const counted = new Map<number, number>();
  for (const { day, characters } of days) counted.set(day, (counted.get(day) ?? 0) + characters);
  for (const day of new Set([...charged.keys(), ...counted.keys()])) {
    const [was, is] = [charged.get(day) ?? 0, counted.get(day) ?? 0];
    if (was !== is) return `${was} characters were committed on day ${day}, but ${is} are counted`;
  }
  const [all, billed] = [sum(charged.values()), sum(periods.map(({ characters }) => characters))];
  return all === billed ? undefined : `${all} characters were committed, but the periods add up to ${billed}: ${JSON.stringify(periods)}`;
}

/** On each day, tags have counted at most what the team's keys have: the rest is untagged. */
export function overtagged(tagged: readonly TagDay[], days: readonly KeyDay[]): string | undefined {
  for (const [day, ofTags] of Map.groupBy(tagged, (one) => one.day)) {
    const ofTeam = days.filter((one) => one.day === day);
    for (const name of ['characters', 'requests'] as const) {
      const [most, counted] = [ofTeam, ofTags].map((rows) => sum(rows.map((row) => row[name]))) as [number, number];
      if (counted > most) return `tags count ${counted} ${name} on day ${day}, the team ${most}`;
    }
  }
  return undefined;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const one of numbers) total += one;
  return total;
}
