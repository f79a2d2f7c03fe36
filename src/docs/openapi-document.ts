// The OpenAPI documents of the service and of plugins, generated from the schemas that validate
// requests and the registry of problems, so that they cannot drift.
import { problems, problemsTo, problemsWith } from '../core/problem.ts';
import type { Problem, ProblemCode, ProblemKind } from '../core/problem.ts';
import { routeName } from '../core/route.ts';
import { TAG_FIELD } from '../domain/request-tag.ts';
import { Type } from '../domain/typebox.ts';
import type { ApiDocument, DocHeaders, LoadedRoute, PluginApis, RouteDoc } from '../ports/plugin-route.ts';
import {
  exampleOf,
  HEADERS,
  headers,
  membersOfExample,
  PROBLEM,
  refTo,
  schemaOfProblem,
  securityOf,
  securitySchemesOf,
  shown,
  bodySchemas,
  headersOfEveryAnswer,
  problemSchemas,
} from './openapi-schemas.ts';
import { openApi, plain } from './openapi-writer.ts';
import type { DescribedRoute, OpenApiDocument, OpenApiNode } from './openapi-writer.ts';
import { DOCUMENT_TAGS, operationsOf, TAGS } from './operations.ts';
import type { Operation } from './operations.ts';

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
  /** Whether this gateway translates documents. */
  readonly hasDocuments: boolean;
  /** The operator's own product with sign-in and checkout; `undefined` if there is none. */
  readonly dashboardUrl?: string | undefined;
  /** Routes besides those of the service. */
  readonly pluginApis: PluginApis;
}

/** `documents` are the plugins with their own API document. */
export function documentPaths(documents: readonly string[]): string[] {
  return ['/openapi.json', ...documents.map(documentPath), '/docs', '/docs/errors'];
}

/** The path of a plugin's own API document. */
export function documentPath(plugin: string): string {
  return `/openapi/${encodeURIComponent(plugin)}.json`;
}

/** Of the service, with the routes of plugins without a document of their own. */
export function openApiDocument(options: OpenApiOptions): OpenApiDocument {
  const { hasDocuments, pluginApis, serviceName, version, docsUrl, serverUrl } = options;
  const ofPlugins = pluginApis.routes.filter(({ plugin }) => !pluginApis.documents.has(plugin));
  const writer = new RouteWriter(options);
  const codes = problemsWith({ documents: hasDocuments });
  return openApi({
    title: `${serviceName} API`,
    version,
    summary: 'Translate text between languages over HTTP with JSON bodies.',
    description:
      'Every failure is an RFC 9457 problem document with a stable `code`; never match on `detail`, and treat unknown members ' +
      'as optional. Failed requests are never charged. If there is a `Retry-After`, wait for that many seconds.',
    errors: 'Every problem code: when it occurs, and what to do.',
    docsUrl,
    serverUrl,
    tags: {
      ...(hasDocuments ? DOCUMENT_TAGS : TAGS),
      ...Object.fromEntries(ofPlugins.map(({ plugin }) => [plugin, `Routes of the plugin ${plugin}.`])),
    },
    security: securityOf(options),
    routes: [
      ...Object.entries(operationsOf(hasDocuments)).map(([name, operation]) => writer.own(name, operation)),
      ...ofPlugins.map((route) => writer.ofPlugin(route, docOf(route), route.plugin)),
    ],
    components: {
      schemas: { ...bodySchemas(options), ...problemSchemas(codes, docsUrl), ...(ofPlugins.length === 0 ? {} : { Failure: {} }) },
      examples: Object.fromEntries(
        codes.map((code) => [code, { summary: problems[code].title, value: exampleOf(code, problems[code], docsUrl) }]),
      ),
      headers: headers(options),
      securitySchemes: securitySchemesOf(options),
    },
    shown,
  });
}

/** By plugin, in the order of the configuration. */
export function pluginDocuments(options: OpenApiOptions): ReadonlyMap<string, OpenApiDocument> {
  return new Map([...options.pluginApis.documents.keys()].map((plugin) => [plugin, pluginDocument(plugin, options)]));
}

/** Of a plugin with a document of its own. */
export function pluginDocument(plugin: string, options: OpenApiOptions): OpenApiDocument {
  const api = options.pluginApis.documents.get(plugin)!;
  const routes = options.pluginApis.routes.filter((route) => route.plugin === plugin);
  const tags = api.tags ?? { [plugin]: api.summary };
  const [firstTag] = Object.keys(tags);
  const writer = new RouteWriter(options, api.headers);
  return openApi({
    title: `${options.serviceName}: ${api.title}`,
    version: api.version,
    summary: api.summary,
    description: api.description,
    errors: 'Every problem of the service behind this API.',
    docsUrl: options.docsUrl,
    serverUrl: options.serverUrl,
    tags,
    security: [...securityOf(options), ...(api.keyField === undefined ? [] : [{ keyField: [] }])],
    routes: routes.map((route) => {
      const doc = docOf(route);
      return writer.ofPlugin(route, doc, doc.tag ?? firstTag!);
    }),
    components: {
      schemas: { Failure: api.failure === undefined ? PROBLEM : plain(api.failure) },
      headers: writer.usedHeaders(),
      securitySchemes: { ...securitySchemesOf(options), ...keyFieldScheme(api) },
    },
  });
}

function keyFieldScheme({ keyField }: ApiDocument): OpenApiNode {
  if (keyField === undefined) return {};
  const description = 'The key alone; ignored if it is also sent in another way.';
  return { keyField: { type: 'apiKey', in: 'header', name: keyField, description } };
}

const TAG_PARAMETER = {
  name: TAG_FIELD,
  in: 'header',
  description: 'Under which the request is counted in reports of usage: 1 to 100 printable ASCII characters without spaces.',
  example: 'acme',
  schema: Type.String(),
} as const;

/** For routes of plugins without a description. */
const UNDECLARED: RouteDoc = {
  summary: '',
  description: 'The plugin does not describe it further.',
  authenticated: false,
  answer: { status: 200, description: "The plugin's answer." },
};

/** The route's own description, or the one for routes without. */
function docOf(route: LoadedRoute): RouteDoc {
  return route.doc ?? { ...UNDECLARED, summary: routeName(route), authenticated: route.steps.includes('authenticate') };
}

/** Letters and digits, for an anchor and for the name of a function in a generated client. */
function idOf({ plugin, method, path }: LoadedRoute): string {
  const words = `${plugin} ${method} ${path}`.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())).join('');
}

/** Every code of the registry that a route can answer, in the order of the registry. */
export function codesOf({ authenticated, problems: named = [] }: RouteDoc, more: readonly ProblemCode[] = []): readonly ProblemCode[] {
  const codes = new Set<string>([...problemsTo('everyone'), ...(authenticated ? problemsTo('keys') : []), ...more, ...named]);
  return (Object.keys(problems) as ProblemCode[]).filter((code) => codes.has(code));
}

/** How a route of a plugin reports failures, and whether it is refused under load. */
type FailingRoute = Pick<LoadedRoute, 'steps' | 'problemForm'>;

/** With all that can fail, by status: by names of the document, or as plugins answer. */
class RouteWriter {
  readonly #options: OpenApiOptions;
  readonly #everywhere: readonly string[];
  readonly #known: OpenApiNode;
  readonly #used = new Set<string>();

  constructor(options: OpenApiOptions, everywhere: DocHeaders = {}) {
    this.#options = options;
    this.#everywhere = [...headersOfEveryAnswer(options), ...Object.keys(everywhere)];
    this.#known = { ...declaredHeaders(everywhere), ...headers(options) };
  }

  /** `name` is its key in the table. */
  own(name: string, operation: Operation): DescribedRoute {
    const [method = '', path = ''] = name.split(' ');
    const { id, tag, authenticated } = operation;
    const route = this.#route(method, path, operation);
    return { ...route, id, tag, parameters: [...route.parameters, ...(authenticated ? [TAG_PARAMETER] : [])] };
  }

  ofPlugin(route: LoadedRoute, doc: RouteDoc, tag: string): DescribedRoute {
    return { ...this.#route(route.method, route.path, doc, route), id: idOf(route), tag };
  }

  usedHeaders(): OpenApiNode {
    return Object.fromEntries(Object.entries(this.#known).filter(([name]) => this.#used.has(name)));
  }

  #route(method: string, path: string, doc: RouteDoc, of?: FailingRoute): Omit<DescribedRoute, 'id'> {
    const { summary, description, authenticated, parameter, moreParameters = [], query = [], body, answer, failures = {} } = doc;
    const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
    const named = (doc.problems ?? []).filter((code) => !(code in problems));
    const codes = [...codesOf(doc, of?.steps.includes('shed') === true ? ['service_unavailable'] : []), ...named];
    const byStatus = Map.groupBy(codes, (code) => of?.problemForm?.status(this.#problemOf(code)) ?? this.#kindOf(code).status);
    const statuses = new Set([...byStatus.keys(), ...Object.keys(failures).map(Number)]);
    const failed = Array.from(statuses, (status) => [status, this.#failure(byStatus.get(status) ?? [], of, failures[status])] as const);
    return {
      method,
      path,
      summary,
      description,
      authenticated,
      parameters: [
        ...names.map((name, index) => {
          return { name, in: 'path' as const, ...[parameter, ...moreParameters][index], required: true, schema: Type.String() };
        }),
        ...query.map((one) => ({ in: 'query' as const, required: false, ...one })),
      ],
      body,
      answer,
      headers: { ...this.#refs([]), ...declaredHeaders(answer.headers) },
      failures: { ...Object.fromEntries(failed), default: this.#failure(problemsTo('unmatched'), of) },
    };
  }

  #failure(codes: readonly string[], of: FailingRoute | undefined, words?: string): OpenApiNode {
    const meanings = codes.map((code) => `\`${code}\`: ${this.#kindOf(code).meaning}`);
    const schemas = codes.map((code) => refTo('schemas', schemaOfProblem(code)));
    const own = schemas.length === 1 ? schemas[0]! : { oneOf: schemas };
    return {
      description: words ?? meanings.join('\n\n'),
      headers: this.#refs(codes.flatMap((code) => this.#kindOf(code).headers)),
      content: {
        [of?.problemForm?.contentType ?? 'application/problem+json']: {
          schema: of === undefined ? own : refTo('schemas', 'Failure'),
          examples: Object.fromEntries(codes.map((code) => [code, of === undefined ? refTo('examples', code) : this.#example(code, of)])),
        },
      },
    };
  }

  /** A whole body, as the route would write it. */
  #example(code: string, { problemForm }: FailingRoute): OpenApiNode {
    const kind = this.#kindOf(code);
    const document = exampleOf(code, kind, this.#options.docsUrl);
    const body = problemForm?.body(this.#problemOf(code), document, '');
    const value = body !== undefined && problemForm!.contentType.includes('json') ? (JSON.parse(body) as unknown) : (body ?? document);
    return { summary: kind.title, value };
  }

  /** A name that nobody declares is refused when the plugin is loaded. */
  #kindOf(code: string): ProblemKind {
    return this.#options.pluginApis.problems.get(code)?.kind ?? problems[code as ProblemCode];
  }

  #problemOf(code: string): Problem {
    const kind = this.#kindOf(code);
    return { code, kind, detail: kind.example ?? kind.meaning, fields: membersOfExample(kind.members), headers: [] };
  }

  #refs(own: readonly string[]): OpenApiNode {
    const names = [...new Set([...this.#everywhere, ...own])];
    for (const name of names) this.#used.add(name);
    return Object.fromEntries(names.map((name) => [name, refTo('headers', name)]));
  }
}

/** Written where they are; one of every answer has only this value here. */
function declaredHeaders(fields: DocHeaders = {}): OpenApiNode {
  const written = Object.entries(fields).map(([name, { description, example }]) => {
    const schema = { type: 'string', ...(HEADERS[name] === undefined ? {} : { const: example }) };
    return [name, { description, required: true, schema, example }] as const;
  });
  return Object.fromEntries(written);
}
