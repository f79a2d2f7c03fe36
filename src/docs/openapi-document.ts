// The OpenAPI 3.1 document, generated from the schemas that validate requests and the registry of problems, so that it cannot drift.
import type { TSchema } from 'typebox';
import type { LoadedRoute, PluginApis } from '../ports/plugin-route.ts';
import { bodySchemas, headers, operationObject, reachable, securityOf, securitySchemesOf, shown } from './openapi-schemas.ts';
import { ProblemResponses, problemSchemas } from './openapi-problems.ts';
import { GLOSSARY_ID, firstExample, idParameter, splitName, tags } from './operation.ts';
import type { Examples, Operation } from './operation.ts';
import { operations } from './operations.ts';
import { pluginPaths, pluginTags } from './plugin-document.ts';

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

export type OpenApiNode = Record<string, unknown>;

export function openApiDocument(options: OpenApiOptions): OpenApiNode {
  const responses = new ProblemResponses(Object.values(operations), options);
  const pluginRoutes = sharedRoutes(options.pluginApis);
  return {
    openapi: '3.1.0',
    info: {
      title: `${options.serviceName} API`,
      version: options.version,
      summary: 'Translate text between languages over HTTP with JSON bodies.',
      description:
        'Every failure is an RFC 9457 problem document with a stable `code`; never match on `detail`, and treat unknown members ' +
        'as optional. Failed requests are never charged. If there is a `Retry-After`, wait for that many seconds.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: { description: 'Every problem code: when it occurs, and what to do.', url: `${options.docsUrl}/errors` },
    servers: [{ url: reachable(options.serverUrl), description: 'This service.' }],
    tags: [...Object.entries(tags).map(([name, description]) => ({ name, description })), ...pluginTags(pluginRoutes)],
    security: securityOf(options),
    paths: { ...pathsOf(responses), ...pluginPaths(pluginRoutes, responses.headers([])) },
    components: {
      schemas: { ...bodySchemas(options), ...problemSchemas(options.docsUrl) },
      responses: responses.components(),
      examples: responses.examples(options.docsUrl),
      headers: headers(options),
      securitySchemes: securitySchemesOf(options),
    },
  };
}

/** Those of plugins without their own document. */
function sharedRoutes({ routes, documents }: PluginApis): readonly LoadedRoute[] {
  return routes.filter(({ plugin }) => !documents.has(plugin));
}

function pathsOf(responses: ProblemResponses): OpenApiNode {
  const paths: Record<string, OpenApiNode> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const [method, path] = splitName(name);
    const item = (paths[path] ??= path.includes('{id}') ? { parameters: [idParameterObject] } : {});
    item[method.toLowerCase()] = describedOperation(operation, responses);
  }
  return paths;
}

const idParameterObject = { ...idParameter, in: 'path', required: true, schema: { type: 'string' }, example: GLOSSARY_ID };

function describedOperation(operation: Operation, responses: ProblemResponses): OpenApiNode {
  const { query = [], body, answer } = operation;
  const parameters = query.map(({ schema, ...rest }) => ({ ...rest, in: 'query', schema: shown(schema) }));
  const requestBody = body && { description: body.description, required: true, content: jsonContent(body.schema, body.examples) };
  return operationObject(operation, parameters, requestBody, {
    [answer.status]: {
      description: answer.description,
      headers: responses.headers(answer.headers ?? []),
      ...(answer.schema === undefined ? {} : { content: jsonContent(answer.schema, answer.examples) }),
    },
    ...responses.of(operation),
  });
}

function jsonContent(schema: TSchema, examples: Examples | undefined): OpenApiNode {
  return { 'application/json': { schema: shown(schema), ...(firstExample(examples) === undefined ? {} : { examples }) } };
}
