// The response fields of the OpenAPI document: all that the service sends beyond what HTTP itself needs.
import type { OpenApiNode, OpenApiOptions } from './openapi-document.ts';
import { ULID } from './openapi-schemas.ts';
import { headerExamples } from './problem-examples.ts';

interface Header {
  readonly description: string;
  readonly schema: OpenApiNode;
  /** Sent with every answer that lists it. */
  readonly required?: true;
}

const text = { type: 'string' };
const count = { type: 'integer', minimum: 1 };

/** By name, in the order in which pages list them. */
export const HEADERS: Readonly<Record<string, Header>> = {
  'X-Request-Id': { description: 'The id of this request; the same as `request_id` in a problem.', schema: ULID, required: true },
  'Cache-Control': { description: 'Answers are not to be kept.', schema: { ...text, const: 'no-store' }, required: true },
  'Retry-After': { description: 'Whole seconds to wait before trying again.', schema: count, required: true },
  'X-RateLimit-Limit': {
    description: 'Requests per second that the plan allows; the same number as `limit`.',
    schema: count,
    required: true,
  },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 9110). With `unauthorized` only.', schema: text },
  Allow: { description: 'The methods that this path accepts. With `method_not_allowed` only.', schema: text },
  Location: { description: 'The path of the new resource.', schema: { ...text, format: 'uri-reference' }, required: true },
};

/** By draft-ietf-httpapi-ratelimit-headers; only where the operator has them sent. */
const RATE_HEADERS: Readonly<Record<string, Header>> = {
  'RateLimit-Policy': { description: "The team's request rate: `q` requests in any `w` seconds.", schema: text },
  RateLimit: { description: 'How the rate stands: `r` requests are left within the next `t` seconds.', schema: text },
};

export function headers({ serviceName, rateLimitHeaders }: OpenApiOptions): OpenApiNode {
  const examples = headerExamples(serviceName);
  const all = rateLimitHeaders ? { ...HEADERS, ...RATE_HEADERS } : HEADERS;
  const entries = Object.entries(all).map(([name, header]) => {
    const example = header.schema['type'] === 'integer' ? Number(examples[name]) : examples[name];
    return [name, { ...header, example }];
  });
  return Object.fromEntries(entries) as OpenApiNode;
}

/** Names of the fields that any answer may have. */
export function headersOfEveryAnswer({ rateLimitHeaders }: OpenApiOptions): string[] {
  return ['X-Request-Id', 'Cache-Control', ...(rateLimitHeaders ? Object.keys(RATE_HEADERS) : [])];
}
