// Plugins' routes in documents: in the common one what they declare, in a plugin's own also its problems, in its format and statuses.
import { problems } from '../core/problem.ts';
import type { Problem, ProblemCode, ProblemKind } from '../core/problem.ts';
import { routeName } from '../core/route.ts';
import { Type } from '../domain/typebox.ts';
import type { ApiDocument, DocHeaders, LoadedRoute, RouteDoc } from '../ports/plugin-route.ts';
import type { OpenApiOptions } from './openapi-document.ts';
import { HEADERS, headers, headersOfEveryAnswer, refTo, securityOf, securitySchemesOf } from './openapi-schemas.ts';
import { openApi, plain } from './openapi-writer.ts';
import type { DescribedRoute, DescribedParameter, DescribedResponses, OpenApiNode } from './openapi-writer.ts';
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

/** As documents and pages describe it. */
export function describedRoute(route: LoadedRoute): DescribedRoute {
  const doc = docOf(route);
  const { query = [], body, answer } = doc;
  return {
    method: route.method,
    path: route.path,
    id: idOf(route),
    tag: route.plugin,
    summary: doc.summary,
    description: doc.description,
    authenticated: doc.authenticated,
    inPath: parametersOfPath(route.path, doc),
    inQuery: query.map(({ required = false, ...parameter }) => ({ ...parameter, required })),
    body,
    answer,
  };
}

function parametersOfPath(path: string, { parameter, moreParameters = [] }: RouteDoc): readonly DescribedParameter[] {
  const docs = [parameter, ...moreParameters];
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  return names.map((name, index) => ({ name, ...docs[index], required: true, schema: Type.String() }));
}

/** One tag for each plugin that has routes, with its description. */
export function pluginTags(routes: readonly LoadedRoute[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    routes.map(({ plugin }) => [plugin, plugin === 'documents' ? 'Translate files.' : `Routes of the plugin ${plugin}.`]),
  );
}

/** The failures that a route declares, in its words; `headersOfAll` go with every answer. */
export function plainFailures(route: LoadedRoute, headersOfAll: OpenApiNode): OpenApiNode {
  const contentType = route.problemForm?.contentType ?? 'application/problem+json';
  const failed = (words: string): OpenApiNode => ({
    description: words,
    headers: headersOfAll,
    content: { [contentType]: { schema: { type: 'object' } } },
  });
  return {
    ...Object.fromEntries(Object.entries(docOf(route).failures ?? {}).map(([status, words]) => [status, failed(words)])),
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

/** By plugin, in the order of the configuration. */
export function pluginDocuments(options: OpenApiOptions): ReadonlyMap<string, OpenApiNode> {
  return new Map([...options.pluginApis.documents.keys()].map((plugin) => [plugin, pluginDocument(plugin, options)]));
}

/** Of a plugin with a document of its own. */
export function pluginDocument(plugin: string, options: OpenApiOptions): OpenApiNode {
  const api = options.pluginApis.documents.get(plugin)!;
  const routes = options.pluginApis.routes.filter((route) => route.plugin === plugin);
  const tags = api.tags ?? { [plugin]: api.summary };
  const [firstTag] = Object.keys(tags);
  const responses = new RouteResponses(api, options);
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
    operations: routes.map((route) => {
      const operation = describedRoute(route);
      return [{ ...operation, tag: docOf(route).tag ?? firstTag! }, responses.of(route)] as const;
    }),
    components: {
      schemas: { Failure: api.failure === undefined ? PROBLEM : plain(api.failure) },
      headers: responses.usedHeaders(),
      securitySchemes: { ...securitySchemesOf(options), ...keyFieldScheme(api) },
    },
  });
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

/** The responses of a plugin's routes, and the headers that they name. */
class RouteResponses {
  readonly #options: OpenApiOptions;
  readonly #everywhere: readonly string[];
  readonly #used = new Set<string>();
  /** Headers that the plugin has declared. */
  readonly #own: OpenApiNode = {};

  constructor(api: ApiDocument, options: OpenApiOptions) {
    this.#options = options;
    this.#everywhere = [...headersOfEveryAnswer(options), ...this.#declared(api.headers)];
  }

  of(route: LoadedRoute): DescribedResponses {
    const doc = docOf(route);
    const { headers: fields } = doc.answer;
    return {
      headers: { ...this.#headers(this.#declared(fields)), ...replacedHeaders(fields) },
      failures: { ...this.#failures(route, doc), default: this.#failure(route, ['method_not_allowed'], 'Any other failure.') },
    };
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
