// What is shown of a team: its row in answers and lists with its schema, and what people see of it;
// a plan's numbers, under their names in the configuration, and how two plans' differ.
import type { Static } from 'typebox';
import { minorRoundedDown } from '../../domain/money.ts';
import { anchorOf, lengthOf, rfc3339 } from '../../domain/period.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { Type } from '../../domain/typebox.ts';
import { NO_WINDOWS, windowTexts, writtenWindows } from '../../domain/window-limits.ts';
import type { Team } from '../../ports/team-registry.ts';
import { moment, whole, windowEntries, windowList } from '../fields.ts';
import type { RowColumn } from '../operation.ts';

/** Those of a plan's billing. */
function numbersOf({ billing, testAllowance: free, ...limits }: TeamLimits) {
  return {
    billing,
    requests_per_second: limits.requestsPerSecond,
    max_characters_per_request: limits.maxCharactersPerRequest,
    max_glossaries: limits.maxGlossaries,
    ...(free > 0 && { test_key_characters: free }),
    ...(billing === 'credit'
      ? { credit_minor_per_million: limits.minorPerMillion }
      : {
          characters: limits.characterLimit,
          period: lengthOf(limits.period),
          overage_cap_minor: limits.overageCapMinor,
          overage_minor_per_million: limits.minorPerMillion,
        }),
    currency: limits.currency,
  };
}

export function planNumbers(limits: TeamLimits): Readonly<Record<string, string | number>> {
  const windows = limits.windows !== NO_WINDOWS && { limits: limits.windows };
  return { ...numbersOf(limits), period_anchor: anchorOf(limits.period), ...windows };
}

/** The value now and the value it would get; `null` if there is no such number. */
export interface NumberChange {
  readonly number: string;
  readonly from: string | number | null;
  readonly to: string | number | null;
}

export function numberChanges(from: TeamLimits, to: TeamLimits): NumberChange[] {
  const [before, after] = [planNumbers(from), planNumbers(to)];
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .map((number) => ({ number, from: before[number] ?? null, to: after[number] ?? null }))
    .filter((change) => change.from !== change.to);
}

export const TeamAnswer = Type.Object({
  team_id: Type.String({ description: 'A ULID.' }),
  name: Type.String(),
  reference: Type.Optional(Type.String({ description: 'Your reference for the team. Absent if it has none.' })),
  plan: Type.String(),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  requests_per_second: whole,
  max_characters_per_request: whole,
  max_glossaries: whole,
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
  test_key_characters: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The free characters of test keys in each period. Absent if they cost what live keys cost.',
    }),
  ),
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

/** A team's numbers, under the names that plans have for them. */
export function teamReport({ limits, nextPlan, ...team }: Team): TeamReport {
  return {
    team_id: team.teamId,
    name: team.name,
    reference: team.reference,
    plan: team.plan,
    ...numbersOf(limits),
    limits: windowEntries(limits.windows),
    ...(limits.billing === 'credit' && { balance_minor: minorRoundedDown(team.balanceMicro) }),
    ...(anchorOf(limits.period) === 'calendar' && { period_anchor: 'calendar' }),
    created_at: rfc3339(team.createdAtMs),
    next_plan: nextPlan && { plan: nextPlan.name, ...planNumbers(nextPlan.limits) },
  };
}

/** A team's members, one a line. */
export function teamFacts({ next_plan: next, limits, dearer: _costlier, warnings: _warnings, ...members }: ChangedTeamRow) {
  return {
    ...members,
    limits: limits && windowTexts(writtenWindows(limits)).join(', '),
    next_plan: next && `${next.plan}, when the period ends`,
  };
}

export function shownTeamFacts({ refusals, ...team }: Static<typeof ShownTeam>) {
  const some = Object.entries(refusals ?? {}).flatMap(([code, count]) => (count > 0 ? [`${count} ${code}`] : []));
  return { ...teamFacts(team), refused: some.length === 0 ? 'none in this period' : `${some.join(', ')} in this period` };
}

export const teamColumns: readonly RowColumn<TeamReport>[] = [
  { head: 'Team', cell: (row) => row.team_id },
  { head: 'Name', cell: (row) => row.name, holds: 'text' },
  { head: 'Reference', cell: (row) => row.reference, holds: 'text' },
  { head: 'Plan', cell: (row) => row.plan },
  { head: 'Billing', cell: (row) => row.billing },
  { head: 'Rate', cell: (row) => `${row.requests_per_second}/s` },
  {
    head: 'Characters or balance',
    cell: (row) =>
      row.billing === 'credit'
        ? `${row.balance_minor} minor ${row.currency}`
        : `${row.characters} per ${row.period_anchor === 'calendar' ? 'calendar ' : ''}${row.period}`,
  },
  { head: 'Created', cell: (row) => row.created_at },
];
