// The usage of all teams in a month, in pages, and the same as a file.
import { usageDownload } from '../../admin/usage-csv.ts';
import { refusalOf, refusalOfFault, refusalOfQuery } from '../../admin/admin-refusals.ts';
import { cursorOf, readCursor, readUsageQuestion } from '../../admin/usage-question.ts';
import type { UsagePage } from '../../admin/usage-reading.ts';
import type { UsageQuestion } from '../../admin/usage-rows.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { dayOf } from '../../domain/period.ts';
import { dateOf, daysOfMonth, monthOf } from '../../domain/usage-days.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { freeText, htmlTable, numeric, pager } from '../html-table.ts';
import { searchForm, searchSelect } from '../search-form.ts';
import { count } from '../shown.ts';
import { lastMonths } from '../team-history.ts';

export const USAGE_ROUTES: readonly ConsoleRoute[] = [get('/usage', usagePage), get('/usage/csv', usageFile)];

const PAGE_ROWS = 50;
/** The months that are kept by default, and the one that began before them. */
const MONTHS = 14;

async function usagePage({ request, nowMs }: SignedInVisit, { usage }: ConsoleParts): Promise<ConsoleAnswer> {
  const today = dayOf(nowMs);
  // Wrong parameters are ignored: a truncated link still opens a month.
  const asked = request.query.get('month') ?? '';
  const month = daysOfMonth(asked) === undefined ? monthOf(today) : asked;
  const question: UsageQuestion = { range: daysOfMonth(month)!, by: 'total', keys: false, teamId: undefined };
  const cursor = request.query.get('cursor');
  const after = cursor === null ? undefined : readCursor(cursor, question);
  const found = await usage.page(question, after !== undefined && 'fault' in after ? undefined : after, PAGE_ROWS);
  if (found.kind !== 'done') return refusalOf(found);
  const isFirst = after === undefined || 'fault' in after;
  const main = html`${monthForm(month, today)} ${downloads(question)} ${listed(month, found.value)} ${sums(found.value, isFirst)}
  ${pages(month, question, found.value, isFirst)}`;
  return pageAnswer(content(main));
}

function content(main: Html) {
  return {
    title: 'Usage',
    section: 'usage',
    main: html`<h1>Usage</h1>
      ${main}`,
  } as const;
}

async function usageFile({ request, nowMs }: SignedInVisit, { usage }: ConsoleParts): Promise<ConsoleAnswer> {
  const question = readUsageQuestion(request.query, nowMs);
  if ('fault' in question) return refusalOfFault(question);
  const download = await usageDownload(usage, question);
  return download.kind === 'download' ? download : refusalOfQuery(download);
}

function monthForm(month: string, today: number): Html {
  const months = [...new Set([month, ...lastMonths(today, MONTHS)])].toSorted().toReversed();
  return searchForm({
    action: '/usage',
    fields: [
      searchSelect(
        'month',
        'Month (UTC)',
        months.map((one) => ({ value: one, label: one })),
        month,
      ),
    ],
    submit: 'Show',
    isFiltered: false,
  });
}

function downloads({ range }: UsageQuestion): Html {
  const to = (more: Readonly<Record<string, string>>): string =>
    `${CONSOLE_PREFIX}/usage/csv?${new URLSearchParams({ from: dateOf(range.from), to: dateOf(range.to), ...more }).toString()}`;
  return html`<p class="links">
    <a href="${to({ by: 'total' })}" download>Download (CSV)</a>
    <a href="${to({ by: 'day' })}" download>Download by day</a>
    <a href="${to({ by: 'day', keys: 'true' })}" download>Download by day and key</a>
    <a href="${to({ by: 'day', tags: 'true' })}" download>Download by day and tag</a>
  </p>`;
}

const COLUMNS = ['Team', freeText('Reference'), 'Plan', numeric('Characters'), numeric('Requests')] as const;

function listed(month: string, { rows, next }: UsagePage): Html {
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

function sums({ rows, next }: UsagePage, isFirst: boolean): Html | undefined {
  if (rows.length === 0) return undefined;
  const characters = rows.reduce((sum, row) => sum + row.character_count, 0);
  const requests = rows.reduce((sum, row) => sum + row.request_count, 0);
  const which = isFirst && next === undefined ? 'Total' : 'On this page';
  return html`<p>
    ${which} ${count(characters)} characters in ${count(requests)} requests, of ${count(rows.length)} teams. Teams that used nothing are
    left out.
  </p>`;
}

function pages(month: string, question: UsageQuestion, { next }: UsagePage, isFirst: boolean): Html | undefined {
  if (isFirst && next === undefined) return undefined;
  const to = (more: Readonly<Record<string, string>>): string =>
    `${CONSOLE_PREFIX}/usage?${new URLSearchParams({ month, ...more }).toString()}`;
  const onward = next && to({ cursor: cursorOf(next, question) });
  return pager(isFirst ? undefined : to({}), onward, ['First page', 'Next page']);
}
