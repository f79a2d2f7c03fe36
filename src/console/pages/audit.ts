// What operators have changed, newest first, in pages: for all teams, or one.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { auditEntryReport } from '../../admin/audit-report.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { AUDIT_ID } from '../../domain/audit-entry.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { freeText, htmlTable, pager } from '../html-table.ts';
import { moment } from '../shown.ts';

export const AUDIT_ROUTES: readonly ConsoleRoute[] = [get('/audit', auditPage)];

const PAGE_ENTRIES = 50;

interface Asked {
  readonly teamId: string | undefined;
  readonly cursor: string | undefined;
}

async function auditPage({ request }: SignedInVisit, { operations }: ConsoleParts): Promise<ConsoleAnswer> {
  const asked = askedOf(request.query);
  const found = await operations.listAudit({ teamId: asked.teamId, after: asked.cursor, sinceMs: undefined, limit: PAGE_ENTRIES });
  if (found.kind !== 'done') return refusalOf(found);
  const { items: entries, next } = found.value;
  const main = html`<h1>Audit</h1>
    ${asked.teamId === undefined ? undefined : ofOneTeam(asked.teamId)}
    ${entries.length === 0 ? html`<p class="soft">There are no ${asked.cursor === undefined ? '' : 'older '}changes.</p>` : listed(entries, asked)}
    ${pages(asked, next)}`;
  return pageAnswer({ title: 'Audit', section: 'audit', main });
}

/** Wrong parameters are ignored: a truncated link still opens the audit. */
function askedOf(query: URLSearchParams): Asked {
  const cursor = query.get('cursor') ?? '';
  return { teamId: canonicalUlid(query.get('team') ?? ''), cursor: AUDIT_ID.test(cursor) ? cursor : undefined };
}

function ofOneTeam(teamId: string): Html {
  return html`<p>
    Changes of team <a href="${CONSOLE_PREFIX}/teams/${teamId}"><code>${teamId}</code></a
    >. <a href="${CONSOLE_PREFIX}/audit">Changes of all teams</a>
  </p>`;
}

const TEAM = freeText('Team');
const COLUMNS = ['When (UTC)', freeText('Who'), 'Action', TEAM, freeText('Key'), freeText('Changed')] as const;

function listed(entries: readonly AuditEntry[], { teamId }: Asked): Html {
  const columns = teamId === undefined ? COLUMNS : COLUMNS.filter((column) => column !== TEAM);
  const rows = entries.map((entry) => {
    const team =
      entry.teamId === undefined ? '–' : html`<a href="${CONSOLE_PREFIX}/audit?team=${entry.teamId}"><code>${entry.teamId}</code></a>`;
    return [
      moment(entry.atMs),
      entry.actor,
      entry.action,
      ...(teamId === undefined ? [team] : []),
      entry.keyId === undefined ? '–' : html`<code>${entry.keyId}</code>`,
      changes(entry),
    ];
  });
  return htmlTable({ caption: teamId === undefined ? 'Changes of all teams' : `Changes of team ${teamId}`, columns, rows });
}

function changes(entry: AuditEntry): Html | string {
  const { before, after } = auditEntryReport(entry);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (names.length === 0) return '–';
  return html`<ul class="changes">
    ${names.map((name) => html`<li>${name.replaceAll('_', ' ')}: ${change(before[name], after[name])}</li>`)}
  </ul>`;
}

function change(was: string | number | undefined, is: string | number | undefined): Html | string {
  if (was === undefined) return String(is);
  return html`<del>${was}</del> ${is === undefined ? undefined : html`<ins>${is}</ins>`}`;
}

function pages({ teamId, cursor }: Asked, next: string | undefined): Html {
  const to = (query: Readonly<Record<string, string>>): string => {
    const all = new URLSearchParams({ ...(teamId === undefined ? {} : { team: teamId }), ...query }).toString();
    return `${CONSOLE_PREFIX}/audit${all === '' ? '' : `?${all}`}`;
  };
  return pager(cursor && to({}), next && to({ cursor: next }), ['Newest', 'Older']);
}
