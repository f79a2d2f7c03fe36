// From measurements to what people compare: medians over rounds, ratios within a round, a table for the terminal and one for the README.
import type { Machine } from './machine.ts';

/** The median, and what the middle half lies between. */
interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly most: number;
}

export function spread(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75), most: Math.max(...values) };
}

/** Interpolated between two neighbours; NaN if empty. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

/** Rows of text in columns; all columns but the first are right-aligned. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

/** One contestant in one round. */
export interface Sample {
  /** CPU time of the gateway, and of its Redis, for each answer. */
  readonly cpuUs: number;
  readonly redisUs: number | undefined;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Other programs or other machines took part of the gateway's core. */
  readonly isDisturbed: boolean;
}

/** All that was measured of a contestant: rounds of one index were side by side. */
export interface Measured {
  readonly name: string;
  readonly does: string;
  readonly rounds: Sample[];
  /** Median of one request at a time, less the engine's own. */
  readonly single: number[];
  /** Median at a steady rate, less the engine's own. */
  readonly steady: number[];
  readonly memoryMib: number;
  /** Wrong answers or accounts, which make its figures worthless. */
  readonly faults: readonly string[];
}

/** What is in git of a run: median, or lower quartile, median and upper quartile. */
interface Figures {
  readonly does: string;
  readonly cpuUs: readonly [number, number, number];
  /** Of the CPU time of the baseline in the same round. */
  readonly ofNginx: readonly [number, number, number] | undefined;
  readonly redisUs?: number | undefined;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly addedSingleMs?: number | undefined;
  readonly addedSteadyMs?: number | undefined;
  readonly memoryMib: number;
  readonly disturbed: number;
}

export interface Result {
  readonly machine: Machine;
  readonly settings: Readonly<Record<string, number | string>>;
  readonly contestants: Readonly<Record<string, Figures>>;
}

export const BASELINE = 'nginx';

export function figuresOf(all: readonly Measured[]): Record<string, Figures> {
  const baseline = all.find(({ name }) => name === BASELINE)?.rounds;
  return Object.fromEntries(all.map((one) => [one.name, figures(one, baseline)]));
}

function figures({ does, rounds, single, steady, memoryMib }: Measured, baseline: readonly Sample[] | undefined): Figures {
  const middle = (of: (sample: Sample) => number): number => rounded(spread(rounds.map(of)).median);
  const ratios = rounds.map(({ cpuUs }, round) => cpuUs / (baseline?.[round]?.cpuUs ?? Number.NaN));
  return {
    does,
    cpuUs: quartilesOf(rounds.map(({ cpuUs }) => cpuUs)),
    ofNginx: baseline === undefined ? undefined : quartilesOf(ratios),
    redisUs: rounds[0]?.redisUs === undefined ? undefined : middle(({ redisUs }) => redisUs!),
    perSecond: Math.round(middle(({ perSecond }) => perSecond)),
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    addedSingleMs: single.length === 0 ? undefined : rounded(spread(single).median),
    addedSteadyMs: steady.length === 0 ? undefined : rounded(spread(steady).median),
    memoryMib: Math.round(memoryMib),
    disturbed: rounded(rounds.filter(({ isDisturbed }) => isDisturbed).length / rounds.length),
  };
}

function quartilesOf(values: readonly number[]): [number, number, number] {
  const { low, median, high } = spread(values);
  return [rounded(low), rounded(median), rounded(high)];
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

const HEAD = ['', 'CPU µs', '/ nginx', 'Redis µs', 'req/s', 'p50 ms', 'p99 ms', '+ single ms', 'MiB'];

function cells(of: Figures): string[] {
  const digits = (value: number | undefined, count: number): string => value?.toFixed(count) ?? '';
  const latencies = [of.p50Ms, of.p99Ms, of.addedSingleMs].map((ms) => digits(ms, 2));
  return [
    digits(of.cpuUs[1], 1),
    digits(of.ofNginx?.[1], 2),
    digits(of.redisUs, 1),
    String(of.perSecond),
    ...latencies,
    String(of.memoryMib),
  ];
}

export function terminalTable(contestants: Result['contestants']): string {
  const half = ([low, , high]: Figures['cpuUs']): string => `${low.toFixed(1)} to ${high.toFixed(1)}`;
  const rows = Object.entries(contestants).map(([name, of]) => {
    return [name, ...cells(of), of.addedSteadyMs?.toFixed(2) ?? '', half(of.cpuUs), `${Math.round(of.disturbed * 100)} %`];
  });
  return textTable([...HEAD, '+ steady ms', 'middle half of CPU µs', 'disturbed'], rows);
}

export function readmeTable(contestants: Result['contestants']): string {
  const rows = Object.entries(contestants).map(([name, of]) => [`\`${name}\`: ${of.does}`, ...cells(of)]);
  return [HEAD, HEAD.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
