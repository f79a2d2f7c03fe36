// What one engine counts: attempts by outcome and duration, second attempts, shared calls, tokens.
import { ATTEMPT_FAILURES } from '../../domain/attempt-failure.ts';
import type { AttemptFailure, EngineTokens } from '../../ports/engine.ts';
import type { CounterSeries, Metrics } from './metrics.ts';

type AttemptOutcome = AttemptFailure | 'usable';
type OutcomeSeries = Readonly<Record<AttemptOutcome, CounterSeries>>;

// Every series is present from the start: if one only appeared with the first failure, its rate would not include that failure.
const OUTCOMES = Object.fromEntries(['usable', ...ATTEMPT_FAILURES].map((outcome) => [outcome, true])) as Record<AttemptOutcome, true>;

export type EngineMetrics = ReturnType<typeof engineMetrics>;

/** Call it once for each engine. */
export function engineMetrics(metrics: Metrics, engine: string) {
  /** By URL. A replica that was removed may be added again: its series continue. */
  const replicas = new Map<string, OutcomeSeries>();
  const durations = metrics.histogram('engine_attempt_duration_seconds', { engine });
  const second = metrics.counters('engine_second_attempts_total', 'result', { usable: true, failed: true }, { engine });
  const quota = metrics.counter('engine_quota_exhausted_total', { engine });
  const batches = metrics.counter('engine_batches_total', { engine });
  const batched = metrics.counter('engine_batched_requests_total', { engine });
  const tokens = metrics.counters('engine_tokens_total', 'kind', { prompt: true, completion: true }, { engine });
  return {
    /** For a replica: counts an attempt with its duration. */
    replica: (url: string) => {
      const series = replicas.get(url) ?? metrics.counters('engine_attempts_total', 'outcome', OUTCOMES, { engine, replica: url });
      replicas.set(url, series);
      return (outcome: AttemptOutcome, tookMs: number): void => {
        series[outcome].count++;
        if (outcome !== 'cancelled') durations.observeMs(tookMs);
        if (outcome === 'engine_quota') quota.count++;
      };
    },
    /** A request's second attempt, made by this engine. */
    second: (outcome: AttemptOutcome): void => {
      // A caller who disconnected says nothing of the engine.
      if (outcome !== 'cancelled') second[outcome === 'usable' ? 'usable' : 'failed'].count++;
    },
    /** A call shared by so many requests. */
    batch: (requests: number): void => {
      batches.count++;
      batched.count += requests;
    },
    tokens: ({ prompt, completion }: EngineTokens): void => {
      tokens.prompt.count += prompt;
      tokens.completion.count += completion;
    },
    unasked: unaskedCounter(metrics, engine),
  };
}

/** Counts unsolicited bytes from an engine, or with an empty name from the target of a forward route. */
export function unaskedCounter(metrics: Metrics, engine: string): () => void {
  const series = metrics.counter('engine_unasked_total', { engine });
  return () => void series.count++;
}
