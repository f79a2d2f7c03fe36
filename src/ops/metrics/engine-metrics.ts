// Metrics of the engine's replicas: attempts by outcome, and whether a replica is in use or set aside.
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { AttemptFailure } from '../../ports/engine.ts';
import { FastCounter } from './fast-counter.ts';
import type { CounterSeries } from './fast-counter.ts';

type AttemptOutcome = AttemptFailure | 'usable';

// Spelled out so that every series is present from the start: if a series only appeared with the first failure, its rate would not
// include that failure. The compiler compares this with the port.
const OUTCOMES: Readonly<Record<AttemptOutcome, true>> = {
  usable: true,
  connect: true,
  reset: true,
  timeout: true,
  status: true,
  too_large: true,
  not_json: true,
  wrong_shape: true,
  foreign_id: true,
  unasked: true,
  cut_off: true,
  unsupported_pair: true,
  busy: true,
  engine_quota: true,
  cancelled: true,
  internal: true,
};

/** Whether one process uses the replica. */
export interface ReplicaState {
  readonly engine: string;
  readonly replica: string;
  readonly up: boolean;
}

type OutcomeSeries = Readonly<Record<AttemptOutcome, CounterSeries>>;

export class AttemptCounter {
  readonly #counter: FastCounter<'engine' | 'replica' | 'outcome'>;
  readonly #quota: CounterSeries;
  /** A replica that was removed may be added again: its series continue. */
  readonly #series = new Map<string, OutcomeSeries>();

  constructor(registry: Registry) {
    this.#counter = new FastCounter({
      name: 'lingate_engine_attempts_total',
      help: 'Attempts at the engine by replica and outcome: usable, or the failure. An attempt shared by several requests counts once.',
      labels: ['engine', 'replica', 'outcome'],
      registry,
    });
    const help = "Attempts that failed because the operator's own quota at the engine is used up: alert on this.";
    this.#quota = new FastCounter({ name: 'lingate_engine_quota_exhausted_total', help, labels: [], registry }).series({});
  }

  /** Counts an attempt at this replica. */
  of(engine: string, replica: string): (outcome: AttemptOutcome) => void {
    const name = `${engine} ${replica}`;
    const series = this.#series.get(name) ?? this.#begin(engine, replica);
    this.#series.set(name, series);
    return (outcome) => {
      series[outcome].pending++;
      if (outcome === 'engine_quota') this.#quota.pending++;
    };
  }

  #begin(engine: string, replica: string): OutcomeSeries {
    const outcomes = Object.keys(OUTCOMES) as AttemptOutcome[];
    return Object.fromEntries(outcomes.map((outcome) => [outcome, this.#counter.series({ engine, replica, outcome })])) as OutcomeSeries;
  }
}

export function registerReplicaGauge(registry: Registry, read: () => readonly ReplicaState[]): void {
  const gauge = new Gauge({
    name: 'lingate_engine_replica_up',
    help: "1 while a replica is in use, 0 while it is set aside; an engine's only replica is never set aside.",
    labelNames: ['engine', 'replica'],
    registers: [registry],
    // With several processes: 0 as soon as one has set it aside.
    aggregator: 'min',
    // Reset at each scrape, because a replica that is no longer configured must lose its series.
    collect: () => {
      gauge.reset();
      for (const { engine, replica, up } of read()) gauge.set({ engine, replica }, Number(up));
    },
  });
}
