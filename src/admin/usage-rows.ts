// Rows of usage for invoices: the count of a team or key for a day, a month, or all requested days.
import type { Static } from 'typebox';
import { dateIn } from '../domain/usage-days.ts';
import type { DayRange, UsageSpan } from '../domain/usage-days.ts';
import type { KeyRecord, Team } from '../ports/team-registry.ts';
import type { KeyDay, TeamDays } from '../ports/usage-history.ts';
import type { TagDay } from '../ports/tag-history.ts';
import type { UsageRow as UsageRowSchema } from './operations/usage.ts';

/** The query. */
export interface UsageQuestion {
  readonly range: DayRange;
  readonly by: UsageSpan;
  /** One row for each key instead of one for each team. */
  readonly keys: boolean;
  /** One row for each tag, and one for what has none, instead of one for each team. Not with `keys`. */
  readonly tags?: boolean;
  /** Only this team. */
  readonly teamId: string | undefined;
}

/** There are only rows with usage; members in output order, those of a key only in rows of keys. */
export type UsageRow = Readonly<Static<typeof UsageRowSchema>>;

interface Count {
  characters: number;
  requests: number;
  /** Of the characters, those of test keys. */
  ofTests: number;
}

/** In the order of dates, and within a date in the order in which the keys were created. */
export function usageRows({ team, keys, days }: TeamDays, { by, keys: byKey }: UsageQuestion): UsageRow[] {
  const rows: UsageRow[] = [];
  const tests = new Set(keys.flatMap(({ mode, keyId }) => (mode === 'test' ? [keyId] : [])));
  for (const [date, counted] of datesOf(days, by, tests)) {
    if (!byKey) rows.push(rowOf(team, date, sumOf(counted.values())));
    else for (const key of keys) if (counted.has(key.keyId)) rows.push(rowOf(team, date, counted.get(key.keyId)!, key));
  }
  return rows;
}

/**
 * Rows of tags, in order of their names, then one for requests without a tag: the rest of what the team has used, so that they add up to
 * that. `tagged` was read before the days.
 */
export function tagRows({ team, days }: TeamDays, tagged: readonly TagDay[], { by }: UsageQuestion): UsageRow[] {
  const ofDates = new Map<string | null, Map<string | null, Count>>();
  const untagged = new Map<string | null, Count>();
  for (const [date, counted] of datesOf(days, by, new Set())) {
    ofDates.set(date, new Map());
    untagged.set(date, sumOf(counted.values()));
  }
  for (const { tag, day, characters, requests } of tagged) {
    const date = dateIn(by, day);
    const [rest, counts] = [untagged.get(date), ofDates.get(date)];
    // The days of a team whose deletion has just begun are gone.
    if (rest === undefined || counts === undefined) continue;
    const count = counts.get(tag) ?? { characters: 0, requests: 0, ofTests: 0 };
    counts.set(tag, count);
    add(count, { characters, requests, ofTests: 0 });
    add(rest, { characters: -characters, requests: -requests, ofTests: 0 });
  }
  return [...ofDates].flatMap(([date, counts]) => {
    const rest = untagged.get(date)!;
    const named = [...counts].toSorted(([one], [other]) => (one! < other! ? -1 : 1));
    const all = rest.requests > 0 ? [...named, [null, rest] as const] : named;
    return all.map(([tag, count]) => tagRowOf(team, date, tag, count));
  });
}

function tagRowOf({ teamId, name, reference, plan }: Team, date: string | null, tag: string | null, count: Count): UsageRow {
  const row = { team_id: teamId, name, plan, date, character_count: count.characters, request_count: count.requests };
  return { ...row, tag, ...(reference === undefined ? {} : { reference }) };
}

type CountsOfKeys = Map<string, Count>;

/** The days are in order, and so are the dates. */
function datesOf(days: readonly KeyDay[], by: UsageSpan, tests: ReadonlySet<string>): Map<string | null, CountsOfKeys> {
  const dates = new Map<string | null, CountsOfKeys>();
  let [last, counts]: [number, CountsOfKeys] = [-1, new Map()];
  for (const { day, keyId, characters, requests } of days) {
    if (day !== last) {
      last = day;
      const date = dateIn(by, day);
      counts = dates.get(date) ?? new Map();
      dates.set(date, counts);
    }
    const ofTests = tests.has(keyId) ? characters : 0;
    const count = counts.get(keyId);
    if (count === undefined) counts.set(keyId, { characters, requests, ofTests });
    else add(count, { characters, requests, ofTests });
  }
  return dates;
}

function sumOf(counts: Iterable<Count>): Count {
  const sum = { characters: 0, requests: 0, ofTests: 0 };
  for (const count of counts) add(sum, count);
  return sum;
}

function add(sum: Count, { characters, requests, ofTests }: Readonly<Count>): void {
  sum.characters += characters;
  sum.requests += requests;
  sum.ofTests += ofTests;
}

function rowOf(
  { teamId, name, reference, plan }: Team,
  date: string | null,
  { characters, requests, ofTests }: Count,
  key?: KeyRecord,
): UsageRow {
  const row = { team_id: teamId, name, plan, date, character_count: characters, request_count: requests };
  const whose = key === undefined ? {} : { key_id: key.keyId, display: key.display, label: key.label, mode: key.mode };
  return { ...row, ...whose, test_character_count: ofTests, ...(reference === undefined ? {} : { reference }) };
}
