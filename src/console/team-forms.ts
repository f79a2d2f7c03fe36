// The forms of a team's page: a new key, credit, another plan, another name.
import type { PlanReport } from '../admin/reports.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { Team } from '../ports/team-registry.ts';
import { postForm, selectField, textField } from './form.ts';
import { NAME_UNITS_MAX } from './form-fields.ts';
import type { FieldFaults } from './form-fields.ts';
import type { SignedInVisit } from './console-route.ts';

export const MODES = [
  { value: 'live', label: 'live' },
  { value: 'test', label: 'test' },
] as const;

/** Fields with a fault show what was sent, all others the present value. */
export function teamForms(team: Team, plans: readonly PlanReport[], visit: SignedInVisit, faults: FieldFaults): Html {
  return html`<div class="forms">
    ${keyForm(team, visit, faults)} ${team.limits.billing === 'credit' ? creditForm(team, visit, faults) : undefined}
    ${planForm(team, plans, visit, faults)} ${nameForm(team, visit, faults)}
  </div>`;
}

function keyForm({ teamId }: Team, { formToken, form }: SignedInVisit, faults: FieldFaults): Html {
  const fields = html`${selectField({ name: 'mode', label: 'Mode', choices: MODES, chosen: form('mode'), fault: faults['mode'] })}
  ${textField({
    name: 'label',
    label: 'Label',
    value: form('label'),
    hint: 'What the key is for. May be left out. Both modes behave alike and cost the same.',
    fault: faults['label'],
    more: { maxlength: NAME_UNITS_MAX, autocomplete: 'off' },
  })}`;
  return html`<section aria-labelledby="new-key">
    <h2 id="new-key">New key</h2>
    ${postForm({ action: `/teams/${teamId}/keys`, formToken, fields, submit: 'Make the key' })}
  </section>`;
}

function creditForm({ teamId, limits }: Team, { formToken, form }: SignedInVisit, faults: FieldFaults): Html {
  const fields = textField({
    name: 'amount',
    label: `Amount in ${limits.currency}`,
    value: form('amount'),
    required: true,
    hint: 'Is added to the credit at once. It cannot be taken back here.',
    fault: faults['amount'],
    more: { inputmode: 'decimal', autocomplete: 'off' },
  });
  return html`<section aria-labelledby="credit">
    <h2 id="credit">Give credit</h2>
    ${postForm({ action: `/teams/${teamId}/credit`, formToken, fields, submit: 'Give credit' })}
  </section>`;
}

function planForm({ teamId, plan }: Team, plans: readonly PlanReport[], { formToken }: SignedInVisit, faults: FieldFaults): Html {
  const fields = selectField({
    name: 'plan',
    label: 'Plan',
    choices: plans.map(({ name, billing }) => ({ value: name, label: billing === 'credit' ? `${name} (prepaid credit)` : name })),
    chosen: plan,
    hint: 'Its numbers hold from the next request on.',
    fault: faults['plan'],
  });
  return html`<section aria-labelledby="plan">
    <h2 id="plan">Change the plan</h2>
    ${postForm({ action: `/teams/${teamId}/plan`, formToken, fields, submit: 'Change the plan' })}
  </section>`;
}

function nameForm({ teamId, name }: Team, { formToken, form }: SignedInVisit, faults: FieldFaults): Html {
  const fields = textField({
    name: 'name',
    label: 'Name',
    value: faults['name'] === undefined ? name : form('name'),
    required: true,
    fault: faults['name'],
    more: { maxlength: NAME_UNITS_MAX, autocomplete: 'off' },
  });
  return html`<section aria-labelledby="name">
    <h2 id="name">Rename</h2>
    ${postForm({ action: `/teams/${teamId}/name`, formToken, fields, submit: 'Rename' })}
  </section>`;
}
