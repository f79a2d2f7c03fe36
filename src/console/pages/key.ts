// A key's page: its limits, its usage, the form to change it, and the buttons to disable and enable it.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { limitsReport } from '../../admin/reports.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import type { KeyChange, KeyUsage, Team } from '../../ports/team-registry.ts';
import { audit, CONSOLE_PREFIX, get, mayChange, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { labelField, NAME_UNITS_MAX, postForm, textField } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { limitFields, limitTexts, readLimitFields, sentTexts } from '../key-limit-fields.ts';
import { count, day, failoverWarning, usageBar } from '../shown.ts';
import { findTeamKey, keyPath, keyStatus, lastUse } from '../team-keys.ts';
import type { TeamKey } from '../team-keys.ts';

const PATH = '/teams/{id}/keys/{key}';
export const KEY_ROUTES: readonly ConsoleRoute[] = [
  get(PATH, (visit, parts) => keyPage(visit, parts, {})),
  post(PATH, change),
  post(`${PATH}/disable`, (visit, parts) => turn(visit, parts, true)),
  post(`${PATH}/enable`, (visit, parts) => turn(visit, parts, false)),
];

/** `faults` are the errors of the form that was sent, which is shown with the values sent. */
async function keyPage(visit: SignedInVisit, parts: ConsoleParts, faults: FieldFaults): Promise<ConsoleAnswer> {
  const found = await findTeamKey(visit, parts);
  if ('kind' in found) return found;
  const { team, key } = found;
  const title = `Key ${key.display}`;
  const main = html`<h1>${title}</h1>
    <p class="soft">
      Of team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>${key.label === '' ? '' : `, label ${key.label}`}, mode
      ${key.mode}, made ${day(key.createdAtMs)}, id <code>${key.keyId}</code>
    </p>
    ${facts(found, visit.nowMs)} ${mayChange(visit) && key.status !== 'revoked' ? forms(team, key, visit, faults) : undefined}`;
  return pageAnswer({ title, section: 'teams', main }, Object.keys(faults).length === 0 ? 200 : 400);
}

const STATUS_NOTES: Readonly<Record<KeyUsage['status'], string>> = {
  active: '',
  disabled: ': refused until it is enabled again',
  expired: ': refused until it is given more time',
  revoked: ': refused permanently',
};

function facts({ key, period }: TeamKey, nowMs: number): Html {
  const { expires_at: until, requests_per_second: rate, characters, allowed_addresses: from } = limitsReport(key.limits);
  const used = characters === undefined ? count(key.characters) : usageBar(`Characters of ${key.display}`, key.characters, characters);
  return html`<dl class="facts">
    ${fact('Status', html`${keyStatus(key)}${STATUS_NOTES[key.status]}`)} ${fact('Last use', lastUse(key, nowMs))}
    ${fact('Period', html`${day(period.startMs)} to ${day(period.endMs)}`)} ${fact('Characters', used)}
    ${fact('Requests', count(key.requests))}
    ${fact('Rate', rate === undefined ? "the team's" : `at most ${count(rate)} a second, within the team's`)}
    ${fact('Addresses', from === undefined ? 'any' : html`${from.map((range) => html`<code>${range}</code> `)}`)}
    ${fact('Expires', until === undefined ? 'never' : `${until.slice(0, 10)} ${until.slice(11, 19)} UTC`)}
  </dl>`;
}

function fact(name: string, value: Html | string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

function forms(team: Team, key: KeyUsage, visit: SignedInVisit, faults: FieldFaults): Html {
  const { formToken, form } = visit;
  const here = keyPath(team.teamId, key.keyId);
  const wasSent = Object.keys(faults).length > 0;
  const label = textField({
    name: 'label',
    label: 'Label',
    value: wasSent ? form('label') : key.label,
    hint: 'What the key is for; optional.',
    fault: faults['label'],
    more: { maxlength: NAME_UNITS_MAX, autocomplete: 'off' },
  });
  const fields = html`${label} ${limitFields(wasSent ? sentTexts(form) : limitTexts(key.limits), faults)}`;
  return html`<div class="forms">
    <section aria-labelledby="limits">
      <h2 id="limits">Label and limits</h2>
      <p class="soft">Changes take effect at the key's next request, everywhere.</p>
      ${postForm({ action: here, formToken, fields, submit: 'Save' })}
    </section>
    <section aria-labelledby="use">
      ${key.status === 'disabled' ? enableForm(here, formToken) : disableForm(here, formToken)}
      <h2>Replace or revoke</h2>
      <p>
        <span class="links"
          ><a href="${CONSOLE_PREFIX}${here}/rotate">Rotate the key</a> <a href="${CONSOLE_PREFIX}${here}/revoke">Revoke the key</a></span
        >
      </p>
    </section>
  </div>`;
}

function disableForm(here: string, formToken: string): Html {
  return html`<h2 id="use">Disable</h2>
    <p>Its next request is refused, everywhere. It can be enabled again.</p>
    ${postForm({ action: `${here}/disable`, formToken, fields: html``, submit: 'Disable the key', danger: true })}`;
}

function enableForm(here: string, formToken: string): Html {
  return html`<h2 id="use">Enable</h2>
    <p>It works again at its next request, within its limits.</p>
    ${postForm({ action: `${here}/enable`, formToken, fields: html``, submit: 'Enable the key' })}`;
}

async function change(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const found = await findTeamKey(visit, parts);
  if ('kind' in found) return found;
  const { key } = found;
  const label = labelField(visit.form('label'));
  const limits = readLimitFields(visit.form, key.limits, visit.nowMs);
  const faults = { ...('fault' in label ? { label: label.fault } : {}), ...('faults' in limits ? limits.faults : {}) };
  if ('fault' in label || 'faults' in limits) return keyPage(visit, parts, faults);
  const given = { label: label.value, ...(Object.keys(limits.change).length === 0 ? {} : { limits: limits.change }) };
  return update(visit, parts, found.team, key, given, 'is saved');
}

async function turn(visit: SignedInVisit, parts: ConsoleParts, disabled: boolean): Promise<ConsoleAnswer> {
  const found = await findTeamKey(visit, parts);
  if ('kind' in found) return found;
  const { team, key } = found;
  if (key.status === 'revoked') {
    return {
      kind: 'see',
      to: keyPath(team.teamId, key.keyId),
      notice: html`<p>Key ${key.display} is revoked, which is permanent.</p>`,
    };
  }
  return update(visit, parts, team, key, { disabled }, disabled ? 'is disabled: its next request is refused' : 'is enabled');
}

async function update(
  visit: SignedInVisit,
  parts: ConsoleParts,
  { teamId }: Team,
  { keyId, display }: KeyUsage,
  given: KeyChange,
  words: string,
): Promise<ConsoleAnswer> {
  const result = await parts.operations.updateKey(keyId, given);
  if (result.kind !== 'done') return refusalOf(result);
  audit(parts, visit, 'updateKey', { team_id: teamId, key_id: keyId });
  const notice = html`<p>Key ${display} ${words}.</p>
    ${result.value.status === 'expired' ? html`<p>It has expired: give it a later expiry, and it works again.</p>` : undefined}
    ${failoverWarning(result)}`;
  return { kind: 'see', to: keyPath(teamId, keyId), notice };
}
