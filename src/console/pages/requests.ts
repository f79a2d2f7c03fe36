// The latest requests that were refused or met a failure, with the reason of each: for "why did this customer get a 503?".
import { pageOf } from '../../admin/admin-input.ts';
import type { AdminOperations } from '../../admin/admin-operations.ts';
import { refusalOf } from '../../admin/admin-refusals.ts';
import { readRequestFilter, reasonOf, recentPage } from '../../admin/request-filter.ts';
import { teamsMeant } from '../../admin/teams-meant.ts';
import type { QueryFault } from '../../admin/usage-question.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { RECORD_NAME_CHARACTERS_MAX } from '../../domain/record-name.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { RecentRequest } from '../../ports/access-entry.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { freeText, htmlTable, numeric, pager } from '../html-table.ts';
import { queryOf, searchForm, searchSelect, searchText } from '../search-form.ts';
import { moment } from '../shown.ts';
import { namesOf, teamLink } from '../team-names.ts';
import type { TeamNames } from '../team-names.ts';

export const REQUESTS_ROUTES: readonly ConsoleRoute[] = [get('/requests', requestsPage)];

/** The query parameters that a page and the pages behind it have in common. */
const FILTERS = ['team', 'status', 'code', 'since', 'request_id'] as const;

async function requestsPage(
  { request: { query }, nowMs }: SignedInVisit,
  { operations, recentRequests }: ConsoleParts,
): Promise<ConsoleAnswer> {
  const page = pageOf(query);
  if ('kind' in page) return page;
  const team = await teamOf(operations, query.get('team')?.trim() ?? '');
  if ('kind' in team) return team;
  const filter = 'fault' in team ? team : readRequestFilter(withTeam(query, team.id), nowMs);
  const all = await recentRequests();
  if ('fault' in filter) {
    const fault = `${filter.field}: ${filter.fault}.`;
    return pageAnswer(content(filterForm(query, all, fault)), { [filter.field]: fault });
  }
  const { items, next } = recentPage(all, filter, page);
  const names = await namesOf(operations, [filter.teamId, ...items.map(({ teamId }) => teamId)]);
  const main = html`${filterForm(query, all, undefined)}
  ${filter.teamId === undefined ? undefined : html`<p>Requests of team ${teamLink(names, filter.teamId)}.</p>`}
  ${items.length === 0 ? html`<p class="soft">${nothing(all, query)}</p>` : listed(items, names)} ${pages(query, next)}`;
  return pageAnswer(content(main));
}

/** How many of the teams that are meant a fault names. */
const NAMED_MAX = 5;

/** The team that is meant by an id, a name or a reference; no id if none is asked for. */
async function teamOf(operations: AdminOperations, word: string): Promise<{ readonly id: string } | QueryFault | Refusal> {
  if (word === '' || canonicalUlid(word) !== undefined) return { id: word };
  const found = await teamsMeant(operations, word);
  if (found.kind !== 'done') return refusalOf(found);
  const [team, ...others] = found.value;
  if (team === undefined) return { field: 'team', fault: 'there is no team with this name, reference or id' };
  if (others.length === 0) return { id: team.teamId };
  const named = found.value.slice(0, NAMED_MAX).map(({ teamId, name }) => `${name} (${teamId})`);
  const more = found.value.length > NAMED_MAX ? ' …' : '';
  return { field: 'team', fault: `${found.value.length} teams are meant; enter the id of one: ${named.join('; ')}${more}` };
}

function withTeam(query: URLSearchParams, id: string): URLSearchParams {
  return new URLSearchParams([...[...query].filter(([name]) => name !== 'team'), ['team', id]]);
}

function content(main: Html) {
  return {
    title: 'Requests',
    section: 'requests',
    main: html`<h1>Requests</h1>
      <p class="soft">
        The latest that were refused, failed, or needed a second attempt. Each process keeps 1,000 refusals and 1,000 failures in memory;
        the log has all.
      </p>
      ${main}`,
  } as const;
}

function nothing(all: readonly RecentRequest[], query: URLSearchParams): string {
  if (all.length === 0) return 'Nothing was refused and nothing has failed since the gateway was started.';
  return query.has('cursor') ? 'There are no older ones.' : 'None of those that are kept fits.';
}

function filterForm(query: URLSearchParams, all: readonly RecentRequest[], fault: string | undefined): Html {
  const given = (name: string): string => query.get(name) ?? '';
  const codes = [...new Set([...all.map(({ code }) => code), given('code')].filter((code) => code !== ''))].toSorted();
  return searchForm({
    action: '/requests',
    fields: [
      searchText('team', 'Team: name, reference or id', given('team'), { maxlength: RECORD_NAME_CHARACTERS_MAX }, 'long'),
      searchText('status', 'Status', given('status'), { maxlength: 3, inputmode: 'numeric', placeholder: '503' }, 'few'),
      searchSelect('code', 'Code', [{ value: '', label: 'any' }, ...codes.map((code) => ({ value: code, label: code }))], given('code')),
      searchText('since', 'Since (UTC)', given('since'), { maxlength: 35, placeholder: '14:00' }),
      searchText('request_id', 'Request id', given('request_id'), { maxlength: 26 }, 'long'),
    ],
    submit: 'Search',
    fault,
    isFiltered: FILTERS.some((name) => given(name) !== ''),
  });
}

const COLUMNS = ['When (UTC)', freeText('Team'), freeText('Route'), numeric('Status'), 'Code', 'Reason', freeText('Request id')];

function listed(requests: readonly RecentRequest[], names: TeamNames): Html {
  return htmlTable({
    caption: 'Requests, newest first',
    columns: COLUMNS,
    rows: requests.map((request) => [
      moment(request.atMs),
      request.teamId === undefined ? '–' : teamLink(names, request.teamId),
      brokenAtSlashes(request.route),
      String(request.status),
      request.code,
      reasonOf(request),
      html`<code>${request.requestId}</code>`,
    ]),
  });
}

/** Shorter ones than this fit. */
const LONG_ROUTE = 24;

/** A long path is continued on the next line behind a slash, not within a word. */
function brokenAtSlashes(route: string): Html | string {
  if (route.length < LONG_ROUTE) return route;
  return html`${route.split(/(?<=\/)(?=.)/).map((part, index) => (index === 0 ? part : html`<wbr />${part}`))}`;
}

function pages(query: URLSearchParams, next: string | undefined): Html {
  const kept = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? undefined]));
  const to = (cursor: string | undefined): string => `${CONSOLE_PREFIX}/requests${queryOf({ ...kept, cursor })}`;
  return pager(query.has('cursor') ? to(undefined) : undefined, next && to(next), ['Newest', 'Older']);
}
