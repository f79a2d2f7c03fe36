// Lines of invoices: what they have by the kind of plan, to the smallest unit of money.
import { describe, expect, test } from 'vitest';
import { OperationContext } from '../../../src/admin/operation-context.ts';
import { answerTo, routeOf } from '../../../src/admin/operation-http.ts';
import { INVOICE_COLUMNS, invoiceRow, InvoiceTotals, listInvoices, notClosedText } from '../../../src/admin/operations/invoices.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { TeamPage } from '../../../src/ports/team-registry.ts';
import type { PeriodUse, TeamPeriods, UsageHistory } from '../../../src/ports/usage-history.ts';
import { AWAY_AUDIT, AWAY_TEAMS } from '../../support/away-store.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { writtenTeam } from '../../support/written-history.ts';

const QUOTA = limitsOf({ ...QUOTA_PLAN, characters: 1000, overage_cap_minor: 500, overage_minor_per_million: 1_500_000 });
const CREDIT = limitsOf({ ...CREDIT_PLAN, credit_minor_per_million: 2500 });
const { team: TEAM } = writtenTeam({ name: 'Acme', days: {} }, 1);
const NOTHING = { openingMicro: 0, addedMicro: 0, deductedMicro: 0, balanceMicro: 0 };

const period = (number: number, more: Partial<PeriodUse> = {}): PeriodUse => ({
  number,
  startMs: Date.UTC(2026, 10, 1),
  endMs: Date.UTC(2026, 11, 1),
  closed: true,
  plan: 'pro',
  limits: QUOTA,
  characters: 1201,
  allowanceUsed: 0,
  testCharacters: 0,
  requests: 7,
  credit: NOTHING,
  ...more,
});

describe('a line', () => {
  test('of a quota plan has the overage, and no credit', () => {
    expect(invoiceRow(TEAM, false, period(1))).toEqual({
      team_id: TEAM.teamId,
      reference: null,
      name: 'Acme',
      plan: 'pro',
      billing: 'quota',
      period_start: '2026-11-01T00:00:00Z',
      period_end: '2026-12-01T00:00:00Z',
      closed: true,
      request_count: 7,
      character_count: 1201,
      included_characters: 1000,
      overage_characters: 201,
      // 201 characters at 1.5 minor units are 301.5.
      overage_cost_minor: 301,
      credit_spent_minor: null,
      credit_added_minor: null,
      credit_deducted_minor: null,
      balance_minor: null,
      total_minor: 301,
      currency: 'EUR',
      test_character_count: 0,
      free_character_count: 0,
    });
  });

  test('of a credit plan has the credit, each amount rounded down once, and no overage', () => {
    const credit = { openingMicro: 1_999_999, addedMicro: 5_000_001, deductedMicro: 1_000_000, balanceMicro: 2_500_001 };
    expect(invoiceRow(TEAM, false, period(1, { limits: CREDIT, credit }))).toMatchObject({
      billing: 'credit',
      included_characters: null,
      overage_characters: null,
      overage_cost_minor: null,
      credit_spent_minor: 3,
      credit_added_minor: 5,
      credit_deducted_minor: 1,
      balance_minor: 2,
      total_minor: 3,
    });
  });

  test('of a period that moved credit before its team changed to a quota plan has both', () => {
    const credit = { ...NOTHING, addedMicro: 3_000_000, balanceMicro: 1_000_000 };
    expect(invoiceRow(TEAM, false, period(1, { credit }))).toMatchObject({ credit_spent_minor: 2, balance_minor: 1, total_minor: 301 });
  });

  test('of a deleted team has no name', () => {
    expect(invoiceRow(TEAM, true, period(1))).toMatchObject({ name: null });
  });

  test('never costs more than the cap', () => {
    expect(invoiceRow(TEAM, false, period(1, { characters: 1_000_000 }))).toMatchObject({ overage_cost_minor: 500, total_minor: 500 });
  });

  test('has its members in the order of the columns', () => {
    expect(Object.keys(invoiceRow(TEAM, false, period(1)))).toEqual([...INVOICE_COLUMNS]);
  });

  test('is counted in the totals of its currency', () => {
    const totals = new InvoiceTotals();
    const yen = { ...QUOTA, currency: 'JPY' };
    totals.add([invoiceRow(TEAM, false, period(1)), invoiceRow(TEAM, false, period(2, { limits: yen }))]);
    totals.add([invoiceRow(TEAM, false, period(3, { characters: 1002 }))]);
    expect(totals.all().map(({ currency, lines, characters, totalMinor }) => [currency, lines, characters, totalMinor])).toEqual([
      ['EUR', 2, 2203, 304],
      ['JPY', 1, 1201, 301],
    ]);
  });
});

test('teams whose periods have ended and are not closed are counted, each on one page; running ones are not', async () => {
  const nowMs = Date.UTC(2026, 11, 2);
  const of = (number: number, ...periods: readonly Partial<PeriodUse>[]): TeamPeriods => ({
    team: writtenTeam({ name: `Team ${number}`, days: {} }, number).team,
    deleted: false,
    periods: periods.map((more, index) => period(index, more)),
  });
  const ended = { closed: false };
  const running = { closed: false, startMs: Date.UTC(2026, 10, 20), endMs: Date.UTC(2026, 11, 20) };
  const teams = [of(1, {}), of(2, {}, ended), of(3, running), of(4, ended, {}), of(5, ended), of(6, {})];
  const pagePeriods = ({ after = '', limit }: TeamPage) => Promise.resolve(teams.filter(({ team }) => team.teamId > after).slice(0, limit));
  const context = new OperationContext({
    teams: AWAY_TEAMS,
    plans: () => new Map(),
    newId: () => 'ID',
    audit: AWAY_AUDIT,
    history: {
      pagePeriods,
      days: (id: string) => Promise.resolve({ team: teams.find(({ team }) => team.teamId === id)!.team, keys: [], days: [] }),
      periods: (id: string) => Promise.resolve(teams.find(({ team }) => team.teamId === id)!.periods.toReversed()),
    } as unknown as UsageHistory,
    nowMs: () => nowMs,
  });
  const pages: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = new URLSearchParams({ month: '2026-11', limit: '2', cursor });
    const { result } = await answerTo(routeOf(listInvoices).operation, context, { segments: {}, query, body: {}, attempt: {} });
    const { invoices, next, ...beside } = (result as { readonly value: { invoices: { name: string }[]; next: string | null } }).value;
    pages.push([invoices.map(({ name }) => name), beside]);
    cursor = next;
  }
  expect(pages).toEqual([
    [['Team 1', 'Team 2'], { not_closed: 1 }],
    [['Team 4', 'Team 6'], { not_closed: 2 }],
  ]);
  expect(notClosedText(['A', 'B', 'C', 'D'])).toContain(
    '4 teams have periods that ended in this time and are not closed yet: A, B, C, and 1 more',
  );
});
