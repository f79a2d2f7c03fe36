// Writes OpenAPI 3.1 documents, of the service, of plugins and of the admin API, from one kind of description.
import type { TSchema } from 'typebox';
import type { SchemaNode } from '../domain/option-schema.ts';

export type OpenApiNode = Record<string, unknown>;

/** Keyed by a short name. */
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
interface DescribedAnswer extends Exemplified {
  readonly status: number;
  readonly description: string;
  /** `undefined` for an answer without a body. */
  readonly schema?: TSchema | undefined;
  /** Defaults to `application/json`. */
  readonly contentType?: string;
  /** Another media type that can be requested: text without a schema. */
  readonly otherType?: string | undefined;
}

/** A route as documents describe it, whoever answers it. */
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

/** What a page reads of a document. */
export interface OpenApiDocument extends OpenApiNode {
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** Empty if no key is needed. */
  readonly security?: readonly unknown[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface ParameterObject extends Exemplified {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: SchemaNode;
}

interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly example?: unknown }>>;
  readonly content?: Content;
}

export type Content = Readonly<Record<string, { readonly schema: SchemaNode; readonly examples?: Examples }>>;

/** The document as a value that can be written as JSON. */
export function openApi(api: ApiDescription): OpenApiDocument {
  const { title, version, summary, description, errors, docsUrl, serverUrl, tags = {}, security, components } = api;
  const listed = Object.entries(tags).map(([name, words]) => ({ name, description: words }));
  return {
    openapi: '3.1.0',
    info: { title, version, summary, description, license: { name: 'MIT', identifier: 'MIT' } },
    externalDocs: { description: errors, url: `${docsUrl}/errors` },
    servers: [{ url: reachable(serverUrl), description: 'This service.' }],
    ...(listed.length === 0 ? {} : { tags: listed }),
    security,
    paths: new Writer(api.shown ?? plain).paths(api.operations),
    components,
  };
}

/** An address that can be listened on but not called, such as 0.0.0.0, is replaced by this machine's. */
function reachable(url: string): string {
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

  paths(operations: ApiDescription['operations']): OpenApiDocument['paths'] {
    const paths: Record<string, Record<string, OperationObject>> = {};
    for (const [operation, responses] of operations) {
      const item = (paths[operation.path] ??= {});
      item[operation.method.toLowerCase()] = this.#operation(operation, responses);
    }
    return paths;
  }

  #operation(operation: DescribedRoute, { headers, failures }: DescribedResponses): OperationObject {
    const { id, tag, summary, description, authenticated, inPath = [], inQuery = [], inHeader = [], body, answer } = operation;
    const parameters = [
      ...this.#parameters('path', inPath),
      ...this.#parameters('query', inQuery),
      ...this.#parameters('header', inHeader),
    ];
    const answered = {
      description: answer.description,
      headers,
      content: answer.schema && this.#answer(answer, answer.schema),
    };
    return {
      operationId: id,
      tags: tag === undefined ? undefined : [tag],
      summary,
      description,
      security: authenticated ? undefined : [],
      parameters: parameters.length === 0 ? undefined : parameters,
      requestBody: body && this.#body(body, summary),
      responses: { [answer.status]: answered, ...failures },
    };
  }

  #parameters(place: ParameterObject['in'], parameters: readonly DescribedParameter[]): ParameterObject[] {
    return parameters.map(({ schema, required, ...rest }) => ({
      ...rest,
      in: place,
      required,
      schema: this.#shown(schema),
    }));
  }

  #body(body: DescribedBody, summary: string): NonNullable<OperationObject['requestBody']> & OpenApiNode {
    const { description, contentTypes = ['application/json'], optional = false, schema } = body;
    return {
      description,
      required: !optional,
      content: Object.fromEntries(contentTypes.map((type) => [type, this.#media(schema, body, summary)])),
    };
  }

  #answer(answer: DescribedAnswer, schema: TSchema): Content {
    const { contentType = 'application/json', otherType, description } = answer;
    const other = otherType === undefined ? {} : { [otherType]: { schema: { type: 'string' } } };
    return { [contentType]: this.#media(schema, answer, description), ...other };
  }

  /** `summary` is that of an example without a name. */
  #media(schema: TSchema, { example, examples = {} }: Exemplified, summary: string): Content[string] {
    const all = example === undefined ? examples : { example: { summary, value: example }, ...examples };
    return { schema: this.#shown(schema), ...(Object.keys(all).length === 0 ? {} : { examples: all }) };
  }
}
