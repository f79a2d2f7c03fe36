// Counts each request that has ended: its outcome, its duration, and how much of that was spent on the store and the engine.
import type { Registry } from 'prom-client';
import type { AccessEntry } from '../../ports/access-entry.ts';
import { FastCounter } from './fast-counter.ts';
import type { CounterSeries } from './fast-counter.ts';
import { FastHistogram } from './fast-histogram.ts';
import type { HistogramSeries } from './fast-histogram.ts';

export const SECONDS_PER_MS = 0.001;
export const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const STORE_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

interface OfRoute {
  readonly duration: HistogramSeries;
  /** By problem code, or by status if there is none. */
  readonly ends: Map<string | number, CounterSeries>;
}

export class RequestSeries {
  readonly #requests: FastCounter<'route' | 'status' | 'code'>;
  readonly #duration: FastHistogram<'route'>;
  readonly #store: HistogramSeries;
  readonly #engine: HistogramSeries;
  readonly #characters: CounterSeries;
  readonly #engineCharacters: FastCounter<'engine'>;
  readonly #ofEngines = new Map<string, CounterSeries>();
  readonly #routes = new Map<string, OfRoute>();

  constructor(registry: Registry) {
    this.#requests = new FastCounter({
      name: 'lingate_requests_total',
      help: 'Requests that have ended, by route, status and code; status 0 is a caller who disconnected before an answer.',
      labels: ['route', 'status', 'code'],
      registry,
    });
    this.#duration = new FastHistogram({
      name: 'lingate_request_duration_seconds',
      help: 'From the first byte of a request to its answer, by route.',
      labels: ['route'],
      buckets: DURATION_BUCKETS,
      registry,
    });
    const part = { labels: [], registry };
    const store = { name: 'lingate_store_duration_seconds', help: "A request's wait for the store.", buckets: STORE_BUCKETS, ...part };
    this.#store = new FastHistogram(store).series({});
    const help = "A request's wait for the engine, both attempts.";
    this.#engine = new FastHistogram({ name: 'lingate_engine_duration_seconds', help, buckets: DURATION_BUCKETS, ...part }).series({});
    const about = 'Characters of delivered translations.';
    this.#characters = new FastCounter({ name: 'lingate_characters_total', help: about, ...part }).series({});
    this.#engineCharacters = new FastCounter({
      name: 'lingate_engine_characters_total',
      help: 'Characters of delivered translations, by the engine that made them; of a request in parts, by the last one.',
      labels: ['engine'],
      registry,
    });
  }

  /** The engine's series are present from now on. */
  addEngine(engine: string): void {
    if (!this.#ofEngines.has(engine)) this.#ofEngines.set(engine, this.#engineCharacters.series({ engine }));
  }

  record(entry: AccessEntry): void {
    const ofRoute = this.#routes.get(entry.route) ?? this.#newRoute(entry.route);
    const end = entry.code === 'ok' ? (entry.status ?? 0) : entry.code;
    (ofRoute.ends.get(end) ?? this.#newEnd(ofRoute, end, entry)).pending++;
    ofRoute.duration.observe(entry.durationMs * SECONDS_PER_MS);
    // A request that did not use the store, or the engine, is not counted in its durations.
    if (entry.storeMs > 0) this.#store.observe(entry.storeMs * SECONDS_PER_MS);
    if (entry.engineMs > 0) this.#engine.observe(entry.engineMs * SECONDS_PER_MS);
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
