// A curve: one line per contestant, the spread as a bar through each point.
import type { Curve, CurveLine, CurvePoint } from '../curves/curve.ts';
import { dot, line, linearScale, logScale, number, picture, text } from './svg.ts';
import type { Scale } from './svg.ts';

const WIDTH = 420;
const HEIGHT = 240;
const LEFT = 44;
const RIGHT = 90;
const TOP = 10;
const BOTTOM = 36;

/** The value on the vertical axis. */
export type Measure = (point: CurvePoint) => { readonly value: number; readonly least: number; readonly most: number };

export function lineChart(curve: Curve, measure: Measure): string {
  const points = curve.lines.flatMap((each) => each.points);
  const y = linearScale(Math.max(...points.map((point) => measure(point).most)), HEIGHT - BOTTOM, TOP);
  const x = horizontal(curve, points);
  const grid = y.ticks.flatMap((tick) => [
    line(LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick), 'grid'),
    text(LEFT - 6, y.at(tick) + 4, number(tick), 'name'),
  ]);
  const places = [...new Set(points.map((point) => point.x))].map((value) =>
    text(x.at(value), HEIGHT - BOTTOM + 16, number(value), 'tick'),
  );
  const lines = curve.lines.map((each, index) => drawn(each, index, x, y, measure));
  const axis = text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, curve.axis, 'tick');
  return picture(WIDTH, HEIGHT, curve.title, [...grid, ...places, ...lines, axis]);
}

function horizontal({ logarithmic }: Curve, points: readonly CurvePoint[]): Scale {
  const values = points.map((point) => point.x);
  const most = Math.max(...values);
  if (!logarithmic) return linearScale(most, LEFT, WIDTH - RIGHT);
  return logScale(Math.min(...values.filter((value) => value > 0)), most, LEFT, WIDTH - RIGHT);
}

function drawn({ contestant, points }: CurveLine, index: number, x: Scale, y: Scale, measure: Measure): string {
  const places = points.map((point) => ({
    x: x.at(point.x),
    of: measure(point),
    title: `${contestant}: ${number(measure(point).value)} at ${number(point.x)}`,
  }));
  const path = places.map((place, at) => `${at === 0 ? 'M' : 'L'}${place.x.toFixed(1)} ${y.at(place.of.value).toFixed(1)}`).join('');
  const marks = places.flatMap((place) => [
    line(place.x, y.at(place.of.least), place.x, y.at(place.of.most), 'whisker'),
    dot(place.x, y.at(place.of.value), 3, `mark line${index}`, place.title),
  ]);
  const last = places.at(-1);
  const label = last === undefined ? '' : text(last.x + 8, y.at(last.of.value) + 4, contestant, 'label');
  return `<path d="${path}" class="path line${index}"/>${marks.join('')}${label}`;
}
