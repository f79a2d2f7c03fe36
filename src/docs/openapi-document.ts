// The OpenAPI documents of the service and of plugins, generated from the schemas that validate
// requests and the registry of problems, so that they cannot drift.
import { problems, problemsTo, problemsWith } from '../core/problem.ts';
import type { ProblemCode, ProblemForm, ProblemKind } from '../core/problem.ts';
import { ProblemWriter } from '../core/problem-writer.ts';
import { routeName } from '../core/route.ts';
import type { TSchema } from 'typebox';
import { TAG_FIELD } from '../domain/request-tag.ts';
import type { DocExamples, DocHeaders, LoadedRoute, PluginApis, RouteDoc } from '../ports/plugin-route.ts';
import {
  bodySchemas,
  declaredHeaders,
  exampleOf,
  headers,
  headersOfEveryAnswer,
  PROBLEM,
  problemSchemas,
  refTo,
  REQUEST_ID,
  schemaOfProblem,
  securitySchemesOf,
  shown,
} from './openapi-schemas.ts';
import { openApi } from './openapi-writer.ts';
import type { PlacedOperation, OpenApiNode } from './openapi-writer.ts';
import { DOCUMENT_TAGS, operationsOf, TAGS } from './operations.ts';
import type { Operation } from './operations.ts';

export interface OpenApiOptions {
  readonly serviceName: string;
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
export function openApiDocument(options: OpenApiOptions): OpenApiNode {
  const { hasDocuments, pluginApis, serviceName, docsUrl, serverUrl } = options;
  const ofPlugins = pluginApis.routes.filter(({ plugin }) => !pluginApis.documents.has(plugin));
  const writer = new RouteWriter(options);
  const codes = problemsWith({ documents: hasDocuments });
  return openApi({
    title: `${serviceName} API`,
    // The version in every path.
    version: '1',
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
    operations: [
      ...Object.entries(operationsOf(hasDocuments)).map(ownRoute),
      ...ofPlugins.map((route) => routeOfPlugin(route, () => route.plugin)),
    ].map((route) => writer.write(route)),
    components: {
      schemas: { ...bodySchemas(options), ...problemSchemas(codes, docsUrl), ...(ofPlugins.length === 0 ? {} : { Failure: {} }) },
      examples: Object.fromEntries(codes.map((code) => [code, writer.example(code)])),
      headers: headers(options),
      securitySchemes: securitySchemesOf(options),
    },
  });
}

/** By plugin, in the order of the configuration. */
export function pluginDocuments(options: OpenApiOptions): ReadonlyMap<string, OpenApiNode> {
  return new Map([...options.pluginApis.documents.keys()].map((plugin) => [plugin, pluginDocument(plugin, options)]));
}

/** Of a plugin with a document of its own. */
export function pluginDocument(plugin: string, options: OpenApiOptions): OpenApiNode {
  const { title, version, summary, description, ...api } = options.pluginApis.documents.get(plugin)!;
  const routes = options.pluginApis.routes.filter((route) => route.plugin === plugin);
  const tags = api.tags ?? { [plugin]: summary };
  const [firstTag] = Object.keys(tags);
  const writer = new RouteWriter(options, api.headers);
  const operations = routes.map((route) => writer.write(routeOfPlugin(route, (doc) => doc.tag ?? firstTag)));
  return openApi({
    title: `${options.serviceName}: ${title}`,
    version,
    summary,
    description,
    errors: 'Every problem of the service behind this API.',
    docsUrl: options.docsUrl,
    serverUrl: options.serverUrl,
    tags,
    operations,
    components: {
      schemas: { Failure: api.failure === undefined ? PROBLEM : shown(api.failure) },
      headers: writer.usedHeaders(),
      securitySchemes: { ...securitySchemesOf(options), ...(api.keyField !== undefined && { keyField: keyIn(api.keyField) }) },
    },
  });
}

function keyIn(name: string): OpenApiNode {
  return { type: 'apiKey', in: 'header', name, description: 'The key alone; ignored if it is also sent in another way.' };
}

/** A route with its address, as a document describes it. */
interface DescribedRoute extends RouteDoc {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  /** How a plugin's reports failures, and whether it is refused under load. */
  readonly ofPlugin?: Pick<LoadedRoute, 'steps' | 'problemForm'>;
}

/** A row of the service's table. */
function ownRoute([name, operation]: readonly [string, Operation]): DescribedRoute {
  const [method = '', path = ''] = name.split(' ');
  return { ...operation, method, path };
}

function routeOfPlugin(route: LoadedRoute, tagOf: (doc: RouteDoc) => string | undefined): DescribedRoute {
  const { method, path, steps } = route;
  const doc = route.doc ?? { ...UNDECLARED, summary: routeName(route), authenticated: steps.includes('authenticate') };
  return { ...doc, method, path, id: idOf(route), tag: tagOf(doc), ofPlugin: route };
}

/** For routes of plugins without a description. */
const UNDECLARED = {
  description: 'The plugin does not describe it further.',
  answer: { status: 200, description: "The plugin's answer." },
};

/** Letters and digits, for an anchor and for the name of a function in a generated client. */
function idOf({ plugin, method, path }: LoadedRoute): string {
  const words = `${plugin} ${method} ${path}`.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())).join('');
}

/** Every code that a route can answer: of the registry in its order, then the plugin's. */
export function codesOf({ authenticated, problems: named = [] }: RouteDoc, more: readonly ProblemCode[] = []): readonly string[] {
  const all = [...problemsTo('everyone'), ...(authenticated ? problemsTo('keys') : []), ...more, ...named];
  return [...Object.keys(problems).filter((code) => all.includes(code)), ...named.filter((code) => !(code in problems))];
}

const TAG_PARAMETER = {
  name: TAG_FIELD,
  in: 'header',
  description: 'Under which the request is counted in reports of usage: 1 to 100 printable ASCII characters without spaces.',
  example: 'acme',
  schema: { type: 'string' },
};

/** Writes routes with all that can fail: by names of the document, or as a plugin answers. */
class RouteWriter {
  readonly #options: OpenApiOptions;
  readonly #problems: ProblemWriter;
  readonly #everywhere: readonly string[];
  readonly #known: OpenApiNode;
  readonly #used = new Set<string>();

  constructor(options: OpenApiOptions, everywhere: DocHeaders = {}) {
    this.#options = options;
    this.#problems = new ProblemWriter(options.docsUrl, options.serviceName);
    this.#everywhere = [...headersOfEveryAnswer(options), ...Object.keys(everywhere)];
    this.#known = { ...declaredHeaders(everywhere), ...headers(options) };
  }

  write(route: DescribedRoute): PlacedOperation {
    const { method, path, id, tag, summary, description, authenticated, body, answer, ofPlugin } = route;
    const parameters = [...parametersOf(route), ...(ofPlugin === undefined && authenticated ? [TAG_PARAMETER] : [])];
    const operation = {
      operationId: id,
      tags: tag === undefined ? undefined : [tag],
      summary,
      description,
      security: authenticated ? undefined : [],
      parameters: parameters.length === 0 ? undefined : parameters,
      requestBody: body && {
        description: body.description,
        required: body.optional !== true,
        content: contentOf(body.contentTypes ?? [JSON_TYPE], body, summary),
      },
      responses: {
        [answer.status]: {
          description: answer.description,
          headers: { ...this.#refs([]), ...declaredHeaders(answer.headers) },
          content: answer.schema && contentOf([answer.contentType ?? JSON_TYPE], answer, answer.description),
        },
        ...this.#failures(route),
        default: this.#failure(route, problemsTo('unmatched')),
      },
    };
    return [method, path, operation];
  }

  usedHeaders(): OpenApiNode {
    return Object.fromEntries(Object.entries(this.#known).filter(([name]) => this.#used.has(name)));
  }

  /** A whole body, as the gateway would write it in this form. */
  example(code: string, form?: ProblemForm): OpenApiNode {
    const problem = exampleOf(code, this.#kindOf(code));
    const { body } =
      form === undefined ? this.#problems.render(problem, REQUEST_ID) : this.#problems.renderAs(form, problem, REQUEST_ID, '');
    const isJson = form === undefined || form.contentType.includes('json');
    return { summary: problem.kind.title, value: isJson ? (JSON.parse(body) as unknown) : body };
  }

  /** By status. */
  #failures(route: DescribedRoute): OpenApiNode {
    const { ofPlugin, failures = {} } = route;
    const codes = codesOf(route, ofPlugin?.steps.includes('shed') === true ? ['service_unavailable'] : []);
    const byStatus = Map.groupBy(codes, (code) => {
      const kind = this.#kindOf(code);
      return ofPlugin?.problemForm?.status(exampleOf(code, kind)) ?? kind.status;
    });
    const statuses = new Set([...byStatus.keys(), ...Object.keys(failures).map(Number)]);
    return Object.fromEntries(
      Array.from(statuses, (status) => [status, this.#failure(route, byStatus.get(status) ?? [], failures[status])]),
    );
  }

  #failure({ ofPlugin }: DescribedRoute, codes: readonly string[], words?: string): OpenApiNode {
    const meanings = codes.map((code) => `\`${code}\`: ${this.#kindOf(code).meaning}`);
    const schemas = codes.map((code) => refTo('schemas', schemaOfProblem(code)));
    const own = schemas.length === 1 ? schemas[0]! : { oneOf: schemas };
    const example = (code: string): OpenApiNode =>
      ofPlugin === undefined ? refTo('examples', code) : this.example(code, ofPlugin.problemForm);
    return {
      description: words ?? meanings.join('\n\n'),
      headers: this.#refs(codes.flatMap((code) => this.#kindOf(code).headers)),
      content: {
        [ofPlugin?.problemForm?.contentType ?? 'application/problem+json']: {
          schema: ofPlugin === undefined ? own : refTo('schemas', 'Failure'),
          examples: Object.fromEntries(codes.map((code) => [code, example(code)])),
        },
      },
    };
  }

  /** A name that nobody declares is refused when the plugin is loaded. */
  #kindOf(code: string): ProblemKind {
    return this.#options.pluginApis.problems.get(code)?.kind ?? problems[code as ProblemCode];
  }

  #refs(own: readonly string[]): OpenApiNode {
    const names = [...new Set([...this.#everywhere, ...own])];
    for (const name of names) this.#used.add(name);
    return Object.fromEntries(names.map((name) => [name, refTo('headers', name)]));
  }
}

/** Those of the path first, in its order. */
function parametersOf({ path, parameter, moreParameters = [], query = [] }: DescribedRoute): readonly OpenApiNode[] {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name!);
  return [
    ...names.map((name, index) => {
      return { name, in: 'path', ...[parameter, ...moreParameters][index], required: true, schema: { type: 'string' } };
    }),
    ...query.map((one) => ({ in: 'query', required: false, ...one, schema: shown(one.schema) })),
  ];
}

/** `words` are the summary of an example without a name. */
function contentOf(
  types: readonly string[],
  { schema, example, examples = {} }: DocExamples & { readonly schema?: TSchema },
  words: string,
): OpenApiNode {
  const all = example === undefined ? examples : { example: { summary: words, value: example }, ...examples };
  const media = { schema: shown(schema!), ...(Object.keys(all).length === 0 ? {} : { examples: all }) };
  return Object.fromEntries(types.map((type) => [type, media]));
}

const JSON_TYPE = 'application/json';
