// A team's keys in the console: their table, a path's key, and the notice that shows a key once.
import { found, noSuch, RefusedError } from '../admin/operation.ts';
import type { RecordKind } from '../admin/operation.ts';
import { keyColumns, keyReport } from '../admin/operations/key-rows.ts';
import type { ShownLimits } from '../admin/operations/key-limits.ts';
import type { FoundKeyRow, ListedKeyRow, NewKeyRow } from '../admin/operations/key-rows.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { hasLimits } from '../domain/key-limits.ts';
import { writtenWindows } from '../domain/window-limits.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { KeyStatus, KeyUsage, Team, Usage } from '../ports/team-registry.ts';
import { CONSOLE_PREFIX, mayChange } from './console-route.ts';
import type { SignedInVisit } from './console-route.ts';
import { tableOf } from './cells.ts';

/** Limits the page. */
const KEYS_MAX = 200;

const ORDER: readonly KeyStatus[] = ['active', 'disabled', 'expired', 'revoked'];

/** A key in its team's list, with its use of the period. */
interface UsedKey extends ListedKeyRow {
  readonly team_id: string;
  readonly use: Pick<KeyUsage, 'characters' | 'requests'>;
}

const columns = keyColumns<UsedKey>([
  { head: 'Characters', cell: ({ use }) => use.characters, holds: 'figures' },
  { head: 'Requests', cell: ({ use }) => use.requests, holds: 'figures' },
  { head: 'Created', cell: (row) => ({ kind: 'day', at: row.created_at }) },
]);

/** Working ones first, revoked ones last, the newest of each first. */
export function keysTable({ team, keys }: Usage, visit: SignedInVisit): Promise<Html> {
  const ordered = keys.toReversed().toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status));
  const rows = ordered.map((key): UsedKey => ({ ...keyReport(key), team_id: team.teamId, use: key }));
  return tableOf({ columns, none: 'There are no keys yet.' }, rows, visit, {
    caption: `Keys of ${team.name}`,
    hidden: keys.some(({ limits }) => hasLimits(limits)) ? [] : ['Limits'],
    change: mayChange(visit) ? changes : undefined,
    most: KEYS_MAX,
    more: `lingate key list --team ${team.teamId}`,
  });
}

/** Below `/console`. */
export function keyPath(teamId: string, keyId: string): string {
  return `/teams/${teamId}/keys/${keyId}`;
}

/** Links to what may be done to a key of a list. */
export function changes({ team_id: teamId, key_id: keyId, display, status }: FoundKeyRow | UsedKey): Html | string {
  if (status === 'revoked') return '–';
  const to = `${CONSOLE_PREFIX}${keyPath(teamId, keyId)}`;
  const which = html`<span class="unseen"> ${display}</span>`;
  return html`<span class="links"
    ><a href="${to}/rotate">Rotate${which}</a> <a class="delete" href="${to}/revoke">Revoke${which}</a></span
  >`;
}

/** By the path's `id`, with what it has used. */
export async function findUsage({ parameters, context }: SignedInVisit): Promise<Usage> {
  const id = pathId(parameters, 'id', 'team');
  return found(await context.options.teams.usage(id), 'team', id);
}

/** By the path's `id`. */
export async function findTeam({ parameters, context }: SignedInVisit): Promise<Team> {
  const id = pathId(parameters, 'id', 'team');
  return found(await context.options.teams.findTeam(id), 'team', id);
}

/** The id in a path; throws if it can be none. */
export function pathId(parameters: SignedInVisit['parameters'], name: string, kind: RecordKind): string {
  const id = canonicalUlid(parameters[name] ?? '');
  if (id === undefined) throw new RefusedError(noSuch(kind, parameters[name] ?? ''));
  return id;
}

export interface TeamKey extends Usage {
  readonly key: KeyUsage;
}

/** By the path's `id` and `key`. */
export async function findTeamKey({ parameters, context }: SignedInVisit): Promise<TeamKey> {
  const keyId = pathId(parameters, 'key', 'key');
  const usage = found(await context.options.teams.usage(pathId(parameters, 'id', 'key')), 'key', keyId);
  const key = usage.keys.find((one) => one.keyId === keyId);
  return { ...usage, key: found(key, 'key', keyId) };
}

export function newKeyNotice({ key, display }: NewKeyRow): Html {
  return html`<p><strong>Key ${display} has been created.</strong> It is shown only once: copy it now.</p>
    <p><code class="secret" data-copy="Copy the key">${key}</code></p>`;
}

/** What the fields of these limits show; empty if there is no such limit. */
export function limitTexts({ limits = [], ...others }: ShownLimits, label = ''): Readonly<Record<string, string>> {
  const texts = { ...others, label, limits: writtenWindows(limits).split(' ') };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, [text ?? ''].flat().join('\n')]));
}
