// The series that requests count in: admissions, key lookups, sheds, settlements, and at the end outcome and durations.
import type { Registry } from 'prom-client';
import type { AccessEntry, AccessLog, ShedReason } from '../../ports/access-entry.ts';
import type { KeyLookup } from '../../ports/key-directory.ts';
import type { Admission, CheckedCaller, Verdict, SettlementResult } from '../../ports/ledger.ts';
import { FastCounter, FastHistogram } from './fast-series.ts';
import type { CounterSeries, HistogramSeries } from './fast-series.ts';

export const SECONDS_PER_MS = 0.001;
export const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const STORE_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

interface OfRoute {
  readonly duration: HistogramSeries;
  /** By problem code, or by status if there is none. */
  readonly ends: Map<string | number, CounterSeries>;
}

export class RequestSeries implements AccessLog {
  readonly #requests: FastCounter<'route' | 'status' | 'code'>;
  readonly #duration: FastHistogram<'route'>;
  readonly #store: HistogramSeries;
  readonly #engine: HistogramSeries;
  readonly #characters: CounterSeries;
  readonly #engineCharacters: FastCounter<'engine'>;
  readonly #ofEngines = new Map<string, CounterSeries>();
  readonly #routes = new Map<string, OfRoute>();
  readonly #admissions: ReturnType<typeof admissionSeries>;
  readonly #lookups: ReturnType<typeof lookupSeries>;
  readonly #sheds: ReturnType<typeof shedSeries>;
  readonly #settlements: ReturnType<typeof settlementSeries>;
  /** Reservations that this process holds, or may hold, and has not settled. */
  openReservations = 0;

  constructor(registry: Registry) {
    this.#admissions = admissionSeries(registry);
    this.#lookups = lookupSeries(registry);
    this.#sheds = shedSeries(registry);
    this.#settlements = settlementSeries(registry);
    const requests = 'Requests by route, status and code; status 0: the caller disconnected before the answer.';
    this.#requests = new FastCounter(registry, 'lingate_requests_total', ['route', 'status', 'code'], requests);
    const histogram = <L extends string>(part: string, labels: readonly L[], bounds: readonly number[], help: string) =>
      new FastHistogram(registry, `lingate_${part}_duration_seconds`, labels, bounds, help);
    this.#duration = histogram('request', ['route'], DURATION_BUCKETS, 'From the first byte of a request to its answer, by route.');
    this.#store = histogram('store', [], STORE_BUCKETS, "A request's wait for the store.").series({});
    this.#engine = histogram('engine', [], DURATION_BUCKETS, "A request's wait for the engine, both attempts.").series({});
    const characters = 'Characters of delivered translations';
    this.#characters = new FastCounter(registry, 'lingate_characters_total', [], `${characters}.`).series({});
    const byEngine = `${characters} by engine; of a request in parts, the engine of the last part.`;
    this.#engineCharacters = new FastCounter(registry, 'lingate_engine_characters_total', ['engine'], byEngine);
  }

  /** The engine's series are present from now on. */
  addEngine(engine: string): void {
    if (!this.#ofEngines.has(engine)) this.#ofEngines.set(engine, this.#engineCharacters.series({ engine }));
  }

  readonly admission = (admission: Admission): void => {
    this.#admissions[admission.kind].pending++;
    // An admission with unknown outcome may have made a reservation: it counts as open until its release is settled.
    const holds = admission.kind === 'unavailable' || (admission.kind === 'admitted' && admission.reservation !== undefined);
    if (holds) this.openReservations++;
  };

  /** A check reserves nothing, whatever became of it. */
  readonly check = ({ kind }: CheckedCaller): void => void this.#admissions[kind].pending++;

  readonly keyLookup = (result: KeyLookup): void => void this.#lookups[result].pending++;

  readonly shed = (reason: ShedReason): void => void this.#sheds[reason].pending++;

  readonly settlement = (verdict: Verdict, result: SettlementResult): void => {
    this.#settlements[verdict][result].pending++;
    this.openReservations--;
  };

  /** Counts a request that has ended. */
  record(entry: AccessEntry): void {
    const ofRoute = this.#routes.get(entry.route) ?? this.#newRoute(entry.route);
    const end = entry.code === 'ok' ? (entry.status ?? 0) : entry.code;
    (ofRoute.ends.get(end) ?? this.#newEnd(ofRoute, end, entry)).pending++;
    observe(ofRoute.duration, entry.durationMs);
    // A request that did not use the store, or the engine, is not counted in its durations.
    if (entry.storeMs > 0) observe(this.#store, entry.storeMs);
    if (entry.engineMs > 0) observe(this.#engine, entry.engineMs);
    if (entry.characters === 0) return;
    this.#characters.pending += entry.characters;
    const ofEngine = entry.engine === undefined ? undefined : this.#ofEngines.get(entry.engine);
    if (ofEngine !== undefined) ofEngine.pending += entry.characters;
  }

  #newRoute(route: string): OfRoute {
    const ofRoute: OfRoute = { duration: this.#duration.series({ route }), ends: new Map() };
    this.#routes.set(route, ofRoute);
    return ofRoute;
  }

  #newEnd(ofRoute: OfRoute, end: string | number, { route, status, code }: AccessEntry): CounterSeries {
    const series = this.#requests.series({ route, status: String(status ?? 0), code });
    ofRoute.ends.set(end, series);
    return series;
  }
}

function observe(series: HistogramSeries, ms: number): void {
  series.observe(ms * SECONDS_PER_MS);
}

// The sets below are spelled out so that every series is present from the start: if a series only appeared with the first failure,
// its rate would not include that failure. The compiler compares them with the ports.

function admissionSeries(registry: Registry): Readonly<Record<Admission['kind'], CounterSeries>> {
  const counter = new FastCounter(registry, 'lingate_admissions_total', ['result'], 'Admissions by result.');
  return counter.seriesBy<Admission['kind']>('result', {
    admitted: true,
    key_unknown: true,
    key_revoked: true,
    address_wanted: true,
    address_refused: true,
    scope_wanted: true,
    scope_missing: true,
    tag_disabled: true,
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
  const counter = new FastCounter(
    registry,
    'lingate_key_lookups_total',
    ['result'],
    'Key lookups answered by the cache (hit, unknown_hit) or the store (miss), or refused (too many at once).',
  );
  return counter.seriesBy<KeyLookup>('result', { hit: true, unknown_hit: true, miss: true, refused: true });
}

function shedSeries(registry: Registry): Readonly<Record<ShedReason, CounterSeries>> {
  const counter = new FastCounter(
    registry,
    'lingate_requests_shed_total',
    ['reason'],
    'Requests refused because of load: too many in flight, in this process or of one team, or a slow event loop.',
  );
  return counter.seriesBy<ShedReason>('reason', { concurrency: true, team_concurrency: true, loop_delay: true });
}

function settlementSeries(registry: Registry): Readonly<Record<Verdict, Readonly<Record<SettlementResult, CounterSeries>>>> {
  const counter = new FastCounter(
    registry,
    'lingate_settlements_total',
    ['verdict', 'result'],
    'Settled reservations by verdict and result; a commit that is expired or abandoned was delivered uncharged, an absent one perhaps charged.',
  );
  const of = (verdict: Verdict): Record<SettlementResult, CounterSeries> => ({
    committed: counter.series({ verdict, result: 'committed' }),
    released: counter.series({ verdict, result: 'released' }),
    expired: counter.series({ verdict, result: 'expired' }),
    absent: counter.series({ verdict, result: 'absent' }),
    abandoned: counter.series({ verdict, result: 'abandoned' }),
  });
  return { commit: of('commit'), release: of('release') };
}
