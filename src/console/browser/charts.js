// Runs in the browser: draws the overview's charts with uPlot in the page's colours, and shows the values under the pointer, or at the
// time that arrow keys have chosen.
import uPlot from './uPlot.js';

const HEIGHT = 180;
/** Steps of five seconds. */
const MINUTE = 12;
/** Pointing at a time in one chart selects it in all. */
const SYNC = uPlot.sync('live');
const dark = matchMedia('(prefers-color-scheme: dark)');
const figures = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export class Charts {
  #section;
  #charts = new Map();

  constructor(section) {
    this.#section = section;
    dark.addEventListener('change', () => this.#each((chart) => chart.redraw()));
    new ResizeObserver(() => this.#each((chart) => chart.fit())).observe(section);
  }

  /** `columns` from the gateway: charts, each with its series, all over the same times. */
  show({ from, step, charts }) {
    this.#section.hidden = false;
    for (const content of charts) {
      const figure = this.#section.querySelector(`[data-chart="${content.id}"]`);
      const times = content.series[0].values.map((_, index) => from + index * step);
      if (!this.#charts.has(content.id)) this.#charts.set(content.id, new Chart(figure, content));
      this.#charts.get(content.id).show(times, content);
    }
  }

  #each(action) {
    for (const chart of this.#charts.values()) action(chart);
  }
}

class Chart {
  #figure;
  #place;
  #plot;
  #form;
  #durations;
  #times = [];
  /** The values themselves, for the legend: stacked areas are drawn as sums. */
  #values = [];

  constructor(figure, { form, shown, series }) {
    this.#figure = figure;
    this.#place = figure.querySelector('.plot');
    this.#form = form;
    this.#durations = shown === 'durations';
    const lines = series.map(({ id }) => this.#line(id));
    const options = {
      width: this.#place.clientWidth,
      height: HEIGHT,
      // On the right, half of the last time's label.
      padding: [8, 22, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, sync: { key: SYNC.key }, points: { size: 6 } },
      scales: { x: { time: true }, y: { range: (_, _min, most) => [0, most > 0 ? most * 1.08 : 1] } },
      axes: [this.#timeAxis(), this.#valueAxis()],
      series: [{}, ...this.#inOrder(lines)],
      hooks: { setCursor: [(plot) => this.#tell(plot.cursor.idx)] },
    };
    this.#plot = new uPlot(options, [[], ...series.map(() => [])], this.#place);
    this.#listen();
  }

  /** The chart is a slider over its times. */
  #listen() {
    const place = this.#place;
    place.setAttribute('role', 'slider');
    place.tabIndex = 0;
    place.addEventListener('focus', () => this.#chosen() === undefined && this.#choose(this.#times.length - 1));
    place.addEventListener('blur', () => this.#plot.setCursor({ left: -10, top: -10 }, true, true));
    place.addEventListener('keydown', (event) => {
      const last = this.#times.length - 1;
      const at = this.#chosen() ?? last;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - MINUTE, PageDown: at + MINUTE, Home: 0, End: last }[event.key];
      if (event.key === 'Escape') place.blur();
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.#choose(Math.max(0, Math.min(to, last)));
    });
  }

  #choose(index) {
    this.#plot.setCursor({ left: this.#plot.valToPos(this.#times[index], 'x'), top: 0 }, true, true);
  }

  #chosen() {
    return this.#plot.cursor.idx ?? undefined;
  }

  show(times, { series, words }) {
    this.#values = series.map(({ values }) => values);
    const chosen = document.activeElement === this.#place ? this.#chosen() : undefined;
    this.#times = times;
    this.#plot.setData([times, ...this.#inOrder(this.#form === 'stacked' ? onTop(this.#values) : this.#values)]);
    this.#figure.querySelector(`#${this.#figure.dataset.chart}-words`).textContent = words;
    this.#tell(this.#plot.cursor.idx);
    // What was chosen by keyboard stays where it is, while times move on beneath it.
    if (chosen !== undefined) this.#choose(Math.min(chosen, times.length - 1));
  }

  fit() {
    const width = this.#place.clientWidth;
    if (width > 0 && width !== this.#plot.width) this.#plot.setSize({ width, height: HEIGHT });
  }

  redraw() {
    this.#plot.redraw(false, true);
  }

  /** What is drawn later covers what was drawn earlier: of stacked areas, the highest comes first. */
  #inOrder(series) {
    return this.#form === 'stacked' ? series.toReversed() : series;
  }

  /** Beside each series' name: its value at the chosen time, or the latest one. */
  #tell(index) {
    const at = index ?? this.#times.length - 1;
    const time = this.#times[at] === undefined ? '' : `${clock(this.#times[at], 19)} UTC`;
    const values = [];
    for (const [number, place] of [...this.#figure.querySelectorAll('li b')].entries()) {
      const value = this.#values[number]?.[at];
      place.textContent = value === null || value === undefined ? '–' : this.#shown(value, figures);
      values.push(place.parentElement.textContent.trim());
    }
    this.#figure.querySelector('.at').textContent = index === null || index === undefined ? '' : time;
    const state = {
      valuemin: 0,
      valuemax: Math.max(0, this.#times.length - 1),
      valuenow: Math.max(0, at),
      valuetext: [time, ...values].join(', '),
    };
    for (const [name, value] of Object.entries(state)) this.#place.setAttribute(`aria-${name}`, value);
  }

  #shown(value, format) {
    if (!this.#durations) return format.format(value);
    return value >= 1000 ? `${format.format(value / 1000)} s` : `${format.format(value)} ms`;
  }

  #line(id) {
    // That of the legend.
    const stroke = () => getComputedStyle(this.#figure.querySelector(`.${id} .key`)).backgroundColor;
    switch (this.#form) {
      case 'lines':
        return { stroke, width: 1.5, points: { show: false } };
      case 'bars':
        return { stroke, fill: stroke, width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.8, 100] }) };
      default:
        return { stroke, fill: stroke, width: 0.5, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) };
    }
  }

  #timeAxis() {
    const values = (_, splits) => splits.map((seconds) => clock(seconds, 16));
    return { ...this.#axis(), size: 28, space: 60, incrs: [60, 120, 180, 300], values, grid: { show: false } };
  }

  #valueAxis() {
    const whole = this.#form === 'bars';
    const values = (_, splits) => splits.map((value) => (whole && value % 1 !== 0 ? '' : this.#shown(value, short)));
    return { ...this.#axis(), size: 54, space: 34, values };
  }

  #axis() {
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const grid = { stroke: () => getComputedStyle(document.querySelector('header')).borderBottomColor, width: 1 };
    const stroke = () => getComputedStyle(this.#figure.querySelector('.soft')).color;
    return { font, stroke, grid, ticks: { show: false } };
  }
}

/** `14:03` or `14:03:25`: up to this place of an RFC 3339 time. */
function clock(seconds, end) {
  return new Date(seconds * 1000).toISOString().slice(11, end);
}

/** Each row plus those before it: stacked areas, the last one highest. */
function onTop(rows) {
  const sums = [];
  for (const row of rows) sums.push(row.map((value, index) => (value ?? 0) + (sums.at(-1)?.[index] ?? 0)));
  return sums;
}
