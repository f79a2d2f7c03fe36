// What is counted by day, of keys and of tags, against what was charged: equal to the character and to the request.
import type { TagDay } from '../../../src/ports/tag-history.ts';
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

interface Use {
  readonly characters: number;
  readonly requests: number;
}

const NOTHING: Use = { characters: 0, requests: 0 };

/** L9, for one team: its keys' days have what was charged to them, on the day of the store's clock, and its periods add up to it. */
export function unaccounted(
  charges: readonly Charge[],
  days: readonly KeyDay[],
  periods: readonly Pick<PeriodUse, 'characters'>[],
): string[] {
  const nameOf = ({ day, keyId }: Pick<KeyDay, 'day' | 'keyId'>) => `day ${day} of key ${keyId}`;
  const found = differences(sums(charges.map(asUse), nameOf), sums(days, nameOf));
  const [charged, billed] = [total(charges), total(periods)];
  if (charged !== billed) found.push(`the periods add up to ${billed} characters, charged were ${charged}`);
  return found;
}

/** L12, for one team: days of tags have what was charged under them, and what was charged without one is the rest of the keys' days. */
export function untallied(charges: readonly Charge[], tagged: readonly TagDay[], days: readonly KeyDay[]): string[] {
  const nameOf = ({ day, tag = '' }: { readonly day: number; readonly tag?: string | undefined }) =>
    tag === '' ? `day ${day} without a tag` : `day ${day} of tag ${tag}`;
  const untagged = tagged.map(({ day, characters, requests }) => ({ day, characters: -characters, requests: -requests }));
  const counted = sums([...tagged, ...untagged, ...days.map(({ keyId: _keyId, ...rest }) => rest)], nameOf);
  return differences(
    sums(
      charges.map((one) => ({ ...asUse(one), tag: one.countedAs })),
      nameOf,
    ),
    counted,
  );
}

/** On each day, tags have counted at most what the team's keys have: what follows from L12 where the tags of charges are not known. */
export function overtagged(tagged: readonly TagDay[], days: readonly KeyDay[]): string | undefined {
  const nameOf = ({ day }: Pick<KeyDay, 'day'>) => `day ${day}`;
  const [ofTags, ofTeam] = [sums(tagged, nameOf), sums(days, nameOf)];
  for (const [day, { characters, requests }] of ofTags) {
    const most = ofTeam.get(day) ?? NOTHING;
    if (characters > most.characters || requests > most.requests)
      return `on ${day} tags count ${characters} characters in ${requests} requests, the team ${most.characters} in ${most.requests}`;
  }
  return undefined;
}

type Uses = ReadonlyMap<string, Use>;

function asUse(charge: Charge): Charge & Use {
  return { ...charge, requests: 1 };
}

function sums<Row extends Use>(rows: readonly Row[], nameOf: (row: Row) => string): Uses {
  const uses = new Map<string, Use>();
  for (const row of rows) {
    const { characters, requests } = uses.get(nameOf(row)) ?? NOTHING;
    uses.set(nameOf(row), { characters: characters + row.characters, requests: requests + row.requests });
  }
  return uses;
}

function differences(charged: Uses, counted: Uses): string[] {
  return [...new Set([...charged.keys(), ...counted.keys()])].flatMap((name) => {
    const [was, is] = [charged.get(name) ?? NOTHING, counted.get(name) ?? NOTHING];
    if (was.characters === is.characters && was.requests === is.requests) return [];
    return [
      `${name}: counted are ${is.characters} characters in ${is.requests} requests, charged were ${was.characters} in ${was.requests}`,
    ];
  });
}

function total(uses: readonly Pick<Use, 'characters'>[]): number {
  return uses.reduce((sum, { characters }) => sum + characters, 0);
}
