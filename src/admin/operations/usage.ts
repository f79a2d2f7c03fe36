// The usage of teams by day, month or in total, which invoices are written from; and the days that a question is about.
import type { Static } from 'typebox';
import { dayOf } from '../../domain/period.ts';
import { Type } from '../../domain/typebox.ts';
import { dateOf, daysOfMonth, monthOf, readDayRange, USAGE_SPANS } from '../../domain/usage-days.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import { closed, ofTeam, utcDay, whole } from '../fields.ts';
import type { OperationContext } from '../operation-context.ts';
import { operation, refused } from '../operation.ts';
import type { OperationRefusal, RowColumn } from '../operation.ts';
import { rowsOfUsage } from '../usage-reading.ts';
import type { UsagePlace } from '../usage-reading.ts';
import type { UsageQuestion } from '../usage-rows.ts';

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
    Type.Integer({ minimum: 0, description: 'Of `character_count`: with keys of mode `test`. Not with tags=true.' }),
  ),
  reference: Type.Optional(Type.String({ description: "The team's, if it has one; in CSV the last column, empty without one." })),
});
type UsageLine = Static<typeof UsageRow>;

interface Given extends GivenDays {
  readonly by: (typeof USAGE_SPANS)[number];
  readonly keys: boolean;
  readonly tags: boolean;
  readonly team?: string | undefined;
}

const columns: readonly RowColumn<UsageLine, Given>[] = [
  { head: 'Date', cell: (row) => row.date ?? undefined, when: ({ by }) => by !== 'total' },
  { head: 'Characters', cell: (row) => row.character_count, holds: 'figures' },
  { head: 'Requests', cell: (row) => row.request_count, holds: 'figures' },
  { head: 'Team', cell: (row) => row.team_id },
  { head: 'Plan', cell: (row) => row.plan },
  { head: 'Key', cell: (row) => row.key_id, when: ({ keys }) => keys },
  { head: 'Begins with', cell: (row) => row.display, when: ({ keys }) => keys },
  { head: 'Mode', cell: (row) => row.mode, when: ({ keys }) => keys },
  { head: 'Tag', cell: (row) => row.tag ?? undefined, when: ({ tags }) => tags },
  { head: 'Name (reference)', cell: (row) => nameOf(row), when: ({ keys }) => !keys },
  { head: 'Name (reference), label', cell: (row) => (row.label ? `${nameOf(row)}, ${row.label}` : nameOf(row)), when: ({ keys }) => keys },
];

function nameOf({ name, reference }: UsageLine): string {
  return reference === undefined ? name : `${name} (${reference})`;
}

/** At the end of each what came last, so that the others keep their places. */
export function usageColumns({ keys, tags = false }: Pick<UsageQuestion, 'keys' | 'tags'>): readonly (keyof UsageLine)[] {
  return [
    ...(['team_id', 'name', 'plan', 'date', 'character_count', 'request_count'] as const),
    ...(keys ? (['key_id', 'display', 'label', 'mode'] as const) : []),
    tags ? 'tag' : 'test_character_count',
    'reference',
  ];
}

function rowsOf(context: OperationContext, { by, keys, tags, team, ...days }: Given) {
  const question = { range: daysIn(days, context.nowMs()), by, keys, tags, teamId: team };
  return rowsOfUsage(context.part('history'), context.options.tagHistory, question);
}

export const listUsage = operation({
  id: 'listUsage',
  command: 'usage export',
  http: 'GET /usage',
  summary: 'Shows the usage of teams by day, month or in total, as pages of JSON or as one CSV file.',
  about:
    'Days are UTC; first and last are included, at most 400 days. There are no lines without usage. CSV cells that a ' +
    'spreadsheet would run as formulas get an apostrophe in front.',
  examples: [
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --by total',
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --keys --csv > november.csv',
    'lingate usage export --from 2026-11-01 --to 2026-11-30 --by month --tags --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
  ],
  input: Type.Object(
    {
      from: Type.Optional(
        utcDay('The first UTC day, for example 2026-11-01; together with to. Without both: the current UTC month.', {
          value: 'D',
          required: true,
        }),
      ),
      to: Type.Optional(utcDay('The last UTC day (inclusive); at most 400 days.', { value: 'D', required: true })),
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
    closed,
  ),
  judge: ({ keys, tags, ...days }) => (keys && tags ? refused('tags', 'and {keys} exclude each other; give one of them') : judgeDays(days)),
  row: UsageRow,
  list: 'usage',
  columns,
  none: 'Nothing was used.',
  listing: {
    async page(context, input, after, limit) {
      return rowsOf(context, input).page(after as UsagePlace | undefined, limit);
    },
    pieceSize: 0,
    file: {
      columns: usageColumns,
      name: (input, nowMs) => fileName('usage', input, nowMs),
      walk: (context, input) => rowsOf(context, input).walk(),
    },
  },
});
