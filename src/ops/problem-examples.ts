// What the reference shows of problems: the schema and an example value of every additional member.
import { anchorOf, problems } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';

type Json = Record<string, unknown>;

const count = (description: string): Json => ({ type: 'integer', minimum: 0, description });

/** By the member's name; a test holds this to the registry. */
export const fieldSchemas: Readonly<Record<string, Json>> = {
  max_texts: count('Entries that text may have.'),
  max_characters: count('Characters that the plan allows in one request.'),
  characters: count('Characters that were sent.'),
  character_limit: count('Included characters of a period.'),
  overage_cap_minor: count('Where overage ends, in minor currency units.'),
  period_end: { type: 'string', format: 'date-time', description: 'When the next period begins (RFC 3339, UTC).' },
  balance_minor: count('What is left, in minor currency units, rounded down.'),
  required_minor: count('What the request would cost, in minor currency units, rounded up.'),
  currency: { type: 'string', description: 'ISO 4217.' },
  max_glossaries: count('Glossaries that the plan allows.'),
  limit: count('Requests per second that the plan allows.'),
};

const VALUES: Readonly<Record<string, string | number>> = {
  max_texts: 50,
  max_characters: 10_000,
  characters: 12_345,
  character_limit: 500_000,
  overage_cap_minor: 0,
  period_end: '2026-12-01T00:00:00Z',
  balance_minor: 12,
  required_minor: 31,
  currency: 'EUR',
  max_glossaries: 20,
  limit: 50,
};

/** A whole problem document as a caller may get it. */
export function problemExample(code: ProblemCode, docsUrl: string): Json {
  const { status, title, meaning, fields } = problems[code];
  return {
    type: `${docsUrl}/errors#${anchorOf(code)}`,
    title,
    status,
    code,
    detail: meaning,
    request_id: '01K9ZR2M7N4P6Q8S1T3V5W7X9Y',
    ...Object.fromEntries(fields.map((name) => [name, VALUES[name]])),
  };
}
