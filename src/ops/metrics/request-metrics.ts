// What requests count in: admissions, key lookups, sheds, settlements, and at the end outcome and durations.
import type { AccessEntry, AccessLog, ShedReason } from '../../ports/access-entry.ts';
import type { KeyLookup } from '../../ports/key-directory.ts';
import { ADMISSION_KINDS } from '../../domain/admission-kinds.ts';
import type { Admission, CheckedCaller, SettlementResult, Verdict } from '../../ports/ledger.ts';
import type { CounterSeries, HistogramSeries, Metrics } from './metrics.ts';

// The values are spelled out so that every series is present from the start: if a series only appeared with the first failure, its
// rate would not include that failure.
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
    // An admission with unknown outcome may have made a reservation: it counts as open until its release is settled.
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
