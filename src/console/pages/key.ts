// A key's page: its limits, its use, and what may be done to it: changing, disabling, revoking it,
// and rotating it step by step.
import { createKey, EXPIRED, KEY_FIELDS, revokeKey, updateKey } from '../../admin/operations/keys.ts';
import { LIMIT_NAMES, limitsReport } from '../../admin/operations/key-limits.ts';
import { keyReport } from '../../admin/operations/key-rows.ts';
import { windowShares } from '../../admin/operations/periods.ts';
import type { ChangedKeyRow, NewKeyRow } from '../../admin/operations/key-rows.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { usedLimits } from '../../domain/usage-days.ts';
import type { KeyUsage } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX } from '../console-route.ts';
import type { ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { factList, recordFacts } from '../cells.ts';
import { recordRoutes } from '../record-page.ts';
import type { Action } from '../record-page.ts';
import { ago, count, day, usageBar } from '../shown.ts';
import { findTeamKey, keyPath, limitTexts, newKeyNotice } from '../team-keys.ts';
import type { TeamKey } from '../team-keys.ts';

function lastUse({ lastUsedAtMs }: KeyUsage, nowMs: number): Html | string {
  return lastUsedAtMs === undefined ? 'never' : ago(lastUsedAtMs, nowMs);
}

const STATUS_NOTES: Readonly<Record<KeyUsage['status'], string>> = {
  active: '',
  disabled: ': refused until it is enabled again',
  expired: ': refused until it is given more time',
  revoked: ': refused permanently',
};

function keyFacts({ key, periodStartMs, periodEndMs }: TeamKey, nowMs: number): Html {
  const { expires_at: until, requests_per_second: rate, characters, allowed_addresses: from, scopes } = limitsReport(key.limits);
  const codes = (texts: readonly string[]): Html => html`${texts.map((text) => html`<code>${text}</code> `)}`;
  return factList(
    ['Status', html`<span class="${key.status}">${key.status}</span>${STATUS_NOTES[key.status]}`],
    ['Last use', lastUse(key, nowMs)],
    ['Period', html`${day(periodStartMs)} to ${day(periodEndMs)}`],
    ['Characters', characters === undefined ? count(key.characters) : usageBar(`Characters of ${key.display}`, key.characters, characters)],
    ['Requests', count(key.requests)],
    ['Rate', rate === undefined ? "the team's" : `at most ${count(rate)} a second, within the team's`],
    ...recordFacts(windowShares(usedLimits(key.windows), key.display), nowMs),
    ['Addresses', from === undefined ? 'any' : codes(from)],
    ['Scopes', scopes === undefined ? 'everything' : codes(scopes)],
    ['Expires', until === undefined ? 'never' : `${until.slice(0, 10)} ${until.slice(11, 19)} UTC`],
  );
}

const pathOf = ({ team, key }: TeamKey): string => keyPath(team.teamId, key.keyId);

const ACTIONS: readonly Action<TeamKey>[] = [
  {
    one: updateKey,
    name: '',
    title: 'Label and limits',
    submit: 'Save',
    about: "Changes take effect at the key's next request, everywhere.",
    fields: KEY_FIELDS,
    texts: ({ key }) => limitTexts(limitsReport(key.limits), key.label),
    given: ({ key: { label } }, sent) => ({ label, ...sent }),
    notice: ({ display, status }: ChangedKeyRow) => `Key ${display} is saved.${status === 'expired' ? ` ${EXPIRED}` : ''}`,
  },
  {
    one: createKey,
    name: 'rotate',
    title: 'Rotate the key',
    submit: 'Create the new key',
    own: ({ key }) => `Rotate ${key.display}`,
    fields: KEY_FIELDS,
    folded: LIMIT_NAMES,
    // It has the old one's limits, unless they are changed here; no expiry in the past.
    texts({ key: { limits, label } }, nowMs) {
      const { expiresAtMs = 0, ...others } = limits;
      return limitTexts(limitsReport(expiresAtMs > nowMs ? limits : others), label);
    },
    whole: true,
    given: ({ team, key }, sent) => ({ id: team.teamId, mode: key.mode, ...sent }),
    notice: newKeyNotice,
    to: (made: NewKeyRow, found) => `${pathOf(found)}/rotate?to=${made.key_id}`,
    around: rotation,
  },
  {
    one: revokeKey,
    name: 'revoke',
    title: 'Revoke the key',
    danger: true,
    own: ({ key }) => `Revoke ${key.display}?`,
    about: ({ team, key }, { nowMs }) =>
      html`<p>Team ${team.name}${key.label === '' ? '' : `, label ${key.label}`}. Last use: ${lastUse(key, nowMs)}.</p>
        ${isQuiet(key, nowMs) ? undefined : html`<p class="warning">It is in use. Unless it has leaked, rotate it first.</p>`}
        <p>Its next request is refused, everywhere. This cannot be undone.</p>`,
    notice: (_value, { key }) => `Key ${key.display} is revoked: its next request is refused.`,
    to: (_value, { team }) => `/teams/${team.teamId}`,
  },
];

/** A key used within this time is in use. */
const QUIET_MS = 600_000;

function isQuiet({ lastUsedAtMs }: KeyUsage, nowMs: number): boolean {
  return lastUsedAtMs === undefined || nowMs - lastUsedAtMs >= QUIET_MS;
}

/** Create the new key, deploy it, watch the old one until it is no longer used, revoke that. */
function rotation(form: Html, found: TeamKey, { request, nowMs }: SignedInVisit): Html {
  const { team, key: old, keys } = found;
  const to = canonicalUlid(request.query.get('to') ?? '');
  const next = keys.find(({ keyId }) => keyId === to && keyId !== old.keyId);
  const here = `${CONSOLE_PREFIX}${pathOf(found)}`;
  const step = next === undefined ? 0 : next.lastUsedAtMs === undefined ? 1 : isQuiet(old, nowMs) ? 3 : 2;
  const item = (at: number, title: string, body: Html): Html =>
    html`<li ${at === step ? html` aria-current="step"` : undefined}>
      <h2>${at < step ? html`<span aria-hidden="true">✓ </span>${title}<span class="unseen"> (done)</span>` : title}</h2>
      ${body}
    </li>`;
  const made =
    next === undefined
      ? html`<p class="soft">Its mode is ${old.mode}, like the old one's. Both are valid until the old one is revoked.</p>
          ${form}`
      : html`<p>${next.display} has been created.</p>`;
  return html`<p>Team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>${old.label === '' ? '' : `, label ${old.label}`}</p>
    <ol class="steps">
      ${item(0, 'Create a new key', made)}
      ${item(
        1,
        'Deploy it',
        html`<p>
          Replace the old key with the new one wherever it is used. Both work meanwhile.
          ${next && html`Last use of ${next.display}: ${lastUse(next, nowMs)}.`}
        </p>`,
      )}
      ${item(
        2,
        'Watch the old key until it is no longer used',
        html`<p>Last use of ${old.display}: ${lastUse(old, nowMs)}. Once that stops changing, the key is no longer used.</p>
          <p><a href="${here}/rotate${next === undefined ? '' : `?to=${next.keyId}`}">Check again</a></p>`,
      )}
      ${item(3, 'Revoke the old key', html`<p><a href="${here}/revoke">Revoke ${old.display}</a></p>`)}
    </ol>`;
}

export const KEY_ROUTES: readonly ConsoleRoute[] = recordRoutes<TeamKey>({
  path: '/teams/{id}/keys/{key}',
  find: findTeamKey,
  at: pathOf,
  ids: ({ key }) => ({ id: key.keyId }),
  closed: ({ key }) => (key.status === 'revoked' ? `Key ${key.display} is revoked, which is permanent.` : undefined),
  page(forms, found, { nowMs }) {
    const { team, key } = found;
    const title = `Key ${key.display}`;
    const main = html`<h1>${title}</h1>
      <p class="soft">
        Of team <a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>${key.label === '' ? '' : `, label ${key.label}`}, mode
        ${key.mode}, created ${day(key.createdAtMs)}, id <code>${key.keyId}</code>
      </p>
      ${keyFacts(found, nowMs)} ${forms}`;
    return { title, section: 'teams', main };
  },
  actions: ACTIONS,
  buttons: { of: [updateKey], row: ({ key }) => keyReport(key) },
});
