// What teams have used in a month, and the invoices of its periods: in pages, with what they come
// to; as files; invoices as a page to print.
import type { GivenMembers } from '../../admin/input.ts';
import type { OperationContext } from '../../admin/operation-context.ts';
import type { AdminOperation } from '../../admin/operation.ts';
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
import { queryOf, searchForm } from '../form.ts';
import type { Field } from '../form.ts';
import { htmlTable, numeric, tableOf } from '../cells.ts';
import { filePage, pageOfQuery, pagesOf } from '../list-page.ts';
import type { ReadRows } from '../list-page.ts';
import { titleOf } from '../layout.ts';
import { count, money, teamsText } from '../shown.ts';

interface Asked {
  readonly month: string;
  readonly from: string;
  readonly to: string;
  /** Whether periods are asked for that are not closed. */
  readonly open: boolean;
}

/** A month that is none is ignored: a truncated link still opens the current one. */
function askedOf({ request: { query }, nowMs }: SignedInVisit): Asked {
  const asked = query.get('month') ?? '';
  const month = daysOfMonth(asked) === undefined ? monthOf(dayOf(nowMs)) : asked;
  const { from, to } = daysOfMonth(month)!;
  return { month, from: dateOf(from), to: dateOf(to), open: query.get('open') === 'true' };
}

/** The months that are stored by default, and the one that began before them. */
const MONTHS = 14;

interface MonthList<Row> {
  readonly one: AdminOperation;
  readonly section: 'usage' | 'invoices';
  readonly input: (asked: Asked) => GivenMembers;
  readonly links: (asked: Asked) => Html;
  /** Besides the month's. */
  readonly fields?: readonly Field[];
  readonly above?: (asked: Asked, context: OperationContext) => Promise<Html | undefined>;
  readonly caption: string;
  /** What is said if there are no rows, of all teams and of these. */
  readonly none: readonly [all: string, some: string];
  readonly below: (asked: Asked, found: ReadRows<Row>) => Html | undefined;
}

function monthPage<Row>(list: MonthList<Row>): ConsoleRoute {
  const { one, section, input, links, fields = [], above, below } = list;
  const title = titleOf(section);
  return get(`/${section}`, async (visit) => {
    const asked = askedOf(visit);
    const { month } = asked;
    const found = await pageOfQuery<Row>(one, visit, input(asked), { orFirst: true });
    const months = [...new Set([month, ...lastMonths(dayOf(visit.nowMs), MONTHS)])].toSorted().toReversed();
    const choices = months.map((value) => ({ value, label: value }));
    const ofMonth = { name: 'month', label: 'Month (UTC)', choices };
    const texts = { month, open: String(asked.open) };
    const main = html`<h1>${title}</h1>
      ${searchForm({ action: `/${section}`, fields: [ofMonth, ...fields], texts, submit: 'Show' })}
      <p class="links">${links(asked)}</p>
      ${await above?.(asked, visit.context)} ${await listed(list, asked, found, visit)} ${below(asked, found)}
      ${pagesOf(found, (cursor) => pathTo(`/${section}`, asked, cursor))}`;
    return pageAnswer({ title, section, main });
  });
}

/** With whose rows are still to come. */
async function listed<Row>(
  { one, input, caption, none: [ofAll, ofSome] }: MonthList<Row>,
  asked: Asked,
  { rows, next, missing }: ReadRows<Row>,
  visit: SignedInVisit,
): Promise<Html> {
  const { month } = asked;
  const words = missing.length === 0 ? undefined : one.listing!.missing!.words(missing);
  const none = `${next === undefined ? ofAll : ofSome} in ${month}.`;
  const around = { caption: caption.replace('{month}', month), input: input(asked) };
  return html`${words && html`<p class="warning">${words.charAt(0).toUpperCase()}${words.slice(1)}.</p>`}
  ${await tableOf({ ...one, none }, rows, visit, around)}`;
}

function pathTo(path: string, { month, open }: Pick<Asked, 'month' | 'open'>, cursor?: string): string {
  return `${CONSOLE_PREFIX}${path}${queryOf({ month, open: open ? 'true' : undefined, cursor })}`;
}

const USAGE: MonthList<UsageRow> = {
  one: listUsage,
  section: 'usage',
  input: ({ from, to }) => ({ from, to, by: 'total' }),
  links({ from, to }) {
    const link = (label: string, more: Readonly<Record<string, string>>): Html =>
      html`<a href="${CONSOLE_PREFIX}/usage/csv${queryOf({ from, to, ...more })}" download>${label}</a> `;
    return html`${link('Download (CSV)', { by: 'total' })} ${link('Download by day', { by: 'day' })}
    ${link('Download by day and key', { by: 'day', keys: 'true' })} ${link('Download by day and tag', { by: 'day', tags: 'true' })}`;
  },
  caption: 'Usage in {month}, teams in order of creation',
  none: ['There is no usage', 'None of these teams has usage'],
  below(_asked, { rows, next, isFirst }) {
    if (rows.length === 0) return undefined;
    const sumOf = (member: 'character_count' | 'request_count'): string => count(rows.reduce((sum, row) => sum + row[member], 0));
    const what = `${sumOf('character_count')} characters in ${sumOf('request_count')} requests, of ${teamsText(rows.length)}`;
    return html`<p>${isFirst && next === undefined ? 'Total' : 'On this page'} ${what}. Teams that used nothing are left out.</p>`;
  },
};

const STATES = [
  { value: 'false', label: 'closed' },
  { value: 'true', label: 'all' },
];

const INVOICES: MonthList<InvoiceRow> = {
  one: listInvoices,
  section: 'invoices',
  input: ({ month, open }) => ({ month, open }),
  fields: [{ name: 'open', label: 'Periods', choices: STATES }],
  links: (asked) =>
    html`<a href="${pathTo('/invoices/csv', asked)}" download>Download (CSV)</a>
      <a href="${pathTo('/invoices/print', asked)}">Page to print</a>`,
  above: totalsOf,
  caption: 'Periods closed in {month}, teams in order of creation',
  none: ['No period was closed', 'None of these teams has a closed period'],
  /** At the beginning of a month nothing is closed in it yet. */
  below({ month, from, open }, { rows, next, isFirst }) {
    if (rows.length > 0 || !isFirst || next !== undefined) return undefined;
    const [before = ''] = lastMonths(dayOfDate(from)!, 2);
    return html`<p class="links">
      <a href="${pathTo('/invoices', { month: before, open: false })}">Invoices of ${before}</a>
      ${open ? undefined : html`<a href="${pathTo('/invoices', { month, open: true })}">Periods that are still open</a>`}
    </p>`;
  },
};

/** Totals of more teams would keep the page waiting. */
const TOTALED_TEAMS_MAX = 20_000;

/** Over all pages, one part of the teams at a time. */
async function totalsOf({ month, open }: Asked, context: OperationContext): Promise<Html | undefined> {
  const totals = new InvoiceTotals();
  for await (const { rows, checked } of allRows(listInvoices, context, { month, open })) {
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
  const asked = askedOf(visit);
  const { month, open, from, to } = asked;
  const found = await pageOfQuery<InvoiceRow>(listInvoices, visit, { month, open }, { limit: PRINTED_MAX, orFirst: true });
  const totals = new InvoiceTotals();
  totals.add(found.rows);
  const cut = html`<p class="fault" role="alert">
    These are not all: this page ends after ${count(found.rows.length)} lines. Download the file instead.
  </p>`;
  const main = html`<h1>Invoices of ${month}</h1>
    <p>Periods that were closed from ${from} to ${to} (UTC)${open ? ', and those that are not closed yet' : ''}.</p>
    ${found.next === undefined ? sumsOf(totals) : cut} ${await listed(INVOICES, asked, found, visit)}
    <p class="links unprinted"><a href="${pathTo('/invoices', { month, open: false })}">Back to the invoices</a></p>`;
  return pageAnswer({ title: `Invoices of ${month}`, section: 'invoices', main });
}

export const MONTH_ROUTES: readonly ConsoleRoute[] = [
  monthPage(USAGE),
  filePage('/usage/csv', listUsage),
  monthPage(INVOICES),
  filePage('/invoices/csv', listInvoices),
  get('/invoices/print', printPage),
];
