// Latencies as dots on a logarithmic scale: p50, p99 and p99.9 of each contestant on one line.
import type { Percentiles } from '../run/figures.ts';
import { dot, line, logScale, number, picture, text } from './svg.ts';

interface QuantileRow extends Percentiles {
  readonly name: string;
  readonly ours: boolean;
}

const WIDTH = 860;
const LEFT = 170;
const RIGHT = 30;
const ROW = 24;
const TOP = 8;

export function quantileChart(title: string, rows: readonly QuantileRow[]): string {
  const bottom = TOP + rows.length * ROW;
  const all = rows.flatMap(({ p50Ms, p99Ms, p999Ms }) => [p50Ms, p99Ms, p999Ms]);
  const scale = logScale(Math.max(0.01, Math.min(...all)), Math.max(...all), LEFT, WIDTH - RIGHT);
  const grid = scale.ticks.flatMap((tick) => [
    line(scale.at(tick), TOP, scale.at(tick), bottom, 'grid'),
    text(scale.at(tick), bottom + 16, `${number(tick)} ms`, 'tick'),
  ]);
  const drawn = rows.map(({ name, ours, p50Ms, p99Ms, p999Ms }, index) => {
    const y = TOP + index * ROW + ROW / 2;
    const kind = ours ? 'quantile ours' : 'quantile';
    const dots = [
      dot(scale.at(p50Ms), y, 5, kind, `p50 ${number(p50Ms)} ms`),
      dot(scale.at(p99Ms), y, 4, kind, `p99 ${number(p99Ms)} ms`),
      dot(scale.at(p999Ms), y, 2.5, kind, `p99.9 ${number(p999Ms)} ms`),
    ];
    return [text(LEFT - 8, y + 4, name, 'name'), line(scale.at(p50Ms), y, scale.at(p999Ms), y, 'whisker'), ...dots].join('');
  });
  return picture(WIDTH, bottom + 24, title, [...grid, ...drawn]);
}
