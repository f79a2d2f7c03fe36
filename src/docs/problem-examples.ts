// What the reference says of problems beside the registry: advice for callers, schema and example of every additional member, and
// whole documents.
import { anchorOf, problems } from '../core/problem.ts';
import type { ProblemCode, ProblemDocument, ProblemKind, ProblemMembers } from '../core/problem.ts';

/** For the only path parameter of the routes that need no documents. */
export const GLOSSARY_ID = '01KA6Q4T1V8E5S0H6N3B7W2XJD';

export const BACK_OFF = 'Wait for `Retry-After` seconds, then try again with growing pauses.';

/** After the word whether to try again. */
export const advice: Readonly<Record<ProblemCode, string>> = {
  validation_error: '`detail` names the field that is wrong: change it.',
  invalid_target_lang: '`GET /v1/languages?type=target` lists the codes. `EN` and `PT` are targets only with a region.',
  invalid_source_lang:
    '`GET /v1/languages` lists the codes. Send `EN`, not `EN-GB`; or leave it out and let the engine detect the language.',
  too_many_texts: 'Send at most `max_texts` texts at a time.',
  text_too_long: 'Send at most `max_characters` characters in all texts of a request; `characters` is how many you sent.',
  bad_request: 'Go back to the dashboard and choose again.',
  unauthorized:
    'Check that the key is complete and sent in one of the accepted forms. If an `Authorization` field is sent, only that one counts. If the key is limited to certain addresses, `detail` says so.',
  key_revoked:
    'Use another key of the team, or have one created. If this one is only disabled or has expired, `detail` says so, and it can be made valid again.',
  quota_exceeded: "Wait for `period_end`, or have the limit of the key, of the request's tag, of the plan or its overage cap raised.",
  credit_exhausted: 'Add credit. A request that costs less than `balance_minor` still goes through.',
  forbidden:
    'Use a key that has the scopes in `missing_scopes`, or have them added to this one. Without that member the tag of the request is disabled: have it enabled, or send another.',
  glossary_limit_reached: 'Delete a glossary, or upgrade the plan.',
  not_found: 'Check the path: it is case-sensitive and takes no slash at the end.',
  glossary_not_found: '`GET /v1/glossaries` lists the ids of the team. Glossaries of other teams look as if they did not exist.',
  document_not_found: 'Send the document again. Documents of other teams look as if they did not exist.',
  method_not_allowed: '`Allow` lists the methods that this path accepts.',
  document_not_ready: 'Wait for `Retry-After` seconds, then try again.',
  document_failed: '`failed_with` and `detail` say why. Correct the document, or send it again later.',
  csrf_invalid: 'Load the form again and send it from there.',
  rate_limited: `${BACK_OFF} The limit is the team's, so more keys do not help, or the key's, or the tag's that the request carries.`,
  internal_error: 'If it fails again, contact support with the `request_id`.',
  engine_unavailable: BACK_OFF,
  service_unavailable: BACK_OFF,
};

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
