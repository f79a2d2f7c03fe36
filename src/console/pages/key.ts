// A key's page: its limits, its usage, the form to change it, and the buttons to disable and enable it.
import { KEY_FIELDS, updateKey } from '../../admin/operations/keys.ts';
import { limitsReport } from '../../admin/operations/key-rows.ts';
import type { ChangedKeyRow } from '../../admin/operations/key-rows.ts';
import type { GivenMembers } from '../../admin/input.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import type { KeyUsage, Team } from '../../ports/team-registry.ts';
import { changedAnswer, CONSOLE_PREFIX, finding, get, mayChange, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { postForm } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { fact, windowFacts } from '../html-table.ts';
import { changedFields, limitTexts } from '../key-limit-fields.ts';
import { carriedOut, formFields } from '../operation-page.ts';
import { count, day, usageBar } from '../shown.ts';
import { findTeamKey, keyPath, keyStatus, lastUse } from '../team-keys.ts';
import type { TeamKey } from '../team-keys.ts';

const PATH = '/teams/{id}/keys/{key}';
export const KEY_ROUTES: readonly ConsoleRoute[] = [
  get(
    PATH,
    finding(findTeamKey, (visit, _parts, found) => keyPage(visit, found, {})),
  ),
  post(PATH, finding(findTeamKey, change)),
  post(
    `${PATH}/disable`,
    finding(findTeamKey, (visit, parts, found) => turn(visit, parts, found, true)),
  ),
  post(
    `${PATH}/enable`,
    finding(findTeamKey, (visit, parts, found) => turn(visit, parts, found, false)),
  ),
];

/** `faults` are the errors of the form that was sent, which is shown with the values sent. */
function keyPage(visit: SignedInVisit, found: TeamKey, faults: FieldFaults): ConsoleAnswer {
  const { team, key } = found;
  const title = `Key ${key.display}`;
  const main = html`<h1>${title}</h1>
    <p class="soft">
      Of team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>${key.label === '' ? '' : `, label ${key.label}`}, mode
      ${key.mode}, created ${day(key.createdAtMs)}, id <code>${key.keyId}</code>
    </p>
    ${facts(found, visit.nowMs)} ${mayChange(visit) && key.status !== 'revoked' ? forms(team, key, visit, faults) : undefined}`;
  return pageAnswer({ title, section: 'teams', main }, faults);
}

const STATUS_NOTES: Readonly<Record<KeyUsage['status'], string>> = {
  active: '',
  disabled: ': refused until it is enabled again',
  expired: ': refused until it is given more time',
  revoked: ': refused permanently',
};

function facts({ key, period }: TeamKey, nowMs: number): Html {
  const { expires_at: until, requests_per_second: rate, characters, allowed_addresses: from, scopes } = limitsReport(key.limits);
  const used = characters === undefined ? count(key.characters) : usageBar(`Characters of ${key.display}`, key.characters, characters);
  return html`<dl class="facts">
    ${fact('Status', html`${keyStatus(key)}${STATUS_NOTES[key.status]}`)} ${fact('Last use', lastUse(key, nowMs))}
    ${fact('Period', html`${day(period.startMs)} to ${day(period.endMs)}`)} ${fact('Characters', used)}
    ${fact('Requests', count(key.requests))}
    ${fact('Rate', rate === undefined ? "the team's" : `at most ${count(rate)} a second, within the team's`)}
    ${windowFacts(key.windows, key.display)}
    ${fact('Addresses', from === undefined ? 'any' : html`${from.map((range) => html`<code>${range}</code> `)}`)}
    ${fact('Scopes', scopes === undefined ? 'everything' : html`${scopes.map((scope) => html`<code>${scope}</code> `)}`)}
    ${fact('Expires', until === undefined ? 'never' : `${until.slice(0, 10)} ${until.slice(11, 19)} UTC`)}
  </dl>`;
}

function forms(team: Team, key: KeyUsage, visit: SignedInVisit, faults: FieldFaults): Html {
  const { formToken, form } = visit;
  const here = keyPath(team.teamId, key.keyId);
  const wasSent = Object.keys(faults).length > 0;
  const texts = { form: wasSent ? form : limitTexts(key.limits, key.label), faults };
  const fields = formFields(updateKey, KEY_FIELDS, texts);
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
    ${postForm({ action: `${here}/disable`, formToken, submit: 'Disable the key', danger: true })}`;
}

function enableForm(here: string, formToken: string): Html {
  return html`<h2 id="use">Enable</h2>
    <p>It works again at its next request, within its limits.</p>
    ${postForm({ action: `${here}/enable`, formToken, submit: 'Enable the key' })}`;
}

async function change(visit: SignedInVisit, parts: ConsoleParts, found: TeamKey): Promise<ConsoleAnswer> {
  const { limits, label } = found.key;
  return update(visit, parts, found, { label, ...changedFields(visit.form, limitTexts(limits, label), visit.nowMs) }, 'is saved');
}

async function turn(visit: SignedInVisit, parts: ConsoleParts, found: TeamKey, disabled: boolean): Promise<ConsoleAnswer> {
  const { team, key } = found;
  if (key.status !== 'revoked') {
    return update(visit, parts, found, { disabled }, disabled ? 'is disabled: its next request is refused' : 'is enabled');
  }
  return { kind: 'see', to: keyPath(team.teamId, key.keyId), notice: html`<p>Key ${key.display} is revoked, which is permanent.</p>` };
}

async function update(
  visit: SignedInVisit,
  parts: ConsoleParts,
  found: TeamKey,
  given: GivenMembers,
  words: string,
): Promise<ConsoleAnswer> {
  const {
    team: { teamId },
    key: { keyId, display },
  } = found;
  const result = await carriedOut<ChangedKeyRow>(updateKey, { id: keyId, ...given }, visit, parts);
  if (!('value' in result)) return 'faults' in result ? keyPage(visit, found, result.faults) : result;
  const notice = html`<p>Key ${display} ${words}.</p>
    ${result.value.status === 'expired' ? html`<p>It has expired: give it a later expiry, and it works again.</p>` : undefined}`;
  return changedAnswer(keyPath(teamId, keyId), notice, result);
}
