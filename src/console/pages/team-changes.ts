// The changes made by the forms of a team's page: a new key, credit, another plan, another name.
import { NO_TEAM, refusalOf } from '../../admin/admin-refusals.ts';
import type { TeamEdit } from '../../admin/team-terms.ts';
import type { AdminResult } from '../../admin/admin-result.ts';
import { html } from '../../docs/html.ts';
import { changedLimits } from '../../domain/key-limits.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { Team } from '../../ports/team-registry.ts';
import { audit, changedAnswer, finding, post } from '../console-route.ts';
import { amountField, faultsOf, labelField, modeField, nameField, reasonField } from '../form.ts';
import { readLimitFields } from '../key-limit-fields.ts';
import { findTeam, newKeyNotice } from '../team-keys.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { money } from '../shown.ts';
import { teamPage } from './team.ts';

export const TEAM_CHANGE_ROUTES: readonly ConsoleRoute[] = [
  post('/teams/{id}/keys', createKey),
  post('/teams/{id}/credit', finding(findTeam, giveCredit)),
  post('/teams/{id}/plan', finding(findTeam, changePlan)),
  post('/teams/{id}/name', finding(findTeam, rename)),
];

const NO_REASON = 'Enter a reason: it is required to deduct credit.';

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

function changePlan(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const done = ({ plan }: Team): string => `The team is now on plan ${plan}, effective at its next request.`;
  return change(visit, parts, team, { plan: visit.form('plan') }, 'plan', done);
}

async function rename(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const name = nameField(visit.form('name'));
  if ('fault' in name) return teamPage(visit, parts, { name: name.fault });
  return change(visit, parts, team, { name: name.value }, 'name', (renamed) => `The team is now called ${renamed.name}.`);
}

/** `field` is the form field beside which a refusal is shown. */
async function change(
  visit: SignedInVisit,
  parts: ConsoleParts,
  { teamId, limits }: Team,
  edit: TeamEdit,
  field: string,
  done: (team: Team) => string,
): Promise<ConsoleAnswer> {
  const result = await parts.operations.updateTeam(teamId, edit);
  if (result.kind !== 'done') {
    const fault = refusalText(result, limits.currency);
    return fault === undefined ? refusalOf(result) : teamPage(visit, parts, { [field]: fault });
  }
  audit(parts, visit, 'updateTeam', { team_id: teamId });
  return changedAnswer(`/teams/${teamId}`, html`<p>${done(result.value)}</p>`, result);
}

/** For a field; `undefined` if it is not about one. */
function refusalText(result: Exclude<AdminResult<Team>, { kind: 'done' }>, currency: string): string | undefined {
  if (result.kind === 'no_such_plan') return `There is no such plan; the plans are ${result.plans.join(', ')}.`;
  if (result.kind === 'plan_takes_no_credit') return `The plan ${result.plan} takes no credit.`;
  if (result.kind === 'balance_too_large') return 'This is more than a team can have.';
  if (result.kind === 'reason_missing') return NO_REASON;
  if (result.kind !== 'credit_not_free') return undefined;
  return `At most ${money(result.freeMinor, currency)} can be deducted: open reservations hold the rest.`;
}
