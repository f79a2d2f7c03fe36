// A team's history: which days and months are shown, how many periods, and stores without a history or unreachable.
import { describe, expect, test } from 'vitest';
import { UsageReading } from '../../../src/admin/usage-reading.ts';
import { lastMonths } from '../../../src/console/months.ts';
import { teamHistory } from '../../../src/console/team-history.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import { dayOfDate, RANGE_DAYS_MAX } from '../../../src/domain/usage-days.ts';
import type { DayRange, PeriodUse, UsageHistory } from '../../../src/ports/usage-history.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { idAt, writtenHistory, writtenTeam } from '../../support/written-history.ts';

const NOW_MS = Date.parse('2026-11-22T23:59:59Z');
const TEAM = idAt('T', 1);
const days = {
  '2025-10-31': { a: [1, 1] },
  '2025-11-01': { a: [20, 1] },
  '2026-10-23': { a: [300, 1] },
  '2026-10-24': { a: [4000, 1], b: [1, 2] },
  '2026-11-22': { b: [50_000, 7] },
} as const;

async function shown(history: UsageHistory, nowMs = NOW_MS): Promise<string> {
  const found = await teamHistory(TEAM, { usage: new UsageReading(history) }, nowMs);
  return 'kind' in found ? found.problem.code : found.text;
}

const cells = (text: string): string[][] =>
  [...text.matchAll(/<tr role="row">\s*<th role="rowheader" scope="row">([\s\S]*?)<\/tr>/g)].map(([, row]) =>
    row!
      .split(/<\/t[hd]>/)
      .map((cell) => cell.replaceAll(/<[^>]*>/g, '').trim())
      .slice(0, -1),
  );

const period = (number: number, more: Partial<PeriodUse> = {}): PeriodUse => ({
  number,
  startMs: Date.UTC(2026, number, 1),
  endMs: Date.UTC(2026, number + 1, 1),
  closed: true,
  plan: 'pro',
  limits: limitsOf({ ...QUOTA_PLAN, characters: 1000, overage_cap_minor: 500, overage_minor_per_million: 1_000_000 }),
  characters: 1200,
  allowanceUsed: 0,
  testCharacters: 0,
  requests: 3,
  credit: { openingMicro: 0, addedMicro: 0, deductedMicro: 0, balanceMicro: 0 },
  ...more,
});

test('shows the last 30 days and 13 months, including the current ones and those without usage', async () => {
  const rows = cells(await shown(writtenHistory([writtenTeam({ name: 'Acme', days }, 1)])));
  expect(rows).toHaveLength(30 + 13);
  expect([rows[0], rows[28], rows[29]]).toEqual([
    ['2026-11-22', '50,000', '7'],
    ['2026-10-25', '0', '0'],
    ['2026-10-24', '4,001', '3'],
  ]);
  expect([rows[30], rows[31], rows[32], rows[42]]).toEqual([
    ['2026-11', '50,000', '7'],
    ['2026-10', '4,301', '4'],
    ['2026-09', '0', '0'],
    ['2025-11', '20', '1'],
  ]);
});

test('the months are read with one query within the store’s limit, on any day of four years', async () => {
  const asked: DayRange[] = [];
  const history: UsageHistory = {
    ...writtenHistory([writtenTeam({ name: 'Acme', days: {} }, 1)]),
    days: async (_, range) => {
      asked.push(range);
      return { ...writtenTeam({ name: 'Acme', days: {} }, 1) };
    },
  };
  for (let day = dayOfDate('2024-01-01')!; day < dayOfDate('2028-01-01')!; day += 9) await shown(history, day * 86_400_000);
  expect(Math.max(...asked.map(({ from, to }) => to - from + 1))).toBeLessThanOrEqual(RANGE_DAYS_MAX);
});

test('months are calendar months', () => {
  expect(lastMonths(dayOfDate('2026-03-31')!, 3)).toEqual(['2026-01', '2026-02', '2026-03']);
  expect(lastMonths(dayOfDate('2026-01-01')!, 2)).toEqual(['2025-12', '2026-01']);
});

describe('periods', () => {
  const teams = [writtenTeam({ name: 'Acme', days: {} }, 1)];

  test('are shown with the amount due, except for credit, where nothing is', async () => {
    const credit = period(8, { limits: limitsOf(CREDIT_PLAN), plan: 'prepaid' });
    const rows = cells(await shown(writtenHistory(teams, [period(10, { closed: false }), period(9), credit]))).slice(43);
    expect(rows).toEqual([
      ['2026-11-01', '2026-12-01', 'open', 'pro', '1,200', '1,000', '200', '2.00 EUR'],
      ['2026-10-01', '2026-11-01', 'closed', 'pro', '1,200', '1,000', '200', '2.00 EUR'],
      ['2026-09-01', '2026-10-01', 'closed', 'prepaid', '1,200', '–', '–', '–'],
    ]);
  });

  test('beyond a limit are not shown: only the newest, and how many more there are', async () => {
    const text = await shown(
      writtenHistory(
        teams,
        Array.from({ length: 1000 }, () => period(1)),
      ),
    );
    expect(cells(text).slice(43)).toHaveLength(26);
    expect(text).toContain(`974 more are listed by <code>lingate usage periods ${TEAM}</code>`);
  });

  test('may be absent, which is said', async () => {
    expect(await shown(writtenHistory(teams))).toContain('There are none yet.');
  });
});

test('an unreachable store gives a problem', async () => {
  const away: UsageHistory = { ...writtenHistory([]), days: async () => ({ kind: 'unavailable', cause: 'closed' }) };
  expect(await shown(away)).toBe('service_unavailable');
});
