// The data of the overview at one moment: live window, engine, store and processes; as columns for
// its charts, and in words.
import type { StepFigures } from '../admin/operations/live.ts';
import { problems } from '../core/problem.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import type { Busiest } from '../ports/access-entry.ts';
import type { ReplicaHealth } from '../ports/engine.ts';
import type { NamedFigures } from '../ports/plugin.ts';
import { decimal, duration } from './shown.ts';

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
  readonly engines: readonly { readonly name: string; readonly protocol: string; readonly replicas: readonly ReplicaHealth[] }[];
  /** The rules; `undefined`: all engines, in their order. */
  readonly routing: readonly RoutingRule[] | undefined;
  readonly outcomeOf: OutcomeOf;
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

export const OUTCOME_LABELS: Readonly<Record<OutcomeKind, string>> = {
  answered: 'Answered',
  refused: 'Refused (4xx)',
  failed: 'Failed (5xx)',
  left: 'Caller left',
};

/** `code` as in the access log: a problem's code, `ok` or `client_closed`. */
type OutcomeOf = (code: string) => OutcomeKind;

/** With the statuses of the problem codes that plugins add. */
export function outcomesWith(pluginStatuses: ReadonlyMap<string, number>): OutcomeOf {
  return (code) => {
    if (code === 'ok') return 'answered';
    if (code === 'client_closed') return 'left';
    const own = (problems as Readonly<Record<string, { readonly status: number }>>)[code]?.status;
    return (own ?? pluginStatuses.get(code) ?? 500) < 500 ? 'refused' : 'failed';
  };
}

/** Requests by outcome, in the order of the labels; a step without requests has zeros. */
export function byOutcome({ requests }: StepFigures, outcomeOf: OutcomeOf): Readonly<Record<OutcomeKind, number>> {
  const sums = { answered: 0, refused: 0, failed: 0, left: 0 };
  for (const [code, count] of Object.entries(requests)) sums[outcomeOf(code)] += count;
  return sums;
}

export function requestsOf({ requests }: StepFigures): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

export interface Chart {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** Stacked areas, bars, or lines. */
  readonly form: 'stacked' | 'bars' | 'lines';
  readonly series: readonly Series[];
  /** How the values are formatted: durations are in ms. */
  readonly shown: 'numbers' | 'durations';
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
export function chartDataOf({ steps, stepMs, outcomeOf }: Overview): ChartData {
  const over = steps.slice(0, -1);
  const series = (label: string, of: (step: StepFigures) => number | null, id = idOf(label)): Series => ({
    id,
    label,
    values: over.map(of),
  });
  const perSecond = (value: number): number => value / (stepMs / 1000);
  const stacked = Object.entries(OUTCOME_LABELS).map(([id, label]) =>
    series(label, (step) => perSecond(byOutcome(step, outcomeOf)[id as OutcomeKind]), id),
  );
  const charts = [
    chart('Requests', 'per second', 'stacked', stacked),
    chart('Latency', 'of requests', 'lines', [series('p50', ({ p50Ms }) => p50Ms), series('p99', ({ p99Ms }) => p99Ms)], 'durations'),
    chart('Characters', 'per second', 'stacked', [series('Characters', ({ characters }) => perSecond(characters))]),
    chart('Engine failures', 'attempts in 5 s', 'bars', [series('Failed attempts', (step) => step.engineFailures, 'engine-failures')]),
    chart('In flight', 'at the same time', 'lines', [series('Requests', (step) => step.inFlight, 'in-flight')]),
  ];
  return { from: (over[0]?.atMs ?? 0) / 1000, step: stepMs / 1000, charts };
}

function chart(title: string, unit: string, form: Chart['form'], series: readonly Series[], shown: Chart['shown'] = 'numbers'): Chart {
  const value = shown === 'durations' ? duration : decimal;
  const parts = series.map(({ label, values }) => {
    const known = values.filter((one) => one !== null);
    const [latest, most] = [values.at(-1) ?? undefined, known.length === 0 ? undefined : Math.max(...known)];
    return `${label}: latest ${latest === undefined ? 'nothing' : value(latest)}, highest ${most === undefined ? 'nothing' : value(most)}`;
  });
  return { id: idOf(title), title, unit, form, series, shown, words: `${title} ${unit}, the last 15 minutes. ${parts.join('. ')}.` };
}

function idOf(words: string): string {
  return words.toLowerCase().replaceAll(' ', '-');
}
