// Prometheus metrics of a running gateway: labels come from fixed sets, and only a few teams are labels.
import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { AccessEntry } from '../../ports/access-entry.ts';
import type { AttemptFailure, EngineTokens } from '../../ports/engine.ts';
import type { KeyLookup } from '../../ports/key-directory.ts';
import type { Admission, Verdict, SettlementResult } from '../../ports/ledger.ts';
import type { PluginMetric } from '../../ports/plugin.ts';
import type { ShedReason } from '../../ports/pressure.ts';
import { registerEventLoopGauge } from './event-loop-gauge.ts';
import {
  unaskedSeries,
  tokenSeries,
  batchSeries,
  admissionSeries,
  lookupSeries,
  shedSeries,
  settlementSeries,
  restoredSeries,
} from './counters.ts';
import { AttemptCounter, registerReplicaGauge } from './engine-metrics.ts';
import type { ReplicaState } from './engine-metrics.ts';
import type { MetricsSnapshot } from './merged-metrics.ts';
import { registerEventSeries } from './event-series.ts';
import type { EventFigures } from './event-series.ts';
import { registerPluginMetric } from './plugin-series.ts';
import { registerTeamGauges } from './team-gauges.ts';
import type { TeamGaugesOptions } from './team-gauges.ts';
import { RequestSeries } from './request-series.ts';

/** Gauges, read at each scrape; `aggregator` says how the values of several processes become one. */
const GAUGES = {
  in_flight: { name: 'lingate_requests_in_flight', help: 'Requests that have begun and not ended.', aggregator: 'sum' },
  open_settlements: {
    name: 'lingate_open_settlements',
    help: 'Verdicts on reservations that the store has not acknowledged yet.',
    aggregator: 'sum',
  },
  store_up: { name: 'lingate_store_up', help: '1 while the store answers the background probe.', aggregator: 'min' },
  store_writable: { name: 'lingate_store_writable', help: '1 while all of the store takes writes.', aggregator: 'min' },
  draining: { name: 'lingate_draining', help: '1 while the process lets its last requests end.', aggregator: 'max' },
} as const;

export interface Metrics {
  request(entry: AccessEntry): void;
  admission(admission: Admission): void;
  keyLookup(result: KeyLookup): void;
  shed(reason: ShedReason): void;
  settlement(verdict: Verdict, result: SettlementResult): void;
  /** What counts the attempts at a replica. */
  engineReplica(engine: string, replica: string): (outcome: AttemptFailure | 'usable') => void;
  /** Registers where the state of replicas is read; to be called once. */
  engineReplicas(read: () => readonly ReplicaState[]): void;
  /** Registers where a gauge is read, when its source exists; to be called once for each. */
  gauge(which: keyof typeof GAUGES, read: () => number): void;
  /** Registers what a watch over all teams finds; to be called once. */
  teams(options: TeamGaugesOptions): void;
  /** Registers what a plugin, by its name, wants shown; to be called once for each metric. */
  plugin(name: string, metric: PluginMetric): void;
  /** Registers what the sender of events counts; to be called once. */
  events(figures: EventFigures): void;
  /** Revocations that a new master of the store had lost, and was told again. */
  revocationsRestored(count: number): void;
  engineTokens(tokens: EngineTokens): void;
  /** An engine, or the upstream of a forward route, has sent bytes that nobody had asked for. */
  engineUnasked(): void;
  /** A call to the engine that several requests shared. */
  engineBatch(members: number): void;
  /** The text that `/metrics` answers. */
  render(): Promise<string>;
  /** The same as values, for adding up several processes. */
  snapshot(): Promise<MetricsSnapshot>;
  readonly contentType: string;
}

export function openMetrics(): Metrics {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const requests = new RequestSeries(registry);
  const attempts = new AttemptCounter(registry);
  const batches = batchSeries(registry);
  const tokens = tokenSeries(registry);
  const unasked = unaskedSeries(registry);
  const admissions = admissionSeries(registry);
  const lookups = lookupSeries(registry);
  const sheds = shedSeries(registry);
  const settlements = settlementSeries(registry);
  const restored = restoredSeries(registry);
  let openReservations = 0;
  registerGauge(registry, OPEN_RESERVATIONS, () => openReservations);
  return {
    contentType: registry.contentType,
    gauge: (which, read) => registerGauge(registry, GAUGES[which], read),
    teams: (options) => registerTeamGauges(registry, options),
    plugin: (name, metric) => registerPluginMetric(registry, name, metric),
    events: (figures) => registerEventSeries(registry, figures),
    render: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
    request: (entry) => requests.record(entry),
    admission(admission) {
      admissions[admission.kind].pending++;
      // An admission of unknown outcome may have made a reservation: it counts as open until its release is settled.
      const holds = admission.kind === 'unavailable' || (admission.kind === 'admitted' && admission.reservation !== undefined);
      if (holds) openReservations++;
    },
    keyLookup: (result) => void lookups[result].pending++,
    shed: (reason) => void sheds[reason].pending++,
    settlement(verdict, result) {
      settlements[verdict][result].pending++;
      openReservations--;
    },
    engineReplica: (engine, replica) => attempts.of(engine, replica),
    engineReplicas: (read) => registerReplicaGauge(registry, read),
    revocationsRestored(count) {
      restored.pending += count;
    },
    engineTokens({ prompt, completion }) {
      tokens.prompt.pending += prompt;
      tokens.completion.pending += completion;
    },
    engineUnasked: () => void unasked.pending++,
    engineBatch(members) {
      batches.calls.pending++;
      batches.members.pending += members;
    },
  };
}

const OPEN_RESERVATIONS = {
  name: 'lingate_open_reservations',
  help: 'Reservations that this process holds, or may hold, and has not settled.',
  aggregator: 'sum',
} as const;

interface GaugeText {
  readonly name: string;
  readonly help: string;
  readonly aggregator: 'sum' | 'min' | 'max';
}

function registerGauge(registry: Registry, text: GaugeText, read: () => number): void {
  const gauge: Gauge = new Gauge({ ...text, registers: [registry], collect: () => gauge.set(read()) });
}

/** CPU, memory, collections of garbage, file descriptors: the names that dashboards for Node know, behind our prefix. */
function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix: 'lingate_', eventLoopMonitoringPrecision: 1000 });
  // Replaced by a gauge of our own: they include the monitor's own interval, and show a lag of 10 ms where there is none.
  const lag = registry.getMetricsAsArray().filter(({ name }) => name.includes('_eventloop_lag_'));
  for (const { name } of lag) registry.removeSingleMetric(name);
  registerEventLoopGauge(registry);
}
