// Lines of invoices: what they have by the kind of plan, pages that neither lose nor repeat one, and CSV that programs read and no
// spreadsheet runs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { csvOf, downloadOf } from '../../../src/admin/csv.ts';
import { checked } from '../../../src/admin/input.ts';
import { pageAt } from '../../../src/admin/listing.ts';
import { INVOICE_COLUMNS, invoiceRow, InvoiceTotals, listInvoices } from '../../../src/admin/operations/invoices.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { PeriodUse, UsageHistory } from '../../../src/ports/usage-history.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { historyContext, inputOf } from './history-context.ts';
import { outputOf } from '../../support/start-program.ts';
import { idAt, writtenHistory, writtenTeam } from '../../support/written-history.ts';

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

describe('the question', () => {
  test.each([
    [{ month: '2026-13' }, 'month'],
    [{ month: 'november' }, 'month'],
    [{ month: '2026-11', from: '2026-11-01', to: '2026-11-02' }, 'month'],
    [{ from: '2026-11-01' }, 'to'],
    [{ open: 'yes' }, 'open'],
    [{ team: 'acme' }, 'team'],
  ])('%j is refused by the name of %s', (given, field) => expect(checked(listInvoices, given, 0)).toMatchObject({ field }));
});

const november = (more: object = {}) => inputOf(listInvoices, { month: '2026-11', ...more });

/** Every team has three closed periods, and every third one none. */
function historyOf(count: number): UsageHistory {
  const teams = Array.from({ length: count }, (_, index) => writtenTeam({ name: `Team ${index}`, days: {} }, index));
  const written = writtenHistory(teams, [period(3), period(2), period(1)]);
  const none = new Set(teams.filter((_, index) => index % 3 === 2).map(({ team }) => team.teamId));
  const periods = async (teamId: string) => (none.has(teamId) ? [] : written.periods(teamId));
  return {
    ...written,
    periods,
    pagePeriods: async (page) => {
      const found = teams.filter(({ team }) => page.after === undefined || team.teamId > page.after).slice(0, page.limit);
      return found.map(({ team }) => ({ team, deleted: false, periods: none.has(team.teamId) ? [] : [period(1), period(2), period(3)] }));
    },
  };
}

describe('pages', () => {
  test.each([1, 2, 7, 200])('of %i lines together have every line once', async (limit) => {
    const context = historyContext(historyOf(20));
    const rows: unknown[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await pageAt(listInvoices, context, november(), cursor, limit);
      if (page.kind !== 'done') return expect.unreachable(page.kind);
      rows.push(...page.value.rows);
      if (page.value.next === undefined) break;
      expect(page.value.rows).toHaveLength(limit);
      cursor = page.value.next;
    }
    expect(rows).toHaveLength(3 * 14);
    expect(new Set(rows.map((row) => (row as { team_id: string }).team_id))).toHaveLength(14);
  });

  test('of one team, and of one that does not exist', async () => {
    const context = historyContext(historyOf(5));
    expect(await pageAt(listInvoices, context, november({ team: idAt('T', 4) }), undefined, 50)).toMatchObject({
      value: { rows: [{ name: 'Team 4' }, {}, {}], next: undefined },
    });
    expect(await pageAt(listInvoices, context, november({ team: idAt('T', 9) }), undefined, 50)).toMatchObject({ field: 'team' });
  });

  test('a cursor belongs to its query, and is not made up', async () => {
    const context = historyContext(historyOf(20));
    const page = await pageAt(listInvoices, context, november(), undefined, 1);
    const next = page.kind === 'done' ? page.value.next! : '';
    expect(await pageAt(listInvoices, context, november({ open: true }), next, 1)).toMatchObject({ field: 'cursor' });
    const [digest] = JSON.parse(Buffer.from(next, 'base64url').toString()) as [string];
    for (const place of ['x', 7, null, {}, { teamId: '*' }, { teamId: ['a'] }]) {
      const made = Buffer.from(JSON.stringify([digest, place])).toString('base64url');
      expect([place, await pageAt(listInvoices, context, november(), made, 1)]).toMatchObject([place, { field: 'cursor' }]);
    }
    expect(await pageAt(listInvoices, context, november(), 'nonsense', 1)).toMatchObject({ field: 'cursor' });
  });
});

test('a store that is away is a refusal before a file begins', async () => {
  const away = { kind: 'unavailable', cause: 'closed', advice: 'see that it runs' } as const;
  const history = { ...historyOf(1), pagePeriods: () => Promise.resolve(away) };
  expect(await downloadOf(listInvoices, historyContext(history), november())).toEqual(away);
});

const CSV = csvOf(INVOICE_COLUMNS);

describe('CSV', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'lingate-invoices-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const NAMES = ['=1+1', '+cmd|x', '-2', '@SUM(A1)', '\t=1', '\r=1', 'a, "b"', 'two\r\nlines', 'Ünï 翻訳', "O'Brien"];
  const rows = NAMES.map((name) => invoiceRow({ ...TEAM, name }, false, period(1)));

  function file(): string {
    const path = join(folder, 'november.csv');
    writeFileSync(path, CSV.head + CSV.lines(rows) + CSV.lines([invoiceRow(TEAM, true, period(1))]));
    return path;
  }

  test('what is null is empty', () => {
    const line = CSV.lines([invoiceRow(TEAM, true, period(1))]);
    expect(line).toBe(`${TEAM.teamId},,,pro,quota,2026-11-01T00:00:00Z,2026-12-01T00:00:00Z,true,7,1201,1000,201,301,,,,,301,EUR,0,0\r\n`);
  });

  test("Python's csv reads every line, and no cell begins as a formula", async () => {
    const script = 'import csv, json, sys; print(json.dumps(list(csv.DictReader(open(sys.argv[1], newline="", encoding="utf-8")))))';
    const read = JSON.parse(await outputOf('python3', ['-c', script, file()], { cwd: folder })) as Record<string, string>[];
    expect(read).toHaveLength(NAMES.length + 1);
    expect(read.map(({ name }) => name!.replaceAll("'", ''))).toEqual([...NAMES.map((name) => name.replaceAll("'", '')), '']);
    expect(read.flatMap((row) => Object.values(row)).filter((cell) => /^\s*[=+\-@\t\r]/.test(cell))).toEqual([]);
    expect(read.every((row) => row['total_minor'] === '301' && row['credit_spent_minor'] === '')).toBe(true);
  });

  test('sqlite3 imports it, and adds it up', async () => {
    const commands = ['.mode csv', `.import ${file()} invoices`, 'SELECT count(*), sum(total_minor), sum(character_count) FROM invoices;'];
    const added = await outputOf('sqlite3', [':memory:', ...commands], { cwd: folder });
    expect(added.trim()).toBe(`${rows.length + 1},${301 * (rows.length + 1)},${1201 * (rows.length + 1)}`);
  });
});
