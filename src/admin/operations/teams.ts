// Teams: creating, listing, showing, changing and deleting them.
import { amountText, MINOR_MAX, toMicro } from '../../domain/money.ts';
import { dayOf } from '../../domain/period.ts';
import {
  judgeReason,
  judgeRecordName,
  judgeReference,
  REASON_CHARACTERS_MAX,
  RECORD_NAME_CHARACTERS_MAX,
  REFERENCE_CHARACTERS_MAX,
} from '../../domain/record-name.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import { choice, recordText, teamId } from '../fields.ts';
import { rowsInOrder } from '../listing.ts';
import { warningsOfAlike, readSummaries, TeamQuestion } from './team-search.ts';
import type { OperationContext } from '../operation-context.ts';
import { done, found, operation, OTHER_REQUEST, RefusedError, refused } from '../operation.ts';
import type { AdminOperation, OperationRefusal } from '../operation.ts';
import { BALANCE_TOO_LARGE, creditNotFree, judgeNewTeam, judgeTeamEdit, PLAN_TIMES, questionOf, unconfirmed } from '../team-terms.ts';
import type { TeamEdit } from '../team-terms.ts';
import { ChangedTeam, ShownTeam, shownTeamFacts, TeamAnswer, teamColumns, teamFacts, teamReport } from './team-rows.ts';
import type { ChangedTeamRow } from './team-rows.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

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

const plan = (description: string) => Type.String({ description, given: { value: 'PLAN' } });
const REFERENCE = 'Your own reference, for example a customer number; it need not be unique.';
const reference = (removes?: string) =>
  recordText(judgeReference, REFERENCE_CHARACTERS_MAX, REFERENCE, { value: 'R', ...(removes === undefined ? {} : { removes }) });
const name = (description: string) => recordText(judgeRecordName, RECORD_NAME_CHARACTERS_MAX, description, { value: 'NAME' });

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
  judgeByPlans: judgeNewTeam,
  status: 201,
  row: ChangedTeam,
  columns: [],
  facts: teamFacts,
  notice: ({ team_id: id, name: named }) =>
    `Team ${named} has been created. Next, a key for it: lingate key create --team ${id} --mode live`,
  async run(context, { name: named, reference: referred, plan: planned, credit_minor: creditMinor }, attempt) {
    const { teams, plans, newId } = context.options;
    const limits = judgeNewTeam(plans(), { plan: planned, credit_minor: creditMinor });
    const texts = { name: named.trim(), ...(referred === undefined ? {} : { reference: referred.trim() }) };
    const draft = { ...texts, teamId: attempt.id ?? newId(), plan: planned, limits, balanceMicro: toMicro(creditMinor ?? 0) };
    const team = answered(await teams.createTeam(draft, context.by(createTeam)));
    const replicated = team.balanceMicro === 0 ? undefined : await context.replicated([team.teamId]);
    return done(teamReport(team), replicated, { team_id: team.teamId }, await warningsOfAlike(teams, team, texts));
  },
});

export async function foundTeam({ options: { teams } }: OperationContext, id: string): Promise<Team> {
  return found(await teams.findTeam(id), 'team', id);
}

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
  columns: [],
  facts: shownTeamFacts,
  async run(context, { id }) {
    const usage = found(await context.options.teams.usage(id), 'team', id);
    return { ...teamReport(usage.team), refusals: await refusalsIn(context, usage) };
  },
});

/** The change, and what of it makes a running period costlier at once. */
async function judgedEdit(context: OperationContext, id: string, edit: TeamEdit) {
  const team = await foundTeam(context, id);
  const change = judgeTeamEdit(context.options.plans(), team, edit);
  const { costlierFor } = await import('../costlier.ts');
  return { team, change, costlier: change.plan && (await costlierFor(context.options.teams, id, change.plan.limits)) };
}

export const updateTeam: AdminOperation = operation({
  id: 'updateTeam',
  past: 'team changed',
  command: 'team update',
  http: 'PATCH /teams/{id}',
  summary: "Changes a team's plan, name or reference, or adds or deducts credit.",
  about:
    'The change takes effect at the next request. A plan with another period length starts a new period. If a plan makes the ' +
    'running period costlier, or leaves less than is used, it asks before it changes anything.',
  examples: [
    `lingate team update ${TEAM} --plan pro`,
    `lingate team update ${TEAM} --plan pro --when next-period`,
    `lingate team update ${TEAM} --name "Web shop"`,
    `lingate team update ${TEAM} --add-credit-minor 2500`,
    `lingate team update ${TEAM} --add-credit-minor -500 --reason "invoice 1042 was paid twice"`,
  ],
  input: {
    id: teamId,
    plan: plan('A plan of the configuration; effective at the next request, or as `when` says.'),
    when: choice(PLAN_TIMES, 'When the plan takes effect; never, without a plan, cancels a waiting change.', {
      value: 'TIME',
      fallback: 'now',
    }),
    name: name('A new name.'),
    reference: reference('no-reference'),
    add_credit_minor: Type.Integer({
      minimum: -MINOR_MAX,
      maximum: MINOR_MAX,
      description:
        'Credit to add, in minor units (cents); only with a credit plan. Negative to deduct credit, except what open reservations hold; not 0.',
    }),
    reason: recordText(judgeReason, REASON_CHARACTERS_MAX, 'Why, for the audit. Required to deduct credit.', { value: 'TEXT' }),
    confirm: Type.Boolean({
      description:
        'Required as `true` for a change of plan that takes effect at once and makes a running period costlier, or leaves less than is used; without it that is a `validation_error` with `dearer`, and nothing is changed.',
      given: { only: 'programs' },
    }),
  },
  clears: ['reference'],
  judge({ plan: planned, when, name: named, reference: referred, add_credit_minor: added, reason }): OperationRefusal | undefined {
    if (when !== undefined && (when === 'never') === (planned !== undefined))
      return refused('when', 'now and next-period need a {plan}, never takes none');
    if (added === 0) return refused('add_credit_minor', 'must not be 0: positive to add credit, negative to deduct it');
    if (referred === undefined && (named ?? planned ?? when ?? added) === undefined) {
      const given = 'give {name}, {reference}, {plan}, {when} or {add_credit_minor}';
      return reason === undefined
        ? refused('body', `nothing to change; ${given}`)
        : refused('reason', `is why something is changed; also ${given}`);
    }
    return (added ?? 0) < 0 && reason === undefined ? refused('reason', 'is required to deduct credit') : undefined;
  },
  row: ChangedTeam,
  columns: [],
  facts: teamFacts,
  notice: editText,
  instead: '{when} next-period',
  async asks(context, { id, confirm: _confirm, ...edit }) {
    const { costlier, change } = await judgedEdit(context, id, edit);
    return costlier && questionOf(costlier, change.plan!);
  },
  async run(context, { id, confirm = false, ...edit }, { once, agreed }) {
    const { teams } = context.options;
    const { team: before, change, costlier } = await judgedEdit(context, id, edit);
    if (costlier !== undefined && !confirm && agreed !== questionOf(costlier, change.plan!).mark)
      throw new RefusedError(unconfirmed(costlier, change.plan!.limits.currency));
    const made = once === undefined ? change : { ...change, once };
    const after = found(await context.changing(teams.updateTeam(id, made, context.by(updateTeam, edit.reason?.trim()))), 'team', id);
    if ('kind' in after) {
      if (after.kind === 'other_request') throw new RefusedError(OTHER_REQUEST);
      throw new RefusedError(after.kind === 'balance_out_of_bounds' ? BALANCE_TOO_LARGE : creditNotFree(after.freeMicro, before));
    }
    const isWeighty = change.plan !== undefined || change.nextPlan !== undefined || change.addMicro !== undefined;
    const row = { ...teamReport(after), ...(costlier === undefined ? {} : { dearer: costlier }) };
    const replicated = isWeighty ? await context.replicated([id]) : undefined;
    return done(row, replicated, undefined, await warningsOfAlike(teams, after, change));
  },
});

/** What was changed, a sentence for each part. */
function editText(row: ChangedTeamRow, edit: TeamEdit): string {
  const { plan: planned, when = 'now', name: named, reference: referred, add_credit_minor: added } = edit;
  const money = (minor: number): string => `${amountText(minor, row.currency)} ${row.currency}`;
  const said: string[] = [];
  if (when !== 'now') said.push(waitingText(row));
  else if (planned !== undefined) said.push(`The team is now on plan ${row.plan}, effective at its next request.`);
  if (added !== undefined) {
    const moved = added < 0 ? 'deducted' : 'added';
    said.push(`${money(Math.abs(added))} has been ${moved}. The credit is now ${money(row.balance_minor ?? 0)}.`);
  }
  if (named !== undefined) said.push(`The team is now called ${row.name}.`);
  if (referred !== undefined) {
    said.push(row.reference === undefined ? 'The team has no reference now.' : `The team's reference is now ${row.reference}.`);
  }
  return said.join(' ');
}

function waitingText({ next_plan: next }: ChangedTeamRow): string {
  return next === undefined
    ? 'No change of plan is waiting for the end of the period.'
    : `The team gets plan ${next.plan} when its period ends.`;
}

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
  columns: [],
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

export const operations = [createTeam, listTeams, showTeam, updateTeam, deleteTeam];
