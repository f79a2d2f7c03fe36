// The invoices of a month: what each period that was closed in it comes to, in pages, with totals for each currency; as a file, and
// as a page to print.
import { refusalOf, refusalOfFault, refusalOfQuery } from '../../admin/admin-refusals.ts';
import { invoiceDownload } from '../../admin/invoice-csv.ts';
import { cursorOfInvoices, readInvoiceCursor, readInvoiceQuestion } from '../../admin/invoice-question.ts';
import type { InvoiceQuestion } from '../../admin/invoice-question.ts';
import type { InvoicePage, InvoiceReading } from '../../admin/invoice-reading.ts';
import type { InvoiceRow } from '../../admin/invoice-rows.ts';
import { InvoiceTotals } from '../../admin/invoice-totals.ts';
import type { InvoiceTotal } from '../../admin/invoice-totals.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { dayOf } from '../../domain/period.ts';
import { dateOf, daysOfMonth, monthOf } from '../../domain/usage-days.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { htmlTable, numeric, pager } from '../html-table.ts';
import { searchForm, searchSelect } from '../search-form.ts';
import { count, money } from '../shown.ts';
import { lastMonths } from '../team-history.ts';

export const INVOICE_ROUTES: readonly ConsoleRoute[] = [
  get('/invoices', invoicesPage),
  get('/invoices/csv', invoiceFile),
  get('/invoices/print', printPage),
];

const PAGE_LINES = 50;
/** The months that are kept by default, and the one that began before them. */
const MONTHS = 14;
/** Totals of more teams would keep the page waiting. */
const TOTALED_TEAMS_MAX = 20_000;
/** A page to print has a limit: beyond it a file is the right form. */
const PRINTED_MAX = 2000;

interface Asked {
  readonly month: string;
  readonly question: InvoiceQuestion;
}

/** Wrong parameters are ignored: a truncated link still opens a month. */
function askedOf({ request, nowMs }: SignedInVisit): Asked {
  const asked = request.query.get('month') ?? '';
  const month = daysOfMonth(asked) === undefined ? monthOf(dayOf(nowMs)) : asked;
  const open = request.query.get('open') === 'true';
  return { month, question: { range: daysOfMonth(month)!, open, teamId: undefined } };
}

async function invoicesPage(visit: SignedInVisit, { invoices }: ConsoleParts): Promise<ConsoleAnswer> {
  const asked = askedOf(visit);
  const { month, question } = asked;
  const cursor = visit.request.query.get('cursor');
  const after = cursor === null ? undefined : readInvoiceCursor(cursor, question);
  const isFirst = after === undefined || 'fault' in after;
  const found = await invoices.page(question, isFirst ? undefined : after, PAGE_LINES);
  if (found.kind !== 'done') return refusalOf(found);
  const totals = await totalsOf(invoices, question);
  if (totals !== undefined && 'kind' in totals) return totals;
  const main = html`${monthForm(month, question, dayOf(visit.nowMs))} ${links(asked)} ${totals === undefined ? TOO_MANY : sums(totals)}
  ${listed(month, found.value)} ${isFirst && isEmpty(found.value) ? elsewhere(asked) : undefined} ${pages(asked, found.value, isFirst)}`;
  return pageAnswer(content(main));
}

const TOO_MANY = html`<p class="soft">
  There are more than ${count(TOTALED_TEAMS_MAX)} teams: <code>lingate invoices --month</code> shows what they come to.
</p>`;

function content(main: Html) {
  return {
    title: 'Invoices',
    section: 'invoices',
    main: html`<h1>Invoices</h1>
      ${main}`,
  } as const;
}

async function invoiceFile({ request, nowMs }: SignedInVisit, { invoices }: ConsoleParts): Promise<ConsoleAnswer> {
  const question = readInvoiceQuestion(request.query, nowMs);
  if ('fault' in question) return refusalOfFault(question);
  const download = await invoiceDownload(invoices, question);
  return download.kind === 'download' ? download : refusalOfQuery(download);
}

async function printPage(visit: SignedInVisit, { invoices }: ConsoleParts): Promise<ConsoleAnswer> {
  const { month, question } = askedOf(visit);
  const found = await invoices.page(question, undefined, PRINTED_MAX);
  if (found.kind !== 'done') return refusalOf(found);
  const { rows, next } = found.value;
  const totals = new InvoiceTotals();
  totals.add(rows);
  const { from, to } = question.range;
  const main = html`<h1>Invoices of ${month}</h1>
    <p>
      Periods that were closed from ${dateOf(from)} to ${dateOf(to)} (UTC)${question.open ? ', and those that are not closed yet' : ''}.
    </p>
    ${
      next === undefined
        ? sums(totals.all())
        : html`<p class="fault" role="alert">
            These are not all: this page ends after ${count(rows.length)} lines. Download the file instead.
          </p>`
    }
    ${listed(month, found.value)}
    <p class="links unprinted"><a href="${CONSOLE_PREFIX}/invoices?month=${month}">Back to the invoices</a></p>`;
  return pageAnswer({ title: `Invoices of ${month}`, section: 'invoices', main });
}

/** Over all pages, one part of the teams at a time; `undefined` if there are too many. */
async function totalsOf(invoices: InvoiceReading, question: InvoiceQuestion): Promise<readonly InvoiceTotal[] | Refusal | undefined> {
  const totals = new InvoiceTotals();
  for await (const part of invoices.walk(question)) {
    if (part.kind !== 'done') return refusalOf(part);
    totals.add(part.value.rows.map(({ row }) => row));
    if (part.value.teams > TOTALED_TEAMS_MAX) return undefined;
  }
  return totals.all();
}

function monthForm(month: string, { open }: InvoiceQuestion, today: number): Html {
  const months = [...new Set([month, ...lastMonths(today, MONTHS)])].toSorted().toReversed();
  const choices = months.map((one) => ({ value: one, label: one }));
  const states = [
    { value: 'false', label: 'closed' },
    { value: 'true', label: 'all' },
  ];
  const fields = [searchSelect('month', 'Month (UTC)', choices, month), searchSelect('open', 'Periods', states, String(open))];
  return searchForm({ action: '/invoices', fields, submit: 'Show', isFiltered: false });
}

function pathTo(path: string, { month, question }: Asked, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({ month, ...(question.open ? { open: 'true' } : {}), ...more });
  return `${CONSOLE_PREFIX}${path}?${query.toString()}`;
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

function listed(month: string, { rows, next }: InvoicePage): Html {
  if (rows.length === 0)
    return html`<p class="soft">
      ${next === undefined ? 'No period was closed' : 'None of these teams has a closed period'} in ${month}.
    </p>`;
  const caption = `Periods closed in ${month}, teams in order of creation`;
  return htmlTable({ caption, columns: COLUMNS, wide: true, rows: rows.map(cellsOf) });
}

function isEmpty({ rows, next }: InvoicePage): boolean {
  return rows.length === 0 && next === undefined;
}

/** Where there may be some: at the beginning of a month nothing is closed in it yet. */
function elsewhere({ month, question }: Asked): Html {
  const [before] = lastMonths(question.range.from, 2);
  const running = pathTo('/invoices', { month, question: { ...question, open: true } });
  return html`<p class="links">
    <a href="${CONSOLE_PREFIX}/invoices?month=${before}">Invoices of ${before}</a>
    ${question.open ? undefined : html`<a href="${running}">Periods that are still open</a>`}
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

function pages(asked: Asked, { next }: InvoicePage, isFirst: boolean): Html | undefined {
  if (isFirst && next === undefined) return undefined;
  const onward = next && pathTo('/invoices', asked, { cursor: cursorOfInvoices(next, asked.question) });
  return pager(isFirst ? undefined : pathTo('/invoices', asked), onward, ['First page', 'Next page']);
}
