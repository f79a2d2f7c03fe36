// The admin API's OpenAPI document, generated from the table of its routes.
import { problems } from '../core/problem.ts';
import { PROBLEM_HEADERS } from '../core/problem-writer.ts';
import { openApi } from '../docs/openapi-writer.ts';
import type { DescribedRoute, OpenApiNode } from '../docs/openapi-writer.ts';
import { Type } from '../domain/typebox.ts';
import { ADMIN_PREFIX, ADMIN_ROUTES, REPLAYED } from './admin-routes.ts';
import { changes, inPath } from './operation.ts';
import type { AdminRoute } from './operation-http.ts';

interface AdminOpenApiOptions {
  readonly serviceName: string;
  /** URL of the ops listener. */
  readonly serverUrl: string;
  /** Absolute URL that `/errors` is appended to. */
  readonly docsUrl: string;
}

export function adminOpenApi({ serviceName, serverUrl, docsUrl }: AdminOpenApiOptions): OpenApiNode {
  return openApi({
    title: `${serviceName} admin API`,
    version: '1',
    description:
      'Manages teams, keys and plans, like the command line, and reports the last 15 minutes. Failures are RFC 9457 problem documents.',
    errors: 'Every problem code.',
    docsUrl,
    serverUrl,
    security: [{ token: [] }],
    routes: ADMIN_ROUTES.map(describedAdminRoute),
    shown: shownSchema,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token from the configuration.' } },
      schemas: { Problem: PROBLEM },
    },
  });
}

/** Without what is for flags and fields. */
function shownSchema(schema: object): OpenApiNode {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => (name === 'given' || name === 'is' ? undefined : value)),
  ) as OpenApiNode;
}

function describedAdminRoute(route: AdminRoute): DescribedRoute {
  const { id, method, path, body, status, answer, query = {}, operation } = route;
  const { summary, listing } = operation;
  const text = Type.String();
  const isChange = changes(operation);
  return {
    method,
    path: ADMIN_PREFIX + path,
    id,
    summary,
    authenticated: true,
    parameters: [
      ...inPath(operation).map((name) => ({ name, in: 'path' as const, required: true, schema: text })),
      ...Object.entries(query).map(([name, description]) => ({ name, in: 'query' as const, description, schema: text })),
      ...(isChange ? [IDEMPOTENCY] : []),
    ],
    body: body && { schema: body },
    answer: { status, description: summary, schema: answer, otherType: listing?.file && 'text/csv' },
    headers: isChange ? { ...REPLAY, ...(answer === undefined ? REPLICATED : {}) } : undefined,
    failures: { default: FAILURE },
  };
}

const PROBLEM = {
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
};

/** By the problem's code. */
const OF_PROBLEMS = Object.fromEntries(
  Object.entries(PROBLEM_HEADERS).map(([name, { description, type }]) => [name, { description, schema: { type } }]),
);

const FAILURE = {
  description: 'What went wrong.',
  headers: OF_PROBLEMS,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

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
  schema: Type.String({ maxLength: 128 }),
} as const;
