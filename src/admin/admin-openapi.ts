// The admin API's OpenAPI 3.1 document, generated from the table of its routes.
import { problems } from '../core/problem.ts';
import { ADMIN_PREFIX, ADMIN_ROUTES, REPLAYED } from './admin-routes.ts';
import type { AdminRoute } from './admin-routes.ts';

export interface AdminOpenApiOptions {
  readonly serviceName: string;
  /** URL of the ops listener. */
  readonly serverUrl: string;
  /** Absolute URL that `/errors` is appended to. */
  readonly docsUrl: string;
}

const PROBLEM = { $ref: '#/components/schemas/Problem' } as const;

export function adminOpenApi({ serviceName, serverUrl, docsUrl }: AdminOpenApiOptions): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of ADMIN_ROUTES) {
    const item = (paths[ADMIN_PREFIX + route.path] ??= {});
    item[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `${serviceName} admin API`,
      version: '1',
      description:
        'Manages teams, keys and plans, like the command line, and reports the last 15 minutes. Failures are RFC 9457 problem documents.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: { url: `${docsUrl}/errors`, description: 'Every problem code.' },
    servers: [{ url: serverUrl }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token from the configuration.' } },
      schemas: {
        Problem: {
          type: 'object',
          required: ['type', 'title', 'status', 'code', 'detail', 'request_id'],
          properties: {
            type: { type: 'string', format: 'uri' },
            title: { type: 'string' },
            status: { type: 'integer' },
            code: { type: 'string', enum: Object.keys(problems) },
            detail: { type: 'string' },
            request_id: { type: 'string' },
          },
        },
      },
    },
  };
}

function operationOf(route: AdminRoute): Record<string, unknown> {
  const { id, method, summary, path, body, bodyOptional, status, answer, looksOnly, query = {}, otherType } = route;
  const changes = method !== 'GET' && looksOnly !== true;
  const segment = /\{(\w+)\}/.exec(path)?.[1];
  const parameters = [
    ...(segment === undefined ? [] : [{ name: segment, in: 'path', required: true, schema: { type: 'string' } }]),
    ...Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema: { type: 'string' } })),
    ...(changes ? [IDEMPOTENCY] : []),
  ];
  const other = otherType === undefined ? {} : { [otherType]: { schema: { type: 'string' } } };
  return {
    operationId: id,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: bodyOptional !== true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [status]: {
        description: summary,
        ...(answer === undefined ? {} : { content: { 'application/json': { schema: answer }, ...other } }),
        ...(changes ? { headers: { ...REPLAY, ...(answer === undefined ? REPLICATED : {}) } } : {}),
      },
      default: { description: 'What went wrong.', content: { 'application/problem+json': { schema: PROBLEM } } },
    },
  };
}

/** For answers without a body. */
const REPLICATED = {
  'Lingate-Replicated': {
    description: '`false`: no replica of the store has it yet, and a failover may undo it. Absent if the store has no replicas.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
};

const REPLAY = {
  [REPLAYED]: {
    description: '`true`: the request was executed before, with the same Idempotency-Key; this is its answer, without secrets.',
    schema: { type: 'string', enum: ['true'] },
  },
};

const IDEMPOTENCY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'The same request of the same operator, repeated within a day at any gateway of the store, gets the first answer and changes nothing. Another request with it is a 400.',
  schema: { type: 'string', maxLength: 128 },
};
