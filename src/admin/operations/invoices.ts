// Invoices: what each period comes to that was closed in a span of days, from what it has stored.
import type { Static } from 'typebox';
import { amountText, minorRoundedDown } from '../../domain/money.ts';
import { movedCredit, spentIn, isInSpan, DAY_MS, rfc3339 } from '../../domain/period.ts';
import type { PeriodSpan } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import { daysOfMonth, overageOf } from '../../domain/usage-days.ts';
import type { Team, TeamPage } from '../../ports/team-registry.ts';
import type { PeriodUse, TeamPeriods, UsageHistory } from '../../ports/usage-history.ts';
import { moment, ofTeam, orNull, text, utcDay, whole } from '../fields.ts';
import type { OperationContext } from '../operation-context.ts';
import { rowsOfTeams } from '../listing.ts';
import { operation } from '../operation.ts';
import type { Cell, RowColumn } from '../operation.ts';
import { daysIn, fileName, judgeDays } from './usage.ts';

const Invoice = Type.Object({
  team_id: Type.String(),
  reference: orNull(Type.String(), 'Your reference for the team.'),
  name: orNull(Type.String(), 'Null for a deleted team whose usage was kept.'),
  plan: Type.String({ description: 'The plan at the end of the period; it applies to all of it.' }),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  period_start: moment,
  period_end: moment,
  closed: Type.Boolean({ description: 'Whether it has ended and has no open reservations: then it never changes.' }),
  request_count: Type.Integer({ minimum: 0, description: 'Requests that were charged.' }),
  character_count: whole,
  included_characters: orNull(whole, 'Null with credit billing, like the overage.'),
  overage_characters: orNull(whole, 'Characters beyond the included ones.'),
  overage_cost_minor: orNull(whole, 'Rounded down to whole minor units, and never above the cap.'),
  credit_spent_minor: orNull(
    whole,
    'Rounded down, like the other amounts of credit. Null with quota billing unless the period moved credit.',
  ),
  credit_added_minor: orNull(whole, 'Credit that operators added, including what the team was created with.'),
  credit_deducted_minor: orNull(whole, 'Credit that operators deducted.'),
  balance_minor: orNull(whole, "The credit at the period's end, or now while it runs."),
  total_minor: orNull(whole, "What the period costs beyond the plan's fee: the cost of the overage, or the credit spent."),
  currency: Type.String({ description: 'ISO 4217, which also defines its minor unit.' }),
  test_character_count: Type.Integer({ minimum: 0, description: 'The part of `character_count` that keys of mode `test` used.' }),
  free_character_count: Type.Integer({
    minimum: 0,
    description: 'The part of `test_character_count` that is free with the plan: neither overage nor credit.',
  }),
});
/** Members in output order; `null` for what a kind of plan does not have, or was not recorded. */
export type InvoiceRow = Readonly<Static<typeof Invoice>>;
export const INVOICE_COLUMNS = Object.keys(Invoice.properties);

/**
 * A period's last plan applies to all of it. Credit is in whole millionths until here: each amount
 * is rounded down once.
 */
export function invoiceRow(team: Team, deleted: boolean, period: PeriodUse): InvoiceRow {
  const { limits, characters, allowanceUsed, startMs, endMs } = period;
  const overage = limits.billing === 'quota' ? overageOf(characters - allowanceUsed, limits) : undefined;
  const credit = creditOf(period);
  return {
    team_id: team.teamId,
    reference: team.reference ?? null,
    name: deleted ? null : team.name,
    plan: period.plan,
    billing: limits.billing,
    period_start: rfc3339(startMs),
    period_end: rfc3339(endMs),
    closed: period.closed,
    request_count: period.requests,
    character_count: characters,
    included_characters: overage === undefined ? null : limits.characterLimit,
    overage_characters: overage?.character_count ?? null,
    overage_cost_minor: overage?.cost_minor ?? null,
    ...credit,
    total_minor: overage === undefined ? credit.credit_spent_minor : overage.cost_minor,
    currency: limits.currency,
    test_character_count: period.testCharacters,
    free_character_count: allowanceUsed,
  };
}

const NO_CREDIT = { credit_spent_minor: null, credit_added_minor: null, credit_deducted_minor: null, balance_minor: null };

/** A quota plan has no credit, unless the period began on a credit plan and moved some. */
function creditOf({ limits, credit }: PeriodUse) {
  if (limits.billing === 'quota' && !movedCredit(credit)) return NO_CREDIT;
  return {
    credit_spent_minor: minorRoundedDown(spentIn(credit)),
    credit_added_minor: minorRoundedDown(credit.addedMicro),
    credit_deducted_minor: minorRoundedDown(credit.deductedMicro),
    balance_minor: minorRoundedDown(credit.balanceMicro),
  };
}

/** Of period and credit: `It owes 0.86 EUR for the running period.` */
export async function owedText(context: OperationContext, team: Team): Promise<string> {
  const periods = answered(await context.part('history').periods(team.teamId));
  const { billing, currency } = team.limits;
  const money = (minor: number): string => (minor === 0 ? 'nothing' : amount(minor, currency));
  const running = periods?.find(({ closed: isClosed }) => !isClosed);
  const total = running === undefined ? 0 : (invoiceRow(team, false, running).total_minor ?? 0);
  const comesTo =
    billing === 'quota' ? `It owes ${money(total)} for the running period` : `It has spent ${money(total)} in the running period`;
  if (billing === 'quota' && team.balanceMicro === 0) return `${comesTo}.`;
  return `${comesTo}, and ${money(minorRoundedDown(team.balanceMicro))} of its credit is left.`;
}

/** Read together: half a millisecond of event loop or Redis. Fewer cost Redis round trips. */
const TEAMS_READ_MAX = 25;

interface Given {
  readonly month?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly open: boolean;
  readonly team?: string | undefined;
}

function readInvoices(context: OperationContext, given: Given, after: unknown, size: number) {
  const history = context.part('history');
  const nowMs = context.nowMs();
  const { from, to } = daysIn(given, nowMs);
  // Those that are not closed are read in any case, to say whose are missing.
  const span: PeriodSpan = { fromMs: from * DAY_MS, endMs: (to + 1) * DAY_MS, open: true };
  const source = {
    atOnceMax: TEAMS_READ_MAX,
    find: (id: string) => oneTeam(history, id, to, span),
    page: (page: TeamPage) => history.pagePeriods(page, span),
    rowsOf: ({ team, deleted, periods }: TeamPeriods) =>
      periods.filter((one) => one.closed || given.open).map((period) => ({ row: invoiceRow(team, deleted, period), at: period.number })),
    missingOf: ({ team, periods }: TeamPeriods) =>
      periods.some((one) => !one.closed && one.endMs <= Math.min(nowMs, span.endMs)) ? team.name || team.teamId : undefined,
  };
  return rowsOfTeams(source, given.team, after, size);
}

/** `periods` are newest first. A deleted team whose usage was stored has no name. */
async function oneTeam(history: UsageHistory, teamId: string, day: number, span: PeriodSpan): Promise<TeamPeriods | undefined> {
  // The days have the team besides, also one that was deleted.
  const [days, periods] = [answered(await history.days(teamId, { from: day, to: day })), answered(await history.periods(teamId))];
  if (days === undefined || periods === undefined) return undefined;
  const { team } = days;
  return { team, deleted: team.name === '', periods: periods.filter((one) => isInSpan(one, span)).toReversed() };
}

/** What lines come to in a currency. */
interface InvoiceTotal {
  readonly currency: string;
  lines: number;
  characters: number;
  overageMinor: number;
  creditSpentMinor: number;
  totalMinor: number;
}

export class InvoiceTotals {
  readonly #sums = new Map<string, InvoiceTotal>();

  add(rows: readonly InvoiceRow[]): void {
    for (const { currency, character_count: characters, ...row } of rows) {
      const sum = this.#sums.get(currency) ?? { currency, lines: 0, characters: 0, overageMinor: 0, creditSpentMinor: 0, totalMinor: 0 };
      this.#sums.set(currency, sum);
      sum.lines++;
      sum.characters += characters;
      sum.overageMinor += row.overage_cost_minor ?? 0;
      sum.creditSpentMinor += row.credit_spent_minor ?? 0;
      sum.totalMinor += row.total_minor ?? 0;
    }
  }

  /** In the order of their codes. */
  all(): readonly Readonly<InvoiceTotal>[] {
    return [...this.#sums.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1));
  }

  text(): string {
    return this.all()
      .map(({ currency, lines, totalMinor: minor }) => `${lines === 1 ? 'one line' : `${lines} lines`}, ${amount(minor, currency)}\n`)
      .join('');
  }
}

function amount(minor: number, currency: string): string {
  return `${amountText(minor, currency)} ${currency}`;
}

const NAMED_MAX = 3;

/** What is missing, for people. */
export function notClosedText(names: readonly string[]): string {
  const some = names.slice(0, NAMED_MAX).join(', ');
  const more = names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : '';
  const whose = names.length === 1 ? 'one team has a period' : `${names.length} teams have periods`;
  return `${whose} that ended in this time and ${names.length === 1 ? 'is' : 'are'} not closed yet: ${some}${more}; a period is closed within an hour of its end`;
}

type Amount = 'credit_added_minor' | 'credit_deducted_minor' | 'total_minor' | 'balance_minor';

function amountColumn(head: string, member: Amount, only?: 'console'): RowColumn<InvoiceRow> {
  const cell = ({ currency, ...row }: InvoiceRow): Cell => {
    const minor = row[member];
    return minor === null ? undefined : { kind: 'money', minor, currency };
  };
  return { head, cell, holds: 'figures', only };
}

function withReference(cell: Cell, { reference }: InvoiceRow): Cell {
  return reference === null ? cell : { kind: 'below', cell, below: reference };
}

/** With those of test keys below. */
function charactersCell({ character_count: all, test_character_count: test, free_character_count: free }: InvoiceRow): Cell {
  const counts = [
    ...(test === 0 ? [] : [`${test.toLocaleString('en')} test`]),
    ...(free === 0 ? [] : [`${free.toLocaleString('en')} free`]),
  ];
  return counts.length === 0 ? all : { kind: 'below', cell: all, below: counts.join(', ') };
}

function periodCell({ period_start: at, period_end: end, closed }: InvoiceRow): Cell {
  return { kind: 'below', cell: { kind: 'day', at }, below: `to ${end.slice(0, 10)}${closed ? '' : ', open'}` };
}

const columns: readonly RowColumn<InvoiceRow>[] = [
  // Below the name, because a column of its own would make the table too wide.
  { head: 'Team', cell: (row) => withReference({ kind: 'team', id: row.team_id, name: row.name }, row), only: 'console' },
  { head: 'Period', cell: periodCell, only: 'console' },
  { head: 'From', cell: (row) => row.period_start.slice(0, 10), only: 'command' },
  { head: 'To', cell: (row) => row.period_end.slice(0, 10), only: 'command' },
  { head: 'State', cell: (row) => (row.closed ? 'closed' : 'open'), only: 'command' },
  { head: 'Characters', cell: charactersCell, holds: 'figures', only: 'console' },
  { head: 'Characters', cell: (row) => row.character_count, holds: 'figures', only: 'command' },
  { head: 'Included', cell: (row) => row.included_characters ?? undefined, holds: 'figures', only: 'console' },
  { head: 'Beyond plan', cell: (row) => row.overage_characters ?? undefined, holds: 'figures' },
  amountColumn('Credit added', 'credit_added_minor', 'console'),
  amountColumn('Credit deducted', 'credit_deducted_minor', 'console'),
  amountColumn('Total', 'total_minor'),
  amountColumn('Balance', 'balance_minor'),
  { head: 'Team', cell: (row) => row.team_id, only: 'command' },
  { head: 'Plan', cell: (row) => row.plan },
  { head: 'Name (reference)', cell: (row) => withReference(row.name ?? '(deleted)', row), only: 'command' },
];

export const listInvoices = operation({
  id: 'listInvoices',
  command: 'invoices',
  http: 'GET /invoices',
  summary: 'Lists what the periods that were closed in a month cost.',
  about:
    'A period belongs to the month of its last moment. A closed period without usage or credit movements has no line. Amounts in CSV and JSON are whole minor units of the currency, ' +
    'rounded down once; what a kind of plan does not have is empty, in JSON null. CSV cells that a spreadsheet would run as ' +
    'formulas get an apostrophe in front.',
  examples: ['lingate invoices --month 2026-11', 'lingate invoices --month 2026-11 --csv > november.csv'],
  input: {
    month: text(
      'a calendar month as YYYY-MM, for example 2026-11',
      (month) => daysOfMonth(month) !== undefined,
      'The UTC month, for example 2026-11; by default the current one.',
      { value: 'M' },
    ),
    from: utcDay('Instead of month: the first UTC day, for example 2026-11-01; together with to.'),
    to: utcDay('The last UTC day (inclusive); at most 400 days.'),
    open: Type.Boolean({ default: false, description: 'Also periods that are not closed, as they are now.' }),
    team: ofTeam('periods'),
  },
  required: ['open'],
  needs: ['month', 'from', 'to'],
  judge: judgeDays,
  row: Invoice,
  list: 'invoices',
  columns,
  none: 'No period was closed.',
  listing: {
    read: readInvoices,
    missing: {
      member: 'not_closed',
      about: 'How many teams of this page have a period that ended in the span and is not closed yet. Absent if none.',
      words: notClosedText,
    },
    file: { columns: () => INVOICE_COLUMNS, name: (input, nowMs) => fileName('invoices', input, nowMs), totals: () => new InvoiceTotals() },
  },
});

export const operations = [listInvoices];
