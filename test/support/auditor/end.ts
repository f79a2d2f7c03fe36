// The auditor at the end of a run, when every lease has ended: what the store shows is what was counted, and nothing is held.
import { isDeepStrictEqual } from 'node:util';
import type { SetTag, TagDay } from '../../../src/ports/tag-registry.ts';
import type { Standing, Usage } from '../../../src/ports/team-registry.ts';
import type { KeyDay, PeriodUse } from '../../../src/ports/usage-history.ts';
import type { AuditedTeam } from './account.ts';
import type { Violate } from './deeds.ts';
import { unaccounted, untallied } from './totals.ts';
import { shownFault } from './windows.ts';
import type { Windows } from './windows.ts';

/** A team as the store shows it. */
export interface Shown {
  readonly standing: Standing;
  readonly usage: Usage;
  /** Those with settings, sorted. */
  readonly tags: readonly SetTag[];
  readonly days: readonly KeyDay[];
  readonly tagDays: readonly TagDay[];
  readonly periods: readonly PeriodUse[];
  /** The store's clock. */
  readonly storeMs: number;
  /** Whether the store's clock went right all the time. */
  readonly wasClockRight: boolean;
}

/** L3, L5 and L8 to L12. */
export function judgeEnd(teamId: string, team: AuditedTeam, shown: Shown, violate: Violate): void {
  const { standing, usage, days, tagDays, periods } = shown;
  const { heldCharacters, heldMicro, openReservations, balanceMicro } = standing;
  if (heldCharacters + heldMicro + openReservations !== 0) violate('L5', `team ${teamId} still holds ${JSON.stringify(standing)}`);
  const isFirst = usage.periodStartMs === usage.team.createdAtMs;
  const { characters } = team.charged(isFirst ? undefined : usage.periodStartMs);
  // If the clock steps back, the period stays: reservations in it may seem to come from before it.
  if ((isFirst || shown.wasClockRight) && usage.characters !== characters)
    violate('L3', `team ${teamId} used ${usage.characters}, charged were ${characters}`);
  if (balanceMicro !== team.balanceMicro) violate('L3', `team ${teamId} has ${balanceMicro} left of ${team.balanceMicro}`);
  judgeWindows(`team ${teamId}`, usage, team.windows, shown, violate);
  judgeKeys(team, shown, violate);
  judgeTags(teamId, team, shown, violate);
  for (const fault of unaccounted(team.charges, days, periods)) violate('L9', `team ${teamId}, ${fault}`);
  for (const fault of untallied(team.charges, tagDays, days)) violate('L12', `team ${teamId}, ${fault}`);
  for (const { closed, number } of periods.slice(1))
    if (!closed) violate('L9', `period ${number} of team ${teamId} is not closed although nothing is open`);
}

function judgeKeys(team: AuditedTeam, { usage, ...shown }: Shown, violate: Violate): void {
  for (const { keyId, lastUsedAtMs, limits, windows } of usage.keys) {
    const key = team.key(keyId);
    judgeWindows(`key ${keyId}`, { windows }, key.windows, shown, violate);
    if (!isDeepStrictEqual(limits, key.limits))
      violate('L10', `key ${keyId} has ${JSON.stringify(limits)}, not ${JSON.stringify(key.limits)}`);
    if (lastUsedAtMs !== key.lastUseMs) violate('L8', `key ${keyId} was last used at ${lastUsedAtMs} instead of ${key.lastUseMs}`);
  }
}

/** What is shown of tags with settings is what was counted for them. */
function judgeTags(teamId: string, team: AuditedTeam, { tags, usage, ...shown }: Shown, violate: Violate): void {
  const [names, expected] = [tags.map(({ tag }) => tag), [...team.tags.keys()].toSorted()];
  if (names.join() !== expected.join()) violate('L12', `team ${teamId} has settings of ${names.join()} instead of ${expected.join()}`);
  // Months do not end in a run.
  const isOnePeriod = usage.team.limits.period.endsWith('M');
  for (const { tag, settings, use } of tags) {
    const known = team.tags.get(tag);
    if (known === undefined) continue;
    if (!isDeepStrictEqual(settings, known.settings))
      violate('L12', `tag ${tag} has ${JSON.stringify(settings)}, not ${JSON.stringify(known.settings)}`);
    const used = known.used(shown.storeMs);
    if (isOnePeriod && use.characters !== used) violate('L12', `tag ${tag} has used ${use.characters}, counted were ${used}`);
    judgeWindows(`tag ${tag}`, use, known.windows, shown, violate);
  }
}

function judgeWindows(
  whose: string,
  { windows = [] }: { readonly windows?: Usage['windows'] },
  counted: Windows,
  { storeMs }: Pick<Shown, 'storeMs'>,
  violate: Violate,
): void {
  for (const one of windows) {
    const fault = shownFault(counted, one, storeMs);
    if (fault !== undefined) violate('L11', `${whose} ${fault}`);
  }
}
