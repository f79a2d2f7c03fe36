// A team's page: its usage, its keys, and the forms to change it.
import { NO_TEAM, refusalOf } from '../../admin/admin-refusals.ts';
import type { PlanReport } from '../../admin/reports.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { anchorOf } from '../../domain/period-rule.ts';
import type { UsageReport } from '../../domain/usage-report.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, get, mayChange, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { NAME_UNITS_MAX, postForm, REASON_UNITS_MAX, selectField, textField } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { foldedLimits, sentTexts } from '../key-limit-fields.ts';
import { count, day, money, usageBar } from '../shown.ts';
import { teamHistory } from '../team-history.ts';
import { keysTable } from '../team-keys.ts';

export const TEAM_ROUTES: readonly ConsoleRoute[] = [get('/teams/{id}', (visit, parts) => teamPage(visit, parts, {}))];

/** `faults` are the errors of a form that was sent; that form is shown with the values sent. */
export async function teamPage(visit: SignedInVisit, parts: ConsoleParts, faults: FieldFaults): Promise<ConsoleAnswer> {
  const teamId = canonicalUlid(visit.parameters['id'] ?? '');
  const found = teamId === undefined ? undefined : await parts.operations.usage(teamId);
  if (found?.kind !== 'done') return found === undefined ? NO_TEAM : refusalOf(found);
  const { figures, report } = found.value;
  const { team } = figures;
  const history = await teamHistory(team.teamId, parts, visit.nowMs);
  if ('kind' in history) return history;
  const main = html`<h1>${team.name}</h1>
    <p class="soft">Team <code>${team.teamId}</code>, plan ${team.plan}, since ${day(team.createdAtMs)}</p>
    ${usageSection(figures, report)}
    <p>
      <a href="#history">Days, months and periods</a> · <a href="${CONSOLE_PREFIX}/teams/${team.teamId}/glossaries">Glossaries</a>
      ${mayChange(visit) ? html`· <a href="${CONSOLE_PREFIX}/teams/${team.teamId}/delete">Delete the team</a>` : undefined}
    </p>
    <h2 id="keys">Keys</h2>
    ${keysTable(figures, visit.nowMs, mayChange(visit))}
    <p>
      <a href="${CONSOLE_PREFIX}/audit?team=${team.teamId}">Audit<span class="unseen"> of ${team.name}</span></a>
    </p>
    ${mayChange(visit) ? teamForms(team, parts.operations.listPlans(), visit, faults) : undefined}
    <div id="history">${history}</div>`;
  const assets = ['copy.js'] as const;
  return pageAnswer({ title: team.name, section: 'teams', main, assets }, Object.keys(faults).length === 0 ? 200 : 400);
}

function usageSection({ team, periodStartMs, periodEndMs }: Usage, report: UsageReport): Html {
  const { limits } = team;
  return html`<h2>This period</h2>
    <dl class="facts">
      ${fact('Period', html`${day(periodStartMs)} to ${day(periodEndMs)}${anchorOf(limits.period) === 'calendar' ? ', by the calendar' : ''}`)}
      ${
        report.billing === 'quota'
          ? html`${fact('Characters', usageBar(`Characters of ${team.name}`, report.character_count, report.character_limit))}
            ${fact('Beyond the limit', overageText(report.overage))}`
          : html`${fact('Characters', count(report.character_count))}
            ${fact('Credit', money(report.credit.balance_minor, report.credit.currency))}
            ${fact('Price', `${money(limits.minorPerMillion, limits.currency)} per million characters`)}`
      }
      ${fact('Requests', `at most ${count(limits.requestsPerSecond)} a second, ${count(limits.maxCharactersPerRequest)} characters each`)}
      ${fact('Glossaries', `at most ${count(limits.maxGlossaries)}`)}
    </dl>`;
}

function overageText({ character_count: characters, cost_minor: cost, cap_minor: cap, currency }: OverageReport): string {
  if (cap === 0) return 'none: requests are refused at the limit';
  return `${count(characters)} characters, ${money(cost, currency)} of at most ${money(cap, currency)}`;
}

type OverageReport = Extract<UsageReport, { billing: 'quota' }>['overage'];

function fact(name: string, value: Html | string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

const MODES = [
  { value: 'live', label: 'live' },
  { value: 'test', label: 'test' },
] as const;

/** Fields with an error show what was sent, all others the current value. */
function teamForms(team: Team, plans: readonly PlanReport[], visit: SignedInVisit, faults: FieldFaults): Html {
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
    hint: 'What the key is for; optional. Both modes work alike and cost the same.',
    fault: faults['label'],
    more: { maxlength: NAME_UNITS_MAX, autocomplete: 'off' },
  })}
  ${foldedLimits(sentTexts(form), faults)}`;
  return html`<section aria-labelledby="new-key">
    <h2 id="new-key">New key</h2>
    ${postForm({ action: `/teams/${teamId}/keys`, formToken, fields, submit: 'Create the key' })}
  </section>`;
}

function creditForm({ teamId, limits }: Team, { formToken, form }: SignedInVisit, faults: FieldFaults): Html {
  const fields = html`${textField({
    name: 'amount',
    label: `Amount in ${limits.currency}`,
    value: form('amount'),
    required: true,
    hint: 'Takes effect at once. A negative amount is deducted, except what open reservations hold.',
    fault: faults['amount'],
    more: { autocomplete: 'off' },
  })}
  ${textField({
    name: 'reason',
    label: 'Reason',
    value: form('reason'),
    hint: 'For the audit. Required to deduct credit.',
    fault: faults['reason'],
    more: { maxlength: REASON_UNITS_MAX, autocomplete: 'off' },
  })}`;
  return html`<section aria-labelledby="credit">
    <h2 id="credit">Add or deduct credit</h2>
    ${postForm({ action: `/teams/${teamId}/credit`, formToken, fields, submit: 'Change the credit' })}
  </section>`;
}

function planForm({ teamId, plan }: Team, plans: readonly PlanReport[], { formToken }: SignedInVisit, faults: FieldFaults): Html {
  const fields = selectField({
    name: 'plan',
    label: 'Plan',
    choices: plans.map(({ name, billing }) => ({ value: name, label: billing === 'credit' ? `${name} (prepaid credit)` : name })),
    chosen: plan,
    hint: 'Its numbers take effect at the next request.',
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
