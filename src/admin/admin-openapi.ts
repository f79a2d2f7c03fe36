// The admin API's OpenAPI document, generated from the table of its routes.
import { problems } from '../core/problem.ts';
import { PROBLEM_HEADERS } from '../core/problem-writer.ts';
import { openApi } from '../docs/openapi-writer.ts';
import type { OpenApiNode } from '../docs/openapi-writer.ts';
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
    operations: ADMIN_ROUTES.map((route) => [route.method, ADMIN_PREFIX + route.path, operationOf(route)]),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'A token from the configuration.' } },
      schemas: { Problem: PROBLEM },
    },
  });
}

function operationOf({ id, body, status, answer, query = {}, operation }: AdminRoute): OpenApiNode {
  const { summary, listing } = operation;
  const isChange = changes(operation);
  const parameters = [
    ...inPath(operation).map((name) => ({ name, in: 'path', required: true, schema: TEXT })),
    ...Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema: TEXT })),
    ...(isChange ? [IDEMPOTENCY] : []),
  ];
  const answered = answer && { 'application/json': { schema: shown(answer) }, ...(listing?.file && { 'text/csv': { schema: TEXT } }) };
  return {
    operationId: id,
    summary,
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body && { required: operation.bodyOptional !== true, content: { 'application/json': { schema: shown(body) } } },
    responses: {
      [status]: {
        description: summary,
        headers: isChange ? { ...REPLAY, ...(answer === undefined ? REPLICATED : {}) } : undefined,
        content: answered,
      },
      default: FAILURE,
    },
  };
}

/** Without what is for flags and fields. */
function shown(schema: object): OpenApiNode {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => (name === 'given' || name === 'is' ? undefined : value)),
  ) as OpenApiNode;
}

const TEXT = { type: 'string' };

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
  schema: { type: 'string', maxLength: 128 },
};
