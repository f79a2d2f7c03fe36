// What is shown of a team: its row in answers and lists with its schema, and what people see of it.
import type { Static, TSchema } from 'typebox';
import { windowTexts, NO_WINDOWS, windowLimits, writtenWindows } from '../../domain/window-limits.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { rfc3339, anchorOf } from '../../domain/period.ts';
import { OPTIONAL_NUMBERS, REQUIRED_NUMBERS } from '../../domain/plan.ts';
import { Type } from '../../domain/typebox.ts';
import type { Team } from '../../ports/team-registry.ts';
import { moment, whole, windowList } from '../fields.ts';
import type { RowColumn } from '../operation.ts';
import { numbersOfAll, numbersOfBilling, planNumbers } from '../plan-numbers.ts';

/** A schema for each of a plan's numbers, under its name in reports. */
function byMember<Member extends string, Row extends { readonly member: Member }, Schema extends TSchema>(
  numbers: Readonly<Record<string, Row>>,
  schemaOf: (row: Row) => Schema,
): Record<Member, Schema> {
  return Object.fromEntries(Object.values(numbers).map((row) => [row.member, schemaOf(row)])) as Record<Member, Schema>;
}

export const TeamAnswer = Type.Object({
  team_id: Type.String({ description: 'A ULID.' }),
  name: Type.String(),
  reference: Type.Optional(Type.String({ description: 'Your reference for the team. Absent if it has none.' })),
  plan: Type.String(),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  ...byMember(REQUIRED_NUMBERS, () => whole),
  characters: Type.Optional(whole),
  period: Type.Optional(Type.String({ description: 'An ISO 8601 duration.' })),
  period_anchor: Type.Optional(
    Type.Enum(['calendar'], {
      type: 'string',
      description: "Periods are days, ISO weeks, months or years of UTC, not counted from the team's creation.",
    }),
  ),
  overage_cap_minor: Type.Optional(whole),
  overage_minor_per_million: Type.Optional(whole),
  credit_minor_per_million: Type.Optional(whole),
  ...byMember(OPTIONAL_NUMBERS, ({ about }) => Type.Optional(Type.Integer({ minimum: 1, description: about }))),
  limits: Type.Optional(windowList),
  balance_minor: Type.Optional(whole),
  currency: Type.String({ description: 'ISO 4217.' }),
  created_at: moment,
  next_plan: Type.Optional(
    Type.Object(
      { plan: Type.String() },
      {
        additionalProperties: Type.Union([Type.String(), Type.Number()]),
        description: 'The plan that the team gets when its period ends, with its numbers. Absent if none waits.',
      },
    ),
  ),
});
type TeamReport = Static<typeof TeamAnswer>;

const refused = (what: string) => Type.Integer({ minimum: 0, description: what });
export const ShownTeam = Type.Object({
  ...TeamAnswer.properties,
  refusals: Type.Object(
    {
      rate_limited: refused('429, by the rate or another limit of a time, of the team, of a key or of a tag.'),
      quota_exceeded: refused("402, by the team's quota, or by the limit of a key or a tag."),
      credit_exhausted: refused('402.'),
    },
    {
      description:
        'How many requests were refused in the running period, by code: the sums of its UTC days, so that the first one counts as a whole. About a second behind.',
    },
  ),
});

export const CostlierAnswer = Type.Object(
  {
    teams: Type.Integer({ minimum: 0, description: 'For how many teams.' }),
    refused: Type.Integer({
      minimum: 0,
      description: 'Of how many of them the next request is refused: they have used more than they get.',
    }),
    minor: Type.Integer({ minimum: 0, description: 'By how many minor units, for what has been used so far.' }),
  },
  { description: 'What became costlier in running periods, because a plan took effect at once.' },
);

export const ChangedTeam = Type.Object({
  ...TeamAnswer.properties,
  dearer: Type.Optional(
    Type.Object(CostlierAnswer.properties, {
      description: 'What became costlier in the running period, because a plan took effect at once. Absent if nothing.',
    }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What was done and may not be intended, for example another team that has the same reference.',
    }),
  ),
});
export type ChangedTeamRow = Static<typeof ChangedTeam>;

/** Members in output order: a team's numbers, under the names that plans have for them. */
export function teamReport(team: Team): TeamReport {
  const { limits } = team;
  return {
    team_id: team.teamId,
    name: team.name,
    ...(team.reference === undefined ? {} : { reference: team.reference }),
    plan: team.plan,
    ...numbersOfAll(limits),
    ...numbersOfBilling(limits),
    ...((limits.windows ?? NO_WINDOWS) === NO_WINDOWS ? {} : { limits: [...windowLimits(limits.windows)] }),
    ...(limits.billing === 'credit' ? { balance_minor: minorRoundedDown(team.balanceMicro) } : {}),
    ...(anchorOf(limits.period) === 'calendar' ? { period_anchor: 'calendar' } : {}),
    currency: limits.currency,
    created_at: rfc3339(team.createdAtMs),
    ...(team.nextPlan === undefined ? {} : { next_plan: { plan: team.nextPlan.name, ...planNumbers(team.nextPlan.limits) } }),
  };
}

/** A team's members, one a line. */
export function teamFacts({
  next_plan: next,
  limits,
  dearer: _costlier,
  warnings: _warnings,
  ...members
}: ChangedTeamRow): Readonly<Record<string, string | number>> {
  return {
    ...members,
    ...(limits === undefined ? {} : { limits: windowTexts(writtenWindows(limits)).join(', ') }),
    ...(next === undefined ? {} : { next_plan: `${next.plan}, when the period ends` }),
  };
}

export function shownTeamFacts({ refusals, ...team }: Static<typeof ShownTeam>): Readonly<Record<string, string | number>> {
  const some = Object.entries(refusals ?? {}).flatMap(([code, count]) => (count > 0 ? [`${count} ${code}`] : []));
  return { ...teamFacts(team), refused: some.length === 0 ? 'none in this period' : `${some.join(', ')} in this period` };
}

export const teamColumns: readonly RowColumn<TeamReport>[] = [
  { head: 'Team', cell: (row) => row.team_id },
  { head: 'Name', cell: (row) => row.name, holds: 'text' },
  { head: 'Reference', cell: (row) => row.reference, holds: 'text' },
  { head: 'Plan', cell: (row) => row.plan },
  { head: 'Billing', cell: (row) => row.billing },
  { head: 'Rate', cell: (row) => `${teamFacts(row)['requests_per_second']}/s` },
  { head: 'Characters or balance', cell: hasText },
  { head: 'Created', cell: (row) => row.created_at },
];

function hasText(row: TeamReport): string {
  if (row.billing === 'credit') return `${row.balance_minor} minor ${row.currency}`;
  return `${row.characters} per ${row.period_anchor === 'calendar' ? 'calendar ' : ''}${row.period}`;
}
