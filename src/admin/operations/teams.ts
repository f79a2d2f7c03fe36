// Teams: what is shown of them; creating, listing, showing and deleting them.
import type { Static } from 'typebox';
import { MINOR_MAX, minorRoundedDown, toMicro } from '../../domain/money.ts';
import { anchorOf, dayOf, rfc3339 } from '../../domain/period.ts';
import { numbersOf, planNumbers } from '../../domain/plan.ts';
import { judgeRecordName, judgeReference, RECORD_NAME_CHARACTERS_MAX, REFERENCE_CHARACTERS_MAX } from '../../domain/record-name.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import { windowTexts, writtenWindows } from '../../domain/window-limits.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import { moment, recordText, teamId, whole, windowEntries, windowList } from '../fields.ts';
import { rowsInOrder } from '../listing.ts';
import type { OperationContext, Plans } from '../operation-context.ts';
import { done, found, operation, RefusedError, refused } from '../operation.ts';
import type { AdminOperation, OperationRefusal, RowColumn } from '../operation.ts';
import { CostlierAnswer, planNamed } from '../plan-change.ts';
import { readSummaries, summaryColumns, TeamQuestion, warningsOfAlike } from './team-search.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

const TeamAnswer = Type.Object({
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

const refusedBy = (what: string) => Type.Integer({ minimum: 0, description: what });
const ShownTeam = Type.Object({
  ...TeamAnswer.properties,
  refusals: Type.Object(
    {
      rate_limited: refusedBy('429, by the rate or another limit of a time, of the team, of a key or of a tag.'),
      quota_exceeded: refusedBy("402, by the team's quota, or by the limit of a key or a tag."),
      credit_exhausted: refusedBy('402.'),
    },
    {
      description:
        'How many requests were refused in the running period, by code: the sums of its UTC days, so that the first one counts as a whole. About a second behind.',
    },
  ),
});

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

function shownTeamFacts({ refusals, ...team }: Static<typeof ShownTeam>) {
  const some = Object.entries(refusals ?? {}).flatMap(([code, count]) => (count > 0 ? [`${count} ${code}`] : []));
  return { ...teamFacts(team), refused: some.length === 0 ? 'none in this period' : `${some.join(', ')} in this period` };
}

const teamColumns: readonly RowColumn<TeamReport>[] = [
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

export const listTeams = operation({
  id: 'listTeams',
  command: 'team list',
  http: 'GET /teams',
  summary: 'Lists teams in order of creation: all, or those on a plan, near a limit or with a certain name.',
  examples: [
    'lingate team list',
    'lingate team list --search K-20417',
    'lingate team list --plan pro --standing near_limit',
    'lingate team list --json',
  ],
  input: TeamQuestion,
  row: TeamAnswer,
  list: 'teams',
  columns: teamColumns,
  none: 'There are no such teams; "lingate team list" without flags lists all, "lingate team create" creates one.',
  listing: {
    read(context, asked, after, size) {
      const { plan: only, standing, q } = asked;
      if (standing !== undefined) return readSummaries(context, asked, ({ team }) => teamReport(team), after, size);
      const read = (from: string | undefined, limit: number) => context.options.teams.pageTeams({ after: from, limit, search: q?.trim() });
      const fits = only === undefined ? undefined : (team: Team): boolean => team.plan === only;
      return rowsInOrder({ read, idOf: (team) => team.teamId, fits, rowsOf: (some) => some.map(teamReport) }, after, size);
    },
  },
});

/** The same with their usage, as the console lists them. */
export const listSummaries: AdminOperation = {
  ...listTeams,
  columns: summaryColumns as AdminOperation['columns'],
  none: 'There are no teams here.',
  listing: { read: (context, asked, after, size) => readSummaries(context, asked, (summary) => summary, after, size) },
};

export const plan = (description: string) => Type.String({ description, given: { value: 'PLAN' } });
const REFERENCE = 'Your own reference, for example a customer number; it need not be unique.';
export const reference = (removes?: string) =>
  recordText(judgeReference, REFERENCE_CHARACTERS_MAX, REFERENCE, { value: 'R', ...(removes === undefined ? {} : { removes }) });
export const name = (description: string) => recordText(judgeRecordName, RECORD_NAME_CHARACTERS_MAX, description, { value: 'NAME' });

/** Without credit any plan will do. */
function planOfNewTeam(plans: Plans, { plan: named, credit_minor: credit }: { readonly plan: string; readonly credit_minor?: number }) {
  const planned = planNamed(plans, named);
  if (credit !== undefined && planned.limits.billing !== 'credit') throw new RefusedError(takesNoCredit('credit_minor', named));
  return planned;
}

export function takesNoCredit(field: 'credit_minor' | 'add_credit_minor', named: string): OperationRefusal {
  const words = `plan ${named} has billing quota, which takes no credit; leave out {${field}} or choose a credit plan`;
  return { ...refused(field, words), named: words };
}

export const createTeam: AdminOperation = operation({
  id: 'createTeam',
  past: 'team created',
  command: 'team create',
  http: 'POST /teams',
  summary: 'Creates a team on a plan.',
  about: 'The plan\'s numbers are copied into the team\'s record; "lingate plan apply" applies later changes of the plan to it.',
  examples: [
    'lingate team create --name "Web shop" --plan pro',
    'lingate team create --name "Web shop" --plan pro --reference K-20417',
    'lingate team create --name Press --plan prepaid --credit-minor 5000',
  ],
  input: {
    name: name("The team's name."),
    reference: reference(),
    plan: plan('A plan of the configuration; its numbers are copied into the team.'),
    credit_minor: Type.Integer({
      minimum: 0,
      maximum: MINOR_MAX,
      description: 'Starting credit in minor units (cents); only with a credit plan.',
      given: { label: 'Opening credit', fallback: '0' },
    }),
  },
  required: ['name', 'plan'],
  makesStore: true,
  judgeByPlans: planOfNewTeam,
  status: 201,
  row: ChangedTeam,
  facts: teamFacts,
  notice: ({ team_id: id, name: named }) =>
    `Team ${named} has been created. Next, a key for it: lingate key create --team ${id} --mode live`,
  async run(context, { name: named, reference: referred, plan: planned, credit_minor: creditMinor }, attempt) {
    const { teams, plans, newId } = context.options;
    const { limits } = planOfNewTeam(plans(), { plan: planned, credit_minor: creditMinor });
    const texts = { name: named.trim(), reference: referred?.trim() };
    const draft = { ...texts, teamId: attempt.id ?? newId(), plan: planned, limits, balanceMicro: toMicro(creditMinor ?? 0) };
    const team = answered(await teams.createTeam(draft, context.by(createTeam)));
    const replicated = team.balanceMicro === 0 ? undefined : await context.replicated([team.teamId]);
    return done(teamReport(team), replicated, { team_id: team.teamId }, await warningsOfAlike(teams, team, texts));
  },
});

/** Of the running period, from its first day; `undefined` if they are not counted. */
export async function refusalsIn({ options: { refusals } }: OperationContext, { team, periodStartMs, periodEndMs }: Usage) {
  return answered(await refusals?.sum(team.teamId, { from: dayOf(periodStartMs), to: dayOf(periodEndMs) }));
}

export const showTeam = operation({
  id: 'showTeam',
  command: 'team show',
  http: 'GET /teams/{id}',
  summary: 'Shows a team, its limits, and how many of its requests were refused.',
  examples: [`lingate team show ${TEAM}`],
  input: { id: teamId },
  row: ShownTeam,
  facts: shownTeamFacts,
  async run(context, { id }) {
    const usage = found(await context.options.teams.usage(id), 'team', id);
    return { ...teamReport(usage.team), refusals: await refusalsIn(context, usage) };
  },
});

export const deleteTeam: AdminOperation = operation({
  id: 'deleteTeam',
  past: 'team deleted',
  command: 'team delete',
  http: 'DELETE /teams/{id}',
  summary: 'Deletes a team with its keys, glossaries, credit and name; repeat it if it was interrupted.',
  about:
    'Its keys are refused at their next request, on every gateway. This cannot be undone: at a terminal you must type the name of ' +
    'the team. For invoices, its usage by day and period stays with its reference, without names of the team and its keys. ' +
    '--erase-usage deletes the usage too, also what an earlier deletion has left.',
  examples: [`lingate team delete ${TEAM}`, `lingate team delete ${TEAM} --erase-usage`, `lingate team delete ${TEAM} --yes --json`],
  input: {
    id: teamId,
    keep_usage: Type.Boolean({
      default: true,
      description: 'Days and periods stay, without names and labels. `true` by default.',
      given: {
        flag: 'keep-usage',
        flagOff: 'erase-usage',
        flagWords: ['leave the usage, without names and labels; this is the default', 'delete the usage by day and period too'],
      },
    }),
  },
  required: ['keep_usage'],
  asking: 'deleting a team',
  status: 204,
  row: Type.Object({ team_id: Type.String(), status: Type.Enum(['deleted']), kept_usage: Type.Boolean() }),
  notice: ({ team_id: id, kept_usage: keepsUsage }) => `Team ${id} is deleted${keepsUsage ? '; its usage by day and period stays' : ''}.`,
  async asks(context, { id, keep_usage: keepUsage }) {
    const team = answered(await context.options.teams.findTeam(id));
    if (team === undefined) {
      // A team that is already deleted may have left data behind.
      const does = `This deletes the remaining usage of team ${id}, on which its invoices are based.`;
      return keepUsage ? undefined : { does, word: id, wordIs: 'its id' };
    }
    const { name: word } = team;
    const { owedText } = await import('./invoices.ts');
    const erased = keepUsage ? '' : ' Its usage by day and period, on which its invoices are based, is deleted too.';
    const does = `This deletes the team ${JSON.stringify(word)} permanently. ${await owedText(context, team)}${erased}`;
    return { does, word, wordIs: 'its name' };
  },
  async run(context, { id, keep_usage: keepUsage }) {
    const { teams, forget } = context.options;
    found((await context.changing(teams.deleteTeam(id, { keepUsage }, context.by(deleteTeam)))) || undefined, 'team', id);
    const warnings = ((await forget?.(id)) ?? []).map(
      (plugin) => `the data that plugin ${plugin} stores of the team could not be reached; it is deleted when it expires`,
    );
    return done({ team_id: id, status: 'deleted', kept_usage: keepUsage }, await context.replicated([id]), undefined, warnings);
  },
});

export const operations = [createTeam, listTeams, showTeam];
