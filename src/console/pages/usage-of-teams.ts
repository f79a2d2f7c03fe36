// The usage of all teams in a month, in pages, and the same as a file.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { listUsage } from '../../admin/operations/usage.ts';
import type { UsageRow } from '../../admin/usage-rows.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { freeText, htmlTable, numeric, pager } from '../html-table.ts';
import { monthOfQuery, monthSelect } from '../months.ts';
import type { AskedMonth } from '../months.ts';
import { filePage, pageOfQuery } from '../operation-page.ts';
import type { ReadRows } from '../operation-page.ts';
import { queryOf, searchForm } from '../search-form.ts';
import { count } from '../shown.ts';

export const USAGE_ROUTES: readonly ConsoleRoute[] = [get('/usage', usagePage), get('/usage/csv', filePage(listUsage))];

const PAGE_ROWS = 50;

async function usagePage(visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> {
  const asked = monthOfQuery(visit);
  const { month, from, to } = asked;
  const found = await pageOfQuery<UsageRow>(listUsage, visit, context, { from, to, by: 'total' }, PAGE_ROWS);
  if (found.kind !== 'done') return refusalOf(found);
  const fields = [monthSelect(asked)];
  const { next, isFirst } = found.value;
  const path = (cursor?: string): string => `${CONSOLE_PREFIX}/usage${queryOf({ month, cursor })}`;
  const main = html`<h1>Usage</h1>
    ${searchForm({ action: '/usage', fields, submit: 'Show', isFiltered: false })} ${downloads(asked)} ${listed(month, found.value)}
    ${sums(found.value)}
    ${isFirst && next === undefined ? undefined : pager(isFirst ? undefined : path(), next && path(next), ['First page', 'Next page'])}`;
  return pageAnswer({ title: 'Usage', section: 'usage', main });
}

function downloads({ from, to }: AskedMonth): Html {
  const path = (more: Readonly<Record<string, string>>): string => `${CONSOLE_PREFIX}/usage/csv${queryOf({ from, to, ...more })}`;
  return html`<p class="links">
    <a href="${path({ by: 'total' })}" download>Download (CSV)</a>
    <a href="${path({ by: 'day' })}" download>Download by day</a>
    <a href="${path({ by: 'day', keys: 'true' })}" download>Download by day and key</a>
    <a href="${path({ by: 'day', tags: 'true' })}" download>Download by day and tag</a>
  </p>`;
}

const COLUMNS = ['Team', freeText('Reference'), 'Plan', numeric('Characters'), numeric('Requests')] as const;

function listed(month: string, { rows, next }: ReadRows<UsageRow>): Html {
  if (rows.length === 0)
    return html`<p class="soft">${next === undefined ? 'There is no usage' : 'None of these teams has usage'} in ${month}.</p>`;
  return htmlTable({
    caption: `Usage in ${month}, teams in order of creation`,
    columns: COLUMNS,
    rows: rows.map((row) => [
      // A deleted team whose usage was kept has neither a name nor a page.
      row.name === ''
        ? html`<code>${row.team_id}</code> (deleted)`
        : html`<a href="${CONSOLE_PREFIX}/teams/${row.team_id}">${row.name}</a>`,
      row.reference ?? '–',
      row.plan,
      count(row.character_count),
      count(row.request_count),
    ]),
  });
}

function sums({ rows, next, isFirst }: ReadRows<UsageRow>): Html | undefined {
  if (rows.length === 0) return undefined;
  const characters = rows.reduce((sum, row) => sum + row.character_count, 0);
  const requests = rows.reduce((sum, row) => sum + row.request_count, 0);
  const which = isFirst && next === undefined ? 'Total' : 'On this page';
  const what = `${count(characters)} characters in ${count(requests)} requests, of ${count(rows.length)} teams`;
  return html`<p>${which} ${what}. Teams that used nothing are left out.</p>`;
}
