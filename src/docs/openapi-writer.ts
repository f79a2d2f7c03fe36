// Writes OpenAPI 3.1 documents, of the service, of plugins and of the admin API, from one kind of description.
import type { TSchema } from 'typebox';

export type OpenApiNode = Record<string, unknown>;

/** Keyed by a short name; pages show the first one. */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** Values of a body, an answer or a parameter; `example` comes first. */
interface Exemplified {
  readonly example?: unknown;
  readonly examples?: Examples;
}

/** Of the path, the query, or the headers. */
export interface DescribedParameter extends Exemplified {
  readonly name: string;
  readonly description?: string;
  readonly schema: TSchema;
  readonly required?: boolean;
}

interface DescribedBody extends Exemplified {
  readonly description?: string;
  readonly schema: TSchema;
  /** Defaults to `['application/json']`. */
  readonly contentTypes?: readonly string[];
  /** Whether it may be omitted. */
  readonly optional?: boolean;
}

/** The answer of a route that succeeds. */
export interface DescribedAnswer extends Exemplified {
  readonly status: number;
  readonly description: string;
  /** `undefined` for an answer without a body. */
  readonly schema?: TSchema | undefined;
  /** Defaults to `application/json`. */
  readonly contentType?: string;
  /** Another media type that can be requested: text without a schema. */
  readonly otherType?: string | undefined;
}

/** A route as documents and pages describe it, whoever answers it. */
export interface DescribedRoute {
  readonly method: string;
  readonly path: string;
  /** The anchor on the page, and the name of a function in generated clients. */
  readonly id: string;
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  /** Whether a key is needed. */
  readonly authenticated: boolean;
  /** Of the path, in its order. */
  readonly inPath?: readonly DescribedParameter[];
  /** Whether `inPath` is written once for all methods of the path. */
  readonly sharesPath?: boolean;
  readonly inQuery?: readonly DescribedParameter[];
  readonly inHeader?: readonly DescribedParameter[];
  readonly body?: DescribedBody | undefined;
  readonly answer: DescribedAnswer;
}

/** What a document says of an operation's responses in its own way. */
export interface DescribedResponses {
  /** Of the answer. */
  readonly headers?: OpenApiNode;
  /** Response objects by status or `default`. */
  readonly failures: OpenApiNode;
}

/** What a document says. */
interface ApiDescription {
  readonly title: string;
  readonly version: string;
  /** One sentence. */
  readonly summary?: string;
  readonly description: string;
  /** What is at `docsUrl` followed by `/errors`. */
  readonly errors: string;
  readonly docsUrl: string;
  readonly serverUrl: string;
  /** Descriptions by name. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly security: readonly OpenApiNode[];
  readonly operations: readonly (readonly [DescribedRoute, DescribedResponses])[];
  readonly components: OpenApiNode;
  /** Writes a schema in use; by default all of it, where it is used. */
  readonly shown?: (schema: TSchema) => OpenApiNode;
}

/** The document as a value that can be written as JSON. */
export function openApi(api: ApiDescription): OpenApiNode {
  const { title, version, summary, description, errors, docsUrl, serverUrl, tags = {}, security, components } = api;
  const listed = Object.entries(tags).map(([name, words]) => ({ name, description: words }));
  return {
    openapi: '3.1.0',
    info: { title, version, ...(summary === undefined ? {} : { summary }), description, license: { name: 'MIT', identifier: 'MIT' } },
    externalDocs: { description: errors, url: `${docsUrl}/errors` },
    servers: [{ url: reachable(serverUrl), description: 'This service.' }],
    ...(listed.length === 0 ? {} : { tags: listed }),
    security,
    paths: new Writer(api.shown ?? plain).paths(api.operations),
    components,
  };
}

/** An address that can be listened on but not called, such as 0.0.0.0, is replaced by this machine's. */
export function reachable(url: string): string {
  return url.replace('://0.0.0.0:', '://127.0.0.1:').replace('://[::]:', '://[::1]:');
}

/** TypeBox's own markers are not enumerable: what remains is JSON Schema. */
export function plain(schema: object): OpenApiNode {
  return JSON.parse(JSON.stringify(schema)) as OpenApiNode;
}

class Writer {
  readonly #shown: (schema: TSchema) => OpenApiNode;

  constructor(shown: (schema: TSchema) => OpenApiNode) {
    this.#shown = shown;
  }

  paths(operations: ApiDescription['operations']): OpenApiNode {
    const paths: Record<string, OpenApiNode> = {};
    for (const [operation, responses] of operations) {
      const { method, path, inPath = [], sharesPath = false } = operation;
      const item = (paths[path] ??= sharesPath ? { parameters: this.#parameters('path', inPath) } : {});
      item[method.toLowerCase()] = this.#operation(operation, responses);
    }
    return paths;
  }

  #operation(operation: DescribedRoute, { headers, failures }: DescribedResponses): OpenApiNode {
    const { id, tag, summary, description, authenticated, inPath = [], sharesPath = false, inQuery = [], inHeader = [] } = operation;
    const { body, answer } = operation;
    const parameters = [
      ...(sharesPath ? [] : this.#parameters('path', inPath)),
      ...this.#parameters('query', inQuery),
      ...this.#parameters('header', inHeader),
    ];
    return {
      operationId: id,
      ...(tag === undefined ? {} : { tags: [tag] }),
      summary,
      ...(description === undefined ? {} : { description }),
      ...(authenticated ? {} : { security: [] }),
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(body === undefined ? {} : { requestBody: this.#body(body, summary) }),
      responses: {
        [answer.status]: {
          description: answer.description,
          ...(headers === undefined ? {} : { headers }),
          ...(answer.schema === undefined ? {} : { content: this.#answer(answer, answer.schema) }),
        },
        ...failures,
      },
    };
  }

  #parameters(place: 'path' | 'query' | 'header', parameters: readonly DescribedParameter[]): OpenApiNode[] {
    return parameters.map(({ schema, required, ...rest }) => ({
      ...rest,
      in: place,
      ...(required === undefined ? {} : { required }),
      schema: this.#shown(schema),
    }));
  }

  #body(body: DescribedBody, summary: string): OpenApiNode {
    const { description, contentTypes = ['application/json'], optional = false, schema } = body;
    return {
      ...(description === undefined ? {} : { description }),
      required: !optional,
      content: Object.fromEntries(contentTypes.map((type) => [type, this.#media(schema, body, summary)])),
    };
  }

  #answer(answer: DescribedAnswer, schema: TSchema): OpenApiNode {
    const { contentType = 'application/json', otherType, description } = answer;
    const other = otherType === undefined ? {} : { [otherType]: { schema: { type: 'string' } } };
    return { [contentType]: this.#media(schema, answer, description), ...other };
  }

  /** `summary` is that of an example without a name. */
  #media(schema: TSchema, { example, examples = {} }: Exemplified, summary: string): OpenApiNode {
    const all = example === undefined ? examples : { example: { summary, value: example }, ...examples };
    return { schema: this.#shown(schema), ...(Object.keys(all).length === 0 ? {} : { examples: all }) };
  }
}
