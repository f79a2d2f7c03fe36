// The invoices of a month: what each period that was closed in it comes to, in pages, with totals for each currency; as a file, and
// as a page to print.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { InvoiceTotals, listInvoices, notClosedText } from '../../admin/operations/invoices.ts';
import type { InvoiceRow, InvoiceTotal } from '../../admin/operations/invoices.ts';
import type { OperationContext } from '../../admin/operation-context.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { dayOfDate } from '../../domain/usage-days.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { htmlTable, numeric, pager } from '../html-table.ts';
import { lastMonths, monthOfQuery, monthSelect } from '../months.ts';
import type { AskedMonth } from '../months.ts';
import { filePage, pageOfQuery } from '../operation-page.ts';
import type { ReadRows } from '../operation-page.ts';
import { queryOf, searchForm, searchSelect } from '../search-form.ts';
import { count, money } from '../shown.ts';

export const INVOICE_ROUTES: readonly ConsoleRoute[] = [
  get('/invoices', invoicesPage),
  get('/invoices/csv', filePage(listInvoices)),
  get('/invoices/print', printPage),
];

const PAGE_LINES = 50;
/** Totals of more teams would keep the page waiting. */
const TOTALED_TEAMS_MAX = 20_000;
/** A page to print has a limit: beyond it a file is the right form. */
const PRINTED_MAX = 2000;

interface Asked extends AskedMonth {
  /** Whether periods are asked for that are not closed. */
  readonly open: boolean;
}

function askedOf(visit: SignedInVisit): Asked {
  return { ...monthOfQuery(visit), open: visit.request.query.get('open') === 'true' };
}

async function invoicesPage(visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> {
  const asked = askedOf(visit);
  const { month, open } = asked;
  const found = await pageOfQuery<InvoiceRow>(listInvoices, visit, context, { month, open }, PAGE_LINES);
  if (found.kind !== 'done') return refusalOf(found);
  const totals = await totalsOf(context, asked);
  if (totals !== undefined && 'kind' in totals) return totals;
  const { rows, next, isFirst } = found.value;
  const path = (cursor?: string): string => pathTo('/invoices', asked, cursor);
  const main = html`<h1>Invoices</h1>
    ${monthForm(asked)} ${links(asked)} ${totals === undefined ? TOO_MANY : sums(totals)} ${notClosed(found.value.missing)}
    ${listed(month, found.value)} ${rows.length === 0 && isFirst && next === undefined ? elsewhere(asked) : undefined}
    ${isFirst && next === undefined ? undefined : pager(isFirst ? undefined : path(), next && path(next), ['First page', 'Next page'])}`;
  return pageAnswer({ title: 'Invoices', section: 'invoices', main });
}

const TOO_MANY = html`<p class="soft">
  There are more than ${count(TOTALED_TEAMS_MAX)} teams: <code>lingate invoices --month</code> shows what they come to.
</p>`;

async function printPage(visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> {
  const { month, open, from, to } = askedOf(visit);
  const found = await pageOfQuery<InvoiceRow>(listInvoices, visit, context, { month, open }, PRINTED_MAX);
  if (found.kind !== 'done') return refusalOf(found);
  const { rows, next } = found.value;
  const totals = new InvoiceTotals();
  totals.add(rows);
  const main = html`<h1>Invoices of ${month}</h1>
    <p>Periods that were closed from ${from} to ${to} (UTC)${open ? ', and those that are not closed yet' : ''}.</p>
    ${
      next === undefined
        ? sums(totals.all())
        : html`<p class="fault" role="alert">
            These are not all: this page ends after ${count(rows.length)} lines. Download the file instead.
          </p>`
    }
    ${notClosed(found.value.missing)} ${listed(month, found.value)}
    <p class="links unprinted"><a href="${CONSOLE_PREFIX}/invoices?month=${month}">Back to the invoices</a></p>`;
  return pageAnswer({ title: `Invoices of ${month}`, section: 'invoices', main });
}

/** Above the table: which lines are still to come. */
function notClosed(names: readonly string[]): Html | undefined {
  if (names.length === 0) return undefined;
  const words = notClosedText(names);
  return html`<p class="warning">${words.charAt(0).toUpperCase()}${words.slice(1)}.</p>`;
}

/** Over all pages, one part of the teams at a time; `undefined` if there are too many. */
async function totalsOf(context: OperationContext, { month, open }: Asked): Promise<readonly InvoiceTotal[] | Refusal | undefined> {
  const totals = new InvoiceTotals();
  for await (const part of listInvoices.listing!.file!.walk(context, { month, open })) {
    if (part.kind !== 'done') return refusalOf(part);
    totals.add(part.value.rows as readonly InvoiceRow[]);
    if (part.value.teams > TOTALED_TEAMS_MAX) return undefined;
  }
  return totals.all();
}

function monthForm(asked: Asked): Html {
  const states = [
    { value: 'false', label: 'closed' },
    { value: 'true', label: 'all' },
  ];
  const fields = [monthSelect(asked), searchSelect('open', 'Periods', states, String(asked.open))];
  return searchForm({ action: '/invoices', fields, submit: 'Show', isFiltered: false });
}

function pathTo(path: string, { month, open }: Pick<Asked, 'month' | 'open'>, cursor?: string): string {
  return `${CONSOLE_PREFIX}${path}${queryOf({ month, open: open ? 'true' : undefined, cursor })}`;
}

function links(asked: Asked): Html {
  return html`<p class="links">
    <a href="${pathTo('/invoices/csv', asked)}" download>Download (CSV)</a>
    <a href="${pathTo('/invoices/print', asked)}">Page to print</a>
  </p>`;
}

const TOTAL_COLUMNS = ['Currency', ...['Lines', 'Characters', 'Overage', 'Credit spent', 'Total'].map(numeric)] as const;

function sums(totals: readonly InvoiceTotal[]): Html | undefined {
  if (totals.length === 0) return undefined;
  return htmlTable({
    caption: 'Totals by currency',
    columns: TOTAL_COLUMNS,
    rows: totals.map(({ currency, lines, characters, overageMinor, creditSpentMinor, totalMinor }) => [
      currency,
      count(lines),
      count(characters),
      money(overageMinor, currency),
      money(creditSpentMinor, currency),
      money(totalMinor, currency),
    ]),
  });
}

const FIGURES = ['Characters', 'Included', 'Overage', 'Credit added', 'Credit deducted', 'Balance', 'Total'].map(numeric);
const COLUMNS = ['Team', 'Period', 'Plan', ...FIGURES] as const;

function listed(month: string, { rows, next }: ReadRows<InvoiceRow>): Html {
  if (rows.length === 0)
    return html`<p class="soft">
      ${next === undefined ? 'No period was closed' : 'None of these teams has a closed period'} in ${month}.
    </p>`;
  const caption = `Periods closed in ${month}, teams in order of creation`;
  return htmlTable({ caption, columns: COLUMNS, wide: true, rows: rows.map(cellsOf) });
}

/** Where there may be some: at the beginning of a month nothing is closed in it yet. */
function elsewhere({ month, from, open }: Asked): Html {
  const [before] = lastMonths(dayOfDate(from)!, 2);
  return html`<p class="links">
    <a href="${CONSOLE_PREFIX}/invoices?month=${before}">Invoices of ${before}</a>
    ${open ? undefined : html`<a href="${pathTo('/invoices', { month, open: true })}">Periods that are still open</a>`}
  </p>`;
}

function cellsOf(row: InvoiceRow): (Html | string)[] {
  const amount = (minor: number | null): string => (minor === null ? '–' : money(minor, row.currency));
  const figure = (value: number | null): string => (value === null ? '–' : count(value));
  return [
    // A deleted team whose usage was kept has neither a name nor a page.
    row.name === null
      ? html`<code>${row.team_id}</code> (deleted)`
      : html`<a href="${CONSOLE_PREFIX}/teams/${row.team_id}">${row.name}</a> ${referenceOf(row)}`,
    html`<span class="short">${row.period_start.slice(0, 10)} to</span>
      <time>${row.period_end.slice(0, 10)}</time>${row.closed ? '' : html` open`}`,
    row.plan,
    html`${count(row.character_count)} ${testOf(row)}`,
    figure(row.included_characters),
    figure(row.overage_characters),
    amount(row.credit_added_minor),
    amount(row.credit_deducted_minor),
    amount(row.balance_minor),
    amount(row.total_minor),
  ];
}

/** Of the characters, those of test keys, and how much of them was for nothing. */
function testOf({ test_character_count: test, free_character_count: free }: InvoiceRow): Html | undefined {
  if (test === 0) return undefined;
  return html`<br /><span class="soft">${count(test)} test${free === 0 ? '' : `, ${count(free)} free`}</span>`;
}

/** Below the name: a column of its own would make the table too wide. */
function referenceOf({ reference }: InvoiceRow): Html | undefined {
  return reference === null ? undefined : html`<br /><span class="soft">${reference}</span>`;
}
