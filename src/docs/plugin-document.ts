// Plugins' routes in OpenAPI: in the common document what they declare, in a plugin's own also its problems, in its format and statuses.
import type { TSchema } from 'typebox';
import { problems } from '../core/problem.ts';
import type { Problem, ProblemCode, ProblemKind } from '../core/problem.ts';
import { routeName } from '../core/route.ts';
import type { ApiDocument, DocExamples, DocHeaders, LoadedRoute, RouteDoc } from '../ports/plugin-route.ts';
import type { OpenApiNode, OpenApiOptions } from './openapi-document.ts';
import {
  HEADERS,
  headers,
  headersOfEveryAnswer,
  operationObject,
  reachable,
  refTo,
  securityOf,
  securitySchemesOf,
} from './openapi-schemas.ts';
import { codesOf } from './operation.ts';
import { exampleOf } from './problem-examples.ts';

/** For routes without a description. */
const UNDECLARED: RouteDoc = {
  summary: '',
  description: 'The plugin does not describe it further.',
  authenticated: false,
  answer: { status: 200, description: "The plugin's answer." },
};

/** The route's own description, or the one for routes without. */
export function docOf(route: LoadedRoute): RouteDoc {
  return route.doc ?? { ...UNDECLARED, summary: routeName(route), authenticated: route.steps.includes('authenticate') };
}

/** Letters and digits, for an anchor and for the name of a function in a generated client. */
export function idOf({ plugin, method, path }: LoadedRoute): string {
  const words = `${plugin} ${method} ${path}`.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())).join('');
}

export interface PathParameter {
  readonly name: string;
  readonly description?: string;
  readonly example?: string;
}

/** The parameters of the path, in their order. */
export function pathParametersOf(route: LoadedRoute): readonly PathParameter[] {
  const { parameter = {}, moreParameters = [] } = docOf(route);
  const docs = [parameter, ...moreParameters];
  return Array.from(route.path.matchAll(/\{(\w+)\}/g), ([, name], index) => ({ name: name!, ...docs[index] }));
}

/** One tag for each plugin that has routes. */
export function pluginTags(routes: readonly LoadedRoute[]): OpenApiNode[] {
  return [...new Set(routes.map(({ plugin }) => plugin))].map((name) => ({ name, description: `Routes of the plugin ${name}.` }));
}

/** Path items by path; none of them is one of ours. `headers` go with every answer. */
export function pluginPaths(routes: readonly LoadedRoute[], headersOfAll: OpenApiNode): OpenApiNode {
  return pathsOf(routes, (route) => operationOf(route, headersOfAll));
}

function pathsOf(routes: readonly LoadedRoute[], describe: (route: LoadedRoute) => OpenApiNode): OpenApiNode {
  const paths: Record<string, OpenApiNode> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = describe(route);
  return paths;
}

function operationOf(route: LoadedRoute, headersOfAll: OpenApiNode): OpenApiNode {
  const doc = docOf(route);
  return operationObject(
    { ...doc, id: idOf(route), tag: route.plugin },
    parametersOf(route, doc),
    doc.body && requestBodyOf(doc.body, mediaOf),
    responsesOf(route, doc, headersOfAll),
  );
}

function parametersOf(route: LoadedRoute, { query = [] }: RouteDoc): OpenApiNode[] {
  const inPath = pathParametersOf(route).map((one) => ({ ...one, in: 'path', required: true, schema: { type: 'string' } }));
  const inQuery = query.map(({ schema, required = false, ...rest }) => ({ ...rest, in: 'query', required, schema: plain(schema) }));
  return [...inPath, ...inQuery];
}

type DocBody = NonNullable<RouteDoc['body']>;

function requestBodyOf(body: DocBody, mediaOfBody: (body: DocBody) => OpenApiNode): OpenApiNode {
  const { description, contentTypes = ['application/json'], optional = false } = body;
  return { description, required: !optional, content: Object.fromEntries(contentTypes.map((type) => [type, mediaOfBody(body)])) };
}

function mediaOf({ schema, example }: { readonly schema: TSchema; readonly example?: unknown }): OpenApiNode {
  return { schema: plain(schema), ...(example === undefined ? {} : { example }) };
}

function responsesOf(route: LoadedRoute, { answer, failures = {} }: RouteDoc, headersOfAll: OpenApiNode): OpenApiNode {
  const { status, description, schema, example, contentType = 'application/json' } = answer;
  const content = schema && { [contentType]: mediaOf({ schema, example }) };
  const problem = route.problemForm?.contentType ?? 'application/problem+json';
  const failed = (words: string): OpenApiNode => ({
    description: words,
    headers: headersOfAll,
    content: { [problem]: { schema: { type: 'object' } } },
  });
  return {
    [status]: { description, headers: headersOfAll, ...(content === undefined ? {} : { content }) },
    ...Object.fromEntries(Object.entries(failures).map(([code, words]) => [code, failed(words)])),
    default: failed('Any other failure.'),
  };
}

/** Those of every answer that have another value in this one. */
function replacedHeaders(fields: DocHeaders = {}): OpenApiNode {
  const replaced = Object.entries(fields).filter(([name]) => HEADERS[name] !== undefined);
  return Object.fromEntries(
    replaced.map(([name, { description, example }]) => [
      name,
      { description, required: true, schema: { type: 'string', const: example }, example },
    ]),
  );
}

/** TypeBox's own markers are not enumerable: what remains is JSON Schema. */
function plain(schema: TSchema): OpenApiNode {
  return JSON.parse(JSON.stringify(schema)) as OpenApiNode;
}

/** By plugin, in the order of the configuration. */
export function pluginDocuments(options: OpenApiOptions): ReadonlyMap<string, OpenApiNode> {
  return new Map([...options.pluginApis.documents.keys()].map((plugin) => [plugin, pluginDocument(plugin, options)]));
}

/** Of a plugin with a document of its own. */
export function pluginDocument(plugin: string, options: OpenApiOptions): OpenApiNode {
  const api = options.pluginApis.documents.get(plugin)!;
  const routes = options.pluginApis.routes.filter((route) => route.plugin === plugin);
  const writer = new Writer(plugin, api, options);
  const paths = pathsOf(routes, (route) => writer.operation(route));
  return {
    openapi: '3.1.0',
    info: {
      title: `${options.serviceName}: ${api.title}`,
      version: api.version,
      summary: api.summary,
      description: api.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: { description: 'Every problem of the service behind this API.', url: `${options.docsUrl}/errors` },
    servers: [{ url: reachable(options.serverUrl), description: 'This service.' }],
    tags: Object.entries(tagsOf(plugin, api)).map(([name, description]) => ({ name, description })),
    security: [...securityOf(options), ...(api.keyField === undefined ? [] : [{ keyField: [] }])],
    paths,
    components: {
      schemas: { Failure: api.failure === undefined ? PROBLEM : plain(api.failure) },
      headers: writer.usedHeaders(),
      securitySchemes: { ...securitySchemesOf(options), ...keyFieldScheme(api) },
    },
  };
}

function keyFieldScheme({ keyField }: ApiDocument): OpenApiNode {
  if (keyField === undefined) return {};
  const description = 'The key alone; ignored if it is also sent in another way.';
  return { keyField: { type: 'apiKey', in: 'header', name: keyField, description } };
}

/** Common to the bodies of problem documents. */
const PROBLEM: OpenApiNode = {
  type: 'object',
  title: 'Problem',
  description: 'What went wrong (RFC 9457). Members beyond these depend on `code`.',
  required: ['type', 'title', 'status', 'code', 'detail', 'request_id'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'The explanation of the code.' },
    title: { type: 'string', description: 'The code in words.' },
    status: { type: 'integer', description: 'The status of the answer.' },
    code: { type: 'string', description: 'Its meaning never changes.' },
    detail: { type: 'string', description: 'For people; may change at any time.' },
    request_id: { type: 'string', description: 'The same as the X-Request-Id header.' },
  },
};

function tagsOf(plugin: string, { tags, summary }: ApiDocument): Readonly<Record<string, string>> {
  return tags ?? { [plugin]: summary };
}

class Writer {
  readonly #plugin: string;
  readonly #api: ApiDocument;
  readonly #options: OpenApiOptions;
  readonly #everywhere: readonly string[];
  readonly #used = new Set<string>();
  /** Headers that the plugin has declared. */
  readonly #own: OpenApiNode = {};

  constructor(plugin: string, api: ApiDocument, options: OpenApiOptions) {
    this.#plugin = plugin;
    this.#api = api;
    this.#options = options;
    this.#everywhere = [...headersOfEveryAnswer(options), ...this.#declared(api.headers)];
  }

  operation(route: LoadedRoute): OpenApiNode {
    const doc = docOf(route);
    const { answer, body } = doc;
    const tag = doc.tag ?? Object.keys(tagsOf(this.#plugin, this.#api))[0]!;
    const content = answer.schema && { [answer.contentType ?? 'application/json']: media(answer.schema, answer, answer.description) };
    return operationObject(
      { ...doc, id: idOf(route), tag },
      parametersOf(route, doc),
      body && requestBodyOf(body, () => media(body.schema, body, doc.summary)),
      {
        [answer.status]: {
          description: answer.description,
          headers: { ...this.#headers(this.#declared(answer.headers)), ...replacedHeaders(answer.headers) },
          ...(content === undefined ? {} : { content }),
        },
        ...this.#failures(route, doc),
        default: this.#failure(route, ['method_not_allowed'], 'Any other failure.'),
      },
    );
  }

  usedHeaders(): OpenApiNode {
    const all = { ...headers(this.#options), ...this.#own };
    return Object.fromEntries(Object.entries(all).filter(([name]) => this.#used.has(name)));
  }

  /** Records the headers, and returns their names. */
  #declared(fields: DocHeaders = {}): readonly string[] {
    for (const [name, { description, example }] of Object.entries(fields)) {
      if (HEADERS[name] === undefined) this.#own[name] = { description, required: true, schema: { type: 'string' }, example };
    }
    return Object.keys(fields);
  }

  #failures(route: LoadedRoute, doc: RouteDoc): OpenApiNode {
    const named = doc.problems ?? [];
    const ofGateway = named.filter((code): code is ProblemCode => code in problems);
    const codes = [
      ...codesOf(doc.authenticated, [...ofGateway, ...(route.steps.includes('shed') ? SHED : [])]),
      ...named.filter((code) => !(code in problems)),
    ];
    const byStatus = Map.groupBy(codes, (code) => this.#statusOf(route, code));
    const written = [...byStatus].map(([status, group]) => [String(status), this.#failure(route, group, doc.failures?.[status])]);
    return Object.fromEntries(written) as OpenApiNode;
  }

  #failure(route: LoadedRoute, codes: readonly string[], words: string | undefined): OpenApiNode {
    const examples = codes.map((code) => [code, { summary: this.#kindOf(code).title, value: this.#example(route, code) }] as const);
    const fields = codes.flatMap((code) => this.#kindOf(code).headers);
    return {
      description: words ?? codes.map((code) => this.#kindOf(code).meaning).join('\n\n'),
      headers: this.#headers(fields),
      content: {
        [route.problemForm?.contentType ?? 'application/problem+json']: {
          schema: refTo('schemas', 'Failure'),
          examples: Object.fromEntries(examples),
        },
      },
    };
  }

  /** A whole body, as the route would write it. */
  #example({ problemForm }: LoadedRoute, code: string): unknown {
    const document = exampleOf(code, this.#kindOf(code), this.#options.docsUrl);
    if (problemForm === undefined) return document;
    const body = problemForm.body(this.#problemOf(code), document, '');
    return problemForm.contentType.includes('json') ? (JSON.parse(body) as unknown) : body;
  }

  /** The plugin's own codes are known here: a name that nobody declares is refused when the plugin is loaded. */
  #kindOf(code: string): ProblemKind {
    return this.#options.pluginApis.problems.get(code)?.kind ?? problems[code as ProblemCode];
  }

  #problemOf(code: string): Problem {
    const kind = this.#kindOf(code);
    const document = exampleOf(code, kind, '');
    const fields = Object.fromEntries(kind.fields.map((name) => [name, document[name]!]));
    return { code, kind, detail: document.detail, fields: kind.fields.length === 0 ? undefined : fields, headers: [] };
  }

  #statusOf({ problemForm }: LoadedRoute, code: string): number {
    return problemForm?.status(this.#problemOf(code)) ?? this.#kindOf(code).status;
  }

  #headers(own: readonly string[]): OpenApiNode {
    const names = [...new Set([...this.#everywhere, ...own])];
    for (const name of names) this.#used.add(name);
    return Object.fromEntries(names.map((name) => [name, refTo('headers', name)]));
  }
}

const SHED: readonly ProblemCode[] = ['service_unavailable'];

function media(schema: TSchema, { example, examples = {} }: DocExamples, summary: string): OpenApiNode {
  const all = example === undefined ? examples : { example: { summary, value: example }, ...examples };
  return { schema: plain(schema), ...(Object.keys(all).length === 0 ? {} : { examples: all }) };
}
