// The data of the overview: live window, engine, store and processes at one moment.
import type { StepFigures } from '../admin/reports.ts';
import { problems } from '../core/problem.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import type { ReplicaHealth } from '../ports/engine.ts';
import type { NamedFigures } from '../ports/plugin.ts';

export interface OverviewEngine {
  readonly name: string;
  readonly protocol: string;
  readonly replicas: readonly ReplicaHealth[];
}

export interface Overview {
  /** The wall clock when it was made. */
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
  /** Requests under way. */
  readonly inFlight: number;
  readonly processes: { readonly expected: number; readonly answering: number };
  readonly draining: boolean;
  readonly store: StoreState;
  /** In the order of the configuration; at least one. */
  readonly engines: readonly OverviewEngine[];
  /** The rules; `undefined`: all engines, in their order. */
  readonly routing: readonly RoutingRule[] | undefined;
  /** The figures of those plugins that have any. */
  readonly plugins: readonly NamedFigures[];
  readonly version: string;
  /** When the gateway was started, by the wall clock. */
  readonly startedAtMs: number;
}

export interface StoreState {
  /** Without credentials. */
  readonly url: string;
  readonly answers: boolean;
  /** Why it, or part of it, takes no writes; `undefined` if it does. */
  readonly fault?: string | undefined;
  /** How long the latest good answer took; `undefined` before the first. */
  readonly tookMs: number | undefined;
  /** Commits and releases that it has not acknowledged yet. */
  readonly openSettlements: number;
}

/** The outcome of a request, as far as colours distinguish it. */
export type OutcomeKind = 'answered' | 'refused' | 'failed' | 'left';

/** In the order in which they are shown. */
export const OUTCOMES: readonly OutcomeKind[] = ['answered', 'refused', 'failed', 'left'];

export const OUTCOME_LABELS: Readonly<Record<OutcomeKind, string>> = {
  answered: 'Answered',
  refused: 'Refused (4xx)',
  failed: 'Failed (5xx)',
  left: 'Caller left',
};

/** `code` as in the access log: a problem's code, `ok` or `client_closed`. */
export function outcomeOf(code: string): OutcomeKind {
  if (code === 'ok') return 'answered';
  if (code === 'client_closed') return 'left';
  const { status } = (problems as Readonly<Record<string, { readonly status: number }>>)[code] ?? { status: 500 };
  return status < 500 ? 'refused' : 'failed';
}

/** Requests by outcome; a step without requests has zeros. */
export function byOutcome({ requests }: StepFigures): Readonly<Record<OutcomeKind, number>> {
  const sums = { answered: 0, refused: 0, failed: 0, left: 0 };
  for (const [code, count] of Object.entries(requests)) sums[outcomeOf(code)] += count;
  return sums;
}

export function requestsOf({ requests }: StepFigures): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}
