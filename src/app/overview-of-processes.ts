// Builds the figures of the console's overview from the states of all processes.
import type { StepFigures } from '../admin/operations/live.ts';
import type { Config } from '../config/config.ts';
import type { Overview } from '../console/overview-figures.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import { busiestOf } from '../runtime/busy-teams.ts';
import { addUp, grouped, quantileMs, LIVE_STEP_MS, sumOf } from '../runtime/live-window.ts';
import type { LiveStep } from '../runtime/live-window.ts';
import { mergeFigures, mergeReplicas } from './process-state.ts';
import type { ProcessStates } from './process-state.ts';
import { versionOf } from './version.ts';

const MINUTE_MS = 60_000;

/** The last minute: twelve complete steps, and the current one. */
const LATELY_STEPS = MINUTE_MS / LIVE_STEP_MS + 1;

const BUSIEST_SHOWN = 10;

const version = versionOf();

/** `nowMs` is the wall clock. */
export function overviewOf(
  { expected, states }: ProcessStates,
  config: Config,
  nowMs: number,
  pluginStatuses: Overview['pluginStatuses'],
): Overview {
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
    pluginStatuses,
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
