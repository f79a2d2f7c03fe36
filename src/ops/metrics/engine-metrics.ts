// Metrics of engines and their replicas: attempts by outcome and duration, second attempts, shared calls, tokens, load, health.
import type { Registry } from 'prom-client';
import { ATTEMPT_FAILURES } from '../../domain/attempt-failure.ts';
import type { AttemptFailure, EngineTokens } from '../../ports/engine.ts';
import { FastCounter, FastHistogram } from './fast-series.ts';
import type { CounterSeries } from './fast-series.ts';
import { DURATION_BUCKETS, SECONDS_PER_MS } from './request-series.ts';
import { registerGauge } from './scraped-series.ts';

type AttemptOutcome = AttemptFailure | 'usable';

// Every series is present from the start: if one only appeared with the first failure, its rate would not include that failure.
const OUTCOMES: readonly AttemptOutcome[] = ['usable', ...ATTEMPT_FAILURES];

/** Whether one process uses the replica. */
export interface ReplicaState {
  readonly engine: string;
  readonly replica: string;
  readonly up: boolean;
}

/** An engine's calls in one process. */
export interface EngineLoad {
  readonly engine: string;
  /** Calls that hold a connection. */
  readonly inFlight: number;
  /** Calls that wait for one. */
  readonly waiting: number;
}

/** Counts what one engine does. */
export interface EngineMeters {
  /** For a replica: counts an attempt with its duration. */
  readonly replica: (url: string) => (outcome: AttemptOutcome, tookMs: number) => void;
  /** A request's second attempt, made by this engine. */
  readonly second: (outcome: AttemptOutcome) => void;
  /** A call shared by several requests. */
  readonly batch: (requests: number) => void;
  readonly tokens: (tokens: EngineTokens) => void;
  /** Unsolicited bytes arrived. */
  readonly unasked: () => void;
}

type OutcomeSeries = Readonly<Record<AttemptOutcome, CounterSeries>>;

/** The series of all engines. Each engine's series are present from the start: names come from the configuration only. */
export class EngineMetrics {
  readonly #attempts: FastCounter<'engine' | 'replica' | 'outcome'>;
  readonly #durations: FastHistogram<'engine'>;
  readonly #seconds: FastCounter<'engine' | 'result'>;
  readonly #quota: FastCounter<'engine'>;
  readonly #batches: FastCounter<'engine'>;
  readonly #batched: FastCounter<'engine'>;
  readonly #tokens: FastCounter<'engine' | 'kind'>;
  readonly #unasked: FastCounter<'engine'>;
  readonly #meters = new Map<string, EngineMeters>();

  constructor(registry: Registry) {
    const counter = <L extends string>(name: string, labels: readonly L[], help: string): FastCounter<L> =>
      new FastCounter(registry, `lingate_engine_${name}_total`, labels, help);
    this.#attempts = counter(
      'attempts',
      ['engine', 'replica', 'outcome'],
      'Attempts by replica and outcome: usable, or the failure. A shared call counts once.',
    );
    this.#durations = new FastHistogram(
      registry,
      'lingate_engine_attempt_duration_seconds',
      ['engine'],
      DURATION_BUCKETS,
      'Duration of attempts, with the wait for a connection; not of those whose caller disconnected.',
    );
    this.#seconds = counter('second_attempts', ['engine', 'result'], 'Second attempts of requests by engine and result: usable or failed.');
    this.#quota = counter(
      'quota_exhausted',
      ['engine'],
      'Attempts that failed because your own quota at the engine is used up: alert on this.',
    );
    this.#batches = counter('batches', ['engine'], 'Calls to the engine shared by several requests.');
    this.#batched = counter('batched_requests', ['engine'], 'Requests whose first attempt was a shared call.');
    this.#tokens = counter('tokens', ['engine', 'kind'], 'Tokens that a language model says it read (prompt) and wrote (completion).');
    this.#unasked = counter(
      'unasked',
      ['engine'],
      'Times that an engine, or with an empty label the target of a forward route, sent unexpected bytes.',
    );
  }

  of(engine: string): EngineMeters {
    const meters = this.#meters.get(engine) ?? this.#begin(engine);
    this.#meters.set(engine, meters);
    return meters;
  }

  /** Counts unsolicited bytes from the target of a forward route. To be called once; counting is what it returns. */
  forwardUnasked(): () => void {
    const series = this.#unasked.series({ engine: '' });
    return () => void series.pending++;
  }

  #begin(engine: string): EngineMeters {
    /** A replica that was removed may be added again: its series continue. */
    const replicas = new Map<string, OutcomeSeries>();
    const durations = this.#durations.series({ engine });
    const second = {
      usable: this.#seconds.series({ engine, result: 'usable' }),
      failed: this.#seconds.series({ engine, result: 'failed' }),
    };
    const quota = this.#quota.series({ engine });
    const [batches, batched] = [this.#batches.series({ engine }), this.#batched.series({ engine })];
    const [prompt, completion] = [this.#tokens.series({ engine, kind: 'prompt' }), this.#tokens.series({ engine, kind: 'completion' })];
    const unasked = this.#unasked.series({ engine });
    return {
      replica: (url) => {
        const series = replicas.get(url) ?? this.#outcomesOf(engine, url);
        replicas.set(url, series);
        return (outcome, tookMs) => {
          series[outcome].pending++;
          if (outcome !== 'cancelled') durations.observe(tookMs * SECONDS_PER_MS);
          if (outcome === 'engine_quota') quota.pending++;
        };
      },
      second(outcome) {
        // A caller who disconnected says nothing of the engine.
        if (outcome !== 'cancelled') second[outcome === 'usable' ? 'usable' : 'failed'].pending++;
      },
      batch(requests) {
        batches.pending++;
        batched.pending += requests;
      },
      tokens(tokens) {
        prompt.pending += tokens.prompt;
        completion.pending += tokens.completion;
      },
      unasked: () => void unasked.pending++,
    };
  }

  #outcomesOf(engine: string, replica: string): OutcomeSeries {
    return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, this.#attempts.series({ engine, replica, outcome })])) as OutcomeSeries;
  }
}

/** An engine whose characters are limited. */
export interface EngineLimitState {
  readonly engine: string;
  readonly reached: boolean;
}

export function registerLimitGauge(registry: Registry, read: () => readonly EngineLimitState[]): void {
  const help =
    '1 while an engine has used up its characters (engines.NAME.characters) and gets no requests; absent for engines without a limit.';
  registerGauge(registry, { name: 'lingate_engine_limit_reached', help, aggregator: 'max' }, ['engine'], () =>
    read().map(({ engine, reached }) => [{ engine }, Number(reached)]),
  );
}

export function registerReplicaGauge(registry: Registry, read: () => readonly ReplicaState[]): void {
  const help = "1 while a replica is in use, 0 while it is set aside; an engine's only replica is never set aside.";
  // With several processes: 0 as soon as one has set it aside.
  registerGauge(registry, { name: 'lingate_engine_replica_up', help, aggregator: 'min' }, ['engine', 'replica'], () =>
    read().map(({ engine, replica, up }) => [{ engine, replica }, Number(up)]),
  );
}

/** Of calls that hold a connection, and of calls that wait for one. */
export function registerLoadGauges(registry: Registry, read: () => readonly EngineLoad[]): void {
  const gauge = (name: string, help: string, of: (load: EngineLoad) => number): void =>
    registerGauge(registry, { name, help, aggregator: 'sum' }, ['engine'], () => read().map((load) => [{ engine: load.engine }, of(load)]));
  gauge('lingate_engine_calls_in_flight', 'Calls to the engine that hold a connection.', ({ inFlight }) => inFlight);
  gauge('lingate_engine_calls_waiting', 'Calls to the engine that wait for a connection.', ({ waiting }) => waiting);
}
