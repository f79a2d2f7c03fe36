// Changes of teams: a new one, the forms of a team's page (a key, credit, another plan, another name or reference), and a deletion, for which the name must be typed.
import { freeCreditWords, refusalOf } from '../../admin/admin-refusals.ts';
import type { AdminResult } from '../../admin/admin-result.ts';
import { dearerText } from '../../admin/dearer-text.ts';
import { createKey } from '../../admin/operations/keys.ts';
import type { NewKeyRow } from '../../admin/operations/key-rows.ts';
import type { PlanReport } from '../../admin/reports.ts';
import { isPlanTime } from '../../admin/team-terms.ts';
import type { TeamEdit } from '../../admin/team-terms.ts';
import { html } from '../../docs/html.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import type { Team } from '../../ports/team-registry.ts';
import { audit, changedAnswer, finding, getForm, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import {
  amountField,
  EMPTY_FORM,
  faultsOf,
  NAME_INPUT,
  nameField,
  postForm,
  reasonField,
  REFERENCE_INPUT,
  referenceField,
  selectField,
  textField,
} from '../form.ts';
import type { FieldFaults, JudgedField } from '../form.ts';
import { changedFields } from '../key-limit-fields.ts';
import { carriedOut, sentIn } from '../operation-page.ts';
import { money } from '../shown.ts';
import { findTeam, newKeyNotice } from '../team-keys.ts';
import { teamPage } from './team.ts';

export const TEAM_CHANGE_ROUTES: readonly ConsoleRoute[] = [
  getForm('/teams/new', (visit, parts) => newTeamPage(visit, parts, {})),
  post('/teams', createTeam),
  post('/teams/{id}/keys', newKey),
  post('/teams/{id}/credit', finding(findTeam, giveCredit)),
  post('/teams/{id}/plan', finding(findTeam, changePlan)),
  post('/teams/{id}/name', finding(findTeam, rename)),
  post('/teams/{id}/reference', finding(findTeam, refer)),
  getForm(
    '/teams/{id}/delete',
    finding(findTeam, (visit, _parts, team) => deletionPage(visit, team, {})),
  ),
  post('/teams/{id}/delete', finding(findTeam, remove)),
];

const NO_PLAN = 'Choose one of these plans.';

async function createTeam(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const { form } = visit;
  const name = nameField(form('name'));
  const reference = referenceField(form('reference'));
  const plan = parts.operations.plans.list().find((one) => one.name === form('plan'));
  const credit: JudgedField<number | undefined> =
    form('credit').trim() === '' || plan === undefined ? { value: undefined } : amountField(form('credit'), plan.currency);
  if ('fault' in name || 'fault' in reference || 'fault' in credit || plan === undefined) {
    return newTeamPage(visit, parts, { ...faultsOf({ name, reference, credit }), ...(plan === undefined ? { plan: NO_PLAN } : {}) });
  }
  const made = await parts.operations.createTeam({
    name: name.value,
    reference: reference.value ?? undefined,
    plan: plan.name,
    creditMinor: credit.value,
  });
  if (made.kind === 'plan_takes_no_credit')
    return newTeamPage(visit, parts, { credit: `The plan ${made.plan} takes no credit; leave it out.` });
  if (made.kind === 'unavailable') return refusalOf(made);
  if (made.kind !== 'done') return newTeamPage(visit, parts, { plan: NO_PLAN });
  const { teamId } = made.value;
  audit(parts, visit, 'createTeam', { team_id: teamId });
  return changedAnswer(`/teams/${teamId}`, html`<p>Team ${name.value} has been created. Create its first key below.</p>`, made);
}

function newTeamPage({ form, formToken }: SignedInVisit, { operations }: ConsoleParts, faults: FieldFaults): ConsoleAnswer {
  const plans = operations.plans.list();
  const texts = { form, faults };
  const hint = "Only for prepaid plans, in the plan's currency. Optional.";
  const more = { inputmode: 'decimal', autocomplete: 'off' };
  const hasCredit = plans.some(({ billing }) => billing === 'credit');
  const fields = html`${textField(texts, 'name', 'Name', { required: true, more: NAME_INPUT })}
  ${textField(texts, 'reference', 'Reference', { hint: REFERENCE_HINT, more: REFERENCE_INPUT })}
  ${selectField(
    texts,
    'plan',
    'Plan',
    plans.map((plan) => ({ value: plan.name, label: planLabel(plan) })),
  )}
  ${hasCredit ? textField(texts, 'credit', 'Opening credit', { hint, more }) : undefined}`;
  const main = html`<h1>New team</h1>
    ${postForm({ action: '/teams', formToken, fields, submit: 'Create the team' })}`;
  return pageAnswer({ title: 'New team', section: 'teams', main }, faults);
}

const REFERENCE_HINT = 'Your own word for the team, for example a customer number. Optional.';

function planLabel({ name, billing, currency }: PlanReport): string {
  return billing === 'credit' ? `${name} (prepaid credit, ${currency})` : `${name} (quota)`;
}

const NO_REASON = 'Enter a reason: it is required to deduct credit.';

async function newKey(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const { form, nowMs, parameters } = visit;
  const given = { id: parameters['id'], ...sentIn(createKey, ['mode'], form, nowMs), ...changedFields(form, EMPTY_FORM, nowMs) };
  const made = await carriedOut<NewKeyRow>(createKey, given, visit, parts);
  if ('faults' in made) return teamPage(visit, parts, made.faults);
  return 'value' in made ? { kind: 'see', to: `/teams/${made.value.team_id}`, notice: newKeyNotice(made.value) } : made;
}

async function giveCredit(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const { currency } = team.limits;
  const sent = visit.form('amount').trim();
  const taken = sent.startsWith('-');
  const amount = amountField(sent.replace('-', ''), currency);
  const reason = reasonField(visit.form('reason'));
  if ('fault' in amount || 'fault' in reason) return teamPage(visit, parts, faultsOf({ amount, reason })!);
  if (taken && reason.value === undefined) return teamPage(visit, parts, { reason: NO_REASON });
  const edit = { addCreditMinor: taken ? -amount.value : amount.value, reason: reason.value };
  return change(visit, parts, team, edit, 'amount', ({ balanceMicro }) => {
    const balance = money(minorRoundedDown(balanceMicro), currency);
    return `${money(amount.value, currency)} ${taken ? 'has been deducted' : 'has been added'}. The credit is now ${balance}.`;
  });
}

async function changePlan(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const when = visit.form('when') === '' ? 'now' : visit.form('when');
  if (!isPlanTime(when)) return teamPage(visit, parts, { when: 'Choose one of these times.' });
  const confirmed = visit.form('confirm') === 'true';
  const edit = { when, confirmed, ...(when === 'never' ? {} : { plan: visit.form('plan') }) };
  return change(visit, parts, team, edit, 'plan', ({ plan, nextPlan }) =>
    when === 'now'
      ? `The team is now on plan ${plan}, effective at its next request.`
      : nextPlan === undefined
        ? 'No change of plan waits for the end of the period.'
        : `The team gets plan ${nextPlan.name} when its period ends.`,
  );
}

async function rename(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const name = nameField(visit.form('name'));
  if ('fault' in name) return teamPage(visit, parts, { name: name.fault });
  return change(visit, parts, team, { name: name.value }, 'name', (renamed) => `The team is now called ${renamed.name}.`);
}

function refer(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const reference = referenceField(visit.form('reference'));
  if ('fault' in reference) return teamPage(visit, parts, { reference: reference.fault });
  return change(visit, parts, team, { reference: reference.value }, 'reference', (changed) =>
    changed.reference === undefined ? 'The team has no reference now.' : `The team's reference is now ${changed.reference}.`,
  );
}

/** `field` is the form field beside which a refusal is shown. */
async function change(
  visit: SignedInVisit,
  parts: ConsoleParts,
  team: Team,
  edit: TeamEdit,
  field: string,
  done: (team: Team) => string,
): Promise<ConsoleAnswer> {
  const { teamId, limits } = team;
  const result = await parts.operations.updateTeam(teamId, edit);
  if (result.kind === 'dearer') return dearerPage(visit, team, edit.plan!, result);
  if (result.kind !== 'done') {
    const fault = refusalText(result, limits.currency);
    return fault === undefined ? refusalOf(result) : teamPage(visit, parts, { [field]: fault });
  }
  audit(parts, visit, 'updateTeam', { team_id: teamId });
  return changedAnswer(`/teams/${teamId}`, html`<p>${done(result.value)}</p>`, result);
}

/** Asks before a plan makes the running period dearer. */
function dearerPage({ formToken }: SignedInVisit, { teamId, name }: Team, plan: string, refusal: DearerRefusal): ConsoleAnswer {
  const title = `Change ${name} to plan ${plan} now?`;
  const main = html`<h1>${title}</h1>
    <p>Team <code>${teamId}</code></p>
    <p class="warning">This ${dearerText(refusal.dearer, (minor) => money(minor, refusal.currency))}.</p>
    ${postForm({
      action: `/teams/${teamId}/plan`,
      formToken,
      fields: html`<input type="hidden" name="plan" value="${plan}" /><input type="hidden" name="confirm" value="true" />`,
      submit: 'Change the plan now',
      cancel: `/teams/${teamId}`,
    })}`;
  return pageAnswer({ title, section: 'teams', main });
}

type DearerRefusal = Extract<AdminResult<Team>, { kind: 'dearer' }>;

/** For a field; `undefined` if it is not about one. */
function refusalText(result: Exclude<AdminResult<Team>, { kind: 'done' }>, currency: string): string | undefined {
  if (result.kind === 'no_such_plan') return `There is no such plan; the plans are ${result.plans.join(', ')}.`;
  if (result.kind === 'plan_takes_no_credit') return `The plan ${result.plan} takes no credit.`;
  if (result.kind === 'balance_too_large') return 'This is more than a team can have.';
  if (result.kind === 'reason_missing') return NO_REASON;
  if (result.kind !== 'credit_not_free') return undefined;
  return `At most ${money(result.freeMinor, currency)} can be deducted: ${freeCreditWords(result)}.`;
}

/** The first is chosen unless the operator says otherwise. */
const USAGE = [
  { value: 'keep', label: 'keep it, without names' },
  { value: 'delete', label: 'delete it too' },
] as const;

function deletionPage({ formToken, form }: SignedInVisit, { teamId, name }: Team, faults: FieldFaults): ConsoleAnswer {
  const title = `Delete ${name}?`;
  const texts = { form, faults };
  const typed = { required: true, hint: `Type ${name} to continue.`, more: NAME_INPUT };
  const main = html`<h1>${title}</h1>
    <p>Team <code>${teamId}</code></p>
    <p class="warning">
      Its keys are refused at their next request, everywhere. Its glossaries, its credit and its name are deleted. This cannot be undone.
    </p>
    ${postForm({
      action: `/teams/${teamId}/delete`,
      formToken,
      fields: html`${selectField(texts, 'usage', 'Its usage by day and period', USAGE)}
      ${textField(texts, 'name', 'Name of the team', typed)}`,
      submit: 'Delete the team',
      danger: true,
      cancel: `/teams/${teamId}`,
    })}`;
  return pageAnswer({ title, section: 'teams', main }, faults);
}

async function remove(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const { teamId, name } = team;
  const usage = visit.form('usage');
  if (usage !== 'delete' && usage !== 'keep') return deletionPage(visit, team, { usage: 'Choose one.' });
  if (asRead(visit.form('name')) !== asRead(name)) return deletionPage(visit, team, { name: 'This is not the name of the team.' });
  const deleted = await parts.operations.deleteTeam(teamId, usage === 'keep');
  if (deleted.kind !== 'done') return refusalOf(deleted);
  parts.forget(teamId);
  audit(parts, visit, 'deleteTeam', { team_id: teamId });
  const kept = usage === 'keep' ? '; its days and periods are kept' : '';
  return changedAnswer('/teams', html`<p>Team <code>${teamId}</code> is deleted${kept}.</p>`, deleted);
}

/** A browser shows consecutive white space in a name as one space. */
function asRead(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ');
}
