// The usage of teams by day, month or in total, for invoices; and the days of a question.
import type { Static } from 'typebox';
import { dayOf } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import { dateIn, dateOf, daysOfMonth, monthOf, readDayRange, USAGE_SPANS } from '../../domain/usage-days.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import type { TagDay } from '../../ports/tag-registry.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import type { TeamDays } from '../../ports/usage-history.ts';
import { ofTeam, utcDay, whole } from '../fields.ts';
import type { OperationContext } from '../operation-context.ts';
import { rowsOfTeams } from '../listing.ts';
import { operation, refused } from '../operation.ts';
import type { OperationRefusal, RowColumn } from '../operation.ts';

interface GivenDays {
  readonly month?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Without any, the current month. */
export function daysIn({ month, from, to }: GivenDays, nowMs: number): DayRange {
  const range = month === undefined ? readDayRange(from, to) : daysOfMonth(month);
  return range === undefined || 'fault' in range ? daysOfMonth(monthOf(dayOf(nowMs)))! : range;
}

/** What the days together are, which their schemas do not say. */
export function judgeDays({ month, from, to }: GivenDays): OperationRefusal | undefined {
  if (month !== undefined && (from ?? to) !== undefined)
    return refused('month', 'cannot be used together with {from} and {to}; give one of them');
  const range = readDayRange(from, to);
  return range !== undefined && 'fault' in range ? refused(range.field, range.fault) : undefined;
}

/** Of the file with these rows. */
export function fileName(what: string, given: GivenDays, nowMs: number): string {
  const { from, to } = daysIn(given, nowMs);
  return `${what}-${dateOf(from)}-to-${dateOf(to)}`;
}

export const UsageRow = Type.Object({
  team_id: Type.String(),
  name: Type.String(),
  plan: Type.String({ description: "The team's current plan." }),
  date: Type.Union([Type.String(), Type.Null()], { description: 'A day (2026-11-22), a month (2026-11), or null with by=total.' }),
  character_count: whole,
  request_count: whole,
  key_id: Type.Optional(Type.String({ description: 'This and the following three members: only with keys=true.' })),
  display: Type.Optional(Type.String({ description: "The key's first twelve characters." })),
  label: Type.Optional(Type.String()),
  mode: Type.Optional(Type.Enum(['live', 'test'], { type: 'string' })),
  tag: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'Only with tags=true; null for requests without a tag, the rest of the total.',
    }),
  ),
  test_character_count: Type.Optional(
    Type.Integer({ minimum: 0, description: 'The part of `character_count` that keys of mode `test` used. Not with tags=true.' }),
  ),
  reference: Type.Optional(Type.String({ description: "The team's, if it has one; in CSV the last column, empty without one." })),
});
/** There are only rows with usage; members in output order, those of a key only in rows of keys. */
export type UsageRow = Readonly<Static<typeof UsageRow>>;

interface Given extends GivenDays {
  readonly by: (typeof USAGE_SPANS)[number];
  readonly keys: boolean;
  readonly tags: boolean;
  readonly team?: string | undefined;
}

const columns: readonly RowColumn<UsageRow, Given>[] = [
  { head: 'Team', cell: (row) => ({ kind: 'team', id: row.team_id, name: row.name || null }), only: 'console' },
  { head: 'Reference', cell: (row) => row.reference, holds: 'text', only: 'console' },
  { head: 'Date', cell: (row) => row.date ?? undefined, when: ({ by }) => by !== 'total' },
  { head: 'Characters', cell: (row) => row.character_count, holds: 'figures' },
  { head: 'Requests', cell: (row) => row.request_count, holds: 'figures' },
  { head: 'Team', cell: (row) => row.team_id, only: 'command' },
  { head: 'Plan', cell: (row) => row.plan },
  { head: 'Key', cell: (row) => row.key_id, when: ({ keys }) => keys },
  { head: 'Begins with', cell: (row) => row.display, when: ({ keys }) => keys },
  { head: 'Mode', cell: (row) => row.mode, when: ({ keys }) => keys },
  { head: 'Tag', cell: (row) => row.tag ?? undefined, when: ({ tags }) => tags },
  { head: 'Name (reference)', cell: (row) => nameOf(row), when: ({ keys }) => !keys, only: 'command' },
  {
    head: 'Name (reference), label',
    cell: (row) => (row.label ? `${nameOf(row)}, ${row.label}` : nameOf(row)),
    when: ({ keys }) => keys,
    only: 'command',
  },
];

function nameOf({ name, reference }: UsageRow): string {
  return reference === undefined ? name : `${name} (${reference})`;
}

/** At the end of each what came last, so that the order of the others holds. */
export function usageColumns({ keys, tags = false }: { readonly keys: boolean; readonly tags?: boolean }): readonly (keyof UsageRow)[] {
  return [
    ...(['team_id', 'name', 'plan', 'date', 'character_count', 'request_count'] as const),
    ...(keys ? (['key_id', 'display', 'label', 'mode'] as const) : []),
    tags ? 'tag' : 'test_character_count',
    'reference',
  ];
}

/** Read together: less than a millisecond of event loop or Redis, while callers wait. */
const TEAM_DAYS_READ = 150;
const TEAMS_READ_MAX = 10;

function readUsage(context: OperationContext, asked: Given, after: unknown, size: number) {
  const history = context.part('history');
  const range = daysIn(asked, context.nowMs());
  const source = {
    atOnceMax: Math.min(TEAMS_READ_MAX, Math.floor(TEAM_DAYS_READ / (range.to - range.from + 1))),
    find: (id: string) => history.days(id, range),
    page: (page: TeamPage) => history.pageDays(page, range),
    async rowsOf(found: TeamDays) {
      // Tags have no row without a day.
      if (!asked.tags || found.days.length === 0) return usageRows(found, asked);
      const { teamId } = found.team;
      const tagged = answered((await context.options.tagHistory?.days(teamId, range)) ?? []);
      // The days are read again, after what the tags have counted, which is then among them.
      const again = tagged.length === 0 ? found : (answered(await history.days(teamId, range)) ?? found);
      return usageRows(again, asked, tagged);
    },
  };
  return rowsOfTeams(source, asked.team, after, size);
}

interface Count {
  characters: number;
  requests: number;
  /** Of the characters, those of test keys. */
  ofTests: number;
}

/** Behind every tag, which is printable ASCII: what has none comes last. */
const LAST = '\uffff';

/**
 * By date; within one, keys by creation, or tags by name and then what has none: the rest of what
 * the team has used, so that they add up to that.
 */
function usageRows({ team, keys, days }: TeamDays, { by, keys: byKey, tags: byTag }: Given, tagged: readonly TagDay[] = []) {
  const tests = new Set(keys.flatMap(({ mode, keyId }) => (mode === 'test' ? [keyId] : [])));
  const dates = new Map<string | null, Map<string | null, Count>>();
  const add = (date: string | null, whose: string | null, characters: number, requests: number, ofTests: number): void => {
    const counts = dates.get(date)!;
    const count = counts.get(whose) ?? { characters: 0, requests: 0, ofTests: 0 };
    counts.set(whose, count);
    count.characters += characters;
    count.requests += requests;
    count.ofTests += ofTests;
  };
  let [last, date]: [number, string | null] = [-1, null];
  for (const { day, keyId, characters, requests } of days) {
    if (day !== last) date = dateIn(by, day);
    last = day;
    if (!dates.has(date)) dates.set(date, new Map());
    add(date, byKey ? keyId : null, characters, requests, tests.has(keyId) ? characters : 0);
  }
  for (const { tag, day, characters, requests } of tagged) {
    const of = dateIn(by, day);
    // The days of a team whose deletion has just begun are gone.
    if (!dates.has(of)) continue;
    add(of, tag, characters, requests, 0);
    add(of, null, -characters, -requests, 0);
  }
  const { teamId, name, reference, plan } = team;
  const placed = (of: string | null, place: string, { characters, requests, ofTests }: Count, more: Partial<UsageRow>) => {
    const counts = { character_count: characters, request_count: requests };
    const row: UsageRow = { team_id: teamId, name, plan, date: of, ...counts, ...more, reference };
    return { row: byTag ? row : { ...row, test_character_count: ofTests }, at: `${of ?? ''} ${place}` };
  };
  return [...dates].flatMap(([of, counts]) => {
    if (byTag) {
      const named = [...counts.keys()].filter((tag) => tag !== null).toSorted();
      const all = counts.get(null)!.requests > 0 ? [...named, null] : named;
      return all.map((tag) => placed(of, tag ?? LAST, counts.get(tag)!, { tag }));
    }
    if (!byKey) return [placed(of, '', counts.get(null)!, {})];
    return keys.flatMap(({ keyId, display, label, mode }, index) => {
      const count = counts.get(keyId);
      return count === undefined ? [] : [placed(of, String(index).padStart(6, '0'), count, { key_id: keyId, display, label, mode })];
    });
  });
}

export const listUsage = operation({
  id: 'listUsage',
  command: 'usage export',
  http: 'GET /usage',
  summary: 'Shows the usage of teams by day, month or in total, for invoices.',
  about:
    'Days are UTC; the first and the last are included, at most 400 days. Days without usage have no line. CSV cells that a ' +
    'spreadsheet would run as formulas get an apostrophe in front.',
  examples: [
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --by total',
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --keys --csv > november.csv',
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --by month --tags --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
  ],
  input: {
    from: utcDay('The first UTC day, for example 2026-11-01; together with to. Without both: the current UTC month.', {
      value: 'D',
      required: true,
      flagWords: ['the first UTC day, for example 2026-11-01'],
    }),
    to: utcDay('The last UTC day (inclusive); at most 400 days.', { value: 'D', required: true }),
    by: Type.Enum([...USAGE_SPANS], {
      type: 'string',
      default: 'day',
      description: 'day (the default), month or total: the span of one row.',
      given: { value: 'SPAN' },
    }),
    keys: Type.Boolean({ default: false, description: 'One row for each key.' }),
    tags: Type.Boolean({ default: false, description: 'One row for each tag, and one for requests without a tag; not with keys.' }),
    team: ofTeam('rows'),
  },
  required: ['by', 'keys', 'tags'],
  judge: ({ keys, tags, ...days }) => (keys && tags ? refused('tags', 'and {keys} exclude each other; give one of them') : judgeDays(days)),
  row: UsageRow,
  list: 'usage',
  columns,
  none: 'There was no usage.',
  listing: {
    read: readUsage,
    file: { columns: usageColumns, name: (input, nowMs) => fileName('usage', input, nowMs) },
  },
});

export const operations = [listUsage];
