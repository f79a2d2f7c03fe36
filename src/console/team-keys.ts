// A team's keys in the console: their table, the one that a path names, and the notice that shows a new one, once.
import { NO_KEY, refusalOf } from '../admin/admin-refusals.ts';
import type { NewKeyReport } from '../admin/reports.ts';
import type { Refusal } from '../core/outcome.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { KeyUsage, Team, Usage } from '../ports/team-registry.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { ConsoleParts, SignedInVisit } from './console-route.ts';
import { htmlTable } from './html-table.ts';
import { ago, count, day } from './shown.ts';

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
] as const;
const CHANGE = { label: 'Change' } as const;

/** Those that work first, the newest of them first. `withChanges` leads to what can be done to each. */
export function keysTable({ team, keys }: Usage, nowMs: number, withChanges: boolean): Html {
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
      ...(withChanges ? [isActive(key) ? changes(team.teamId, key) : '–'] : []),
    ]);
  const left = ordered.length - rows.length;
  return html`${htmlTable({ caption: `Keys of ${team.name}`, columns: withChanges ? [...COLUMNS, CHANGE] : COLUMNS, rows })}
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

export interface TeamKey {
  readonly team: Team;
  readonly key: KeyUsage;
  /** All of the team, in order of creation. */
  readonly keys: readonly KeyUsage[];
}

/** A key that was used so lately is in use. */
const QUIET_MS = 600_000;

/** By the path's `id` and `key`. */
export async function findTeamKey({ parameters }: SignedInVisit, { operations }: ConsoleParts): Promise<TeamKey | Refusal> {
  const teamId = canonicalUlid(parameters['id'] ?? '');
  const keyId = canonicalUlid(parameters['key'] ?? '');
  const found = teamId === undefined ? undefined : await operations.usage(teamId);
  if (found?.kind === 'unavailable') return refusalOf(found);
  if (found?.kind !== 'done') return NO_KEY;
  const { team, keys } = found.value.figures;
  const key = keys.find((one) => one.keyId === keyId);
  return key === undefined ? NO_KEY : { team, key, keys };
}

export function isQuiet({ lastUsedAtMs }: KeyUsage, nowMs: number): boolean {
  return lastUsedAtMs === undefined || nowMs - lastUsedAtMs >= QUIET_MS;
}

export function newKeyNotice({ key, display }: NewKeyReport): Html {
  return html`<p><strong>Key ${display} was made.</strong> This is all of it, shown this once: copy it now.</p>
    <p><code class="secret" data-copy="Copy the key">${key}</code></p>`;
}
