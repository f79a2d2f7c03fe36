// Prometheus metrics: what there is to know of a running gateway, with labels from fixed sets only.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { AccessEntry } from '../ports/access-log.ts';
import type { AttemptFailure } from '../ports/engine.ts';
import type { Admission, Verdict } from '../ports/ledger.ts';

/** What is read when someone scrapes, rather than counted as it happens. */
export interface MetricSources {
  readonly inFlight: () => number;
  readonly openSettlements: () => number;
  readonly storeAnswers: () => boolean;
  readonly draining: () => boolean;
}

export interface Metrics {
  request(entry: AccessEntry): void;
  admission(kind: Admission['kind']): void;
  keyLookup(result: string): void;
  settlement(verdict: Verdict, result: string): void;
  engineAttempts(failures: readonly AttemptFailure[], usable: boolean): void;
  /** The text that `/metrics` answers. */
  render(): Promise<string>;
  readonly contentType: string;
}

const SECONDS_PER_MS = 0.001;
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const STORE_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

export function openMetrics(sources: MetricSources): Metrics {
  const registers = [new Registry()];
  const registry = registers[0]!;
  collectDefaultMetrics({ register: registry, prefix: 'lingate_' });
  const requests = new Counter({
    name: 'lingate_requests_total',
    help: 'Requests that have ended, by route, status and code; status 0 is a caller who left before an answer.',
    labelNames: ['route', 'status', 'code'] as const,
    registers,
  });
  const characters = new Counter({ name: 'lingate_characters_total', help: 'Characters of delivered translations.', registers });
  const duration = new Histogram({
    name: 'lingate_request_duration_seconds',
    help: 'From the first byte of a request to its answer, by route.',
    labelNames: ['route'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  });
  const store = new Histogram({
    name: 'lingate_store_duration_seconds',
    help: "A request's wait for the store.",
    buckets: STORE_BUCKETS,
    registers,
  });
  const engine = new Histogram({
    name: 'lingate_engine_duration_seconds',
    help: "A request's wait for the engine, both attempts.",
    buckets: DURATION_BUCKETS,
    registers,
  });
  const attempts = new Counter({
    name: 'lingate_engine_attempts_total',
    help: 'Attempts at the engine by outcome: usable, or why not.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const admissions = new Counter({
    name: 'lingate_admissions_total',
    help: 'Admissions by result.',
    labelNames: ['result'] as const,
    registers,
  });
  const lookups = new Counter({
    name: 'lingate_key_cache_total',
    help: 'Key cache look-ups by result.',
    labelNames: ['result'] as const,
    registers,
  });
  const settlements = new Counter({
    name: 'lingate_settlements_total',
    help: 'Reservations settled, by verdict and how the ledger has it; commit with expired or abandoned was delivered uncharged.',
    labelNames: ['verdict', 'result'] as const,
    registers,
  });
  registerGauges(registers, sources);
  const byRoute = new Map<string, ReturnType<typeof duration.labels>>();
  const byEnd = new Map<string, ReturnType<typeof requests.labels>>();
  return {
    contentType: registry.contentType,
    render: () => registry.metrics(),
    request(entry) {
      const status = entry.status ?? 0;
      const end = `${entry.route} ${status} ${entry.code}`;
      let counter = byEnd.get(end);
      // Bound once per combination: looking labels up anew would cost more than all else that is counted here.
      if (counter === undefined) byEnd.set(end, (counter = requests.labels(entry.route, String(status), entry.code)));
      counter.inc();
      let histogram = byRoute.get(entry.route);
      if (histogram === undefined) byRoute.set(entry.route, (histogram = duration.labels(entry.route)));
      histogram.observe(entry.durationMs * SECONDS_PER_MS);
      if (entry.storeMs > 0) store.observe(entry.storeMs * SECONDS_PER_MS);
      if (entry.engineMs > 0) engine.observe(entry.engineMs * SECONDS_PER_MS);
      if (entry.characters > 0) characters.inc(entry.characters);
    },
    admission: (kind) => admissions.inc({ result: kind }),
    keyLookup: (result) => lookups.inc({ result }),
    settlement: (verdict, result) => settlements.inc({ verdict, result }),
    engineAttempts(failures, usable) {
      for (const outcome of failures) attempts.inc({ outcome });
      if (usable) attempts.inc({ outcome: 'usable' });
    },
  };
}

function registerGauges(registers: Registry[], sources: MetricSources): void {
  gauge('lingate_requests_in_flight', 'Requests that have begun and not ended.', sources.inFlight);
  gauge('lingate_open_settlements', 'Verdicts on reservations that the store has not acknowledged yet.', sources.openSettlements);
  gauge('lingate_store_up', '1 while the store answers the background probe.', () => Number(sources.storeAnswers()));
  gauge('lingate_draining', '1 while the process lets its last requests end.', () => Number(sources.draining()));

  function gauge(name: string, help: string, read: () => number): void {
    const collected: Gauge = new Gauge({ name, help, registers, collect: () => collected.set(read()) });
  }
}
