// The overview's charts as columns of numbers, one per series, for the script in the page; and what they show in words.
import type { StepFigures } from '../admin/reports.ts';
import { byOutcome, OUTCOMES, OUTCOME_LABELS } from './overview-figures.ts';
import type { Overview } from './overview-figures.ts';
import { decimal, duration } from './shown.ts';

export interface Chart {
  /** Its name within the page. */
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** How the values are formatted: durations are in ms. */
  readonly shown: 'numbers' | 'durations';
  /** Stacked areas, bars, or lines. */
  readonly form: 'stacked' | 'bars' | 'lines';
  readonly series: readonly Series[];
  /** The chart in a sentence, for screen readers. */
  readonly words: string;
}

export interface Series {
  readonly id: string;
  readonly label: string;
  /** One for each time in `Columns`; `null` if there is no value. */
  readonly values: readonly (number | null)[];
}

export interface ChartData {
  /** The time of the first values, in seconds since 1970. */
  readonly from: number;
  /** Seconds. */
  readonly step: number;
  readonly charts: readonly Chart[];
}

/** Without the current step: it is incomplete, and would look like a drop. */
export function chartDataOf({ steps, stepMs }: Overview): ChartData {
  const over = steps.slice(0, -1);
  const perSecond = (value: number): number => value / (stepMs / 1000);
  const series = (id: string, label: string, of: (step: StepFigures) => number | null): Series => ({ id, label, values: over.map(of) });
  const outcomes = over.map(byOutcome);
  const charts: readonly Omit<Chart, 'words'>[] = [
    {
      id: 'requests',
      title: 'Requests',
      unit: 'per second',
      shown: 'numbers',
      form: 'stacked',
      series: OUTCOMES.map((outcome) => ({
        id: outcome,
        label: OUTCOME_LABELS[outcome],
        values: outcomes.map((sums) => perSecond(sums[outcome])),
      })),
    },
    {
      id: 'latency',
      title: 'Latency',
      unit: 'of requests',
      shown: 'durations',
      form: 'lines',
      series: [series('p50', 'p50', ({ p50Ms }) => p50Ms), series('p99', 'p99', ({ p99Ms }) => p99Ms)],
    },
    {
      id: 'characters',
      title: 'Characters',
      unit: 'per second',
      shown: 'numbers',
      form: 'stacked',
      series: [series('characters', 'Characters', ({ characters }) => perSecond(characters))],
    },
    {
      id: 'engine-failures',
      title: 'Engine failures',
      unit: 'attempts in 5 s',
      shown: 'numbers',
      form: 'bars',
      series: [series('engine-failures', 'Failed attempts', ({ engineFailures }) => engineFailures)],
    },
    {
      id: 'in-flight',
      title: 'In flight',
      unit: 'at the same time',
      shown: 'numbers',
      form: 'lines',
      series: [series('in-flight', 'Requests', ({ inFlight }) => inFlight)],
    },
  ];
  return {
    from: (over[0]?.atMs ?? 0) / 1000,
    step: stepMs / 1000,
    charts: charts.map((chart) => ({ ...chart, words: wordsOf(chart) })),
  };
}

function wordsOf({ title, unit, shown: kind, series }: Omit<Chart, 'words'>): string {
  const shown = (value: number | null | undefined): string => {
    if (value === null || value === undefined) return 'nothing';
    return kind === 'durations' ? duration(value) : decimal(value);
  };
  const parts = series.map(({ label, values }) => {
    const most = values.reduce<number | null>((max, value) => (value === null || (max !== null && max >= value) ? max : value), null);
    return `${label}: latest ${shown(values.at(-1))}, highest ${shown(most)}`;
  });
  return `${title} ${unit}, the last 15 minutes. ${parts.join('. ')}.`;
}
