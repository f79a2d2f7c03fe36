// The pages of the ops listener: probes, metrics, the API document and its pages.
import { errorsPage } from '../docs/errors-page.ts';
import type { Metrics } from './metrics/metrics.ts';
import { documentPath, openApiDocument, pluginDocument } from '../docs/openapi-document.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import type { OpsAnswer, OpsContent, OpsPages } from './ops-listener.ts';
import { PAGE_SECURITY } from '../docs/page.ts';
import { referencePage } from '../docs/reference-page.ts';
import type { ReplicaHealth } from '../ports/engine.ts';

const TEXT = 'text/plain; charset=utf-8';
const HTML = 'text/html; charset=utf-8';
const LIVE: OpsAnswer = { status: 200, contentType: TEXT, body: 'ok\n' };

/** `api` is called for each page: addresses are known once everything listens. */
export function opsPages(
  readiness: () => Readiness | Promise<Readiness>,
  metrics: Pick<Metrics, 'contentType' | 'render'>,
  api: () => OpenApiOptions,
  documents: readonly string[],
): OpsPages {
  return {
    '/livez': () => LIVE,
    '/readyz': async (query) => readinessPage(await readiness(), query.get('engines') === 'true'),
    '/metrics': async () => ({ status: 200, contentType: metrics.contentType, body: await metrics.render() }),
    ...documentPages(api, documents),
  };
}

/** With `withEngines`, the status also depends on one usable replica of each engine. */
function readinessPage(found: Readiness, withEngines: boolean): OpsAnswer {
  const isReady = found.ready && (!withEngines || Object.values(found.engines).every(({ ok }) => ok));
  return { status: isReady ? 200 : 503, contentType: 'application/json', body: `${JSON.stringify(found)}\n` };
}

/** The documentation, which callers may see too. */
type DocumentPages = Readonly<Record<string, () => OpsAnswer & { readonly body: string; readonly contentType: string }>>;

/** At the `documentPaths`; `documents` are the plugins with their own API document. */
export function documentPages(api: () => OpenApiOptions, documents: readonly string[]): DocumentPages {
  return {
    '/openapi.json': () => json(openApiDocument(api())),
    ...Object.fromEntries(documents.map((plugin) => [documentPath(plugin), () => json(pluginDocument(plugin, api()))])),
    '/docs': () => ({ status: 200, contentType: HTML, body: referencePage(api()), security: PAGE_SECURITY }),
    '/docs/errors': () => ({ status: 200, contentType: HTML, body: errorsPage(api()), security: PAGE_SECURITY }),
  };
}

export function json(value: unknown): ReturnType<DocumentPages[string]> {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(value) };
}

const WAITING_METRICS = ['up', 'writable'].map((name) => `# TYPE lingate_store_${name} gauge\nlingate_store_${name} 0\n`).join('');

/** While `serve` waits for the store: the process is alive, and cannot serve. */
export const WAITING_CONTENT: OpsContent = {
  pages: {
    '/livez': () => LIVE,
    '/readyz': () => readinessPage(WAITING, false),
    '/metrics': () => ({ status: 200, contentType: TEXT, body: WAITING_METRICS }),
  },
  // Whoever repeats what may succeed later does not repeat a 404.
  otherwise: { status: 503, contentType: TEXT, body: 'The gateway waits for its store.\n' },
};

interface EngineReadiness {
  readonly ok: boolean;
  /** The failure of a replica, or `untried`. */
  readonly cause?: string;
}

export interface Readiness {
  /** Depends on the store, its clock and draining alone. */
  readonly ready: boolean;
  readonly store: { readonly ok: boolean; readonly cause?: string };
  /** By engine: `ok` while a replica could be used when it was last tried, and is not set aside. */
  readonly engines: Readonly<Record<string, EngineReadiness>>;
  /** Not `ok` while the store's clock is wrong; negative if it is behind. */
  readonly clock: { readonly ok: boolean; readonly step_seconds?: number };
  readonly draining: boolean;
}

/** While `serve` waits for its store. */
export const WAITING: Readiness = {
  ready: false,
  store: { ok: false, cause: 'waiting' },
  engines: {},
  clock: { ok: true },
  draining: false,
};

export function engineReadiness(replicas: readonly ReplicaHealth[]): EngineReadiness {
  if (replicas.some(({ reached, asideMs }) => reached === true && asideMs === undefined)) return { ok: true };
  return { ok: false, cause: replicas.find(({ lastFailure }) => lastFailure !== undefined)?.lastFailure?.failure ?? 'untried' };
}

/** Of several processes, all of which must be ready; `undefined` does not answer. */
export function readinessOfAll(found: readonly (Readiness | undefined)[]): Readiness {
  const answered = found.filter((one) => one !== undefined);
  return {
    ready: answered.length === found.length && answered.every(({ ready }) => ready),
    store: answered.find(({ store }) => !store.ok)?.store ?? answered[0]?.store ?? { ok: true },
    engines: Object.assign(
      {},
      ...answered.map(({ engines }) => engines),
      ...answered.map(({ engines }) => failing(engines)),
    ) as Readiness['engines'],
    clock: answered.find(({ clock }) => !clock.ok)?.clock ?? { ok: true },
    draining: answered.some(({ draining }) => draining),
  };
}

/** Those that some process cannot use count for all. */
function failing(engines: Readiness['engines']): Readiness['engines'] {
  return Object.fromEntries(Object.entries(engines).filter(([, { ok }]) => !ok));
}
