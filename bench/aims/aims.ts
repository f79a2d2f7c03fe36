// The project's aims, as figures of one run: each beside its target and its original figure.
import { median, spread, width } from '../run/median.ts';
import type { Spread } from '../run/median.ts';
import type { AddedSample, ClosedSample, ContestantResult } from '../run/results.ts';

interface Aim {
  readonly what: string;
  /** At most. */
  readonly aim: number;
  readonly was: number;
  readonly unit: '' | 'ms';
  /** The contestants whose rounds it is computed from. */
  readonly of: readonly string[];
  readonly values: (results: Named) => readonly number[];
}

export interface AimReached {
  readonly what: string;
  readonly aim: number;
  readonly was: number;
  readonly unit: '' | 'ms';
  /** `undefined`: the contestants it compares did not take part. */
  readonly now: Spread | undefined;
  /** Whether other programs were active in more than half of the measurements. */
  readonly isDisturbed: boolean;
}

type Named = ReadonlyMap<string, ContestantResult>;
type Measure = (sample: ClosedSample) => number;

const cpu: Measure = ({ cpuUsPerRequest }) => cpuUsPerRequest;
const redisCpu: Measure = ({ redisUsPerRequest }) => redisUsPerRequest ?? Number.NaN;

/** A median whose middle half is wider than this means little. */
const WIDTH_MAX = 0.1;

export const AIMS: readonly Aim[] = [
  ratio("Redis's CPU, Lingate / OpenResty-style, 10 teams", 0.7, 3.3, 'lingate-redis', 'openresty', redisCpu),
  ratio("Redis's CPU, Lingate / OpenResty-style, 1,000 teams", 1.3, 6, 'lingate-redis-1k', 'openresty-1k', redisCpu),
  ratio('gateway, Lingate on Redis / OpenResty-style', 0.75, 1.3, 'lingate-redis', 'openresty', cpu),
  ratio('gateway on Redis / nginx', 2.4, 4.5, 'lingate-redis', 'nginx', cpu),
  ratio('the same with batched engine work / nginx', 1.7, 3.4, 'lingate-redis-batch', 'nginx', cpu),
  ratio('gateway on SQLite / nginx', 2.6, 5.8, 'lingate-sqlite', 'nginx', cpu),
  ratio('gateway on Redis / http-proxy-3', 0.5, 1, 'lingate-redis', 'http-proxy-3', cpu),
  ratio('gateway on Redis / Fastify stack', 0.2, 0.34, 'lingate-redis', 'fastify', cpu),
  ratio('a 429 for a flooding team / a full request', 0.2, 0.52, 'lingate-redis-429', 'lingate-redis', cpu),
  added('added latency at half of capacity, p50, Redis', 0.5, 1.3, 'lingate-redis', ({ half }) => half),
  added('added latency of a single connection, p50, Redis', 0.35, 0.7, 'lingate-redis', ({ single }) => single),
  added('added latency of a single connection, p50, SQLite', 0.35, 0.85, 'lingate-sqlite', ({ single }) => single),
  ratio("Redis's CPU at 100,000 teams / at 10", 2, 5, 'lingate-redis-100k', 'lingate-redis', redisCpu),
];

export function aimsReached(contestants: readonly ContestantResult[]): AimReached[] {
  const results = byName(contestants);
  return AIMS.map(({ what, aim, was, unit, of, values }) => {
    const measured = of.every((name) => results.has(name)) ? values(results) : [];
    const now = measured.length === 0 || measured.some(Number.isNaN) ? undefined : spread(measured);
    return { what, aim, was, unit, now, isDisturbed: isDisturbed(of.flatMap((name) => results.get(name)?.rounds ?? [])) };
  });
}

/** The contestants of a ratio whose rounds vary too much. */
export function unsettledNames(contestants: readonly ContestantResult[]): ReadonlySet<string> {
  const results = byName(contestants);
  const apart = AIMS.filter(({ unit, of, values }) => {
    return unit === '' && of.every((name) => results.has(name)) && width(spread(values(results))) > WIDTH_MAX;
  });
  return new Set(apart.flatMap(({ of }) => of));
}

/** Of rounds in which both were measured. */
export function ratios(of: readonly ClosedSample[], to: readonly ClosedSample[], measure: (sample: ClosedSample) => number): number[] {
  const others = new Map(to.map((sample) => [sample.round, sample]));
  return of.flatMap((sample) => {
    const other = others.get(sample.round);
    return other === undefined ? [] : [measure(sample) / measure(other)];
  });
}

function ratio(what: string, aim: number, was: number, of: string, to: string, measure: Measure): Aim {
  const values = (results: Named): number[] => ratios(results.get(of)!.rounds, results.get(to)!.rounds, measure);
  return { what, aim, was, unit: '', of: [of, to], values };
}

function added(what: string, aim: number, was: number, of: string, samples: (result: ContestantResult) => readonly AddedSample[]): Aim {
  const values = (results: Named): number[] => samples(results.get(of)!).map(({ through, direct }) => through.p50Ms - direct.p50Ms);
  return { what, aim, was, unit: 'ms', of: [of], values };
}

function isDisturbed(rounds: readonly ClosedSample[]): boolean {
  return rounds.length > 0 && median(rounds.map(({ calmness }) => (calmness.isCalm ? 0 : 1))) > 0.5;
}

function byName(contestants: readonly ContestantResult[]): Named {
  return new Map(contestants.map((contestant) => [contestant.name, contestant]));
}
