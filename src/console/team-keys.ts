// A team's keys in the console: their table, the team and key of a path, and the notice that shows a new key once.
import { NO_KEY, NO_TEAM, refusalOf } from '../admin/admin-refusals.ts';
import { limitsText } from '../admin/fields.ts';
import type { ShownLimits } from '../admin/fields.ts';
import { KEY_FIELDS, updateKey } from '../admin/operations/keys.ts';
import { limitsReport } from '../admin/operations/key-rows.ts';
import type { NewKeyRow } from '../admin/operations/key-rows.ts';
import { foundTeam } from '../admin/operations/teams.ts';
import type { Refusal } from '../core/outcome.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { hasLimits } from '../domain/key-limits.ts';
import { writtenWindows } from '../domain/window-limits.ts';
import type { FieldTexts, Form } from './form.ts';
import { formFields } from './operation-form.ts';
import type { Period } from '../domain/period.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { KeyStatus, KeyUsage, Team, Usage } from '../ports/team-registry.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { ConsoleParts, SignedInVisit } from './console-route.ts';
import { freeText, htmlTable, numeric } from './html-table.ts';
import { ago, count, day } from './shown.ts';

/** Limits the page. */
const KEYS_MAX = 200;

const COUNTS = [numeric('Characters'), numeric('Requests')];
const COLUMNS = ['Key', freeText('Label'), 'Mode', 'Status', 'Last use', ...COUNTS, 'Created'] as const;
const ORDER: readonly KeyStatus[] = ['active', 'disabled', 'expired', 'revoked'];

/** Working keys first, revoked ones last, the newest of each first. `withChanges` adds links to changes. */
export function keysTable({ team, keys }: Usage, nowMs: number, withChanges: boolean): Html {
  if (keys.length === 0) return html`<p class="soft">There are no keys yet.</p>`;
  const ordered = keys.toReversed().toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status));
  const limited = keys.some(({ limits }) => hasLimits(limits));
  const rows = ordered
    .slice(0, KEYS_MAX)
    .map((key) => [
      keyLink(team.teamId, key),
      key.label === '' ? '–' : key.label,
      key.mode,
      keyStatus(key),
      lastUse(key, nowMs),
      count(key.characters),
      count(key.requests),
      day(key.createdAtMs),
      ...(limited ? [limitsText(limitsReport(key.limits)) ?? '–'] : []),
      ...(withChanges ? [key.status === 'revoked' ? '–' : changes(team.teamId, key)] : []),
    ]);
  const columns = [...COLUMNS, ...(limited ? [freeText('Limits')] : []), ...(withChanges ? ['Change'] : [])];
  const left = ordered.length - rows.length;
  return html`${htmlTable({ caption: `Keys of ${team.name}`, columns, rows })}
  ${left > 0 ? html`<p class="soft">${count(left)} more, revoked or old, are listed by <code>lingate key list</code>.</p>` : undefined}`;
}

export function lastUse({ lastUsedAtMs }: Pick<KeyUsage, 'lastUsedAtMs'>, nowMs: number): Html | string {
  return lastUsedAtMs === undefined ? 'never' : ago(lastUsedAtMs, nowMs);
}

export function keyStatus({ status }: Pick<KeyUsage, 'status'>): Html {
  return html`<span class="${status}">${status}</span>`;
}

/** Below `/console`. */
export function keyPath(teamId: string, keyId: string): string {
  return `/teams/${teamId}/keys/${keyId}`;
}

/** Links to the key's page. */
export function keyLink(teamId: string, { keyId, display }: Pick<KeyUsage, 'keyId' | 'display'>): Html {
  return html`<a href="${CONSOLE_PREFIX}${keyPath(teamId, keyId)}"><code>${display}…</code></a>`;
}

function changes(teamId: string, { keyId, display }: KeyUsage): Html {
  const to = `${CONSOLE_PREFIX}${keyPath(teamId, keyId)}`;
  const which = html`<span class="unseen"> ${display}</span>`;
  return html`<span class="links"><a href="${to}/rotate">Rotate${which}</a> <a href="${to}/revoke">Revoke${which}</a></span>`;
}

export interface TeamKey {
  readonly team: Team;
  readonly key: KeyUsage;
  /** All of the team, in order of creation. */
  readonly keys: readonly KeyUsage[];
  /** The current period of the team, to which the key's counts belong. */
  readonly period: Period;
}

/** By the path's `id`. */
export async function findTeam({ parameters }: SignedInVisit, { context }: ConsoleParts): Promise<Team | Refusal> {
  const teamId = canonicalUlid(parameters['id'] ?? '');
  const found = teamId === undefined ? undefined : await foundTeam(context, teamId);
  if (found === undefined) return NO_TEAM;
  return found.kind === 'done' ? found.value : refusalOf(found);
}

/** By the path's `id` and `key`. */
export async function findTeamKey({ parameters }: SignedInVisit, { context }: ConsoleParts): Promise<TeamKey | Refusal> {
  const teamId = canonicalUlid(parameters['id'] ?? '');
  const keyId = canonicalUlid(parameters['key'] ?? '');
  const found = teamId === undefined ? undefined : await context.options.teams.usage(teamId);
  if (found === undefined) return NO_KEY;
  if (isUnavailable(found)) return refusalOf(found);
  const { team, keys, periodStartMs: startMs, periodEndMs: endMs } = found;
  const key = keys.find((one) => one.keyId === keyId);
  return key === undefined ? NO_KEY : { team, key, keys, period: { startMs, endMs } };
}

export function newKeyNotice({ key, display }: NewKeyRow): Html {
  return html`<p><strong>Key ${display} has been created.</strong> It is shown only once: copy it now.</p>
    <p><code class="secret" data-copy="Copy the key">${key}</code></p>`;
}

/** What the fields of these limits show; empty if there is no such limit. */
export function limitTexts({ limits = [], ...others }: ShownLimits, label = ''): Form {
  const texts: Readonly<Record<string, string | number | readonly string[] | undefined>> = {
    ...others,
    label,
    limits: writtenWindows(limits).split(' '),
  };
  return (name) => [texts[name] ?? ''].flat().join('\n');
}

/** The fields of a key's label and limits; the limits are collapsed, unless there is something in them to see. */
export function keyFields(texts: FieldTexts): Html {
  const [label, ...limits] = KEY_FIELDS;
  const shown = limits.some((name) => texts.form(name) !== '' || texts.faults[name] !== undefined);
  return html`${formFields(updateKey, [label], texts)}
    <details ${shown ? html` open` : undefined}>
      <summary>Limits</summary>
      ${formFields(updateKey, limits, texts)}
    </details>`;
}
