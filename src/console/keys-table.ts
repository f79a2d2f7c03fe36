// A team's keys: whose is used, when last, for how much; and the ways to rotate and to revoke one.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { KeyUsage, Usage } from '../ports/team-registry.ts';
import { CONSOLE_PREFIX } from './prefix.ts';
import { ago, count, day } from './shown.ts';
import { htmlTable } from './html-table.ts';

/** Bounds the page. */
const KEYS_MAX = 200;

const COLUMNS = [
  { label: 'Key' },
  { label: 'Label', text: true },
  { label: 'Mode' },
  { label: 'Status' },
  { label: 'Last use' },
  { label: 'Characters', figures: true },
  { label: 'Requests', figures: true },
  { label: 'Made' },
  { label: 'Change' },
] as const;

/** Those that work first, the newest of them first. */
export function keysTable({ team, keys }: Usage, nowMs: number): Html {
  if (keys.length === 0) return html`<p class="soft">There are no keys yet.</p>`;
  const newest = keys.toReversed();
  const ordered = [...newest.filter(isActive), ...newest.filter((key) => !isActive(key))];
  const rows = ordered
    .slice(0, KEYS_MAX)
    .map((key) => [
      html`<code>${key.display}…</code>`,
      key.label === '' ? '–' : key.label,
      key.mode,
      html`<span class="${key.status}">${key.status}</span>`,
      lastUse(key, nowMs),
      count(key.characters),
      count(key.requests),
      day(key.createdAtMs),
      isActive(key) ? changes(team.teamId, key) : '–',
    ]);
  const left = ordered.length - rows.length;
  return html`${htmlTable({ caption: `Keys of ${team.name}`, columns: COLUMNS, rows })}
  ${left > 0 ? html`<p class="soft">${count(left)} more, revoked or old, are listed by <code>lingate key list</code>.</p>` : undefined}`;
}

export function lastUse({ lastUsedAtMs }: Pick<KeyUsage, 'lastUsedAtMs'>, nowMs: number): Html | string {
  return lastUsedAtMs === undefined ? 'never' : ago(lastUsedAtMs, nowMs);
}

function isActive({ status }: KeyUsage): boolean {
  return status === 'active';
}

function changes(teamId: string, { keyId, display }: KeyUsage): Html {
  const to = `${CONSOLE_PREFIX}/teams/${teamId}/keys/${keyId}`;
  const which = html`<span class="unseen"> ${display}</span>`;
  return html`<span class="links"><a href="${to}/rotate">Rotate${which}</a> <a href="${to}/revoke">Revoke${which}</a></span>`;
}
