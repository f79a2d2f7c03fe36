// Prometheus metrics: what there is to know of a running gateway, with labels from fixed sets only.
import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { AccessEntry } from '../../ports/access-log.ts';
import type { AttemptFailure, EngineTokens } from '../../ports/engine.ts';
import type { Admission, Resolution, Verdict } from '../../ports/ledger.ts';
import type { ShedReason } from '../../ports/pressure.ts';
import { registerEventLoopGauge } from './event-loop-gauge.ts';
import { FastCounter } from './fast-counter.ts';
import type { CounterSeries } from './fast-counter.ts';
import type { MetricsSnapshot } from './merged-metrics.ts';
import { RequestSeries } from './request-series.ts';

/** What is read when someone scrapes, rather than counted as it happens; how the values of several processes become one. */
const GAUGES = {
  in_flight: { name: 'lingate_requests_in_flight', help: 'Requests that have begun and not ended.', aggregator: 'sum' },
  open_settlements: {
    name: 'lingate_open_settlements',
    help: 'Verdicts on reservations that the store has not acknowledged yet.',
    aggregator: 'sum',
  },
  store_up: { name: 'lingate_store_up', help: '1 while the store answers the background probe.', aggregator: 'min' },
  draining: { name: 'lingate_draining', help: '1 while the process lets its last requests end.', aggregator: 'max' },
} as const;

export type KeyLookup = 'hit' | 'unknown_hit' | 'miss' | 'refused';
export type SettlementResult = Exclude<Resolution['kind'], 'unavailable'> | 'abandoned';
type AttemptOutcome = AttemptFailure | 'usable';

export interface Metrics {
  request(entry: AccessEntry): void;
  admission(admission: Admission): void;
  keyLookup(result: KeyLookup): void;
  shed(reason: ShedReason): void;
  settlement(verdict: Verdict, result: SettlementResult): void;
  engineAttempts(failures: readonly AttemptFailure[], usable: boolean): void;
  /** Registers where a gauge is read, when its source exists; to be called once for each. */
  gauge(which: keyof typeof GAUGES, read: () => number): void;
  engineTokens(tokens: EngineTokens): void;
  /** A call to the engine that several requests shared. */
  engineBatch(members: number): void;
  /** The text that `/metrics` answers. */
  render(): Promise<string>;
  /** The same as values, for whoever adds up several processes. */
  snapshot(): Promise<MetricsSnapshot>;
  readonly contentType: string;
}

export function openMetrics(): Metrics {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const requests = new RequestSeries(registry);
  const attempts = attemptSeries(registry);
  const batches = batchSeries(registry);
  const tokens = tokenSeries(registry);
  const quota = quotaSeries(registry);
  const admissions = admissionSeries(registry);
  const lookups = lookupSeries(registry);
  const sheds = shedSeries(registry);
  const settlements = settlementSeries(registry);
  let openReservations = 0;
  registerGauge(registry, OPEN_RESERVATIONS, () => openReservations);
  return {
    contentType: registry.contentType,
    gauge: (which, read) => registerGauge(registry, GAUGES[which], read),
    render: () => registry.metrics(),
    snapshot: () => registry.getMetricsAsJSON(),
    request: (entry) => requests.record(entry),
    admission(admission) {
      admissions[admission.kind].pending++;
      // One of unknown outcome may have reserved something: it is released, and counts until it is.
      const holds = admission.kind === 'unavailable' || (admission.kind === 'admitted' && admission.reservation !== undefined);
      if (holds) openReservations++;
    },
    keyLookup: (result) => void lookups[result].pending++,
    shed: (reason) => void sheds[reason].pending++,
    settlement(verdict, result) {
      settlements[verdict][result].pending++;
      openReservations--;
    },
    engineAttempts(failures, usable) {
      for (const outcome of failures) {
        attempts[outcome].pending++;
        if (outcome === 'engine_quota') quota.pending++;
      }
      if (usable) attempts.usable.pending++;
    },
    engineTokens({ prompt, completion }) {
      tokens.prompt.pending += prompt;
      tokens.completion.pending += completion;
    },
    engineBatch(members) {
      batches.calls.pending++;
      batches.members.pending += members;
    },
  };
}

// The sets below are spelled out so that every series is shown from the start: a rate over one that appears with its first
// failure would not see that failure. The compiler holds them to the ports.

function attemptSeries(registry: Registry): Readonly<Record<AttemptOutcome, CounterSeries>> {
  const counter = new FastCounter({
    name: 'lingate_engine_attempts_total',
    help: 'Attempts at the engine by outcome: usable, or why not.',
    labels: ['outcome'],
    registry,
  });
  return counter.seriesBy<AttemptOutcome>('outcome', {
    usable: true,
    connect: true,
    reset: true,
    timeout: true,
    status: true,
    too_large: true,
    not_json: true,
    wrong_shape: true,
    unsupported_pair: true,
    busy: true,
    engine_quota: true,
    cancelled: true,
    internal: true,
  });
}

function quotaSeries(registry: Registry): CounterSeries {
  const help = "Attempts that failed because the operator's own quota at the engine is used up: to be alerted on.";
  return new FastCounter({ name: 'lingate_engine_quota_exhausted_total', help, labels: [], registry }).series({});
}

function tokenSeries(registry: Registry): Readonly<Record<keyof EngineTokens, CounterSeries>> {
  const help = 'Tokens that a language model has read and written, as it reported them.';
  const counter = new FastCounter({ name: 'lingate_engine_tokens_total', help, labels: ['kind'], registry });
  return counter.seriesBy<keyof EngineTokens>('kind', { prompt: true, completion: true });
}

interface BatchSeries {
  readonly calls: CounterSeries;
  readonly members: CounterSeries;
}

function batchSeries(registry: Registry): BatchSeries {
  const series = (name: string, help: string): CounterSeries => new FastCounter({ name, help, labels: [], registry }).series({});
  return {
    calls: series('lingate_engine_batches_total', 'Calls to the engine that several requests shared.'),
    members: series('lingate_engine_batched_requests_total', 'Requests whose first attempt was such a call.'),
  };
}

function admissionSeries(registry: Registry): Readonly<Record<Admission['kind'], CounterSeries>> {
  const counter = new FastCounter({ name: 'lingate_admissions_total', help: 'Admissions by result.', labels: ['result'], registry });
  return counter.seriesBy<Admission['kind']>('result', {
    admitted: true,
    repeated: true,
    key_unknown: true,
    key_revoked: true,
    rate_limited: true,
    text_too_long: true,
    glossary_missing: true,
    glossary_mismatch: true,
    quota_exceeded: true,
    credit_exhausted: true,
    unavailable: true,
  });
}

function lookupSeries(registry: Registry): Readonly<Record<KeyLookup, CounterSeries>> {
  const counter = new FastCounter({
    name: 'lingate_key_lookups_total',
    help: 'Look-ups of keys: hit and unknown_hit were answered by the cache, miss by the store, refused by nobody (too many at once).',
    labels: ['result'],
    registry,
  });
  return counter.seriesBy<KeyLookup>('result', { hit: true, unknown_hit: true, miss: true, refused: true });
}

function shedSeries(registry: Registry): Readonly<Record<ShedReason, CounterSeries>> {
  const counter = new FastCounter({
    name: 'lingate_requests_shed_total',
    help: 'Requests turned away by load: too many under way in this process or of one team, or an event loop that does not keep up.',
    labels: ['reason'],
    registry,
  });
  return counter.seriesBy<ShedReason>('reason', { concurrency: true, team_concurrency: true, loop_delay: true });
}

function settlementSeries(registry: Registry): Readonly<Record<Verdict, Readonly<Record<SettlementResult, CounterSeries>>>> {
  const counter = new FastCounter({
    name: 'lingate_settlements_total',
    help: 'Reservations settled, by verdict and how the ledger has it; a commit that is expired or abandoned was delivered uncharged.',
    labels: ['verdict', 'result'],
    registry,
  });
  const of = (verdict: Verdict): Record<SettlementResult, CounterSeries> => ({
    committed: counter.series({ verdict, result: 'committed' }),
    released: counter.series({ verdict, result: 'released' }),
    expired: counter.series({ verdict, result: 'expired' }),
    absent: counter.series({ verdict, result: 'absent' }),
    abandoned: counter.series({ verdict, result: 'abandoned' }),
  });
  return { commit: of('commit'), release: of('release') };
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
  // These include the time that the monitor meant to wait, and read as a lag of 10 ms where there is none.
  const lag = registry.getMetricsAsArray().filter(({ name }) => name.includes('_eventloop_lag_'));
  for (const { name } of lag) registry.removeSingleMetric(name);
  registerEventLoopGauge(registry);
}
