// The pages of the ops listener: probes, metrics, the API document and its pages.
import { errorsPage } from '../docs/errors-page.ts';
import type { Metrics } from './metrics/metrics.ts';
import { documentPath, openApiDocument, pluginDocuments } from '../docs/openapi-document.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import type { OpsPages } from './ops-listener.ts';
import type { OpsAnswer } from './ops-request.ts';
import { PAGE_SECURITY } from '../docs/page.ts';
import { referencePage } from '../docs/reference-page.ts';
import { WAITING } from './readiness.ts';
import type { Readiness } from './readiness.ts';

export type MetricTexts = Pick<Metrics, 'contentType' | 'render'>;

interface OpsPagesOptions {
  readonly readiness: () => Readiness | Promise<Readiness>;
  readonly metrics: MetricTexts;
  /** Called for each page, because addresses are only known once everything listens. */
  readonly api: () => OpenApiOptions;
  /** Plugins with their own API document. */
  readonly documents: readonly string[];
}

const TEXT = 'text/plain; charset=utf-8';
const HTML = 'text/html; charset=utf-8';
const LIVE: OpsAnswer = { status: 200, contentType: TEXT, body: 'ok\n' };

export function opsPages({ readiness, metrics, api, documents }: OpsPagesOptions): OpsPages {
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
    ...Object.fromEntries(documents.map((plugin) => [documentPath(plugin), () => json(pluginDocuments(api()).get(plugin))])),
    '/docs': () => ({ status: 200, contentType: HTML, body: referencePage(api()), security: PAGE_SECURITY }),
    '/docs/errors': () => ({ status: 200, contentType: HTML, body: errorsPage(api()), security: PAGE_SECURITY }),
  };
}

export function json(value: unknown): ReturnType<DocumentPages[string]> {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(value) };
}

const WAITING_METRICS = ['up', 'writable'].map((name) => `# TYPE lingate_store_${name} gauge\nlingate_store_${name} 0\n`).join('');

/** The pages while `serve` waits for the store: the process is alive, and cannot serve. */
export const WAITING_PAGES: OpsPages = {
  '/livez': () => LIVE,
  '/readyz': () => readinessPage(WAITING, false),
  '/metrics': () => ({ status: 200, contentType: TEXT, body: WAITING_METRICS }),
};
