// Teams: creating, listing, showing, changing and deleting them.
import { amountText, MINOR_MAX, minorRoundedDown, minorRoundedUp, toMicro } from '../../domain/money.ts';
import type { Micro } from '../../domain/money.ts';
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
import type { Team, TeamChange, Usage } from '../../ports/team-registry.ts';
import { choice, recordText, teamId } from '../fields.ts';
import { rowsInOrder } from '../listing.ts';
import type { OperationContext, Plans } from '../operation-context.ts';
import { done, found, operation, OTHER_REQUEST, RefusedError, refused } from '../operation.ts';
import type { AdminOperation, OperationRefusal } from '../operation.ts';
import { costlierFor, planNamed, PLAN_TIMES, questionOf, unconfirmed } from '../plan-change.ts';
import type { NamedPlan, PlanTime } from '../plan-change.ts';
import { ChangedTeam, ShownTeam, shownTeamFacts, TeamAnswer, teamColumns, teamFacts, teamReport } from './team-rows.ts';
import type { ChangedTeamRow } from './team-rows.ts';
import { readSummaries, summaryColumns, TeamQuestion, warningsOfAlike } from './team-search.ts';

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

/** The same with their usage, as the console lists them. */
export const listSummaries: AdminOperation = {
  ...listTeams,
  columns: summaryColumns as AdminOperation['columns'],
  none: 'There are no teams here.',
  listing: { read: (context, asked, after, size) => readSummaries(context, asked, (summary) => summary, after, size) },
};

const plan = (description: string) => Type.String({ description, given: { value: 'PLAN' } });
const REFERENCE = 'Your own reference, for example a customer number; it need not be unique.';
const reference = (removes?: string) =>
  recordText(judgeReference, REFERENCE_CHARACTERS_MAX, REFERENCE, { value: 'R', ...(removes === undefined ? {} : { removes }) });
const name = (description: string) => recordText(judgeRecordName, RECORD_NAME_CHARACTERS_MAX, description, { value: 'NAME' });

/** Without credit any plan will do. */
function planOfNewTeam(plans: Plans, { plan: named, credit_minor: credit }: { readonly plan: string; readonly credit_minor?: number }) {
  const planned = planNamed(plans, named);
  if (credit !== undefined && planned.limits.billing !== 'credit') throw new RefusedError(takesNoCredit('credit_minor', named));
  return planned;
}

function takesNoCredit(field: 'credit_minor' | 'add_credit_minor', named: string): OperationRefusal {
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

/** What is to be changed of a team. */
interface TeamEdit {
  readonly name?: string | undefined;
  /** `null` removes it. */
  readonly reference?: string | null | undefined;
  readonly plan?: string | undefined;
  /** `never` takes back the change that waits for the end of the period. By default `now`. */
  readonly when?: PlanTime | undefined;
  /** Negative to deduct credit, which needs a reason. */
  readonly add_credit_minor?: number | undefined;
  readonly reason?: string | undefined;
}

/** The change, and what of it makes a running period costlier at once. */
async function judgedEdit({ options: { teams, plans } }: OperationContext, id: string, edit: TeamEdit) {
  const { name: named, reference: referred, plan: planned, when = 'now', add_credit_minor: added = 0 } = edit;
  const usage = found(await teams.usage(id), 'team', id);
  const { team } = usage;
  const asked = planned === undefined ? undefined : planNamed(plans(), planned);
  const atOnce = when === 'now' ? asked : undefined;
  const { name: charged, limits } = atOnce ?? { name: team.plan, limits: team.limits };
  if (added !== 0 && limits.billing !== 'credit') throw new RefusedError(takesNoCredit('add_credit_minor', charged));
  // Above this, millionths of a minor unit are no longer exact integers.
  if (added > 0 && minorRoundedUp(team.balanceMicro) + added > MINOR_MAX) throw new RefusedError(BALANCE_TOO_LARGE);
  const change: TeamChange = {
    ...(named !== undefined && { name: named.trim() }),
    ...(referred !== undefined && { reference: referred?.trim() ?? null }),
    ...planChange(asked, when),
    ...(added !== 0 && { addMicro: toMicro(added) }),
  };
  const costlier = atOnce && costlierFor(team.limits, atOnce.limits, usage);
  return { team, change, question: costlier && costlier.teams > 0 ? { costlier, plan: atOnce } : undefined };
}

/** A change at once replaces the one that waits. */
function planChange(asked: NamedPlan | undefined, when: PlanTime): Pick<TeamChange, 'plan' | 'nextPlan'> {
  if (when === 'never') return { nextPlan: null };
  if (asked === undefined) return {};
  return when === 'now' ? { plan: asked, nextPlan: null } : { nextPlan: asked };
}

const BALANCE_TOO_LARGE = refused('add_credit_minor', `the balance would be more than a team can have, ${MINOR_MAX} minor units; add less`);

function creditNotFree(freeMicro: Micro, { balanceMicro, limits: { currency } }: Team): OperationRefusal {
  const most = `${amountText(minorRoundedDown(freeMicro), currency)} ${currency}`;
  const rest = freeMicro < balanceMicro ? 'open reservations hold the rest' : 'the whole balance';
  return refused('add_credit_minor', `at most ${most} can be deducted: ${rest}`);
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
  facts: teamFacts,
  notice: editText,
  instead: '{when} next-period',
  async asks(context, { id, confirm: _confirm, ...edit }) {
    const { question } = await judgedEdit(context, id, edit);
    return question && questionOf(question.costlier, question.plan);
  },
  async run(context, { id, confirm = false, ...edit }, { once, agreed }) {
    const { teams } = context.options;
    const { team: before, change, question } = await judgedEdit(context, id, edit);
    if (question !== undefined && !confirm && agreed !== questionOf(question.costlier, question.plan).mark)
      throw new RefusedError(unconfirmed(question.costlier, question.plan.limits.currency));
    const by = context.by(updateTeam, edit.reason?.trim());
    const after = found(await context.changing(teams.updateTeam(id, { ...change, once }, by)), 'team', id);
    if ('kind' in after) {
      if (after.kind === 'other_request') throw new RefusedError(OTHER_REQUEST);
      throw new RefusedError(after.kind === 'balance_out_of_bounds' ? BALANCE_TOO_LARGE : creditNotFree(after.freeMicro, before));
    }
    const isWeighty = change.plan !== undefined || change.nextPlan !== undefined || change.addMicro !== undefined;
    const replicated = isWeighty ? await context.replicated([id]) : undefined;
    return done({ ...teamReport(after), dearer: question?.costlier }, replicated, undefined, await warningsOfAlike(teams, after, change));
  },
});

/** What was changed, a sentence for each part. */
function editText(
  row: ChangedTeamRow,
  { plan: planned, when = 'now', name: named, reference: referred, add_credit_minor: added }: TeamEdit,
) {
  const money = (minor: number): string => `${amountText(minor, row.currency)} ${row.currency}`;
  const moved = (minor: number): string => `${money(Math.abs(minor))} has been ${minor < 0 ? 'deducted' : 'added'}.`;
  const waiting =
    row.next_plan === undefined
      ? 'No change of plan is waiting for the end of the period.'
      : `The team gets plan ${row.next_plan.plan} when its period ends.`;
  const isReferred = row.reference === undefined ? 'The team has no reference now.' : `The team's reference is now ${row.reference}.`;
  return [
    when !== 'now' ? waiting : planned && `The team is now on plan ${row.plan}, effective at its next request.`,
    added && `${moved(added)} The credit is now ${money(row.balance_minor ?? 0)}.`,
    named && `The team is now called ${row.name}.`,
    referred === undefined ? undefined : isReferred,
  ]
    .filter(Boolean)
    .join(' ');
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
