// Changing a team: its plan, name or reference, and its credit.
import { amountText, MINOR_MAX, minorRoundedDown, minorRoundedUp, toMicro } from '../../domain/money.ts';
import type { Micro } from '../../domain/money.ts';
import { judgeReason, REASON_CHARACTERS_MAX } from '../../domain/record-name.ts';
import { Type } from '../../domain/typebox.ts';
import type { Team, TeamChange } from '../../ports/team-registry.ts';
import { choice, recordText, teamId } from '../fields.ts';
import type { OperationContext } from '../operation-context.ts';
import { done, found, operation, OTHER_REQUEST, RefusedError, refused } from '../operation.ts';
import type { AdminOperation, OperationRefusal } from '../operation.ts';
import { costlierFor, planNamed, PLAN_TIMES, questionOf, unconfirmed } from '../plan-change.ts';
import type { NamedPlan, PlanTime } from '../plan-change.ts';
import { warningsOfAlike } from './team-search.ts';
import { ChangedTeam, deleteTeam, name, plan, reference, takesNoCredit, teamFacts, teamReport } from './teams.ts';
import type { ChangedTeamRow } from './teams.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

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

/** Listed in this order everywhere: what ends a team is the last. */
export const operations = [updateTeam, deleteTeam];
