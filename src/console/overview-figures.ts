// The data of the overview at one moment: live window, engine, store and processes; and the outcomes
// of its requests.
import type { StepFigures } from '../admin/operations/live.ts';
import { problems } from '../core/problem.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import type { Busiest } from '../ports/access-entry.ts';
import type { ReplicaHealth } from '../ports/engine.ts';
import type { NamedFigures } from '../ports/plugin.ts';

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
export type OutcomeKind = 'answered' | 'refused' | 'failed' | 'left';

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
