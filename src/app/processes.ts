// What a process reports to the console, as plain values; several are merged into the overview.
import type { Readiness } from '../ops/ops-pages.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import type { ReplicaHealth } from '../ports/engine.ts';
import type { NamedFigures, PluginFigure } from '../ports/plugin.ts';
import type { BusyTeamsSnapshot, LiveStep } from '../runtime/recent-traffic.ts';
import type { StepFigures } from '../admin/operations/live.ts';
import type { Config } from '../config/config.ts';
import type { Overview } from '../console/overview-figures.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import { busiestOf, addUp, grouped, quantileMs, LIVE_STEP_MS, sumOf } from '../runtime/recent-traffic.ts';
import { versionOf } from './version.ts';

/** A replica with its engine. */
type EngineReplica = ReplicaHealth & { readonly engine: string };

export interface ProcessState {
  /** The last 15 minutes. */
  readonly steps: readonly LiveStep[];
  readonly busy: BusyTeamsSnapshot;
  /** Requests in flight. */
  readonly inFlight: number;
  /** Commits and releases that the store has not acknowledged yet. */
  readonly openSettlements: number;
  readonly replicas: readonly EngineReplica[];
  readonly storeAnswers: boolean;
  /** Why the store, or part of it, takes no writes; `undefined` if it does. */
  readonly storeFault?: string | undefined;
  /** How long the store's latest good answer to a probe took; `undefined` before the first. */
  readonly storeTookMs: number | undefined;
  /** How far the clock is from the time that is believed; `undefined` while it is right. */
  readonly clockStepMs?: number | undefined;
  readonly draining: boolean;
  /** Of plugins that have any. */
  readonly plugins?: readonly NamedFigures[];
}

/** The processes that serve callers. */
export interface ProcessStates {
  /** How many processes there should be. */
  readonly expected: number;
  /** The states of those that answered. */
  readonly states: readonly ProcessState[];
}

/** The processes that serve callers, this one or workers; what does not answer is left out. */
export interface ServingProcesses {
  readiness(): Readiness | Promise<Readiness>;
  states(): Promise<ProcessStates>;
  /** The latest requests that were refused or met a failure, newest first. */
  recentRequests(): Promise<readonly RecentRequest[]>;
  /** A team or a key was changed; resolves when those that serve callers know. */
  teamsChanged(): void | Promise<void>;
  /** Puts a configuration in effect. Throws, and changes nothing, if it cannot. */
  replace(next: Config): void;
}

/** Each replica once, in the order of first appearance; counts are summed, times are the latest. */
function mergeReplicas(states: readonly Pick<ProcessState, 'replicas'>[]): readonly EngineReplica[] {
  const merged = new Map<string, EngineReplica>();
  for (const health of states.flatMap(({ replicas }) => replicas)) {
    const name = `${health.engine} ${health.url}`;
    const before = merged.get(name);
    merged.set(name, before === undefined ? health : addedUp(before, health));
  }
  return [...merged.values()];
}

function addedUp(a: EngineReplica, b: EngineReplica): EngineReplica {
  const usableAgoMs = Math.min(a.usableAgoMs ?? Infinity, b.usableAgoMs ?? Infinity);
  const [failed, other] = [a.lastFailure, b.lastFailure];
  return {
    engine: a.engine,
    url: a.url,
    usable: a.usable + b.usable,
    failed: a.failed + b.failed,
    usableAgoMs: usableAgoMs === Infinity ? undefined : usableAgoMs,
    // Set aside in one process counts as set aside; the longest remaining time is shown.
    asideMs: a.asideMs === undefined || b.asideMs === undefined ? (a.asideMs ?? b.asideMs) : Math.max(a.asideMs, b.asideMs),
    // What one process could use works.
    reached: a.reached === true || b.reached === true || (a.reached ?? b.reached),
    lastFailure: failed === undefined || (other !== undefined && other.agoMs < failed.agoMs) ? other : failed,
  };
}

/** The same figures of the same plugins, added up. */
function mergeFigures(states: readonly Pick<ProcessState, 'plugins'>[]): readonly NamedFigures[] {
  const merged = new Map<string, Map<string, PluginFigure>>();
  for (const { plugin, figures } of states.flatMap(({ plugins = [] }) => plugins)) {
    const known = merged.get(plugin) ?? new Map<string, PluginFigure>();
    for (const figure of figures) known.set(figure.name, added(known.get(figure.name), figure));
    merged.set(plugin, known);
  }
  return [...merged].map(([plugin, figures]) => ({ plugin, figures: [...figures.values()] }));
}

function added(before: PluginFigure | undefined, figure: PluginFigure): PluginFigure {
  if (before === undefined) return figure;
  if ('count' in figure) return 'count' in before ? { name: figure.name, count: before.count + figure.count } : figure;
  return 'part' in before ? { name: figure.name, part: before.part + figure.part, whole: before.whole + figure.whole } : figure;
}

const MINUTE_MS = 60_000;

/** The last minute: twelve complete steps, and the current one. */
const LATELY_STEPS = MINUTE_MS / LIVE_STEP_MS + 1;

const BUSIEST_SHOWN = 10;

const version = versionOf();

/** `nowMs` is the wall clock. */
export function overviewOf({ expected, states }: ProcessStates, config: Config, nowMs: number, outcomeOf: Overview['outcomeOf']): Overview {
  const steps = addUp(
    states.map((state) => state.steps),
    nowMs,
  );
  const tookMs = states.map((state) => state.storeTookMs).filter((ms) => ms !== undefined);
  return {
    nowMs,
    stepMs: LIVE_STEP_MS,
    steps: steps.map(figuresOf),
    minutes: grouped(steps, MINUTE_MS).map(figuresOf),
    lately: figuresOf(sumOf(steps.slice(-LATELY_STEPS))),
    whole: figuresOf(sumOf(steps)),
    inFlight: sumBy(states, (state) => state.inFlight),
    busiest: busiestOf(
      states.map((state) => state.busy),
      BUSIEST_SHOWN,
    ),
    processes: { expected, answering: states.length },
    draining: states.some((state) => state.draining),
    store: {
      url: withoutCredentials(config.store),
      answers: states.length > 0 && states.every((state) => state.storeAnswers),
      fault: states.find((state) => state.storeFault !== undefined)?.storeFault,
      tookMs: tookMs.length === 0 ? undefined : Math.max(...tookMs),
      openSettlements: sumBy(states, (state) => state.openSettlements),
      clockStepMs: states.find((state) => state.clockStepMs !== undefined)?.clockStepMs,
    },
    engines: enginesOf(config, states),
    routing: config.routing,
    outcomeOf,
    plugins: mergeFigures(states),
    version,
    startedAtMs: nowMs - process.uptime() * 1000,
  };
}

function enginesOf({ engines }: Config, states: ProcessStates['states']): Overview['engines'] {
  const replicas = mergeReplicas(states);
  return engines.map(({ name, protocol }) => ({ name, protocol, replicas: replicas.filter(({ engine }) => engine === name) }));
}

/** A step with its durations reduced to quantiles. */
function figuresOf(step: LiveStep): StepFigures {
  return { ...step, p50Ms: quantileMs(step, 0.5), p99Ms: quantileMs(step, 0.99) };
}

function sumBy<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((sum, item) => sum + of(item), 0);
}
