// From raw numbers to the figures that people compare: medians over rounds, and ratios to the yardstick in the same round.
import { YARDSTICK } from '../contestants/all.ts';
import { median, spread } from './median.ts';
import type { Spread } from './median.ts';
import type { BenchResult, ClosedSample, ContestantResult, OpenSample } from './results.ts';

export interface Figures {
  readonly name: string;
  readonly does: string;
  readonly cpuUs: Spread;
  /** To the yardstick's CPU in the same round; `undefined` when it did not take part. */
  readonly ratio: Spread | undefined;
  readonly redisUs: number | undefined;
  readonly perSecond: Spread;
  readonly closed: Percentiles;
  readonly steady: Percentiles | undefined;
  readonly half: Half | undefined;
  readonly busy: number;
  readonly disturbed: number;
  readonly memoryMib: number;
  readonly faults: readonly string[];
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

export interface Half {
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
    ratio: yardstick === undefined ? undefined : ratios(rounds, yardstick.rounds),
    redisUs: redis.length === 0 ? undefined : median(redis),
    perSecond: spread(rounds.map(({ perSecond }) => perSecond)),
    closed: percentiles(rounds),
    steady: steady.length === 0 ? undefined : percentiles(steady),
    half: halfOf(result),
    busy: median(rounds.map(({ busy }) => busy)),
    disturbed: median(rounds.map(({ disturbed }) => disturbed)),
    memoryMib: result.peakMemoryKib / 1024,
    faults,
  };
}

function ratios(rounds: readonly ClosedSample[], yardstick: readonly ClosedSample[]): Spread {
  return spread(rounds.map(({ cpuUsPerRequest }, index) => cpuUsPerRequest / yardstick[index]!.cpuUsPerRequest));
}

function percentiles(samples: readonly (ClosedSample | OpenSample)[]): Percentiles {
  return {
    p50Ms: median(samples.map(({ latency }) => latency.p50Ms)),
    p99Ms: median(samples.map(({ latency }) => latency.p99Ms)),
    p999Ms: median(samples.map(({ latency }) => latency.p999Ms)),
  };
}

function halfOf({ half }: ContestantResult): Half | undefined {
  if (half.length === 0) return undefined;
  return {
    perSecond: median(half.map(({ through }) => through.wantedPerSecond)),
    through: percentiles(half.map(({ through }) => through)),
    addedP50Ms: median(half.map(({ through, direct }) => through.latency.p50Ms - direct.latency.p50Ms)),
    addedP99Ms: median(half.map(({ through, direct }) => through.latency.p99Ms - direct.latency.p99Ms)),
  };
}
