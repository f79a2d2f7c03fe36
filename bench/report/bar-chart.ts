// Horizontal bars with the spread over rounds as a whisker: one row per contestant.
import { dot, line, linearScale, number, picture, text } from './svg.ts';

export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  /** The single rounds. */
  readonly rounds: readonly number[];
  /** A word after the number, for example the ratio. */
  readonly note: string;
  readonly ours: boolean;
}

const WIDTH = 860;
const LEFT = 170;
const RIGHT = 130;
const ROW = 26;
const TOP = 8;

export function barChart(title: string, bars: readonly Bar[]): string {
  const bottom = TOP + bars.length * ROW;
  const scale = linearScale(Math.max(...bars.map(({ most }) => most)), LEFT, WIDTH - RIGHT);
  const grid = scale.ticks.flatMap((tick) => [
    line(scale.at(tick), TOP, scale.at(tick), bottom, 'grid'),
    text(scale.at(tick), bottom + 16, number(tick), 'tick'),
  ]);
  const rows = bars.map((bar, index) => row(bar, TOP + index * ROW, scale.at));
  return picture(WIDTH, bottom + 24, title, [...grid, ...rows]);
}

function row({ name, value, least, most, rounds, note, ours }: Bar, y: number, at: (value: number) => number): string {
  const middle = y + ROW / 2;
  const bar = `<rect x="${LEFT}" y="${y + 5}" width="${Math.max(1, at(value) - LEFT).toFixed(1)}" height="${ROW - 10}" class="${ours ? 'bar ours' : 'bar'}"/>`;
  const dots = rounds.map((round) => dot(at(round), middle, 2, 'round'));
  const label = `${number(value)}${note === '' ? '' : ` · ${note}`}`;
  const whisker = line(at(least), middle, at(most), middle, 'whisker');
  return [text(LEFT - 8, middle + 4, name, 'name'), bar, whisker, ...dots, text(at(most) + 8, middle + 4, label, 'value')].join('');
}
