// A new team: name, plan, and starting credit.
import { refusalOf } from '../../admin/admin-refusals.ts';
import type { PlanReport } from '../../admin/reports.ts';
import { html } from '../../docs/html.ts';
import { audit, changedAnswer, getForm, pageAnswer, post } from '../console-route.ts';
import { amountField, faultsOf, NAME_INPUT, nameField, postForm, selectField, textField } from '../form.ts';
import type { FieldFaults, JudgedField } from '../form.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';

export const NEW_TEAM_ROUTES: readonly ConsoleRoute[] = [
  getForm('/teams/new', (visit, parts) => formPage(visit, parts, {})),
  post('/teams', createTeam),
];

const NO_PLAN = 'Choose one of these plans.';

async function createTeam(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const { form } = visit;
  const name = nameField(form('name'));
  const plan = parts.operations.listPlans().find((one) => one.name === form('plan'));
  const credit: JudgedField<number | undefined> =
    form('credit').trim() === '' || plan === undefined ? { value: undefined } : amountField(form('credit'), plan.currency);
  if ('fault' in name || 'fault' in credit || plan === undefined) {
    return formPage(visit, parts, { ...faultsOf({ name, credit }), ...(plan === undefined ? { plan: NO_PLAN } : {}) });
  }
  const made = await parts.operations.createTeam({ name: name.value, plan: plan.name, creditMinor: credit.value });
  if (made.kind === 'plan_takes_no_credit')
    return formPage(visit, parts, { credit: `The plan ${made.plan} takes no credit; leave it out.` });
  if (made.kind === 'unavailable') return refusalOf(made);
  if (made.kind !== 'done') return formPage(visit, parts, { plan: NO_PLAN });
  const { teamId } = made.value;
  audit(parts, visit, 'createTeam', { team_id: teamId });
  return changedAnswer(`/teams/${teamId}`, html`<p>Team ${name.value} has been created. Create its first key below.</p>`, made);
}

function formPage({ form, formToken }: SignedInVisit, { operations }: ConsoleParts, faults: FieldFaults): ConsoleAnswer {
  const plans = operations.listPlans();
  const texts = { form, faults };
  const hint = "Only for prepaid plans, in the plan's currency. Optional.";
  const more = { inputmode: 'decimal', autocomplete: 'off' };
  const hasCredit = plans.some(({ billing }) => billing === 'credit');
  const fields = html`${textField(texts, 'name', 'Name', { required: true, more: NAME_INPUT })}
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

function planLabel({ name, billing, currency }: PlanReport): string {
  return billing === 'credit' ? `${name} (prepaid credit, ${currency})` : `${name} (quota)`;
}
