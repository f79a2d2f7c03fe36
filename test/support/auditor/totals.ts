// What the store adds up, against what the auditor saw charged: accounts, days of keys and of tags, periods; equal to the character.
import type { KeyMode } from '../../../src/domain/api-key.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { TagDay } from '../../../src/ports/tag-registry.ts';
import type { Standing } from '../../../src/ports/team-registry.ts';
import type { KeyDay, PeriodUse } from '../../../src/ports/usage-history.ts';

/** One commit. */
export interface Charge {
  /** Of the store's clock. */
  readonly day: number;
  readonly keyId: string;
  /** The tag under which it was counted, if any. */
  readonly countedAs?: string | undefined;
  readonly characters: number;
}

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
export function isForNothing(limits: TeamLimits, mode: KeyMode): boolean {
  return mode === 'test' && limits.testAllowance > 0;
}

/** In millionths. */
export function priceOf(characters: number, limits: TeamLimits, mode: KeyMode): number {
  return limits.billing === 'credit' && !isForNothing(limits, mode) ? characters * limits.minorPerMillion : 0;
}

/** L9, for one team: its keys' days have what was charged to them, on the day of the store's clock, and its periods add up to it. */
export function unaccounted(
  charges: readonly Charge[],
  days: readonly KeyDay[],
  periods: readonly Pick<PeriodUse, 'characters'>[],
): string[] {
  const nameOf = ({ day, keyId }: Pick<KeyDay, 'day' | 'keyId'>) => `day ${day} of key ${keyId}`;
  const found = differences(sums(charges.map(asUse), nameOf), sums(days, nameOf));
  const [charged, billed] = [charges, periods].map((all) => all.reduce((sum, { characters }) => sum + characters, 0));
  return charged === billed ? found : [...found, `the periods add up to ${billed} characters, charged were ${charged}`];
}

/** L12, for one team: days of tags have what was charged under them, and what was charged without one is the rest of the keys' days. */
export function untallied(charges: readonly Charge[], tagged: readonly TagDay[], days: readonly KeyDay[]): string[] {
  const nameOf = ({ day, tag = '' }: { readonly day: number; readonly tag?: string | undefined }) =>
    tag === '' ? `day ${day} without a tag` : `day ${day} of tag ${tag}`;
  const untagged = tagged.map(({ day, characters, requests }) => ({ day, characters: -characters, requests: -requests }));
  const counted = [...tagged, ...untagged, ...days.map(({ keyId: _keyId, ...rest }) => rest)];
  const charged = charges.map((one) => ({ ...asUse(one), tag: one.countedAs }));
  return differences(sums(charged, nameOf), sums(counted, nameOf));
}

interface Use {
  readonly characters: number;
  readonly requests: number;
}

const NOTHING: Use = { characters: 0, requests: 0 };

function asUse(charge: Charge): Charge & Use {
  return { ...charge, requests: 1 };
}

function sums<Row extends Use>(rows: readonly Row[], nameOf: (row: Row) => string): ReadonlyMap<string, Use> {
  const uses = new Map<string, Use>();
  for (const row of rows) {
    const { characters, requests } = uses.get(nameOf(row)) ?? NOTHING;
    uses.set(nameOf(row), { characters: characters + row.characters, requests: requests + row.requests });
  }
  return uses;
}

function differences(charged: ReadonlyMap<string, Use>, counted: ReadonlyMap<string, Use>): string[] {
  return [...new Set([...charged.keys(), ...counted.keys()])].flatMap((name) => {
    const [was, is] = [charged.get(name) ?? NOTHING, counted.get(name) ?? NOTHING];
    if (was.characters === is.characters && was.requests === is.requests) return [];
    const told = `counted are ${is.characters} characters in ${is.requests} requests`;
    return [`${name}: ${told}, charged were ${was.characters} in ${was.requests}`];
  });
}
