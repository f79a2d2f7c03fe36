// From raw numbers to the figures that people compare: medians over rounds, and ratios to the baseline in the same round.
import { ratios } from '../aims/aims.ts';
import { YARDSTICK } from '../contestants/all.ts';
import type { Latency } from '../load/histogram.ts';
import { median, spread } from './median.ts';
import type { Spread } from './median.ts';
import type { AddedSample, BenchResult, ContestantResult } from './results.ts';

export interface Figures {
  readonly name: string;
  readonly does: string;
  readonly cpuUs: Spread;
  /** To the baseline's CPU in the same round; `undefined` if it did not take part. */
  readonly ratio: Spread | undefined;
  readonly redisUs: number | undefined;
  readonly perSecond: Spread;
  readonly closed: Percentiles;
  readonly steady: Percentiles | undefined;
  readonly half: Added | undefined;
  readonly single: Added | undefined;
  readonly busy: number;
  /** Share of its measurements that were disturbed by other programs, despite repeats. */
  readonly disturbed: number;
  /** How often it was measured for each that was kept. */
  readonly tries: number;
  readonly memoryMib: number;
  readonly faults: readonly string[];
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

interface Added {
  readonly perSecond: number;
  readonly through: Percentiles;
  readonly addedP50Ms: number;
  readonly addedP99Ms: number;
}

export function figuresOf({ contestants }: BenchResult): Figures[] {
  const yardstick = contestants.find(({ name }) => name === YARDSTICK);
  return contestants.filter(({ rounds }) => rounds.length > 0).map((result) => figures(result, yardstick));
}

function figures(result: ContestantResult, yardstick: ContestantResult | undefined): Figures {
  const { name, does, rounds, steady, faults } = result;
  const redis = rounds.map(({ redisUsPerRequest }) => redisUsPerRequest).filter((value) => value !== undefined);
  return {
    name,
    does,
    cpuUs: spread(rounds.map(({ cpuUsPerRequest }) => cpuUsPerRequest)),
    ratio: yardstick === undefined ? undefined : spread(ratios(rounds, yardstick.rounds, ({ cpuUsPerRequest }) => cpuUsPerRequest)),
    redisUs: redis.length === 0 ? undefined : median(redis),
    perSecond: spread(rounds.map(({ perSecond }) => perSecond)),
    closed: percentiles(rounds.map(({ latency }) => latency)),
    steady: steady.length === 0 ? undefined : percentiles(steady.map(({ latency }) => latency)),
    half: addedOf(result.half),
    single: addedOf(result.single),
    busy: median(rounds.map(({ busy }) => busy)),
    disturbed: rounds.filter(({ calmness }) => !calmness.isCalm).length / rounds.length,
    tries: rounds.reduce((sum, { calmness }) => sum + calmness.tries, 0) / rounds.length,
    memoryMib: result.peakMemoryKib / 1024,
    faults,
  };
}

function percentiles(latencies: readonly Latency[]): Percentiles {
  return {
    p50Ms: median(latencies.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(latencies.map(({ p99Ms }) => p99Ms)),
    p999Ms: median(latencies.map(({ p999Ms }) => p999Ms)),
  };
}

function addedOf(samples: readonly AddedSample[]): Added | undefined {
  if (samples.length === 0) return undefined;
  return {
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
    through: percentiles(samples.map(({ through }) => through)),
    addedP50Ms: median(samples.map(({ through, direct }) => through.p50Ms - direct.p50Ms)),
    addedP99Ms: median(samples.map(({ through, direct }) => through.p99Ms - direct.p99Ms)),
  };
}
