// What requests, engines and documents count.
import type { AccessEntry, AccessLog, ShedReason } from '../../ports/access-entry.ts';
import type { KeyLookup } from '../../ports/key-directory.ts';
import { ADMISSION_KINDS } from '../../domain/admission.ts';
import type { Admission, CheckedCaller, SettlementResult, Verdict } from '../../ports/ledger.ts';
import type { CounterSeries, HistogramSeries, Metrics } from './metrics.ts';
import { ATTEMPT_FAILURES } from '../../domain/attempt-failure.ts';
import type { AttemptFailure, EngineTokens } from '../../ports/engine.ts';
import { problems } from '../../core/problem.ts';

// Every series is there from the start: a rate would not include the failure that begins one.
const LOOKUPS: Readonly<Record<KeyLookup, true>> = { hit: true, unknown_hit: true, miss: true, refused: true };
const SHEDS: Readonly<Record<ShedReason, true>> = { concurrency: true, team_concurrency: true, loop_delay: true };
const SETTLEMENTS: Readonly<Record<SettlementResult, true>> = {
  committed: true,
  released: true,
  expired: true,
  absent: true,
  abandoned: true,
};

/** What requests count, those of this process: `record` one that has ended. */
export function requestMetrics(metrics: Metrics, engines: readonly string[]) {
  const ended = endedRequests(metrics, engines);
  const admissions = metrics.counters('admissions_total', 'result', ADMISSION_KINDS);
  const lookups = metrics.counters('key_lookups_total', 'result', LOOKUPS);
  const sheds = metrics.counters('requests_shed_total', 'reason', SHEDS);
  const settlements: Readonly<Record<Verdict, Readonly<Record<SettlementResult, CounterSeries>>>> = {
    commit: metrics.counters('settlements_total', 'result', SETTLEMENTS, { verdict: 'commit' }),
    release: metrics.counters('settlements_total', 'result', SETTLEMENTS, { verdict: 'release' }),
  };
  /** Reservations that this process holds, or may hold, and has not settled. */
  let openReservations = 0;
  metrics.read('open_reservations', () => openReservations);
  return {
    ...ended,
    admission(admission: Admission): void {
      admissions[admission.kind].count++;
      // An admission of unknown outcome may have reserved: it is open until its release is settled.
      const holds = admission.kind === 'unavailable' || (admission.kind === 'admitted' && admission.reservation !== undefined);
      if (holds) openReservations++;
    },
    /** A check reserves nothing, whatever became of it. */
    check: ({ kind }: CheckedCaller): void => void admissions[kind].count++,
    keyLookup: (result: KeyLookup): void => void lookups[result].count++,
    shed: (reason: ShedReason): void => void sheds[reason].count++,
    settlement: (verdict: Verdict, result: SettlementResult): void => {
      settlements[verdict][result].count++;
      openReservations--;
    },
  };
}

interface OfRoute {
  readonly duration: HistogramSeries;
  /** By problem code, or by status if there is none. */
  readonly ends: Map<string | number, CounterSeries>;
}

function endedRequests(metrics: Metrics, engines: readonly string[]): AccessLog {
  const store = metrics.histogram('store_duration_seconds');
  const engine = metrics.histogram('engine_duration_seconds');
  const characters = metrics.counter('characters_total');
  const ofEngines = new Map(engines.map((name) => [name, metrics.counter('engine_characters_total', { engine: name })]));
  const routes = new Map<string, OfRoute>();
  const newRoute = (route: string): OfRoute => {
    const ofRoute = { duration: metrics.histogram('request_duration_seconds', { route }), ends: new Map<string | number, CounterSeries>() };
    routes.set(route, ofRoute);
    return ofRoute;
  };
  const newEnd = (ends: OfRoute['ends'], end: string | number, { route, status, code }: AccessEntry): CounterSeries => {
    const series = metrics.counter('requests_total', { route, status: String(status ?? 0), code });
    ends.set(end, series);
    return series;
  };
  return {
    record(entry) {
      const { duration, ends } = routes.get(entry.route) ?? newRoute(entry.route);
      const end = entry.code === 'ok' ? (entry.status ?? 0) : entry.code;
      (ends.get(end) ?? newEnd(ends, end, entry)).count++;
      duration.observeMs(entry.durationMs);
      // A request that did not use the store, or the engine, is not counted in its durations.
      if (entry.storeMs > 0) store.observeMs(entry.storeMs);
      if (entry.engineMs > 0) engine.observeMs(entry.engineMs);
      if (entry.characters === 0) return;
      characters.count += entry.characters;
      const ofEngine = entry.engine === undefined ? undefined : ofEngines.get(entry.engine);
      if (ofEngine !== undefined) ofEngine.count += entry.characters;
    },
  };
}

type AttemptOutcome = AttemptFailure | 'usable';
type OutcomeSeries = Readonly<Record<AttemptOutcome, CounterSeries>>;

// Every series is there from the start: a rate would not include the failure that begins one.
const OUTCOMES = { usable: {}, ...ATTEMPT_FAILURES };

export type EngineMetrics = ReturnType<typeof engineMetrics>;

/** Call it once for each engine. */
export function engineMetrics(metrics: Metrics, engine: string) {
  /** By URL. A replica that was removed may be added again: its series continue. */
  const replicas = new Map<string, OutcomeSeries>();
  const durations = metrics.histogram('engine_attempt_duration_seconds', { engine });
  const second = metrics.counters('engine_second_attempts_total', 'result', { usable: true, failed: true }, { engine });
  const quota = metrics.counter('engine_quota_exhausted_total', { engine });
  const unasked = metrics.counter('engine_unasked_total', { engine });
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
    /** Unsolicited bytes. */
    unasked: (): void => void unasked.count++,
  };
}

/** Codes of a plugin's own are counted together, so that there are only so many series. */
const OTHER = 'other';
/** What documents usually end with: their series are present from the start. */
const CODES = [
  'validation_error',
  'quota_exceeded',
  'credit_exhausted',
  'key_revoked',
  'unauthorized',
  'forbidden',
  'engine_unavailable',
  'service_unavailable',
  'internal_error',
  OTHER,
];

/** `formats`: the names of all formats. */
export function documentMetrics(metrics: Metrics, formats: readonly string[]) {
  const ended = (outcome: string, code: string): CounterSeries => metrics.counter('documents_total', { outcome, code });
  const [uploaded, done] = [ended('uploaded', ''), ended('done', '')];
  const failed = new Map(CODES.map((code) => [code, ended('error', code)]));
  const duration = metrics.histogram('document_duration_seconds');
  const refused = new Map(formats.map((format) => [format, metrics.counter('document_files_refused_total', { format })]));
  return {
    uploaded: (): void => void uploaded.count++,
    /** Translated, so long after the upload. */
    done(tookMs: number): void {
      done.count++;
      duration.observeMs(tookMs);
    },
    /** With the document's problem code. */
    failed(code: string): void {
      const name = Object.hasOwn(problems, code) ? code : OTHER;
      const series = failed.get(name) ?? ended('error', name);
      failed.set(name, series);
      series.count++;
    },
    /** A file that its format's parser refused. */
    refused(format: string): void {
      const series = refused.get(format);
      if (series !== undefined) series.count++;
    },
  };
}
