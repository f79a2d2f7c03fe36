// What teams have used in a month, and the invoices of its periods: in pages, with what they come
// to; as files; invoices as a page to print.
import type { GivenMembers } from '../../admin/input.ts';
import type { OperationContext } from '../../admin/operation-context.ts';
import { allRows } from '../../admin/listing.ts';
import { InvoiceTotals, listInvoices } from '../../admin/operations/invoices.ts';
import type { InvoiceRow } from '../../admin/operations/invoices.ts';
import { listUsage } from '../../admin/operations/usage.ts';
import type { UsageRow } from '../../admin/operations/usage.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { dayOf } from '../../domain/period.ts';
import { dateOf, dayOfDate, daysOfMonth, lastMonths, monthOf } from '../../domain/usage-days.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { queryOf } from '../form.ts';
import type { Field } from '../form.ts';
import { htmlTable, numeric } from '../cells.ts';
import { filePage, listing, listPage, rowsTable } from '../list-page.ts';
import type { ListPage, AskedTexts } from '../list-page.ts';
import { count, money, teamsText } from '../shown.ts';

/** The months that are stored by default, and the one that began before them. */
const MONTHS = 14;

/** A month that is none is ignored: a truncated link still opens the current one. `open` asks for periods that are not closed. */
function textsOf(sent: (name: string) => string, nowMs: number): AskedTexts {
  const month = daysOfMonth(sent('month')) === undefined ? monthOf(dayOf(nowMs)) : sent('month');
  return { month, open: sent('open') === 'true' ? 'true' : '' };
}

function datesOf({ month }: AskedTexts): { readonly from: string; readonly to: string } {
  const { from, to } = daysOfMonth(month!)!;
  return { from: dateOf(from), to: dateOf(to) };
}

/** The first sentence that there are none is of all teams, the second one of these. */
const noneIn = (month: string, next: string | undefined, [ofAll, ofSome]: readonly [string, string]): string =>
  `${next === undefined ? ofAll : ofSome} in ${month}.`;

/** A form that chooses the month, and what else there is to choose. */
function monthForm(given: (texts: AskedTexts) => GivenMembers, ...more: readonly Field[]): NonNullable<ListPage<never>['form']> {
  return {
    texts: textsOf,
    fields({ month }, { nowMs }) {
      const months = [...new Set([month!, ...lastMonths(dayOf(nowMs), MONTHS)])].toSorted().toReversed();
      return [{ name: 'month', label: 'Month (UTC)', choices: months.map((value) => ({ value, label: value })) }, ...more];
    },
    given,
    submit: 'Show',
  };
}

const USAGE: ListPage<UsageRow> = {
  one: listUsage,
  section: 'usage',
  of: 'Teams',
  orFirst: true,
  form: monthForm((texts) => ({ ...datesOf(texts), by: 'total' })),
  above({ texts }) {
    const link = (label: string, more: Readonly<Record<string, string>>): Html =>
      html`<a href="${CONSOLE_PREFIX}/usage/csv${queryOf({ ...datesOf(texts), ...more })}" download>${label}</a> `;
    return html`<p class="links">
      ${link('Download (CSV)', { by: 'total' })} ${link('Download by day', { by: 'day' })}
      ${link('Download by day and key', { by: 'day', keys: 'true' })} ${link('Download by day and tag', { by: 'day', tags: 'true' })}
    </p>`;
  },
  table: ({ texts: { month = '' }, next }) => ({
    caption: `Usage in ${month}, teams in order of creation`,
    none: noneIn(month, next, ['There is no usage', 'None of these teams has usage']),
  }),
  below({ rows, next, isFirst }) {
    if (rows.length === 0) return undefined;
    const sumOf = (member: 'character_count' | 'request_count'): string => count(rows.reduce((sum, row) => sum + row[member], 0));
    const what = `${sumOf('character_count')} characters in ${sumOf('request_count')} requests, of ${teamsText(rows.length)}`;
    return html`<p>${isFirst && next === undefined ? 'Total' : 'On this page'} ${what}. Teams that used nothing are left out.</p>`;
  },
};

const STATES = [
  { value: '', label: 'closed' },
  { value: 'true', label: 'all' },
];

function invoicesAt(texts: AskedTexts, path = ''): string {
  return `${CONSOLE_PREFIX}/invoices${path}${queryOf(texts)}`;
}

const INVOICES: ListPage<InvoiceRow> = {
  one: listInvoices,
  section: 'invoices',
  of: 'Teams',
  orFirst: true,
  form: monthForm(({ month, open }) => ({ month, open: open === 'true' }), { name: 'open', label: 'Periods', choices: STATES }),
  above: async ({ texts, given, visit }) =>
    html`<p class="links">
        <a href="${invoicesAt(texts, '/csv')}" download>Download (CSV)</a>
        <a href="${invoicesAt(texts, '/print')}">Page to print</a>
      </p>
      ${await totalsOf(given, visit.context)}`,
  table: ({ texts: { month = '' }, next }) => ({
    caption: `Periods closed in ${month}, teams in order of creation`,
    none: noneIn(month, next, ['No period was closed', 'None of these teams has a closed period']),
  }),
  /** At the beginning of a month nothing is closed in it yet. */
  below({ rows, next, isFirst, texts: { month = '', open } }) {
    if (rows.length > 0 || !isFirst || next !== undefined) return undefined;
    const [before = ''] = lastMonths(dayOfDate(`${month}-01`)!, 2);
    return html`<p class="links">
      <a href="${invoicesAt({ month: before })}">Invoices of ${before}</a>
      ${open === 'true' ? undefined : html`<a href="${invoicesAt({ month, open: 'true' })}">Periods that are still open</a>`}
    </p>`;
  },
};

/** Totals of more teams would keep the page waiting. */
const TOTALED_TEAMS_MAX = 20_000;

/** Over all pages, one part of the teams at a time. */
async function totalsOf(given: GivenMembers, context: OperationContext): Promise<Html | undefined> {
  const totals = new InvoiceTotals();
  for await (const { rows, checked } of allRows(listInvoices, context, given)) {
    totals.add(rows as readonly InvoiceRow[]);
    if (checked > TOTALED_TEAMS_MAX)
      return html`<p class="soft">
        There are more than ${count(TOTALED_TEAMS_MAX)} teams: <code>lingate invoices --month</code> shows what they come to.
      </p>`;
  }
  return sumsOf(totals);
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
  if (rows.length === 0) return undefined;
  return html`<h2>In total</h2>
    ${htmlTable({ caption: 'Totals by currency', columns: SUMS, rows })}
    <h2>Team by team</h2>`;
}

/** A page to print has a limit: beyond it a file is the right form. */
const PRINTED_MAX = 2000;

async function printPage(visit: SignedInVisit): Promise<ConsoleAnswer> {
  const texts = textsOf((name) => visit.request.query.get(name) ?? '', visit.nowMs);
  const { month, open } = texts;
  const { from, to } = datesOf(texts);
  const found = await listing({ ...INVOICES, pageSize: PRINTED_MAX }, texts, visit);
  const totals = new InvoiceTotals();
  totals.add(found.rows);
  const cut = html`<p class="fault" role="alert">
    These are not all: this page ends after ${count(found.rows.length)} lines. Download the file instead.
  </p>`;
  const main = html`<h1>Invoices of ${month}</h1>
    <p>Periods that were closed from ${from} to ${to} (UTC)${open === 'true' ? ', and those that are not closed yet' : ''}.</p>
    ${found.next === undefined ? sumsOf(totals) : cut} ${await rowsTable(INVOICES, found)}
    <p class="links unprinted"><a href="${invoicesAt({ month: month! })}">Back to the invoices</a></p>`;
  return pageAnswer({ title: `Invoices of ${month}`, section: 'invoices', main });
}

export const MONTH_ROUTES: readonly ConsoleRoute[] = [
  listPage(USAGE),
  filePage('/usage/csv', listUsage),
  listPage(INVOICES),
  filePage('/invoices/csv', listInvoices),
  get('/invoices/print', printPage),
];
