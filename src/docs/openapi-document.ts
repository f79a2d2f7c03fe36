// The service's OpenAPI document, generated from the schemas that validate requests and the registry of problems, so that it cannot drift.
import type { LoadedRoute, PluginApis } from '../ports/plugin-route.ts';
import { bodySchemas, headers, securityOf, securitySchemesOf, shown } from './openapi-schemas.ts';
import { ProblemResponses, problemSchemas } from './openapi-problems.ts';
import { openApi } from './openapi-writer.ts';
import type { OpenApiNode } from './openapi-writer.ts';
import { describedOperation, tags } from './operation.ts';
import { operations } from './operations.ts';
import { describedRoute, plainFailures, pluginTags } from './plugin-document.ts';

export interface OpenApiOptions {
  readonly serviceName: string;
  readonly version: string;
  /** Where callers reach the service. */
  readonly serverUrl: string;
  /** Absolute URL that `/errors` is appended to. */
  readonly docsUrl: string;
  /** Canonical codes. */
  readonly sourceLanguages: readonly string[];
  readonly targetLanguages: readonly string[];
  /** Header names in which a key is accepted besides `Authorization`. */
  readonly vendorNames: readonly string[];
  /** Whether answers have the rate limit headers. */
  readonly rateLimitHeaders: boolean;
  /** The operator's own product with sign-in and checkout; `undefined` if there is none. */
  readonly dashboardUrl?: string | undefined;
  /** Whether this gateway has a console. */
  readonly hasConsole?: boolean;
  /** Routes besides those of the service. */
  readonly pluginApis: PluginApis;
}

export function openApiDocument(options: OpenApiOptions): OpenApiNode {
  const responses = new ProblemResponses(Object.values(operations), options);
  const ofPlugins = sharedRoutes(options.pluginApis);
  const everywhere = responses.headers([]);
  return openApi({
    title: `${options.serviceName} API`,
    version: options.version,
    summary: 'Translate text between languages over HTTP with JSON bodies.',
    description:
      'Every failure is an RFC 9457 problem document with a stable `code`; never match on `detail`, and treat unknown members ' +
      'as optional. Failed requests are never charged. If there is a `Retry-After`, wait for that many seconds.',
    errors: 'Every problem code: when it occurs, and what to do.',
    docsUrl: options.docsUrl,
    serverUrl: options.serverUrl,
    tags: { ...tags, ...pluginTags(ofPlugins) },
    security: securityOf(options),
    operations: [
      ...Object.entries(operations).map(([name, operation]) => {
        const answered = { headers: responses.headers(operation.answer.headers ?? []), failures: responses.of(operation) };
        return [describedOperation(name, operation), answered] as const;
      }),
      ...ofPlugins.map((route) => [describedRoute(route), { headers: everywhere, failures: plainFailures(route, everywhere) }] as const),
    ],
    components: {
      schemas: { ...bodySchemas(options), ...problemSchemas(options.docsUrl) },
      responses: responses.components(),
      examples: responses.examples(options.docsUrl),
      headers: headers(options),
      securitySchemes: securitySchemesOf(options),
    },
    shown,
  });
}

/** Those of plugins without their own document. */
function sharedRoutes({ routes, documents }: PluginApis): readonly LoadedRoute[] {
  return routes.filter(({ plugin }) => !documents.has(plugin));
}
