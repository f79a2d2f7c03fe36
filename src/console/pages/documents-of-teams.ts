// The documents of all teams or of one, newest first, in pages: what waits, what runs, what has ended, and with which code.
import { limitOf } from '../../admin/admin-input.ts';
import { refusalOf } from '../../admin/admin-refusals.ts';
import { charactersOf, readDocumentCursor, readDocumentFilter } from '../../admin/document-operations.ts';
import type { DocumentFilter, ListedDocument } from '../../admin/document-operations.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { DOCUMENT_STATES } from '../../domain/document-states.ts';
import type { DocumentRecord, DocumentState } from '../../ports/documents.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { checkedNote, freeText, htmlTable, numeric, pager } from '../html-table.ts';
import { queryOf, searchForm, searchSelect, searchText } from '../search-form.ts';
import { count, duration, moment, size, span } from '../shown.ts';
import { keyPath } from '../team-keys.ts';
import { namesOf, teamLink } from '../team-names.ts';
import type { TeamNames } from '../team-names.ts';

export const DOCUMENTS_ROUTES: readonly ConsoleRoute[] = [get('/documents', documentsPage)];

async function documentsPage({ request: { query }, nowMs }: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const limit = limitOf(query);
  if (typeof limit === 'object') return limit;
  const [filter, cursor] = [readDocumentFilter((name) => query.get(name)), readDocumentCursor(query.get('cursor'))];
  const wrong = 'fault' in filter ? filter : 'fault' in cursor ? cursor : undefined;
  if (wrong !== undefined || 'fault' in filter || 'fault' in cursor) {
    const fault = `${wrong!.field}: ${wrong!.fault}.`;
    return pageAnswer(content(filterForm(query, fault)), { [wrong!.field]: fault });
  }
  const found = await parts.documents.list({ ...cursor, limit }, filter);
  if (found.kind !== 'done') return refusalOf(found);
  const { items, next, checkedMax } = found.value;
  const names = await namesOf(parts.operations, [filter.teamId]);
  const main = html`${filterForm(query, undefined)}
  ${filter.teamId === undefined ? undefined : html`<p>Documents of team ${teamLink(names, filter.teamId)}.</p>`}
  ${items.length === 0 ? html`<p class="soft">${nothing(filter, cursor.after, checkedMax)}</p>` : listed(items, filter, nowMs)}
  ${checkedNote(checkedMax, 'documents')} ${pages(query, next)}`;
  return pageAnswer(content(main));
}

function content(main: Html) {
  return {
    title: 'Documents',
    section: 'documents',
    main: html`<h1>Documents</h1>
      <p class="soft">
        Files that teams have sent, until they expire. Neither their names nor their texts are shown: they are the customers'. Why a file
        was refused is told to its sender alone.
      </p>
      ${main}`,
  } as const;
}

const STATES: Readonly<Record<DocumentState, string>> = { queued: 'waits', translating: 'at work', done: 'done', error: 'error' };

function filterForm(query: URLSearchParams, fault: string | undefined): Html {
  const [team, state] = ['team', 'state'].map((name) => (query.get(name) ?? '').trim()) as [string, string];
  const states = DOCUMENT_STATES.map((value) => ({ value, label: STATES[value] }));
  return searchForm({
    action: '/documents',
    fields: [
      searchText('team', "Team's id", team, { maxlength: 26, spellcheck: 'false' }, 'long'),
      searchSelect('state', 'State', [{ value: '', label: 'any' }, ...states], state),
    ],
    submit: 'Search',
    fault,
    isFiltered: team !== '' || state !== '',
  });
}

function nothing({ teamId, state }: DocumentFilter, after: string | undefined, checkedMax: number | undefined): string {
  if (checkedMax !== undefined) return 'None of these documents fits.';
  if (teamId !== undefined || state !== undefined) return after === undefined ? 'No document fits.' : 'No older document fits.';
  return `There are no ${after === undefined ? '' : 'older '}documents.`;
}

const TEAM = freeText('Team');
const COLUMNS = [
  'Uploaded (UTC)',
  TEAM,
  freeText('Key'),
  'State',
  'To',
  'Format',
  numeric('Size'),
  numeric('Characters'),
  numeric('Took'),
] as const;

function listed(documents: readonly ListedDocument[], { teamId }: DocumentFilter, nowMs: number): Html {
  const columns = teamId === undefined ? COLUMNS : COLUMNS.filter((column) => column !== TEAM);
  const rows = documents.map((one) => {
    const { document } = one;
    const characters = charactersOf(document);
    return [
      html`<span title="${document.documentId}">${moment(document.createdAtMs)}</span>`,
      ...(teamId === undefined ? [teamLink(namesIn(one), document.teamId)] : []),
      keyOf(one),
      stateOf(document),
      html`<span class="short">${document.targetLang}</span>`,
      document.format,
      size(document.bytes),
      characters === null ? '–' : count(characters),
      tookOf(document, nowMs),
    ];
  });
  return htmlTable({ caption: 'Documents, newest first', columns, rows, wide: true });
}

function namesIn({ document, teamName }: ListedDocument): TeamNames {
  return new Map(teamName === undefined ? [] : [[document.teamId, teamName]]);
}

/** The key's beginning and label, with a link to its page. */
function keyOf({ document: { teamId, keyId }, key }: ListedDocument): Html {
  if (key === undefined) return html`<code>${keyId}</code>`;
  const label = key.label === '' ? '' : ` ${key.label}`;
  return html`<a href="${CONSOLE_PREFIX}${keyPath(teamId, keyId)}" title="${keyId}"><code>${key.display}…</code></a
    >${label}`;
}

function stateOf({ state, code, isCharged, failures }: DocumentRecord): Html | string {
  if (state === 'error') return html`error: <code>${code ?? 'internal_error'}</code>`;
  if (state === 'done') return isCharged === true ? 'done, downloaded' : 'done';
  return failures === 0 ? STATES[state] : `${STATES[state]}, ${count(failures)} ${failures === 1 ? 'failure' : 'failures'}`;
}

/** Until it had ended, or since when it has not. */
function tookOf({ createdAtMs, endedAtMs }: DocumentRecord, nowMs: number): string {
  if (endedAtMs === undefined) return `${span(Math.max(0, nowMs - createdAtMs))} so far`;
  const tookMs = Math.max(0, endedAtMs - createdAtMs);
  return tookMs < 60_000 ? duration(tookMs) : span(tookMs);
}

function pages(query: URLSearchParams, next: string | undefined): Html {
  const kept = Object.fromEntries(['team', 'state', 'limit'].map((name) => [name, query.get(name) ?? undefined]));
  const to = (cursor: string | undefined): string => `${CONSOLE_PREFIX}/documents${queryOf({ ...kept, cursor })}`;
  return pager(query.has('cursor') ? to(undefined) : undefined, next && to(next), ['Newest', 'Older']);
}
