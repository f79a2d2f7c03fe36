// Rotating a key, step by step: create the new one, deploy it, watch the old one until it is no longer used, revoke that, after a question.
import { createKey, revokeKey } from '../../admin/operations/keys.ts';
import type { NewKeyRow } from '../../admin/operations/key-rows.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { KeyUsage } from '../../ports/team-registry.ts';
import { changedAnswer, CONSOLE_PREFIX, finding, getForm, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { EMPTY_FORM, postForm } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { changedFields, keyFields, limitTexts } from '../key-limit-fields.ts';
import { carriedOut } from '../operation-page.ts';
import { findTeamKey, isQuiet, keyPath, lastUse, newKeyNotice } from '../team-keys.ts';
import type { TeamKey } from '../team-keys.ts';

const PATH = '/teams/{id}/keys/{key}';
export const ROTATE_KEY_ROUTES: readonly ConsoleRoute[] = [
  getForm(
    `${PATH}/rotate`,
    finding(findTeamKey, (visit, _parts, found) => rotation(visit, found, {})),
  ),
  post(`${PATH}/rotate`, finding(findTeamKey, replace)),
  getForm(`${PATH}/revoke`, finding(findTeamKey, question)),
  post(`${PATH}/revoke`, finding(findTeamKey, revoke)),
];

/** The next step. */
const STEPS = ['make', 'deploy', 'watch', 'revoke', 'done'] as const;
type RotationStep = (typeof STEPS)[number];

/** `faults` are the errors of the form that was sent, which is shown with the values sent. */
function rotation(visit: SignedInVisit, found: TeamKey, faults: FieldFaults): ConsoleAnswer {
  const { team, key: old } = found;
  const next = successor(found, visit);
  const step = stepOf(old, next, visit.nowMs);
  const here = keyPath(team.teamId, old.keyId);
  const title = `Rotate ${old.display}`;
  const main = html`<h1>${title}</h1>
    <p>Team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>${old.label === '' ? '' : `, label ${old.label}`}</p>
    <ol class="steps">
      ${stepItem('make', step, 'Create a new key', next === undefined ? makeForm(here, old, visit, faults) : html`<p>${next.display} has been created.</p>`)}
      ${stepItem('deploy', step, 'Deploy it', deployText(next, visit.nowMs))}
      ${stepItem('watch', step, 'Watch the old key until it is no longer used', watchText(here, old, next, visit.nowMs))}
      ${stepItem('revoke', step, 'Revoke the old key', revokeText(here, old, step))}
    </ol>`;
  const assets = ['copy.js'] as const;
  return pageAnswer({ title, section: 'teams', main, assets }, faults);
}

async function replace(visit: SignedInVisit, parts: ConsoleParts, found: TeamKey): Promise<ConsoleAnswer> {
  const { team, key: old } = found;
  const given = { id: team.teamId, mode: old.mode, ...changedFields(visit.form, EMPTY_FORM, visit.nowMs) };
  const made = await carriedOut<NewKeyRow>(createKey, given, visit, parts);
  if (!('value' in made)) return 'faults' in made ? rotation(visit, found, made.faults) : made;
  const to = `${keyPath(team.teamId, old.keyId)}/rotate?to=${made.value.key_id}`;
  return { kind: 'see', to, notice: newKeyNotice(made.value) };
}

/** The new key named in the URL, if it can be that. */
function successor({ key: old, keys }: TeamKey, { request }: SignedInVisit): KeyUsage | undefined {
  const id = canonicalUlid(request.query.get('to') ?? '');
  return keys.find((one) => one.keyId === id && one.keyId !== old.keyId);
}

function stepOf(old: KeyUsage, next: KeyUsage | undefined, nowMs: number): RotationStep {
  if (old.status === 'revoked') return 'done';
  if (next === undefined) return 'make';
  if (next.lastUsedAtMs === undefined) return 'deploy';
  return isQuiet(old, nowMs) ? 'revoke' : 'watch';
}

function stepItem(step: Exclude<RotationStep, 'done'>, current: RotationStep, title: string, body: Html): Html {
  const isDone = STEPS.indexOf(step) < STEPS.indexOf(current);
  return html`<li ${step === current ? html` aria-current="step"` : undefined}>
    <h2 ${isDone ? html` class="done"` : undefined}>${title}${isDone ? html`<span class="unseen"> (done)</span>` : undefined}</h2>
    ${body}
  </li>`;
}

/** The new key has the old one's limits, unless they are changed here; an expiry in the past is left out. */
function makeForm(here: string, old: KeyUsage, { form, formToken, nowMs }: SignedInVisit, faults: FieldFaults): Html {
  const wasSent = Object.keys(faults).length > 0;
  const { expiresAtMs = 0, ...others } = old.limits;
  const texts = { form: wasSent ? form : limitTexts(expiresAtMs > nowMs ? old.limits : others, old.label), faults };
  const fields = html`<p class="soft">Its mode is ${old.mode}, like the old one's. Both are valid until the old one is revoked.</p>
    ${keyFields(texts)}`;
  return postForm({ action: `${here}/rotate`, formToken, fields, submit: 'Create the new key' });
}

function deployText(next: KeyUsage | undefined, nowMs: number): Html {
  const told = html`<p>Replace the old key with the new one wherever it is used. Both work meanwhile.</p>`;
  return next === undefined
    ? told
    : html`${told}
        <p>Last use of ${next.display}: ${lastUse(next, nowMs)}.</p>`;
}

function watchText(here: string, old: KeyUsage, next: KeyUsage | undefined, nowMs: number): Html {
  const again = `${CONSOLE_PREFIX}${here}/rotate${next === undefined ? '' : `?to=${next.keyId}`}`;
  return html`<p>Last use of ${old.display}: ${lastUse(old, nowMs)}. Once that stops changing, the key is no longer used.</p>
    <p><a href="${again}">Check again</a></p>`;
}

function revokeText(here: string, old: KeyUsage, step: RotationStep): Html {
  if (step === 'done') return html`<p>${old.display} is revoked.</p>`;
  return html`<p><a href="${CONSOLE_PREFIX}${here}/revoke">Revoke ${old.display}</a></p>`;
}

function question(visit: SignedInVisit, _parts: ConsoleParts, { team, key }: TeamKey): ConsoleAnswer {
  const back = `/teams/${team.teamId}`;
  if (key.status === 'revoked') return { kind: 'see', to: back, notice: html`<p>Key ${key.display} is already revoked.</p>` };
  const title = `Revoke ${key.display}?`;
  const main = html`<h1>${title}</h1>
    <p>Team ${team.name}${key.label === '' ? '' : `, label ${key.label}`}. Last use: ${lastUse(key, visit.nowMs)}.</p>
    ${isQuiet(key, visit.nowMs) ? undefined : html`<p class="warning">It is in use. Unless it has leaked, rotate it first.</p>`}
    <p>Its next request is refused, everywhere. This cannot be undone.</p>
    ${postForm({
      action: `${back}/keys/${key.keyId}/revoke`,
      formToken: visit.formToken,
      submit: `Revoke ${key.display}`,
      danger: true,
      cancel: back,
    })}`;
  return pageAnswer({ title, section: 'teams', main });
}

async function revoke(visit: SignedInVisit, parts: ConsoleParts, { team, key, ...more }: TeamKey): Promise<ConsoleAnswer> {
  const revoked = await carriedOut(revokeKey, { id: key.keyId }, visit, parts);
  if (!('value' in revoked)) return 'faults' in revoked ? rotation(visit, { team, key, ...more }, revoked.faults) : revoked;
  const notice = html`<p>Key ${key.display} is revoked: its next request is refused.</p>`;
  return changedAnswer(`/teams/${team.teamId}`, notice, revoked);
}
