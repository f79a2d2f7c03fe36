// The documentation on the public listener, where the configuration asks for it: its routes, and the step that answers them.
import type { Config } from '../config/config.ts';
import type { Reply } from '../core/outcome.ts';
import { routeName } from '../core/route.ts';
import type { RouteRow } from '../core/route.ts';
import type { HeadStep } from '../core/step.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import { documentPages } from '../ops/ops-pages.ts';
import { securityFields } from '../ops/ops-request.ts';
import type { PluginApis } from '../ports/plugin.ts';
import { documentRow, ROUTES } from '../routes.ts';

type Documented = Pick<PluginApis, 'documents'>;

/** Empty where the documentation is for operators alone. */
export function documentRows({ docs }: Pick<Config, 'docs'>, { documents }: Documented): RouteRow[] {
  if (!docs.public) return [];
  const unasked = (): never => {
    throw new Error('a page was asked for where only the paths matter');
  };
  return Object.keys(documentPages(unasked, [...documents.keys()])).map(documentRow);
}

/** The gateway's own routes, beside which no plugin and no forward route may have the same path. */
export function ownRows(config: Pick<Config, 'docs'>, plugins: Documented): RouteRow[] {
  return [...ROUTES, ...documentRows(config, plugins)];
}

/** Their names: what asks for them is no work of the service. */
export function documentRouteNames(config: Config, plugins: Documented): ReadonlySet<string> {
  return new Set(documentRows(config, plugins).map(routeName));
}

export interface DocumentationOptions {
  /** As it stands when a page is asked for; a page is made once for each. */
  readonly config: () => Config;
  readonly documented: Documented;
  /** Asked when a page is made: the address is known once everything listens. */
  readonly api: () => OpenApiOptions;
}

/** Answers from memory: nobody has shown a key, so a page may cost no more than its bytes. */
export function documentationStep({ config, documented, api }: DocumentationOptions): HeadStep {
  const pages = documentPages(api, [...documented.documents.keys()]);
  let madeFor: Config | undefined;
  const made = new Map<string, Reply>();
  return {
    kind: 'head',
    name: 'documentation',
    run({ route: { path } }) {
      if (madeFor !== config()) made.clear();
      madeFor = config();
      let reply = made.get(path);
      if (reply === undefined) made.set(path, (reply = replyOf(pages[path]!())));
      return reply;
    },
  };
}

function replyOf({ status, contentType, body, security }: ReturnType<ReturnType<typeof documentPages>[string]>): Reply {
  return { kind: 'reply', status, contentType, body, headers: Object.entries(securityFields(security)) };
}
