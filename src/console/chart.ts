// Charts as SVG that the server draws: a path for each series, gridlines at round values, and above
// them spans whose figures the pointer shows. Positions along a chart are in steps, one for each value.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';

export interface Chart {
  /** What it shows, in a sentence for screen readers. */
  readonly words: string;
  /** Stacked areas, bars, or lines. */
  readonly form: 'stacked' | 'bars' | 'lines';
  readonly series: readonly Series[];
  readonly shown: (value: number) => string;
  /** The least distance between gridlines: 1 for what is counted. */
  readonly tick: number;
  /** Words below the chart, each centred at its place. */
  readonly marks: readonly { readonly at: number; readonly words: string }[];
  readonly spans: readonly { readonly from: number; readonly to: number; readonly words: string }[];
}

export interface Series {
  /** Also the class that gives it a colour. */
  readonly id: string;
  readonly label: string;
  /** `null` if there is no value. */
  readonly values: Values;
}

type Values = readonly (number | null)[];

/** Of the drawing, which is stretched to the available space. */
const HEIGHT = 100;

export function drawn({ words, form, series, shown, tick, marks, spans }: Chart): Html {
  const rows = form === 'stacked' ? onTop(series.map(({ values }) => values)) : series.map(({ values }) => values);
  const steps = rows[0]?.length ?? 0;
  const ticks = ticksTo(Math.max(0, ...rows.flat().map((value) => value ?? 0)), tick);
  const height = (value: number): number => rounded(HEIGHT - (value / ticks.at(-1)!) * HEIGHT);
  const grid = ticks.map((value) => {
    const at = height(value);
    return html`<line x2="100%" y1="${at}%" y2="${at}%" /><text class="value" x="-8" y="${at}%">${shown(value)}</text>`;
  });
  const under = marks.map(({ at, words: mark }) => html`<text x="${rounded((at / steps) * 100)}%" y="100%" dy="1.5em">${mark}</text>`);
  const paths = rows.map((values, index) => {
    const path = (of: typeof areas, role = ''): Html => html`<path class="${series[index]!.id}${role}" d="${of(values, height)}"></path>`;
    return form === 'lines' ? html`${path(lines)}${path(points, ' alone')}` : path(form === 'bars' ? bars : areas);
  });
  const above = spans.map(
    ({ from, to, words: figures }) => html`<rect x="${from}" width="${to - from}" height="${HEIGHT}"><title>${figures}</title></rect>`,
  );
  // What is drawn later covers what was drawn earlier: of stacked areas, the highest comes first.
  return html`<svg class="plot ${form}" role="img" aria-label="${words}">
    ${grid}${under}
    <svg viewBox="0 0 ${steps} ${HEIGHT}" preserveAspectRatio="none">${form === 'stacked' ? paths.toReversed() : paths}${above}</svg>
  </svg>`;
}

/** 0 and up to five round values with one distance, the last of them not below `most`. */
export function ticksTo(most: number, least: number): readonly number[] {
  if (most === 0) return [0, 1];
  const rough = Math.max(most / 5, least);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough)!;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
}

/** Each row plus those before it, the last one highest. */
function onTop(rows: readonly Values[]): readonly Values[] {
  const sums: number[][] = [];
  for (const row of rows) sums.push(row.map((value, at) => (value ?? 0) + (sums.at(-1)?.[at] ?? 0)));
  return sums;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function areas(values: Values, height: (value: number) => number): string {
  return `M0 ${HEIGHT}${values.map((value, at) => `V${height(value ?? 0)}H${at + 1}`).join('')}V${HEIGHT}`;
}

/** The least height of a bar, so that any value is visible. */
const BAR_MIN = 1.5;

function bars(values: Values, height: (value: number) => number): string {
  const bar = (value: number | null, at: number): string =>
    value ? `M${at + 0.1} ${HEIGHT}V${Math.min(height(value), HEIGHT - BAR_MIN)}h.8V${HEIGHT}` : '';
  return values.map(bar).join('');
}

/** Interrupted where there is no value. */
function lines(values: Values, height: (value: number) => number): string {
  return values.map((value, at) => (value === null ? '' : `${isAt(values, at - 1) ? 'L' : 'M'}${at + 0.5} ${height(value)}`)).join('');
}

/** Values without neighbours, of which a line would show nothing. */
function points(values: Values, height: (value: number) => number): string {
  const isAlone = (at: number): boolean => !isAt(values, at - 1) && !isAt(values, at + 1);
  return values.map((value, at) => (value !== null && isAlone(at) ? `M${at + 0.5} ${height(value)}h0` : '')).join('');
}

function isAt(values: Values, at: number): boolean {
  return typeof values[at] === 'number';
}
