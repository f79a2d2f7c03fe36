// The latest requests that were refused or met a failure, with the reason of each: for "why did this customer get a 503?".
import { pageOf } from '../../admin/admin-input.ts';
import { readRequestFilter, recentPage } from '../../admin/request-filter.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import type { RecentRequest } from '../../ports/access-entry.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { freeText, htmlTable, numeric, pager } from '../html-table.ts';
import { moment } from '../shown.ts';
import { nameOf, namesOf } from '../team-names.ts';
import type { TeamNames } from '../team-names.ts';

export const REQUESTS_ROUTES: readonly ConsoleRoute[] = [get('/requests', requestsPage)];

/** The query parameters that a page and the pages behind it have in common. */
const FILTERS = ['team', 'status', 'code', 'since', 'request_id'] as const;

async function requestsPage({ request: { query } }: SignedInVisit, { operations, recentRequests }: ConsoleParts): Promise<ConsoleAnswer> {
  const filter = readRequestFilter(query);
  const page = pageOf(query);
  if ('kind' in page) return page;
  const all = await recentRequests();
  if ('fault' in filter) {
    const fault = `${filter.field}: ${filter.fault}.`;
    return pageAnswer(content(filterForm(query, all, fault)), { [filter.field]: fault });
  }
  const { items, next } = recentPage(all, filter, page);
  const names = await namesOf(
    operations,
    items.map(({ teamId }) => teamId),
  );
  const main = html`${filterForm(query, all, undefined)}
  ${items.length === 0 ? html`<p class="soft">${nothing(all, query)}</p>` : listed(items, names)} ${pages(query, next)}`;
  return pageAnswer(content(main));
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
  return html`${fault === undefined ? undefined : html`<p class="fault" role="alert">${fault}</p>`}
    <form class="search" role="search" action="${CONSOLE_PREFIX}/requests">
      <label for="team">Team id</label>
      <input id="team" name="team" value="${given('team')}" maxlength="26" autocomplete="off" />
      <label for="code">Code</label>
      <select id="code" name="code">
        <option value="">all</option>
        ${codes.map((code) => html`<option ${code === given('code') ? html`selected` : undefined}>${code}</option>`)}
      </select>
      <label for="since">Since (UTC)</label>
      <input id="since" name="since" value="${given('since')}" maxlength="35" placeholder="2026-11-22T14:00Z" autocomplete="off" />
      <label for="request_id">Request id</label>
      <input id="request_id" name="request_id" value="${given('request_id')}" maxlength="26" autocomplete="off" />
      <button>Show</button>
    </form>`;
}

const COLUMNS = ['When (UTC)', freeText('Team'), freeText('Route'), numeric('Status'), 'Code', freeText('Reason'), freeText('Request id')];

function listed(requests: readonly RecentRequest[], names: TeamNames): Html {
  return htmlTable({
    caption: 'Requests, newest first',
    columns: COLUMNS,
    rows: requests.map((request) => [
      moment(request.atMs),
      request.teamId === undefined ? '–' : html`<a href="${CONSOLE_PREFIX}/teams/${request.teamId}">${nameOf(names, request.teamId)}</a>`,
      request.route,
      String(request.status),
      request.code,
      reason(request),
      html`<code>${request.requestId}</code>`,
    ]),
  });
}

/** What the log line of the request says of it. */
function reason({ failures, engine, parameter, limitOf }: RecentRequest): string {
  if (failures !== undefined) return `${failures.join(', then ')}${engine === undefined || engine === 'default' ? '' : ` at ${engine}`}`;
  if (limitOf !== undefined) return `the ${limitOf}'s limit`;
  return parameter ?? '–';
}

function pages(query: URLSearchParams, next: string | undefined): Html {
  const kept = Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)!] as const] : [])));
  const to = (more: Readonly<Record<string, string>>): string => {
    const all = new URLSearchParams({ ...kept, ...more }).toString();
    return `${CONSOLE_PREFIX}/requests${all === '' ? '' : `?${all}`}`;
  };
  return pager(query.has('cursor') ? to({}) : undefined, next && to({ cursor: next }), ['Newest', 'Older']);
}
