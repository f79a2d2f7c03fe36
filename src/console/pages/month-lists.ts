// What teams have used in a month, and the invoices of its periods: in pages, with what they come to; as files; invoices as a page
// to print.
import { refusalOf } from '../../admin/admin-refusals.ts';
import type { OperationContext } from '../../admin/operation-context.ts';
import { resultOf } from '../../admin/operation.ts';
import type { AdminOperation } from '../../admin/operation.ts';
import { allRows } from '../../admin/listing.ts';
import { InvoiceTotals, listInvoices, notClosedText } from '../../admin/operations/invoices.ts';
import type { InvoiceRow } from '../../admin/operations/invoices.ts';
import { listUsage } from '../../admin/operations/usage.ts';
import type { UsageRow } from '../../admin/operations/usage.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { dayOf } from '../../domain/period.ts';
import { dateOf, dayOfDate, daysOfMonth, lastMonths, monthOf } from '../../domain/usage-days.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { holding, queryOf, searchForm, selectField } from '../form.ts';
import { freeText, htmlTable, numeric, pager } from '../html-table.ts';
import type { Column } from '../html-table.ts';
import { filePage, pageOfQuery } from '../list-page.ts';
import type { ReadRows } from '../list-page.ts';
import { count, money } from '../shown.ts';

interface Asked {
  readonly month: string;
  readonly from: string;
  readonly to: string;
  readonly today: number;
  /** Whether periods are asked for that are not closed. */
  readonly open: boolean;
}

/** A month that is none is ignored: a truncated link still opens the current one. */
function askedOf({ request: { query }, nowMs }: SignedInVisit): Asked {
  const [today, asked] = [dayOf(nowMs), query.get('month') ?? ''];
  const month = daysOfMonth(asked) === undefined ? monthOf(today) : asked;
  const { from, to } = daysOfMonth(month)!;
  return { month, from: dateOf(from), to: dateOf(to), today, open: query.get('open') === 'true' };
}

/** The months that are stored by default, and the one that began before them. */
const MONTHS = 14;

interface MonthList<Row> {
  readonly one: AdminOperation;
  readonly path: string;
  readonly title: 'Usage' | 'Invoices';
  readonly input: (asked: Asked) => object;
  readonly links: (asked: Asked) => Html;
  /** Fields besides the month's. */
  readonly fields?: (asked: Asked) => readonly Html[];
  readonly above?: (asked: Asked, context: OperationContext) => Promise<Html | Refusal | undefined>;
  readonly listed: (month: string, found: ReadRows<Row>) => Html;
  readonly below?: (asked: Asked, found: ReadRows<Row>) => Html | undefined;
}

const PAGE_ROWS = 50;

function monthPage<Row>({ one, path, title, input, links, fields, above, listed, below }: MonthList<Row>): ConsoleRoute {
  return get(path, async (visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> => {
    const asked = askedOf(visit);
    const { month, today } = asked;
    const found = await pageOfQuery<Row>(one, visit, context, { ...input(asked) }, PAGE_ROWS);
    if (found.kind !== 'done') return refusalOf(found);
    const sums = await above?.(asked, context);
    if (sums !== undefined && 'kind' in sums) return sums;
    const { next, isFirst } = found.value;
    const months = [...new Set([month, ...lastMonths(today, MONTHS)])].toSorted().toReversed();
    const choices = months.map((value) => ({ value, label: value }));
    const to = (cursor?: string): string => `${pathTo(path, asked)}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const main = html`<h1>${title}</h1>
      ${searchForm({ action: path, fields: [selectField(holding({ month }), 'month', 'Month (UTC)', choices), ...(fields?.(asked) ?? [])], submit: 'Show', isFiltered: false })}
      <p class="links">${links(asked)}</p>
      ${sums} ${listed(month, found.value)} ${below?.(asked, found.value)}
      ${isFirst && next === undefined ? undefined : pager(isFirst ? undefined : to(), next && to(next), ['First page', 'Next page'])}`;
    return pageAnswer({ title, section: title === 'Usage' ? 'usage' : 'invoices', main });
  });
}

function pathTo(path: string, { month, open }: Pick<Asked, 'month' | 'open'>): string {
  return `${CONSOLE_PREFIX}${path}${queryOf({ month, open: open ? 'true' : undefined })}`;
}

/** A deleted team whose usage was kept has neither a name nor a page. */
function teamOf(id: string, name: string | null): Html {
  return name ? html`<a href="${CONSOLE_PREFIX}/teams/${id}">${name}</a>` : html`<code>${id}</code> (deleted)`;
}

function table(caption: string, columns: readonly (Column | string)[], rows: readonly (readonly (Html | string)[])[], none: string): Html {
  return rows.length === 0 ? html`<p class="soft">${none}</p>` : htmlTable({ caption, columns, rows, wide: columns.length > 6 });
}

const USAGE_COLUMNS = ['Team', freeText('Reference'), 'Plan', numeric('Characters'), numeric('Requests')];

const USAGE: MonthList<UsageRow> = {
  one: listUsage,
  path: '/usage',
  title: 'Usage',
  input: ({ from, to }) => ({ from, to, by: 'total' }),
  links({ from, to }) {
    const link = (label: string, more: Readonly<Record<string, string>>): Html =>
      html`<a href="${CONSOLE_PREFIX}/usage/csv${queryOf({ from, to, ...more })}" download>${label}</a> `;
    return html`${link('Download (CSV)', { by: 'total' })} ${link('Download by day', { by: 'day' })}
    ${link('Download by day and key', { by: 'day', keys: 'true' })} ${link('Download by day and tag', { by: 'day', tags: 'true' })}`;
  },
  listed(month, { rows, next }) {
    const cells = rows.map((row) => [
      teamOf(row.team_id, row.name),
      row.reference ?? '–',
      row.plan,
      count(row.character_count),
      count(row.request_count),
    ]);
    const none = `${next === undefined ? 'There is no usage' : 'None of these teams has usage'} in ${month}.`;
    return table(`Usage in ${month}, teams in order of creation`, USAGE_COLUMNS, cells, none);
  },
  below(_asked, { rows, next, isFirst }) {
    if (rows.length === 0) return undefined;
    const characters = rows.reduce((sum, row) => sum + row.character_count, 0);
    const requests = rows.reduce((sum, row) => sum + row.request_count, 0);
    const which = isFirst && next === undefined ? 'Total' : 'On this page';
    const what = `${count(characters)} characters in ${count(requests)} requests, of ${count(rows.length)} teams`;
    return html`<p>${which} ${what}. Teams that used nothing are left out.</p>`;
  },
};

const STATES = [
  { value: 'false', label: 'closed' },
  { value: 'true', label: 'all' },
];

const INVOICES: MonthList<InvoiceRow> = {
  one: listInvoices,
  path: '/invoices',
  title: 'Invoices',
  input: ({ month, open }) => ({ month, open }),
  fields: ({ open }) => [selectField(holding({ open: String(open) }), 'open', 'Periods', STATES)],
  links: (asked) =>
    html`<a href="${pathTo('/invoices/csv', asked)}" download>Download (CSV)</a>
      <a href="${pathTo('/invoices/print', asked)}">Page to print</a>`,
  above: totalsOf,
  listed: invoiceTable,
  /** At the beginning of a month nothing is closed in it yet. */
  below({ month, from, open }, { rows, next, isFirst }) {
    if (rows.length > 0 || !isFirst || next !== undefined) return undefined;
    const [before = ''] = lastMonths(dayOfDate(from)!, 2);
    return html`<p class="links">
      <a href="${CONSOLE_PREFIX}/invoices?month=${before}">Invoices of ${before}</a>
      ${open ? undefined : html`<a href="${pathTo('/invoices', { month, open: true })}">Periods that are still open</a>`}
    </p>`;
  },
};

/** Totals of more teams would keep the page waiting. */
const TOTALED_TEAMS_MAX = 20_000;

/** Over all pages, one part of the teams at a time. */
async function totalsOf({ month, open }: Asked, context: OperationContext): Promise<Html | Refusal | undefined> {
  const summed = await resultOf<Html | undefined>(async () => {
    const totals = new InvoiceTotals();
    for await (const { rows, checked } of allRows(listInvoices, context, { month, open })) {
      totals.add(rows as readonly InvoiceRow[]);
      if (checked > TOTALED_TEAMS_MAX)
        return html`<p class="soft">
          There are more than ${count(TOTALED_TEAMS_MAX)} teams: <code>lingate invoices --month</code> shows what they come to.
        </p>`;
    }
    return sumsOf(totals);
  });
  return summed.kind === 'done' ? summed.value : refusalOf(summed);
}

const SUMS = ['Currency', ...['Lines', 'Characters', 'Overage', 'Credit spent', 'Total'].map(numeric)];

function sumsOf(totals: InvoiceTotals): Html | undefined {
  const rows = totals
    .all()
    .map(({ currency, lines, characters, overageMinor, creditSpentMinor, totalMinor }) => [
      currency,
      count(lines),
      count(characters),
      ...[overageMinor, creditSpentMinor, totalMinor].map((minor) => money(minor, currency)),
    ]);
  return rows.length === 0 ? undefined : htmlTable({ caption: 'Totals by currency', columns: SUMS, rows });
}

const FIGURES = ['Characters', 'Included', 'Overage', 'Credit added', 'Credit deducted', 'Balance', 'Total'].map(numeric);
const INVOICE_COLUMNS = ['Team', 'Period', 'Plan', ...FIGURES];

function invoiceTable(month: string, { rows, next, missing }: ReadRows<InvoiceRow>): Html {
  const none = `${next === undefined ? 'No period was closed' : 'None of these teams has a closed period'} in ${month}.`;
  const words = notClosedText(missing);
  return html`${missing.length === 0 ? undefined : html`<p class="warning">${words.charAt(0).toUpperCase()}${words.slice(1)}.</p>`}
  ${table(`Periods closed in ${month}, teams in order of creation`, INVOICE_COLUMNS, rows.map(invoiceCells), none)}`;
}

function invoiceCells(row: InvoiceRow): (Html | string)[] {
  const { reference, test_character_count: test, free_character_count: free } = row;
  const below = (text: string): Html => html`<br /><span class="soft">${text}</span>`;
  const amounts = [row.credit_added_minor, row.credit_deducted_minor, row.balance_minor, row.total_minor];
  return [
    // Below the name, because a column of its own would make the table too wide.
    html`${teamOf(row.team_id, row.name)} ${reference === null || row.name === null ? undefined : below(reference)}`,
    html`<span class="short">${row.period_start.slice(0, 10)} to</span>
      <time>${row.period_end.slice(0, 10)}</time>${row.closed ? '' : html` open`}`,
    row.plan,
    html`${count(row.character_count)} ${test === 0 ? undefined : below(`${count(test)} test${free === 0 ? '' : `, ${count(free)} free`}`)}`,
    ...[row.included_characters, row.overage_characters].map((value) => (value === null ? '–' : count(value))),
    ...amounts.map((minor) => (minor === null ? '–' : money(minor, row.currency))),
  ];
}

/** A page to print has a limit: beyond it a file is the right form. */
const PRINTED_MAX = 2000;

async function printPage(visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> {
  const { month, open, from, to } = askedOf(visit);
  const found = await pageOfQuery<InvoiceRow>(listInvoices, visit, context, { month, open }, PRINTED_MAX);
  if (found.kind !== 'done') return refusalOf(found);
  const { rows, next } = found.value;
  const totals = new InvoiceTotals();
  totals.add(rows);
  const cut = html`<p class="fault" role="alert">
    These are not all: this page ends after ${count(rows.length)} lines. Download the file instead.
  </p>`;
  const main = html`<h1>Invoices of ${month}</h1>
    <p>Periods that were closed from ${from} to ${to} (UTC)${open ? ', and those that are not closed yet' : ''}.</p>
    ${next === undefined ? sumsOf(totals) : cut} ${invoiceTable(month, found.value)}
    <p class="links unprinted"><a href="${CONSOLE_PREFIX}/invoices?month=${month}">Back to the invoices</a></p>`;
  return pageAnswer({ title: `Invoices of ${month}`, section: 'invoices', main });
}

export const MONTH_ROUTES: readonly ConsoleRoute[] = [
  monthPage(USAGE),
  get('/usage/csv', filePage(listUsage)),
  monthPage(INVOICES),
  get('/invoices/csv', filePage(listInvoices)),
  get('/invoices/print', printPage),
];
