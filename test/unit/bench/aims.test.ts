// The bench's aims: computed from rounds that were measured side by side, and reported as not measured when a contestant is missing.
import { describe, expect, test } from 'vitest';
import { AIMS, aimsReached, ratios, unsettledNames } from '../../../bench/aims/aims.ts';
import { aimsTable } from '../../../bench/aims/aims-table.ts';
import { contestants } from '../../../bench/contestants/all.ts';
import type { AddedSample, ClosedSample, ContestantResult } from '../../../bench/run/results.ts';

const LATENCY = { p50Ms: 1, p99Ms: 2, p999Ms: 3, maxMs: 4 };
const calmness = (isCalm: boolean) => ({ disturbance: { stolen: 0, others: isCalm ? 0 : 1, waited: 0 }, isCalm, tries: 1 });

function rounds(cpuUs: readonly number[], isCalm = true, first = 1): ClosedSample[] {
  const counts = { answers: 1, faults: 0, perSecond: 1, busy: 1 };
  return cpuUs.map((us, index) => {
    return {
      round: first + index,
      ...counts,
      cpuUsPerRequest: us,
      redisUsPerRequest: us / 2,
      latency: LATENCY,
      calmness: calmness(isCalm),
    };
  });
}

function result(name: string, samples: ClosedSample[], single: AddedSample[] = []): ContestantResult {
  return { name, does: '', rounds: samples, steady: [], half: [], single, peakMemoryKib: 0, faults: [] };
}

function reached(what: string, results: readonly ContestantResult[]) {
  return aimsReached(results).find((aim) => aim.what === what)!;
}

test('each aim names contestants that exist', () => {
  const names = new Set(contestants.map(({ name }) => name));
  expect(AIMS.flatMap(({ of }) => of).filter((name) => !names.has(name))).toEqual([]);
});

describe('an aim', () => {
  test('is the median of the ratios of the same rounds, even if one contestant was measured more often', () => {
    const results = [result('lingate-redis', rounds([20, 22, 40])), result('nginx', rounds([10, 10, 20, 1000]))];
    expect(reached('gateway on Redis / nginx', results).now).toMatchObject({ median: 2, least: 2, most: 2.2 });
    expect(ratios(rounds([4], true, 2), rounds([1, 2, 3]), ({ cpuUsPerRequest }) => cpuUsPerRequest)).toEqual([2]);
  });

  test('is reported as not measured if a contestant did not take part', () => {
    const results = [result('lingate-redis', rounds([20]))];
    expect(reached('gateway on SQLite / nginx', results).now).toBeUndefined();
    expect(aimsTable(aimsReached(results))).toContain('not measured');
  });

  test('for added latency is the difference within each pair', () => {
    const pair = (through: number, direct: number): AddedSample => {
      const [of, to] = [through, direct].map((p50Ms) => ({ ...LATENCY, p50Ms })) as [typeof LATENCY, typeof LATENCY];
      return { perSecond: 0, through: of, direct: to, calmness: calmness(true) };
    };
    const results = [result('lingate-sqlite', rounds([1]), [pair(0.7, 0.2), pair(1.7, 1.3), pair(9, 8.4)])];
    const { now } = reached('added latency of a single connection, p50, SQLite', results);
    expect(now!.median).toBeCloseTo(0.5);
  });

  test('that was measured while other programs were busy is marked', () => {
    const results = [result('lingate-redis', rounds([20, 20], false)), result('nginx', rounds([10, 10], false))];
    expect(reached('gateway on Redis / nginx', results).isDisturbed).toBe(true);
  });
});

test('only contestants whose ratios spread widely are measured again, with those that they are compared with', () => {
  const results = [
    result('nginx', rounds([10, 10, 10])),
    result('lingate-redis', rounds([20, 20, 20])),
    result('lingate-sqlite', rounds([20, 30, 40])),
  ];
  expect([...unsettledNames(results)].toSorted()).toEqual(['lingate-sqlite', 'nginx']);
});
