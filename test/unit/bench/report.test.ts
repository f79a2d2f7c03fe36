// The bench's report page is self-contained: it loads nothing, whatever its data.
import { expect, test } from 'vitest';
import { reportPage } from '../../../bench/report/page.ts';
import type { BenchResult, ClosedSample, ContestantResult } from '../../../bench/run/results.ts';
import { figuresOf } from '../../../bench/run/figures.ts';

const LATENCY = { p50Ms: 1, p99Ms: 2, p999Ms: 3, maxMs: 4 };

const CALM = { disturbance: { stolen: 0, others: 0, waited: 0 }, isCalm: true, tries: 1 };

function sample(cpuUsPerRequest: number, index: number): ClosedSample {
  const counts = { answers: 1, faults: 0, perSecond: 1000, cpuUsPerRequest, redisUsPerRequest: cpuUsPerRequest / 10, busy: 0.9 };
  return { round: index + 1, ...counts, latency: LATENCY, calmness: CALM };
}

function contestant(name: string, cpuUs: readonly number[], faults: string[] = []): ContestantResult {
  return { name, does: '<b>&', rounds: cpuUs.map(sample), steady: [], half: [], single: [], peakMemoryKib: 2048, faults };
}

const RESULT: BenchResult = {
  machine: {
    measuredAt: '2026-01-01T00:00:00Z',
    commit: 'abc',
    processor: 'p',
    cores: 2,
    memoryGib: 1,
    kernel: 'k',
    versions: {},
    loadBefore: 0,
  },
  settings: { load: 'own', connections: 64, teams: 1, rounds: 3, closedMs: 1, openMs: 1, steadyPerSecond: 1, bodyBytes: 65 },
  contestants: [contestant('lingate-redis', [30, 20, 90]), contestant('nginx', [20, 20, 30], ['</style><script>bad()</script>'])],
  memory: [],
  leftOut: [{ name: 'other', reason: '<img src=x>' }],
};

test('ratios are medians, with their spread, against the yardstick of the same round', () => {
  const [lingate] = figuresOf(RESULT);
  expect(lingate!.ratio).toEqual({ median: 1.5, low: 1.25, high: 2.25, least: 1, most: 3 });
  expect(lingate!.cpuUs).toEqual({ median: 30, low: 25, high: 60, least: 20, most: 90 });
});

test('the page loads nothing, and all data is escaped', () => {
  const page = reportPage(RESULT, undefined);
  expect(page).not.toMatch(/<script|<img|<link|<iframe|@import|url\(|\bsrc=(?!x&)|href=/i);
  expect(page).toContain('lingate-redis');
  expect(page).toContain('&lt;script&gt;bad()');
});
