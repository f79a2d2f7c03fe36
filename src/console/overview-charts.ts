// The overview's charts: the last 15 minutes in steps, and minute by minute below the pointer.
import type { StepFigures } from '../admin/operations/live.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { rfc3339 } from '../domain/period.ts';
import { drawn } from './chart.ts';
import type { Chart, Series } from './chart.ts';
import { byOutcome, OUTCOME_LABELS } from './overview-figures.ts';
import type { OutcomeKind, Overview } from './overview-figures.ts';
import { compact, duration } from './shown.ts';

/** A series, by what it shows of some seconds. */
interface Line {
  readonly id: string;
  readonly label: string;
  readonly of: (figures: StepFigures, seconds: number) => number | null;
}

interface LiveChart {
  readonly title: string;
  readonly unit: string;
  readonly form: Chart['form'];
  readonly lines: readonly Line[];
  readonly shown?: Chart['shown'];
  readonly tick?: number;
}

const CHARTS: readonly LiveChart[] = [
  {
    title: 'Latency',
    unit: 'of requests',
    form: 'lines',
    lines: [
      { id: 'p50', label: 'p50', of: ({ p50Ms }) => p50Ms },
      { id: 'p99', label: 'p99', of: ({ p99Ms }) => p99Ms },
    ],
    shown: duration,
  },
  {
    title: 'Characters',
    unit: 'per second',
    form: 'stacked',
    lines: [{ id: 'characters', label: 'Characters', of: ({ characters }, seconds) => characters / seconds }],
  },
  {
    title: 'Engine failures',
    unit: 'attempts in 5 s',
    form: 'bars',
    lines: [{ id: 'engine-failures', label: 'Failed attempts', of: ({ engineFailures }) => engineFailures }],
    tick: 1,
  },
  {
    title: 'In flight',
    unit: 'at the same time',
    form: 'lines',
    lines: [{ id: 'in-flight', label: 'Requests', of: ({ inFlight }) => inFlight }],
    tick: 1,
  },
];

export function liveCharts(overview: Overview): Html {
  const { outcomeOf } = overview;
  const outcomes = Object.entries(OUTCOME_LABELS).map(([id, label]): Line => {
    return { id, label, of: (figures, seconds) => byOutcome(figures, outcomeOf)[id as OutcomeKind] / seconds };
  });
  const all: readonly LiveChart[] = [{ title: 'Requests', unit: 'per second', form: 'stacked', lines: outcomes }, ...CHARTS];
  return html`${all.map((chart) => liveChart(chart, overview))}`;
}

/** With the latest values in its legend. */
function liveChart({ title, unit, form, lines, shown = compact, tick = 0.1 }: LiveChart, overview: Overview): Html {
  const { stepMs } = overview;
  // Without the current step: it is incomplete, and would look like a drop.
  const steps = overview.steps.slice(0, -1);
  const series = lines.map(({ id, label, of }): Series => ({ id, label, values: steps.map((step) => of(step, stepMs / 1000)) }));
  const figure = (value: number | null | undefined): string => (typeof value === 'number' ? shown(value) : 'nothing');
  const parts = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    return `${label}: latest ${figure(values.at(-1))}, highest ${figure(known.length === 0 ? null : Math.max(...known))}.`;
  });
  const words = `${title} ${unit}, the last 15 minutes. ${parts.join(' ')}`;
  const of = (minute: StepFigures, seconds: number): string =>
    lines.map((line) => `${line.label} ${figure(line.of(minute, seconds))}`).join(', ');
  return html`<figure data-chart="${title.toLowerCase().replaceAll(' ', '-')}">
    <figcaption>
      <span>${title} <span class="soft">${unit}</span></span>
      <ul>
        ${series.map(({ id, label, values }) => {
          const latest = values.at(-1) ?? undefined;
          return html`<li class="${id}"><span class="key"></span>${label} <b>${latest === undefined ? '–' : shown(latest)}</b></li>`;
        })}
      </ul>
    </figcaption>
    ${drawn({ words, form, series, shown, tick, ...minutesOf(overview, steps, of) })}
  </figure>`;
}

const MINUTE_MS = 60_000;
/** As many as fit side by side on a phone. */
const MARKED_MS = 3 * MINUTE_MS;

/** The minutes of the wall clock that the steps show; some begin before or end after them. */
function minutesOf(
  { minutes, stepMs, nowMs }: Overview,
  steps: readonly StepFigures[],
  of: (minute: StepFigures, seconds: number) => string,
): Pick<Chart, 'marks' | 'spans'> {
  const fromMs = steps[0]?.atMs ?? 0;
  const place = (atMs: number): number => Math.max(0, Math.min((atMs - fromMs) / stepMs, steps.length));
  const shown = minutes
    .map((minute) => ({ minute, from: place(minute.atMs), to: place(minute.atMs + MINUTE_MS) }))
    .filter(({ from, to }) => from < to);
  const clock = (atMs: number): string => rfc3339(atMs).slice(11, 16);
  return {
    marks: shown
      .filter(({ minute: { atMs } }) => atMs >= fromMs && atMs % MARKED_MS === 0)
      .map(({ minute: { atMs }, from }) => ({ at: from, words: clock(atMs) })),
    spans: shown.map(({ minute, from, to }) => {
      const ms = Math.min(minute.atMs + MINUTE_MS, nowMs) - Math.max(minute.atMs, fromMs);
      return { from, to, words: `${clock(minute.atMs)} UTC: ${of(minute, ms / 1000)}` };
    }),
  };
}
