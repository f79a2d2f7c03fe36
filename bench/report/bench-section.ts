// The bench in the report: what was measured, how, and the figures as plots and as a table.
import { aimsReached } from '../aims/aims.ts';
import { aimRow } from '../aims/aims-table.ts';
import { YARDSTICK } from '../contestants/all.ts';
import { figuresOf } from '../run/figures.ts';
import type { Figures, Percentiles } from '../run/figures.ts';
import type { BenchResult } from '../run/results.ts';
import { barChart } from './bar-chart.ts';
import type { Bar } from './bar-chart.ts';
import { quantileChart } from './quantile-chart.ts';
import { escape } from './svg.ts';
import { htmlTable } from './table.ts';

const TABLE_HEAD = [
  '',
  'CPU µs',
  'spread',
  `of ${YARDSTICK}`,
  'Redis µs',
  'req/s',
  'p50',
  'p99',
  'p99.9',
  'MiB',
  'core busy',
  'disturbed',
  'tries',
];

export function benchSection(result: BenchResult): string {
  const figures = figuresOf(result);
  const { settings } = result;
  const parts = [
    method(result),
    ...warnings(result, figures),
    '<h2>Aims</h2>',
    htmlTable(['', 'at most', 'was', 'now', 'middle half', 'met', ''], aimsReached(result.contestants).map(aimRow)),
    '<h2>CPU of the gateway per request, µs</h2><p class="soft">Median over rounds; the line is the middle half, each dot a round; the number after it is the ratio to nginx in the same round.</p>',
    barChart(
      'CPU per request',
      figures.map((each) => cpuBar(each, result)),
    ),
    '<h2>CPU of its Redis per request, µs</h2>',
    barChart(
      'Redis CPU per request',
      figures.filter(({ redisUs }) => redisUs !== undefined).map((each) => plainBar(each, each.redisUs!)),
    ),
    `<h2>Requests per second, ${settings.connections} connections</h2>`,
    barChart(
      'Requests per second',
      figures.map((each) => ({ ...plainBar(each, each.perSecond.median), least: each.perSecond.low, most: each.perSecond.high })),
    ),
    latencySection(`Latency at ${settings.steadyPerSecond} requests a second`, figures, ({ steady }) => steady),
    latencySection('Latency at half of its own capacity', figures, ({ half }) => half?.through),
    latencySection(`Latency with ${settings.connections} requests always in flight`, figures, ({ closed }) => closed),
    '<h2>Peak memory, MiB</h2>',
    barChart(
      'Peak memory',
      figures.map((each) => plainBar(each, each.memoryMib)),
    ),
    '<h2>All figures</h2>',
    htmlTable(TABLE_HEAD, figures.map(tableRow)),
    `<p class="soft">Latencies in this table are in ms at ${settings.steadyPerSecond} requests a second.</p>`,
    added(figures),
  ];
  return parts.join('\n');
}

function method({ contestants, settings, leftOut }: BenchResult): string {
  const who = contestants.map(({ name, does }) => `<li><b>${escape(name)}</b>: ${escape(does)}</li>`);
  const out = leftOut.map(({ name, reason }) => `<li class="soft"><b>${escape(name)}</b> left out: ${escape(reason)}</li>`);
  return `<p>The gateway alone has core 0; load, engine and Redis share the others. ${settings.connections} connections send a
translation of ${settings.bodyBytes} bytes with the keys of ${settings.teams} teams in turn to an engine that answers at once; every answer is
compared with what it has to be. Everybody runs all the time and is measured in turn, ${settings.rounds} rounds of ${settings.closedMs} ms or more; a measurement during which others were at work is made again.
CPU is the scheduler's own count for all threads and children of the gateway. At a steady rate latency counts from the moment a
request was due, so a gateway that stalls is charged for everyone who had to wait. Load: ${settings.load === 'own' ? "the bench's own" : 'autocannon'}.
Every Redis runs with its append-only file on.</p><ul>${[...who, ...out].join('')}</ul>`;
}

function warnings({ machine }: BenchResult, figures: readonly Figures[]): string[] {
  const wrong = figures.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}`));
  const noisy = figures.filter(({ disturbed }) => disturbed > 0.5).map(({ name }) => name);
  const busy = machine.loadBefore > 0.5 ? [`The machine was not quiet before the run (load ${machine.loadBefore.toFixed(2)}).`] : [];
  const disturbed = noisy.length > 0 ? [`Other programs were active during most measurements of ${noisy.join(', ')}.`] : [];
  return [...wrong, ...busy, ...disturbed].map((warning) => `<p class="wrong">${escape(warning)}</p>`);
}

function isOurs(name: string): boolean {
  return name.startsWith('lingate');
}

function cpuBar({ name, cpuUs, ratio }: Figures, { contestants }: BenchResult): Bar {
  const rounds = contestants.find((each) => each.name === name)!.rounds.map(({ cpuUsPerRequest }) => cpuUsPerRequest);
  const note = ratio === undefined ? '' : `${ratio.median.toFixed(2)} × nginx`;
  return { name, value: cpuUs.median, least: cpuUs.low, most: cpuUs.high, rounds, note, ours: isOurs(name) };
}

function plainBar({ name }: Figures, value: number): Bar {
  return { name, value, least: value, most: value, rounds: [], note: '', ours: isOurs(name) };
}

function latencySection(title: string, figures: readonly Figures[], of: (figures: Figures) => Percentiles | undefined): string {
  const rows = figures.flatMap((each) => {
    const percentiles = of(each);
    return percentiles === undefined ? [] : [{ name: each.name, ours: isOurs(each.name), ...percentiles }];
  });
  if (rows.length === 0) return '';
  return `<h2>${escape(title)}</h2><p class="soft">Large to small dot: p50, p99, p99.9.</p>${quantileChart(title, rows)}`;
}

function tableRow({ name, cpuUs, ratio, redisUs, perSecond, steady, memoryMib, busy, disturbed, tries }: Figures): string[] {
  const latency = steady === undefined ? ['', '', ''] : [steady.p50Ms, steady.p99Ms, steady.p999Ms].map((ms) => ms.toFixed(2));
  return [
    name,
    cpuUs.median.toFixed(1),
    `${cpuUs.low.toFixed(1)}–${cpuUs.high.toFixed(1)}`,
    ratio?.median.toFixed(2) ?? '',
    redisUs?.toFixed(1) ?? '',
    String(Math.round(perSecond.median)),
    ...latency,
    String(Math.round(memoryMib)),
    `${Math.round(busy * 100)} %`,
    `${Math.round(disturbed * 100)} %`,
    tries.toFixed(1),
  ];
}

function added(figures: readonly Figures[]): string {
  const rows = figures.flatMap(({ name, half }) =>
    half === undefined ? [] : [[name, String(half.perSecond), half.addedP50Ms.toFixed(2), half.addedP99Ms.toFixed(2)]],
  );
  if (rows.length === 0) return '';
  return `<h2>Latency added to calling the engine directly, at half of its own capacity</h2>${htmlTable(['', 'req/s', 'p50 ms', 'p99 ms'], rows)}`;
}
