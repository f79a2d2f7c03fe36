// The changes made by the forms of a team's page: a new key, credit, another plan, another name.
import { NO_TEAM, refusalOf } from '../../admin/admin-refusals.ts';
import type { TeamEdit } from '../../admin/team-terms.ts';
import type { AdminResult } from '../../admin/admin-result.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { changedLimits } from '../../domain/key-limits.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { Team } from '../../ports/team-registry.ts';
import { audit, post } from '../console-route.ts';
import { amountField, faultOf, labelField, modeField, nameField, reasonField } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { readLimitFields } from '../key-limit-fields.ts';
import { newKeyNotice } from '../team-keys.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { failoverWarning, money } from '../shown.ts';
import { teamPage } from './team.ts';

export const TEAM_CHANGE_ROUTES: readonly ConsoleRoute[] = [
  post('/teams/{id}/keys', createKey),
  post('/teams/{id}/credit', giveCredit),
  post('/teams/{id}/plan', changePlan),
  post('/teams/{id}/name', rename),
];

async function createKey(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const teamId = canonicalUlid(visit.parameters['id'] ?? '');
  if (teamId === undefined) return NO_TEAM;
  const mode = modeField(visit.form('mode'));
  if ('fault' in mode) return teamPage(visit, parts, { mode: mode.fault });
  const label = labelField(visit.form('label'));
  if ('fault' in label) return teamPage(visit, parts, { label: label.fault });
  const limits = readLimitFields(visit.form, {}, visit.nowMs);
  if ('faults' in limits) return teamPage(visit, parts, limits.faults);
  const draft = { teamId, mode: mode.value, label: label.value, limits: changedLimits({}, limits.change) };
  const made = await parts.operations.createKey(draft);
  if (made.kind !== 'done') return refusalOf(made);
  audit(parts, visit, 'createKey', { team_id: teamId, key_id: made.value.key_id });
  return { kind: 'see', to: `/teams/${teamId}`, notice: newKeyNotice(made.value) };
}

async function giveCredit(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const teamId = canonicalUlid(visit.parameters['id'] ?? '');
  const before = teamId === undefined ? undefined : await parts.operations.showTeam(teamId);
  if (before?.kind !== 'done') return before === undefined ? NO_TEAM : refusalOf(before);
  const { currency } = before.value.limits;
  const taken = visit.form('amount').trim().startsWith('-');
  const amount = amountField(visit.form('amount').trim().replace('-', ''), currency);
  const reason = reasonField(visit.form('reason'));
  if ('fault' in amount || 'fault' in reason) {
    const faults = { amount: faultOf(amount), reason: faultOf(reason) };
    return teamPage(visit, parts, Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined)) as FieldFaults);
  }
  if (taken && reason.value === undefined) return teamPage(visit, parts, { reason: 'Enter a reason: it is required to deduct credit.' });
  const edit = { addCreditMinor: taken ? -amount.value : amount.value, reason: reason.value };
  return change(
    visit,
    parts,
    edit,
    'amount',
    ({ balanceMicro }) => {
      const balance = money(minorRoundedDown(balanceMicro), currency);
      return html`${money(amount.value, currency)} ${taken ? 'has been deducted' : 'has been added'}. The credit is now ${balance}.`;
    },
    currency,
  );
}

function changePlan(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  return change(
    visit,
    parts,
    { plan: visit.form('plan') },
    'plan',
    ({ plan }) => html`The team is now on plan ${plan}, effective at its next request.`,
  );
}

async function rename(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const name = nameField(visit.form('name'));
  if ('fault' in name) return teamPage(visit, parts, { name: name.fault });
  return change(visit, parts, { name: name.value }, 'name', (team) => html`The team is now called ${team.name}.`);
}

/** `field` is the form field beside which a refusal is shown. */
async function change(
  visit: SignedInVisit,
  parts: ConsoleParts,
  edit: TeamEdit,
  field: string,
  done: (team: Team) => Html,
  currency = '',
): Promise<ConsoleAnswer> {
  const teamId = canonicalUlid(visit.parameters['id'] ?? '');
  if (teamId === undefined) return NO_TEAM;
  const result = await parts.operations.updateTeam(teamId, edit);
  if (result.kind !== 'done') {
    const fault = refusalText(result, currency);
    return fault === undefined ? refusalOf(result) : teamPage(visit, parts, { [field]: fault });
  }
  audit(parts, visit, 'updateTeam', { team_id: teamId });
  return {
    kind: 'see',
    to: `/teams/${teamId}`,
    notice: html`<p>${done(result.value)}</p>
      ${failoverWarning(result)}`,
  };
}

function refusalText(result: Exclude<AdminResult<Team>, { kind: 'done' }>, currency: string): string | undefined {
  switch (result.kind) {
    case 'unavailable':
    case 'no_such_team':
    case 'no_such_key':
    case 'no_such_glossary':
    case 'no_deletion':
    case 'no_key_limits':
    case 'no_history':
    case 'other_request':
    case 'no_audit':
      return undefined;
    case 'no_such_plan':
      return `There is no such plan; the plans are ${result.plans.join(', ')}.`;
    case 'plan_takes_no_credit':
      return `The plan ${result.plan} takes no credit.`;
    case 'balance_too_large':
      return 'This is more than a team can have.';
    case 'credit_not_free':
      return `At most ${money(result.freeMinor, currency)} can be deducted: open reservations hold the rest.`;
    case 'reason_missing':
      return 'Enter a reason: it is required to deduct credit.';
  }
}
