// A new team: name, plan, and starting credit.
import { refusalOf } from '../../admin/admin-refusals.ts';
import type { PlanReport } from '../../admin/reports.ts';
import { html } from '../../docs/html.ts';
import { audit, getForm, pageAnswer, post } from '../console-route.ts';
import { amountField, faultOf, NAME_UNITS_MAX, nameField, postForm, selectField, textField } from '../form.ts';
import type { FieldFaults, JudgedField } from '../form.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { failoverWarning } from '../shown.ts';

export const NEW_TEAM_ROUTES: readonly ConsoleRoute[] = [getForm('/teams/new', newTeamPage), post('/teams', createTeam)];

function newTeamPage(visit: SignedInVisit, parts: ConsoleParts): ConsoleAnswer {
  return formPage(visit, parts, {});
}

async function createTeam(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const { form } = visit;
  const name = nameField(form('name'));
  const plan = parts.operations.listPlans().find((one) => one.name === form('plan'));
  const credit: JudgedField<number | undefined> =
    form('credit').trim() === '' || plan === undefined ? { value: undefined } : amountField(form('credit'), plan.currency);
  if ('fault' in name || 'fault' in credit || plan === undefined) {
    const faults = { name: faultOf(name), credit: faultOf(credit), plan: plan === undefined ? 'Choose one of these plans.' : undefined };
    return formPage(visit, parts, Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined)) as FieldFaults);
  }
  const made = await parts.operations.createTeam({ name: name.value, plan: plan.name, creditMinor: credit.value });
  if (made.kind === 'plan_takes_no_credit')
    return formPage(visit, parts, { credit: `The plan ${made.plan} takes no credit; leave it out.` });
  if (made.kind === 'unavailable') return refusalOf(made);
  if (made.kind !== 'done') return formPage(visit, parts, { plan: 'Choose one of these plans.' });
  const { teamId } = made.value;
  audit(parts, visit, 'createTeam', { team_id: teamId });
  const notice = html`<p>Team ${name.value} has been created. Create its first key below.</p>
    ${failoverWarning(made)}`;
  return { kind: 'see', to: `/teams/${teamId}`, notice };
}

function formPage({ form, formToken }: SignedInVisit, { operations }: ConsoleParts, faults: FieldFaults): ConsoleAnswer {
  const plans = operations.listPlans();
  const choices = plans.map((plan) => ({ value: plan.name, label: planLabel(plan) }));
  const fields = html`${textField({
    name: 'name',
    label: 'Name',
    value: form('name'),
    required: true,
    fault: faults['name'],
    more: { maxlength: NAME_UNITS_MAX, autocomplete: 'off' },
  })}
  ${selectField({ name: 'plan', label: 'Plan', choices, chosen: form('plan'), fault: faults['plan'] })}
  ${
    plans.some(({ billing }) => billing === 'credit')
      ? textField({
          name: 'credit',
          label: 'Opening credit',
          value: form('credit'),
          hint: "Only for prepaid plans, in the plan's currency. Optional.",
          fault: faults['credit'],
          more: { inputmode: 'decimal', autocomplete: 'off' },
        })
      : undefined
  }`;
  const main = html`<h1>New team</h1>
    ${postForm({ action: '/teams', formToken, fields, submit: 'Create the team' })}`;
  return pageAnswer({ title: 'New team', section: 'teams', main }, Object.keys(faults).length === 0 ? 200 : 400);
}

function planLabel({ name, billing, currency }: PlanReport): string {
  return billing === 'credit' ? `${name} (prepaid credit, ${currency})` : `${name} (quota)`;
}
