// Changes of teams: a new one, the forms of a team's page (a key, credit, another plan, another name or reference), and a deletion, for which the name must be typed.
import type { GivenMembers } from '../../admin/input.ts';
import { createKey } from '../../admin/operations/keys.ts';
import type { NewKeyRow } from '../../admin/operations/key-rows.ts';
import { planReports } from '../../admin/operations/plans.ts';
import type { PlanReport } from '../../admin/operations/plans.ts';
import { createTeam, deleteTeam, updateTeam } from '../../admin/operations/teams.ts';
import type { ChangedTeamRow } from '../../admin/operations/team-rows.ts';
import { html } from '../../docs/html.ts';
import type { Team } from '../../ports/team-registry.ts';
import { changedAnswer, finding, getForm, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { amountField, EMPTY_FORM, hiddenField, NAME_INPUT, postForm, REFERENCE_INPUT, selectField, textField } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { changedFields } from '../key-limit-fields.ts';
import { askedBy, carriedOut, sentIn } from '../operation-page.ts';
import { findTeam, newKeyNotice } from '../team-keys.ts';
import { teamPage } from './team.ts';

export const TEAM_CHANGE_ROUTES: readonly ConsoleRoute[] = [
  getForm('/teams/new', (visit, parts) => newTeamPage(visit, parts, {})),
  post('/teams', makeTeam),
  post('/teams/{id}/keys', newKey),
  post('/teams/{id}/credit', finding(findTeam, giveCredit)),
  post('/teams/{id}/plan', finding(findTeam, changePlan)),
  post(
    '/teams/{id}/name',
    finding(findTeam, (visit, parts, team) => change(visit, parts, team, { name: visit.form('name') })),
  ),
  post('/teams/{id}/reference', finding(findTeam, refer)),
  getForm(
    '/teams/{id}/delete',
    finding(findTeam, (visit, parts, team) => deletionPage(visit, parts, team, {})),
  ),
  post('/teams/{id}/delete', finding(findTeam, remove)),
];

async function makeTeam(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const { form } = visit;
  const plan = planReports(parts.context).find((one) => one.name === form('plan'));
  const credit = form('credit').trim() === '' || plan === undefined ? { value: undefined } : amountField(form('credit'), plan.currency);
  if ('fault' in credit) return newTeamPage(visit, parts, { credit: credit.fault });
  const reference = form('reference').trim() === '' ? undefined : form('reference');
  const given = { name: form('name'), reference, plan: form('plan'), credit_minor: credit.value };
  const made = await carriedOut<ChangedTeamRow>(createTeam, given, visit, parts);
  if ('faults' in made) return newTeamPage(visit, parts, fieldNames(made.faults));
  if (!('value' in made)) return made;
  const { team_id: id, name } = made.value;
  return changedAnswer(`/teams/${id}`, html`<p>Team ${name} has been created. Create its first key below.</p>`, made);
}

/** Amounts have fields of their own: people enter them in the currency. */
function fieldNames({ credit_minor: credit, add_credit_minor: amount, ...others }: FieldFaults): FieldFaults {
  return { ...others, ...(credit === undefined ? {} : { credit }), ...(amount === undefined ? {} : { amount }) };
}

function newTeamPage({ form, formToken }: SignedInVisit, { context }: ConsoleParts, faults: FieldFaults): ConsoleAnswer {
  const plans = planReports(context);
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

async function newKey(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const { form, nowMs, parameters } = visit;
  const given = { id: parameters['id'], ...sentIn(createKey, ['mode'], form, nowMs), ...changedFields(form, EMPTY_FORM, nowMs) };
  const made = await carriedOut<NewKeyRow>(createKey, given, visit, parts);
  if ('faults' in made) return teamPage(visit, parts, made.faults);
  return 'value' in made ? { kind: 'see', to: `/teams/${made.value.team_id}`, notice: newKeyNotice(made.value) } : made;
}

async function giveCredit(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const sent = visit.form('amount').trim();
  const amount = amountField(sent.replace('-', ''), team.limits.currency);
  if ('fault' in amount) return teamPage(visit, parts, { amount: amount.fault });
  const reason = visit.form('reason').trim() === '' ? undefined : visit.form('reason');
  return change(visit, parts, team, { add_credit_minor: sent.startsWith('-') ? -amount.value : amount.value, reason });
}

/** Asks before a plan makes the running period costlier, or leaves less than is used. */
async function changePlan(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const { form, formToken } = visit;
  const when = form('when') === '' ? 'now' : form('when');
  const edit = { when, ...(when === 'never' ? {} : { plan: form('plan') }) };
  if (form('confirm') === 'true') return change(visit, parts, team, { ...edit, confirm: true });
  const asked = await askedBy(updateTeam, { id: team.teamId, ...edit }, visit, parts);
  if (asked === undefined) return change(visit, parts, team, edit);
  if ('faults' in asked) return teamPage(visit, parts, asked.faults);
  if ('kind' in asked) return asked;
  const title = `Change ${team.name} to plan ${form('plan')} now?`;
  const main = html`<h1>${title}</h1>
    <p>Team <code>${team.teamId}</code></p>
    <p class="warning">${asked.does}</p>
    ${postForm({
      action: `/teams/${team.teamId}/plan`,
      formToken,
      fields: html`${hiddenField('plan', form('plan'))}${hiddenField('confirm', 'true')}`,
      submit: 'Change the plan now',
      danger: asked.refuses === true,
      cancel: `/teams/${team.teamId}`,
    })}`;
  return pageAnswer({ title, section: 'teams', main });
}

function refer(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const sent = visit.form('reference');
  return change(visit, parts, team, { reference: sent.trim() === '' ? null : sent });
}

async function change(visit: SignedInVisit, parts: ConsoleParts, { teamId }: Team, edit: GivenMembers): Promise<ConsoleAnswer> {
  const changed = await carriedOut<ChangedTeamRow>(updateTeam, { id: teamId, ...edit }, visit, parts);
  if ('faults' in changed) return teamPage(visit, parts, fieldNames(changed.faults));
  if (!('value' in changed)) return changed;
  return changedAnswer(`/teams/${teamId}`, html`<p>${updateTeam.told!(changed.value, edit)}</p>`, changed);
}

/** The first is chosen unless the operator says otherwise. */
const USAGE = [
  { value: 'keep', label: 'keep it, without names' },
  { value: 'delete', label: 'delete it too' },
] as const;

async function deletionPage(visit: SignedInVisit, parts: ConsoleParts, team: Team, faults: FieldFaults): Promise<ConsoleAnswer> {
  const { formToken, form } = visit;
  const { teamId, name } = team;
  const asked = await askedBy(deleteTeam, { id: teamId }, visit, parts);
  if (asked !== undefined && 'kind' in asked) return asked;
  const title = `Delete ${name}?`;
  const texts = { form, faults };
  const typed = { required: true, hint: `Type ${name} to continue.`, more: NAME_INPUT };
  const main = html`<h1>${title}</h1>
    <p>Team <code>${teamId}</code></p>
    <p class="warning">
      ${asked !== undefined && 'does' in asked ? asked.does : undefined} Its keys are refused at their next request, everywhere. Its
      glossaries, its credit and its name are deleted. This cannot be undone.
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
  if (usage !== 'delete' && usage !== 'keep') return deletionPage(visit, parts, team, { usage: 'Choose one.' });
  if (asRead(visit.form('name')) !== asRead(name)) return deletionPage(visit, parts, team, { name: 'This is not the name of the team.' });
  const deleted = await carriedOut(deleteTeam, { id: teamId, keep_usage: usage === 'keep' }, visit, parts);
  if (!('value' in deleted)) return 'faults' in deleted ? deletionPage(visit, parts, team, deleted.faults) : deleted;
  parts.forget(teamId);
  const kept = usage === 'keep' ? '; its days and periods are kept' : '';
  return changedAnswer('/teams', html`<p>Team <code>${teamId}</code> is deleted${kept}.</p>`, deleted);
}

/** A browser shows consecutive white space in a name as one space. */
function asRead(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ');
}
