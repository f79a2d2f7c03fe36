// What operators have changed, newest first, in pages: for all teams or one, by whom, what, and on which day.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { readAuditFilter } from '../../admin/audit-filter.ts';
import { auditEntryReport } from '../../admin/audit-report.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import { AUDIT_ACTIONS, AUDIT_ID } from '../../domain/audit-entry.ts';
import type { AuditAction, AuditEntry } from '../../domain/audit-entry.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { checkedNote, freeText, htmlTable, pager } from '../html-table.ts';
import { queryOf, searchForm, searchSelect, searchText } from '../search-form.ts';
import { moment } from '../shown.ts';
import { keyPath } from '../team-keys.ts';
import { keysOf, namesOf, teamLink } from '../team-names.ts';
import type { KnownKeys, TeamNames } from '../team-names.ts';

export const AUDIT_ROUTES: readonly ConsoleRoute[] = [get('/audit', auditPage)];

const PAGE_ENTRIES = 25;

/** As they were sent, but for ids that are none. */
interface Asked {
  readonly teamId: string | undefined;
  readonly cursor: string | undefined;
  readonly actor: string;
  readonly action: string;
  readonly day: string;
}

async function auditPage({ request }: SignedInVisit, { operations }: ConsoleParts): Promise<ConsoleAnswer> {
  const asked = askedOf(request.query);
  const { teamId, cursor } = asked;
  const filter = readAuditFilter((name) => asked[name]);
  if ('fault' in filter) {
    const fault = `${filter.field}: ${filter.fault}.`;
    return pageAnswer(content(searchedBy(asked, fault)), { [filter.field]: fault });
  }
  const found = await operations.audit.list({ teamId, after: cursor, sinceMs: undefined, limit: PAGE_ENTRIES }, filter);
  if (found.kind !== 'done') return refusalOf(found);
  const { items: entries, next, checkedMax } = found.value;
  const [names, keys] = await Promise.all([
    namesOf(operations, [teamId, ...entries.map((entry) => entry.teamId)]),
    keysOf(
      operations,
      entries.map((entry) => (entry.keyId === undefined ? undefined : entry.teamId)),
    ),
  ]);
  const main = html`${searchedBy(asked, undefined)} ${teamId === undefined ? undefined : ofOneTeam(teamId, names)}
  ${entries.length === 0 ? html`<p class="soft">${nothing(asked, checkedMax)}</p>` : listed(entries, asked, names, keys)}
  ${checkedNote(checkedMax, 'changes')} ${pages(asked, next)}`;
  return pageAnswer(content(main));
}

function content(main: Html) {
  return {
    title: 'Audit',
    section: 'audit',
    main: html`<h1>Audit</h1>
      ${main}`,
  } as const;
}

/** Wrong ids are ignored: a truncated link still opens the audit. */
function askedOf(query: URLSearchParams): Asked {
  const given = (name: string): string => (query.get(name) ?? '').trim();
  const cursor = given('cursor');
  return {
    teamId: canonicalUlid(given('team')),
    cursor: AUDIT_ID.test(cursor) ? cursor : undefined,
    actor: given('actor'),
    action: given('action'),
    day: given('day'),
  };
}

const ACTION_LABELS: Readonly<Record<AuditAction, string>> = {
  createTeam: 'team created',
  updateTeam: 'team changed',
  applyPlan: 'plan applied',
  deleteTeam: 'team deleted',
  createKey: 'key created',
  updateKey: 'key changed',
  revokeKey: 'key revoked',
  setTag: 'tag limits set',
  deleteTag: 'tag limits removed',
  deleteGlossary: 'glossary deleted',
  clearMemory: 'memory cleared',
  acceptClock: 'clock accepted',
  repairTeam: 'period repaired',
  sign_in: 'signed in',
  sign_in_refused: 'sign-in refused',
  sign_out: 'signed out',
};

function searchedBy({ teamId, actor, action, day }: Asked, fault: string | undefined): Html {
  const actions = AUDIT_ACTIONS.map((value) => ({ value, label: ACTION_LABELS[value] }));
  return searchForm({
    action: '/audit',
    hidden: { team: teamId },
    fields: [
      searchText('actor', 'Who', actor, { maxlength: 200, placeholder: 'a name, cli:, an address' }, 'long'),
      searchSelect('action', 'Action', [{ value: '', label: 'any' }, ...actions], action),
      searchText('day', 'Day (UTC)', day, { type: 'date' }),
    ],
    submit: 'Search',
    fault,
    isFiltered: teamId !== undefined || [actor, action, day].some((text) => text !== ''),
  });
}

function ofOneTeam(teamId: string, names: TeamNames): Html {
  return html`<p>Changes of team ${teamLink(names, teamId)}.</p>`;
}

function nothing({ cursor, actor, action, day }: Asked, checkedMax: number | undefined): string {
  if (checkedMax !== undefined) return 'None of these changes fits.';
  if ([actor, action, day].some((text) => text !== '')) return cursor === undefined ? 'No change fits.' : 'No older change fits.';
  return `There are no ${cursor === undefined ? '' : 'older '}changes.`;
}

const TEAM = freeText('Team');
const COLUMNS = ['When (UTC)', freeText('Who'), 'Action', TEAM, freeText('Key'), freeText('Changed')] as const;

function listed(entries: readonly AuditEntry[], { teamId }: Asked, names: TeamNames, keys: KnownKeys): Html {
  const columns = teamId === undefined ? COLUMNS : COLUMNS.filter((column) => column !== TEAM);
  const rows = entries.map((entry) => [
    moment(entry.atMs),
    entry.actor,
    html`<span class="short" title="${entry.action}">${ACTION_LABELS[entry.action]}</span>`,
    ...(teamId === undefined ? [entry.teamId === undefined ? '–' : teamLink(names, entry.teamId)] : []),
    entry.keyId === undefined ? '–' : keyOf(keys, entry.keyId),
    changes(entry),
  ]);
  return htmlTable({ caption: teamId === undefined ? 'Changes of all teams' : `Changes of team ${teamId}`, columns, rows });
}

/** The key's beginning and label, with a link to its page and the id as a tooltip; the id alone if its team is deleted. */
function keyOf(keys: KnownKeys, keyId: string): Html {
  const key = keys.get(keyId);
  if (key === undefined) return html`<code>${keyId}</code>`;
  const label = key.label === '' ? '' : ` ${key.label}`;
  return html`<a href="${CONSOLE_PREFIX}${keyPath(key.teamId, keyId)}" title="${keyId}"><code>${key.display}…</code></a
    >${label}`;
}

/** A new team has a dozen members: only the first are shown until the reader opens the rest. */
const CHANGES_SHOWN = 2;

function changes(entry: AuditEntry): Html | string {
  const { before, after } = auditEntryReport(entry);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  if (names.length === 0) return '–';
  const list = (some: readonly string[]): Html =>
    html`<ul class="changes">
      ${some.map((name) => html`<li>${name.replaceAll('_', ' ')}: ${change(before[name], after[name])}</li>`)}
    </ul>`;
  const [first, rest] = [names.slice(0, CHANGES_SHOWN), names.slice(CHANGES_SHOWN)];
  if (rest.length < 2) return list(names);
  return html`${list(first)}
    <details class="more">
      <summary>${rest.length} more</summary>
      ${list(rest)}
    </details>`;
}

function change(was: string | number | undefined, is: string | number | undefined): Html | string {
  if (was === undefined) return String(is);
  return html`<del>${was}</del> ${is === undefined ? undefined : html`<ins>${is}</ins>`}`;
}

function pages({ teamId, cursor, actor, action, day }: Asked, next: string | undefined): Html {
  const to = (at: string | undefined): string => `${CONSOLE_PREFIX}/audit${queryOf({ team: teamId, actor, action, day, cursor: at })}`;
  return pager(cursor && to(undefined), next && to(next), ['Newest', 'Older']);
}
