// The reference's examples of problems: schema and example of every additional member, and whole documents.
import { anchorOf, problems } from '../core/problem.ts';
import type { ProblemCode, ProblemDocument, ProblemKind, ProblemMembers } from '../core/problem.ts';
import { GLOSSARY_ID } from './operation.ts';

interface FieldSchema {
  readonly type: 'integer' | 'string' | 'array';
  readonly items?: { readonly type: 'string' };
  readonly minimum?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly description: string;
}

const count = (description: string, minimum = 0): FieldSchema => ({ type: 'integer', minimum, description });

/** By the member's name; a test compares this with the registry. */
export const fieldSchemas: Readonly<Record<string, FieldSchema>> = {
  max_texts: count('The most entries that `text` may have.'),
  max_characters: count('The most characters that the plan allows in one request.'),
  characters: count('The characters sent.'),
  character_limit: count(
    'The characters that the plan includes per period; if the limit of the key or the tag is used up, those that it may use; with `limit_of`, those of that limit.',
  ),
  overage_cap_minor: count('The most that overage may cost, in minor currency units.'),
  period_end: { type: 'string', format: 'date-time', description: 'When the next period, or the next time of `limit_of`, begins.' },
  balance_minor: count('The balance, in minor currency units, rounded down.'),
  required_minor: count('The price of the request, in minor currency units, rounded up.'),
  currency: { type: 'string', pattern: '^[A-Z]{3}$', description: 'ISO 4217.' },
  missing_scopes: {
    type: 'array',
    items: { type: 'string' },
    description: 'The scopes that the key would need; empty if no scope opens the route.',
  },
  max_glossaries: count('The most glossaries that the plan allows.'),
  failed_with: { type: 'string', description: 'The code of the problem that the translation met.' },
  limit: count(
    'What the plan, the key or the tag allows: requests per second, or what `limit_of` says; the same as `X-RateLimit-Limit`.',
    1,
  ),
  limit_of: {
    type: 'string',
    description: 'Whose limit it is, for what time, and what it counts, such as `team:day:characters`. Absent for the rate and the period.',
  },
};

/** Members that not every problem of their code has. */
export const OPTIONAL_FIELDS: ReadonlySet<string> = new Set(['missing_scopes']);

const VALUES: ProblemMembers = {
  max_texts: 50,
  max_characters: 10_000,
  characters: 12_345,
  character_limit: 500_000,
  overage_cap_minor: 0,
  period_end: '2026-12-01T00:00:00Z',
  balance_minor: 12,
  required_minor: 31,
  currency: 'EUR',
  missing_scopes: ['usage:read'],
  max_glossaries: 20,
  failed_with: 'engine_unavailable',
  limit: 50,
};

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
    Location: `/v1/glossaries/${GLOSSARY_ID}`,
  };
}

/** A whole problem document as a caller might get it. */
export function problemExample(code: ProblemCode, docsUrl: string): ProblemDocument {
  return exampleOf(code, problems[code], docsUrl);
}

/** The same for a code that need not be in the registry. */
export function exampleOf(code: string, { status, title, meaning, fields }: ProblemKind, docsUrl: string): ProblemDocument {
  return {
    type: `${docsUrl}/errors#${anchorOf(code)}`,
    title,
    status,
    code,
    detail: DETAILS[code as ProblemCode] ?? meaning,
    request_id: REQUEST_ID,
    ...Object.fromEntries(fields.map((name) => [name, VALUES[name]!])),
  };
}

/** Details that say more than the meaning. */
const DETAILS: Partial<Record<ProblemCode, string>> = {
  validation_error: 'text[1]: must not be an empty string.',
  invalid_target_lang: 'target_lang: must be one of the target codes that GET /v1/languages?type=target lists.',
  too_many_texts: 'text: may hold at most 50 entries.',
  text_too_long: 'text: is 12345 characters long in total; the plan allows 10000 per request.',
  forbidden: 'The API key has scopes, and this route needs usage:read. Use another key, or ask for its scopes to be changed.',
  rate_limited: 'At most 50 requests per second are allowed for the team, across all of its keys.',
  method_not_allowed: 'This path accepts POST.',
};
