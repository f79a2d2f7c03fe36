// A team's page: its usage, its keys, and the forms to change it.
import { NO_TEAM, refusalOf } from '../../admin/admin-refusals.ts';
import { createKey } from '../../admin/operations/keys.ts';
import { planReports } from '../../admin/operations/plans.ts';
import type { PlanReport } from '../../admin/operations/plans.ts';
import { teamUse } from '../../admin/operations/teams.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { anchorOf } from '../../domain/period.ts';
import { usageReport, REFUSAL_CODES } from '../../domain/usage-days.ts';
import type { UsageReport } from '../../domain/usage-days.ts';
import type { RefusalCode, RefusalCounts } from '../../ports/refusal-days.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, get, mayChange, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { NAME_INPUT, postForm, REASON_INPUT, REFERENCE_INPUT, selectField, textField } from '../form.ts';
import type { Choice, FieldFaults, FieldTexts } from '../form.ts';
import { fact, windowFacts } from '../html-table.ts';
import { keyFields } from '../key-limit-fields.ts';
import { formFields } from '../operation-page.ts';
import { count, day, money, usageBar } from '../shown.ts';
import { teamHistory } from '../team-history.ts';
import { teamCredit } from '../team-credit.ts';
import { tagsPath } from '../team-tags.ts';
import { keysTable } from '../team-keys.ts';

export const TEAM_ROUTES: readonly ConsoleRoute[] = [get('/teams/{id}', (visit, parts) => teamPage(visit, parts, {}))];

/** `faults` are the errors of a form that was sent; that form is shown with the values sent. */
export async function teamPage(visit: SignedInVisit, parts: ConsoleParts, faults: FieldFaults): Promise<ConsoleAnswer> {
  const teamId = canonicalUlid(visit.parameters['id'] ?? '');
  const found = teamId === undefined ? undefined : await teamUse(parts.context, teamId);
  if (found?.kind !== 'done') return found === undefined ? NO_TEAM : refusalOf(found);
  const { usage, refusals } = found.value;
  const { team } = usage;
  const [history, credit] = await Promise.all([teamHistory(team.teamId, parts, visit.nowMs), teamCredit(team, parts)]);
  if ('kind' in history) return history;
  const main = html`<h1>${team.name}</h1>
    <p class="soft">
      Team <code>${team.teamId}</code>${team.reference === undefined ? undefined : `, reference ${team.reference}`}, plan ${team.plan},
      since ${day(team.createdAtMs)}
    </p>
    ${team.nextPlan === undefined ? undefined : html`<p>When this period ends, it gets plan ${team.nextPlan.name}.</p>`}
    ${usageSection(usage, refusals)}
    <p>
      <a href="#history">Days, months and periods</a> ·
      <a href="${CONSOLE_PREFIX}/requests?team=${team.teamId}">Refused and failed requests</a> ·
      <a href="${CONSOLE_PREFIX}${tagsPath(team.teamId)}">Tags</a> ·
      <a href="${CONSOLE_PREFIX}/documents?team=${team.teamId}">Documents<span class="unseen"> of ${team.name}</span></a> ·
      <a href="${CONSOLE_PREFIX}/teams/${team.teamId}/glossaries">Glossaries</a>
      ${mayChange(visit) ? html`· <a href="${CONSOLE_PREFIX}/teams/${team.teamId}/delete">Delete the team</a>` : undefined}
    </p>
    <h2 id="keys">Keys</h2>
    ${keysTable(usage, visit.nowMs, mayChange(visit))}
    <p>
      <a href="${CONSOLE_PREFIX}/audit?team=${team.teamId}">Audit<span class="unseen"> of ${team.name}</span></a>
    </p>
    ${mayChange(visit) ? teamForms(team, planReports(parts.context), visit, faults) : undefined} ${credit}
    <div id="history">${history}</div>`;
  const assets = ['copy.js'] as const;
  return pageAnswer({ title: team.name, section: 'teams', main, assets }, faults);
}

function usageSection(usage: Usage, refusals: RefusalCounts | undefined): Html {
  const { team, periodStartMs, periodEndMs, windows } = usage;
  const { limits } = team;
  const report = usageReport(usage);
  const { test_keys: free } = report;
  const charged = report.character_count - (free?.character_count ?? 0);
  const chargedTests = (report.test_character_count ?? 0) - (free?.character_count ?? 0);
  return html`<h2>This period</h2>
    <dl class="facts">
      ${fact('Period', html`${day(periodStartMs)} to ${day(periodEndMs)}${anchorOf(limits.period) === 'calendar' ? ', by the calendar' : ''}`)}
      ${
        report.billing === 'quota'
          ? html`${fact('Characters', usageBar(`Characters of ${team.name}`, charged, report.character_limit))}
            ${fact('Overage', overageText(report.overage))}`
          : html`${fact('Characters', count(charged))} ${fact('Credit', money(report.credit.balance_minor, report.credit.currency))}
            ${fact('Price', `${money(limits.minorPerMillion, limits.currency)} per million characters`)}`
      }
      ${chargedTests === 0 ? undefined : fact('With test keys', `${count(chargedTests)} of these characters`)}
      ${free === undefined ? undefined : fact('Free for test keys', usageBar(`Free characters of test keys of ${team.name}`, free.character_count, free.character_limit))}
      ${fact('Requests', `at most ${count(limits.requestsPerSecond)} a second, ${count(limits.maxCharactersPerRequest)} characters each`)}
      ${windowFacts(windows, team.name)} ${refusals === undefined ? undefined : fact('Refused', refusalsText(refusals))}
      ${fact('Glossaries', `at most ${count(limits.maxGlossaries)}`)}
    </dl>`;
}

/** Only codes that occurred. */
function refusalsText(refusals: RefusalCounts): string {
  const some = REFUSAL_CODES.filter((code) => refusals[code] > 0).map((code) => `${count(refusals[code])} ${REFUSALS[code]}`);
  return some.length === 0 ? 'no requests' : some.join(', ');
}

const REFUSALS: Readonly<Record<RefusalCode, string>> = {
  rate_limited: 'over a rate (429)',
  quota_exceeded: 'over a quota (402)',
  credit_exhausted: 'for lack of credit (402)',
};

function overageText({ character_count: characters, cost_minor: cost, cap_minor: cap, currency }: OverageReport): string {
  if (cap === 0) return 'none: requests are refused at the limit';
  return `${count(characters)} characters, ${money(cost, currency)} of at most ${money(cap, currency)}`;
}

type OverageReport = Extract<UsageReport, { billing: 'quota' }>['overage'];

function teamForms(team: Team, plans: readonly PlanReport[], { form, formToken }: SignedInVisit, faults: FieldFaults): Html {
  const { teamId, limits } = team;
  const texts = { form, faults };
  const section = (id: string, title: string, fields: Html, submit = title, to = id): Html =>
    html`<section aria-labelledby="${id}">
      <h2 id="${id}">${title}</h2>
      ${postForm({ action: `/teams/${teamId}/${to}`, formToken, fields, submit })}
    </section>`;
  // Only a field with an error shows what was sent.
  const named = { form: faults['name'] === undefined ? () => team.name : form, faults };
  const referred = { form: faults['reference'] === undefined ? () => team.reference ?? '' : form, faults };
  const planned = { form: () => team.plan, faults };
  const choices = plans.map(({ name, billing }) => ({ value: name, label: billing === 'credit' ? `${name} (prepaid credit)` : name }));
  return html`<div class="forms">
    ${section('new-key', 'New key', newKeyFields(texts), 'Create the key', 'keys')}
    ${limits.billing === 'credit' ? section('credit', 'Add or deduct credit', creditFields(texts, limits.currency), 'Change the credit') : undefined}
    ${section('plan', 'Change the plan', planFields(planned, choices, team))}
    ${section('reference', 'Change the reference', referenceInput(referred))}
    ${section('name', 'Rename', textField(named, 'name', 'Name', { required: true, more: NAME_INPUT }))}
  </div>`;
}

function newKeyFields(texts: FieldTexts): Html {
  return html`${formFields(createKey, ['mode'], texts)} ${keyFields(texts)}`;
}

function planFields(planned: FieldTexts, choices: readonly Choice[], { nextPlan }: Team): Html {
  const times = [
    { value: 'now', label: 'at the next request' },
    { value: 'next-period', label: 'when the period ends' },
    ...(nextPlan === undefined ? [] : [{ value: 'never', label: `not: take back the change to ${nextPlan.name}` }]),
  ];
  const timed = { form: () => 'now', faults: planned.faults };
  return html`${selectField(planned, 'plan', 'Plan', choices)} ${selectField(timed, 'when', 'Effective', times)}`;
}

function referenceInput(texts: FieldTexts): Html {
  const hint = 'Your own word for the team, for example a customer number; empty for none.';
  return textField(texts, 'reference', 'Reference', { hint, more: REFERENCE_INPUT });
}

function creditFields(texts: FieldTexts, currency: string): Html {
  const hint = 'Takes effect at once. A negative amount is deducted, except what open reservations hold.';
  const amount = { required: true, hint, more: { autocomplete: 'off' } };
  const reason = { hint: 'For the audit. Required to deduct credit.', more: REASON_INPUT };
  return html`${textField(texts, 'amount', `Amount in ${currency}`, amount)} ${textField(texts, 'reason', 'Reason', reason)}`;
}
