// The OpenAPI 3.1 document, generated from the schemas that validate and the registry that refuses, so that it cannot drift.
import type { TSchema } from 'typebox';
import { problems } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import { AUTHENTICATED_PROBLEMS, COMMON_PROBLEMS, operations } from './operations.ts';
import type { Operation } from './operations.ts';
import { fieldSchemas, problemExample } from './problem-examples.ts';

export interface OpenApiOptions {
  readonly serviceName: string;
  readonly version: string;
  /** Where callers reach the service. */
  readonly serverUrl: string;
  /** Absolute URL under which `/errors` lies. */
  readonly docsUrl: string;
  /** Canonical codes. */
  readonly sourceLanguages: readonly string[];
  readonly targetLanguages: readonly string[];
  /** Field names in which a key is accepted besides `Authorization`. */
  readonly vendorNames: readonly string[];
}

type Json = Record<string, unknown>;

const HEADERS: Readonly<Record<string, Json>> = {
  'X-Request-Id': { description: 'The id of this request, a ULID; the same as `request_id` in a problem.', schema: { type: 'string' } },
  'Retry-After': { description: 'Whole seconds to wait before trying again.', schema: { type: 'integer', minimum: 1 } },
  'X-RateLimit-Limit': {
    description: 'Requests per second that the plan allows; the same number as `limit`.',
    schema: { type: 'integer' },
  },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 9110).', schema: { type: 'string' } },
  Allow: { description: 'The methods that this path accepts.', schema: { type: 'string' } },
  Location: { description: 'Where the new resource is.', schema: { type: 'string' } },
};

export function openApiDocument(options: OpenApiOptions): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: `${options.serviceName} API`,
      version: options.version,
      summary: 'Translate text between languages over HTTP with JSON bodies.',
      description:
        'Every failure is an RFC 9457 problem document with a stable `code`; never match on `detail`. ' +
        'Failed requests are never charged. Wait for `Retry-After` seconds where it is sent.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: options.serverUrl }],
    tags: tagsOf(),
    security: securityOf(options),
    paths: pathsOf(options),
    components: {
      schemas: { ...bodySchemas(options), ...problemSchemas(options.docsUrl) },
      headers: HEADERS,
      securitySchemes: securitySchemesOf(options),
    },
  };
}

function tagsOf(): Json[] {
  const about: Readonly<Record<Operation['tag'], string>> = {
    Translation: 'Translate texts.',
    Languages: 'What can be translated into what.',
    Usage: 'What has been used, and what is left.',
    Glossaries: 'Terms with fixed translations.',
    Health: 'For load balancers and monitors.',
  };
  return Object.entries(about).map(([name, description]) => ({ name, description }));
}

function securitySchemesOf({ vendorNames }: OpenApiOptions): Json {
  const dedicated = vendorNames.map((name) => [
    schemeName(name),
    {
      type: 'apiKey',
      in: 'header',
      name,
      description: `The key by itself. Ignored when Authorization is sent. Also: \`Authorization: ${name} <key>\`.`,
    },
  ]);
  return {
    bearer: { type: 'http', scheme: 'bearer', description: '`Authorization: Bearer <key>`.' },
    ...(Object.fromEntries(dedicated) as Json),
  };
}

function securityOf({ vendorNames }: OpenApiOptions): Json[] {
  return [{ bearer: [] }, ...vendorNames.map((name) => ({ [schemeName(name)]: [] }))];
}

function schemeName(vendorName: string): string {
  return vendorName.replaceAll('-', '');
}

function pathsOf(options: OpenApiOptions): Json {
  const paths: Record<string, Json> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = name.split(' ');
    const entry = (paths[path] ??= path.includes('{id}') ? { parameters: [idParameter] } : {});
    entry[method.toLowerCase()] = operationOf(operation, options);
  }
  return paths;
}

const idParameter = { name: 'id', in: 'path', required: true, description: "The glossary's id, a ULID.", schema: { type: 'string' } };

function operationOf(operation: Operation, options: OpenApiOptions): Json {
  const { id, tag, summary, description, query, body, answer } = operation;
  const success = {
    description: answer.description,
    headers: headerRefs(['X-Request-Id', ...(answer.headers ?? [])]),
    ...(answer.schema === undefined ? {} : { content: { 'application/json': { schema: plain(answer.schema), example: answer.example } } }),
  };
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(operation.authenticated ? {} : { security: [] }),
    ...(query === undefined ? {} : { parameters: query.map(({ schema, ...rest }) => ({ ...rest, in: 'query', schema: plain(schema) })) }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: refTo(body.name), example: body.example } } } }),
    responses: { [answer.status]: success, ...problemResponses(operation, options.docsUrl) },
  };
}

/** One response per status, its codes as alternatives with an example each. */
function problemResponses(operation: Operation, docsUrl: string): Json {
  const codes = [...COMMON_PROBLEMS, ...(operation.authenticated ? AUTHENTICATED_PROBLEMS : []), ...operation.problems];
  const byStatus = Map.groupBy([...new Set(codes)], (code) => problems[code].status);
  const entries = [...byStatus].toSorted(([a], [b]) => a - b).map(([status, group]) => [status, problemResponse(group, docsUrl)]);
  return Object.fromEntries(entries) as Json;
}

function problemResponse(codes: readonly ProblemCode[], docsUrl: string): Json {
  const schemas = codes.map((code) => refTo(schemaNameOf(code)));
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].meaning}`).join('\n\n'),
    headers: headerRefs(['X-Request-Id', ...new Set(codes.flatMap((code) => problems[code].headers))]),
    content: {
      'application/problem+json': {
        schema: schemas.length === 1 ? schemas[0] : { oneOf: schemas },
        examples: Object.fromEntries(codes.map((code) => [code, { value: problemExample(code, docsUrl) }])),
      },
    },
  };
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function bodySchemas({ sourceLanguages, targetLanguages }: OpenApiOptions): Json {
  const schemas: Json = {};
  for (const { body } of Object.values(operations)) {
    if (body === undefined) continue;
    const schema = plain(body.schema);
    const properties = schema['properties'] as Record<string, Json>;
    // The lists are the operator's; the schema that validates looks codes up instead, whatever their case.
    const languages = { source_lang: sourceLanguages, target_lang: targetLanguages };
    for (const [name, codes] of Object.entries(languages)) properties[name] = { ...properties[name], enum: codes };
    schemas[body.name] = schema;
  }
  return schemas;
}

function problemSchemas(docsUrl: string): Json {
  const codes = (Object.keys(problems) as ProblemCode[]).filter((code) => !problems[code].dashboardOnly);
  return Object.fromEntries(codes.map((code) => [schemaNameOf(code), problemSchema(code, docsUrl)]));
}

function problemSchema(code: ProblemCode, docsUrl: string): Json {
  const { status, title, meaning, fields } = problems[code];
  const example = problemExample(code, docsUrl);
  return {
    type: 'object',
    title,
    description: meaning,
    required: ['type', 'title', 'status', 'code', 'detail', 'request_id', ...fields],
    properties: {
      type: { type: 'string', format: 'uri', const: example['type'] },
      title: { type: 'string' },
      status: { type: 'integer', const: status },
      code: { type: 'string', const: code },
      detail: { type: 'string', description: 'For people; may change at any time.' },
      request_id: { type: 'string', description: 'The same as the X-Request-Id field.' },
      ...Object.fromEntries(fields.map((name) => [name, fieldSchemas[name]])),
    },
  };
}

/** `rate_limited` becomes `RateLimitedProblem`. */
function schemaNameOf(code: ProblemCode): string {
  const words = code.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Problem`;
}

function refTo(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** A TypeBox schema as the JSON Schema that it is, without the library's own markers. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
