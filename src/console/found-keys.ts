// The keys that begin with what was searched for: whose they are, and the way to revoke one.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { FoundKey } from '../ports/team-registry.ts';
import { htmlTable } from './html-table.ts';
import { lastUse } from './keys-table.ts';
import { CONSOLE_PREFIX } from './prefix.ts';

/** Bounds the page. */
const KEYS_MAX = 200;

const COLUMNS = [
  { label: 'Key' },
  { label: 'Team', text: true },
  { label: 'Label', text: true },
  { label: 'Mode' },
  { label: 'Status' },
  { label: 'Last use' },
  { label: 'Change' },
] as const;

export function foundKeys(display: string, keys: readonly FoundKey[], nowMs: number): Html {
  if (keys.length === 0) return html`<p class="soft">No key begins with <code>${display}</code>.</p>`;
  const rows = keys.slice(0, KEYS_MAX).map((key) => {
    const team = `${CONSOLE_PREFIX}/teams/${key.teamId}`;
    const which = html`<span class="unseen"> ${key.display} of ${key.teamName}</span>`;
    return [
      html`<code>${key.display}…</code>`,
      html`<a href="${team}">${key.teamName}</a>`,
      key.label === '' ? '–' : key.label,
      key.mode,
      html`<span class="${key.status}">${key.status}</span>`,
      lastUse(key, nowMs),
      key.status === 'active' ? html`<a href="${team}/keys/${key.keyId}/revoke">Revoke${which}</a>` : '–',
    ];
  });
  return html`<h2>Keys that begin with <code>${display}</code></h2>
    ${htmlTable({ caption: `Keys that begin with ${display}`, columns: COLUMNS, rows })}
    ${keys.length > 1 ? html`<p class="soft">Several keys share these twelve characters: <code>lingate key find</code> tells by the whole key which it is.</p>` : undefined}`;
}
