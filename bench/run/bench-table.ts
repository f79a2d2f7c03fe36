// The figures of a bench as a table for the terminal.
import type { Figures, Percentiles } from './figures.ts';
import type { StoreMemory } from './results.ts';
import { textTable } from './text-table.ts';

const HEAD = [
  '',
  'CPU µs',
  'middle half',
  '/nginx',
  'middle half',
  'Redis µs',
  'req/s',
  'closed p50/p99/p99.9 ms',
  'steady p50/p99/p99.9 ms',
  'half: added p50/p99',
  'single: added p50',
  'MiB',
  'busy',
  'disturbed',
  'tries',
];

export function benchTable(figures: readonly Figures[]): string {
  return textTable(HEAD, figures.map(row));
}

function row(of: Figures): string[] {
  const { cpuUs, ratio, half } = of;
  return [
    of.name,
    cpuUs.median.toFixed(1),
    `${cpuUs.low.toFixed(1)}–${cpuUs.high.toFixed(1)}`,
    ratio?.median.toFixed(2) ?? '',
    ratio === undefined ? '' : `${ratio.low.toFixed(2)}–${ratio.high.toFixed(2)}`,
    of.redisUs?.toFixed(1) ?? '',
    Math.round(of.perSecond.median).toString(),
    percentiles(of.closed),
    of.steady === undefined ? '' : percentiles(of.steady),
    half === undefined ? '' : `${half.addedP50Ms.toFixed(2)} / ${half.addedP99Ms.toFixed(2)}`,
    of.single === undefined ? '' : of.single.addedP50Ms.toFixed(2),
    Math.round(of.memoryMib).toString(),
    percent(of.busy),
    percent(of.disturbed),
    of.tries.toFixed(1),
  ];
}

function percentiles({ p50Ms, p99Ms, p999Ms }: Percentiles): string {
  return `${p50Ms.toFixed(2)} / ${p99Ms.toFixed(2)} / ${p999Ms.toFixed(2)}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

export function memoryTable(memory: readonly StoreMemory[]): string {
  const rows = memory.map(({ store, perTeam, perId, leftPerTeam }) => [
    store,
    ...[perTeam, perId, leftPerTeam].map((bytes) => bytes.toFixed(0)),
  ]);
  return textTable(['bytes', 'a team with a key', 'a remembered id', 'a team keeps after use'], rows);
}
