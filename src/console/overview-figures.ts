// The data of the overview at one moment: live window, engine, store and processes; as columns for
// its charts, and in words.
import type { StepFigures } from '../admin/operations/live.ts';
import { problems } from '../core/problem.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import type { Busiest } from '../ports/access-entry.ts';
import type { ReplicaHealth } from '../ports/engine.ts';
import type { NamedFigures } from '../ports/plugin.ts';
import { decimal, duration } from './shown.ts';

export interface OverviewEngine {
  readonly name: string;
  readonly protocol: string;
  readonly replicas: readonly ReplicaHealth[];
}

export interface Overview {
  readonly nowMs: number;
  readonly stepMs: number;
  /** Of 15 minutes, oldest first; the newest one is not over yet. */
  readonly steps: readonly StepFigures[];
  /** The same by minutes of the wall clock. */
  readonly minutes: readonly StepFigures[];
  /** The last minute up to now as one; it begins at `atMs`. */
  readonly lately: StepFigures;
  /** All of the steps as one. */
  readonly whole: StepFigures;
  readonly inFlight: number;
  readonly busiest: Busiest;
  readonly processes: { readonly expected: number; readonly answering: number };
  readonly draining: boolean;
  readonly store: StoreState;
  /** In the order of the configuration; at least one. */
  readonly engines: readonly OverviewEngine[];
  /** The rules; `undefined`: all engines, in their order. */
  readonly routing: readonly RoutingRule[] | undefined;
  /** The statuses of the problem codes that plugins add. */
  readonly pluginStatuses: ReadonlyMap<string, number>;
  readonly plugins: readonly NamedFigures[];
  readonly version: string;
  readonly startedAtMs: number;
}

interface StoreState {
  readonly url: string;
  readonly answers: boolean;
  /** Why it, or part of it, takes no writes; `undefined` if it does. */
  readonly fault?: string | undefined;
  /** How long the latest good answer took; `undefined` before the first. */
  readonly tookMs: number | undefined;
  /** Commits and releases that it has not acknowledged yet. */
  readonly openSettlements: number;
  /** How far its clock is from the time that is believed; `undefined` while it is right. */
  readonly clockStepMs?: number | undefined;
}

/** The outcome of a request, as far as colours distinguish it. */
type OutcomeKind = 'answered' | 'refused' | 'failed' | 'left';

const OUTCOMES: readonly OutcomeKind[] = ['answered', 'refused', 'failed', 'left'];

export const OUTCOME_LABELS: Readonly<Record<OutcomeKind, string>> = {
  answered: 'Answered',
  refused: 'Refused (4xx)',
  failed: 'Failed (5xx)',
  left: 'Caller left',
};

/** `code` as in the access log: a problem's code, `ok` or `client_closed`. */
export function outcomeOf(code: string, pluginStatuses: Overview['pluginStatuses']): OutcomeKind {
  if (code === 'ok') return 'answered';
  if (code === 'client_closed') return 'left';
  const own = (problems as Readonly<Record<string, { readonly status: number }>>)[code]?.status;
  return (own ?? pluginStatuses.get(code) ?? 500) < 500 ? 'refused' : 'failed';
}

/** Requests by outcome; a step without requests has zeros. */
export function byOutcome({ requests }: StepFigures, pluginStatuses: Overview['pluginStatuses']): Readonly<Record<OutcomeKind, number>> {
  const sums = { answered: 0, refused: 0, failed: 0, left: 0 };
  for (const [code, count] of Object.entries(requests)) sums[outcomeOf(code, pluginStatuses)] += count;
  return sums;
}

export function requestsOf({ requests }: StepFigures): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

export interface Chart {
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

interface Series {
  readonly id: string;
  readonly label: string;
  /** One for each time in `Columns`; `null` if there is no value. */
  readonly values: readonly (number | null)[];
}

interface ChartData {
  /** The time of the first values, in seconds since 1970. */
  readonly from: number;
  readonly step: number;
  readonly charts: readonly Chart[];
}

/** Without the current step: it is incomplete, and would look like a drop. */
export function chartDataOf({ steps, stepMs, pluginStatuses }: Overview): ChartData {
  const over = steps.slice(0, -1);
  const perSecond = (value: number): number => value / (stepMs / 1000);
  const series = (label: string, of: (step: StepFigures) => number | null, id = idOf(label)): Series => ({
    id,
    label,
    values: over.map(of),
  });
  const outcomes = over.map((step) => byOutcome(step, pluginStatuses));
  const stacked = OUTCOMES.map((id) => ({ id, label: OUTCOME_LABELS[id], values: outcomes.map((sums) => perSecond(sums[id])) }));
  const latencies = [series('p50', ({ p50Ms }) => p50Ms), series('p99', ({ p99Ms }) => p99Ms)];
  const characters = [series('Characters', (step) => perSecond(step.characters))];
  const failures = [series('Failed attempts', ({ engineFailures }) => engineFailures, 'engine-failures')];
  const inFlight = [series('Requests', (step) => step.inFlight, 'in-flight')];
  const charts = [
    chartOf('Requests', 'per second', 'stacked', stacked),
    chartOf('Latency', 'of requests', 'lines', latencies, 'durations'),
    chartOf('Characters', 'per second', 'stacked', characters),
    chartOf('Engine failures', 'attempts in 5 s', 'bars', failures),
    chartOf('In flight', 'at the same time', 'lines', inFlight),
  ];
  return { from: (over[0]?.atMs ?? 0) / 1000, step: stepMs / 1000, charts };
}

function chartOf(title: string, unit: string, form: Chart['form'], series: readonly Series[], shown: Chart['shown'] = 'numbers'): Chart {
  const chart = { id: idOf(title), title, unit, shown, form, series };
  return { ...chart, words: wordsOf(chart) };
}

function idOf(words: string): string {
  return words.toLowerCase().replaceAll(' ', '-');
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
