// What requests, engines and documents count.
import type { AccessEntry, AccessLog, ShedReason } from '../../ports/access-entry.ts';
import type { KeyLookup } from '../../ports/key-directory.ts';
import { ADMISSION_KINDS } from '../../domain/admission-kinds.ts';
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

interface OfRoute {
  readonly duration: HistogramSeries;
  /** By problem code, or by status if there is none. */
  readonly ends: Map<string | number, CounterSeries>;
}

export class RequestMetrics implements AccessLog {
  readonly #metrics: Metrics;
  readonly #store: HistogramSeries;
  readonly #engine: HistogramSeries;
  readonly #characters: CounterSeries;
  readonly #ofEngines: ReadonlyMap<string, CounterSeries>;
  readonly #routes = new Map<string, OfRoute>();
  readonly #admissions: Readonly<Record<Admission['kind'], CounterSeries>>;
  readonly #lookups: Readonly<Record<KeyLookup, CounterSeries>>;
  readonly #sheds: Readonly<Record<ShedReason, CounterSeries>>;
  readonly #settlements: Readonly<Record<Verdict, Readonly<Record<SettlementResult, CounterSeries>>>>;
  /** Reservations that this process holds, or may hold, and has not settled. */
  #openReservations = 0;

  constructor(metrics: Metrics, engines: readonly string[]) {
    this.#metrics = metrics;
    this.#store = metrics.histogram('store_duration_seconds');
    this.#engine = metrics.histogram('engine_duration_seconds');
    this.#characters = metrics.counter('characters_total');
    this.#ofEngines = new Map(engines.map((engine) => [engine, metrics.counter('engine_characters_total', { engine })]));
    this.#admissions = metrics.counters('admissions_total', 'result', ADMISSION_KINDS);
    this.#lookups = metrics.counters('key_lookups_total', 'result', LOOKUPS);
    this.#sheds = metrics.counters('requests_shed_total', 'reason', SHEDS);
    this.#settlements = {
      commit: metrics.counters('settlements_total', 'result', SETTLEMENTS, { verdict: 'commit' }),
      release: metrics.counters('settlements_total', 'result', SETTLEMENTS, { verdict: 'release' }),
    };
    metrics.read('open_reservations', () => this.#openReservations);
  }

  readonly admission = (admission: Admission): void => {
    this.#admissions[admission.kind].count++;
    // An admission of unknown outcome may have reserved: it is open until its release is settled.
    const holds = admission.kind === 'unavailable' || (admission.kind === 'admitted' && admission.reservation !== undefined);
    if (holds) this.#openReservations++;
  };

  /** A check reserves nothing, whatever became of it. */
  readonly check = ({ kind }: CheckedCaller): void => void this.#admissions[kind].count++;

  readonly keyLookup = (result: KeyLookup): void => void this.#lookups[result].count++;

  readonly shed = (reason: ShedReason): void => void this.#sheds[reason].count++;

  readonly settlement = (verdict: Verdict, result: SettlementResult): void => {
    this.#settlements[verdict][result].count++;
    this.#openReservations--;
  };

  /** Counts a request that has ended. */
  record(entry: AccessEntry): void {
    const ofRoute = this.#routes.get(entry.route) ?? this.#newRoute(entry.route);
    const end = entry.code === 'ok' ? (entry.status ?? 0) : entry.code;
    (ofRoute.ends.get(end) ?? this.#newEnd(ofRoute, end, entry)).count++;
    ofRoute.duration.observeMs(entry.durationMs);
    // A request that did not use the store, or the engine, is not counted in its durations.
    if (entry.storeMs > 0) this.#store.observeMs(entry.storeMs);
    if (entry.engineMs > 0) this.#engine.observeMs(entry.engineMs);
    if (entry.characters === 0) return;
    this.#characters.count += entry.characters;
    const ofEngine = entry.engine === undefined ? undefined : this.#ofEngines.get(entry.engine);
    if (ofEngine !== undefined) ofEngine.count += entry.characters;
  }

  #newRoute(route: string): OfRoute {
    const ofRoute: OfRoute = { duration: this.#metrics.histogram('request_duration_seconds', { route }), ends: new Map() };
    this.#routes.set(route, ofRoute);
    return ofRoute;
  }

  #newEnd(ofRoute: OfRoute, end: string | number, { route, status, code }: AccessEntry): CounterSeries {
    const series = this.#metrics.counter('requests_total', { route, status: String(status ?? 0), code });
    ofRoute.ends.set(end, series);
    return series;
  }
}

type AttemptOutcome = AttemptFailure | 'usable';
type OutcomeSeries = Readonly<Record<AttemptOutcome, CounterSeries>>;

// Every series is there from the start: a rate would not include the failure that begins one.
const OUTCOMES = Object.fromEntries(['usable', ...ATTEMPT_FAILURES].map((outcome) => [outcome, true])) as Record<AttemptOutcome, true>;

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
