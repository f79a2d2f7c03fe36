// What the reference says of problems beside the registry: schema and example of every additional member, and whole documents.
import { anchorOf, problems } from '../core/problem.ts';
import type { ProblemCode, ProblemDocument, ProblemKind, ProblemMembers } from '../core/problem.ts';

/** For the only path parameter of the routes that need no documents. */
export const GLOSSARY_ID = '01KA6Q4T1V8E5S0H6N3B7W2XJD';

interface FieldSchema {
  readonly type: 'integer' | 'string' | 'array';
  readonly items?: { readonly type: 'string' };
  readonly minimum?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly description: string;
}

const count = (description: string, minimum = 0): FieldSchema => ({ type: 'integer', minimum, description });

/** Schema and example of each additional member, by its name; a test compares this with the registry. */
export const problemMembers: Readonly<Record<string, { readonly schema: FieldSchema; readonly example?: ProblemMembers[string] }>> = {
  max_texts: { schema: count('The most entries that `text` may have.'), example: 50 },
  max_characters: { schema: count('The most characters that the plan allows in one request.'), example: 10_000 },
  characters: { schema: count('The characters sent.'), example: 12_345 },
  character_limit: {
    schema: count(
      'The characters that the plan includes per period; if the limit of the key or the tag is used up, those that it may use; with `limit_of`, those of that limit.',
    ),
    example: 500_000,
  },
  overage_cap_minor: { schema: count('The most that overage may cost, in minor currency units.'), example: 0 },
  period_end: {
    schema: { type: 'string', format: 'date-time', description: 'When the next period, or the next time of `limit_of`, begins.' },
    example: '2026-12-01T00:00:00Z',
  },
  balance_minor: { schema: count('The balance, in minor currency units, rounded down.'), example: 12 },
  required_minor: { schema: count('The price of the request, in minor currency units, rounded up.'), example: 31 },
  currency: { schema: { type: 'string', pattern: '^[A-Z]{3}$', description: 'ISO 4217.' }, example: 'EUR' },
  missing_scopes: {
    schema: {
      type: 'array',
      items: { type: 'string' },
      description: 'The scopes that the key would need; empty if no scope opens the route.',
    },
    example: ['usage:read'],
  },
  max_glossaries: { schema: count('The most glossaries that the plan allows.'), example: 20 },
  failed_with: {
    schema: { type: 'string', description: 'The code of the problem that the translation met.' },
    example: 'engine_unavailable',
  },
  limit: {
    schema: count(
      'What the plan, the key or the tag allows: requests per second, or what `limit_of` says; the same as `X-RateLimit-Limit`.',
      1,
    ),
    example: 50,
  },
  limit_of: {
    schema: {
      type: 'string',
      description:
        'Whose limit it is, for what time, and what it counts, such as `team:day:characters`. Absent for the rate and the period.',
    },
  },
};

/** Members that not every problem of their code has. */
export const OPTIONAL_FIELDS: ReadonlySet<string> = new Set(['missing_scopes']);

const REQUEST_ID = '01KA6R2M7N4P6Q8S1T3V5W7X9Y';

/** An example value for every response header of the problem that the reference names. */
export function headerExamples(serviceName: string, code?: string): Readonly<Record<string, string>> {
  return {
    'X-Request-Id': REQUEST_ID,
    'Cache-Control': 'no-store',
    'Retry-After': code === 'rate_limited' ? '1' : '5',
    'X-RateLimit-Limit': '50',
    'RateLimit-Policy': '"requests";q=50;w=1',
    RateLimit: '"requests";r=49;t=1',
    'WWW-Authenticate': `Bearer realm="${serviceName}"`,
    Allow: 'POST',
  };
}

/** A whole problem document as a caller might get it. */
export function problemExample(code: ProblemCode, docsUrl: string): ProblemDocument {
  return exampleOf(code, problems[code], docsUrl);
}

/** The same for a code that need not be in the registry. */
export function exampleOf(
  code: string,
  { status, title, meaning, example = meaning, fields }: ProblemKind,
  docsUrl: string,
): ProblemDocument {
  return {
    type: `${docsUrl}/errors#${anchorOf(code)}`,
    title,
    status,
    code,
    detail: example,
    request_id: REQUEST_ID,
    ...Object.fromEntries(fields.map((name) => [name, problemMembers[name]!.example!])),
  };
}
