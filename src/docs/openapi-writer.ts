// Writes OpenAPI 3.1 documents of service, plugins and admin API from one kind of description.
import type { TSchema } from 'typebox';
import type { SchemaNode } from '../domain/option-schema.ts';
import type { DocExamples, RouteDoc } from '../ports/plugin-route.ts';

export type OpenApiNode = Record<string, unknown>;

/** Values of a body or an answer by short names; the one without a name is `example`. */
export type Examples = NonNullable<DocExamples['examples']>;

export interface ParameterObject extends DocExamples {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: SchemaNode;
}

/** A route as documents describe it, whoever answers it. */
export interface DescribedRoute extends Pick<RouteDoc, 'summary' | 'authenticated' | 'tag'> {
  readonly method: string;
  readonly path: string;
  /** The anchor on the page, and the name of a function in generated clients. */
  readonly id: string;
  readonly description?: string;
  /** Those of the path first, in its order. */
  readonly parameters: readonly (Omit<ParameterObject, 'schema'> & { readonly schema: TSchema })[];
  readonly body?: Omit<NonNullable<RouteDoc['body']>, 'description'> & { readonly description?: string };
  /** `otherType` is another media type that can be requested: text without a schema. */
  readonly answer: Omit<RouteDoc['answer'], 'headers'> & { readonly otherType?: string };
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
  readonly routes: readonly DescribedRoute[];
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

interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly example?: unknown }>>;
  readonly content?: Content;
}

export type Content = Readonly<Record<string, { readonly schema: SchemaNode; readonly examples?: Examples }>>;

/** The document as a value that can be written as JSON. */
export function openApi(api: ApiDescription): OpenApiDocument {
  const { title, version, summary, description, errors, docsUrl, serverUrl, tags = {}, security, components, shown = plain } = api;
  const listed = Object.entries(tags).map(([name, words]) => ({ name, description: words }));
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const route of api.routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, shown);
  return {
    openapi: '3.1.0',
    info: { title, version, summary, description, license: { name: 'MIT', identifier: 'MIT' } },
    externalDocs: { description: errors, url: `${docsUrl}/errors` },
    servers: [{ url: reachable(serverUrl), description: 'This service.' }],
    ...(listed.length === 0 ? {} : { tags: listed }),
    security,
    paths,
    components,
  };
}

/** For one that can be listened on but not called, such as 0.0.0.0, this machine's. */
function reachable(url: string): string {
  return url.replace('://0.0.0.0:', '://127.0.0.1:').replace('://[::]:', '://[::1]:');
}

/** TypeBox's own markers are not enumerable: what remains is JSON Schema. */
export function plain(schema: object): OpenApiNode {
  return JSON.parse(JSON.stringify(schema)) as OpenApiNode;
}

function operationOf(route: DescribedRoute, shown: (schema: TSchema) => OpenApiNode): OperationObject {
  const { id, tag, summary, description, authenticated, parameters, body, answer, headers, failures } = route;
  /** `words` are the summary of an example without a name. */
  const media = (schema: TSchema, { example, examples = {} }: DocExamples, words: string): Content[string] => {
    const all = example === undefined ? examples : { example: { summary: words, value: example }, ...examples };
    return { schema: shown(schema), ...(Object.keys(all).length === 0 ? {} : { examples: all }) };
  };
  const requestBody = body && {
    description: body.description,
    required: body.optional !== true,
    content: Object.fromEntries((body.contentTypes ?? [JSON_TYPE]).map((type) => [type, media(body.schema, body, summary)])),
  };
  const content = answer.schema && {
    [answer.contentType ?? JSON_TYPE]: media(answer.schema, answer, answer.description),
    ...(answer.otherType === undefined ? {} : { [answer.otherType]: { schema: { type: 'string' } } }),
  };
  return {
    operationId: id,
    tags: tag === undefined ? undefined : [tag],
    summary,
    description,
    security: authenticated ? undefined : [],
    parameters: parameters.length === 0 ? undefined : parameters.map((one) => ({ ...one, schema: shown(one.schema) })),
    requestBody,
    responses: { [answer.status]: { description: answer.description, headers, content }, ...failures },
  };
}

const JSON_TYPE = 'application/json';
