// What the API's own OpenAPI document says beside its routes, and problems as Google's clients read them: one member `error`.
import { KEY_MALFORMED, refuse, UNKNOWN_KEY } from 'lingate';
import type { ApiDocument, Problem, ProblemForm, Refusal } from 'lingate';
import Type from 'typebox';
import { string } from '../facades/reference.ts';

/** How a failure is told: the status of the answer, its name, and why in one word. */
interface Telling {
  readonly code: number;
  readonly status: string;
  readonly reason: string;
  readonly domain: 'global' | 'usageLimits';
}

const INVALID: Telling = { code: 400, status: 'INVALID_ARGUMENT', reason: 'invalid', domain: 'global' };
const UNAVAILABLE: Telling = { code: 503, status: 'UNAVAILABLE', reason: 'backendError', domain: 'global' };
const INTERNAL: Telling = { code: 500, status: 'INTERNAL', reason: 'backendError', domain: 'global' };

/** By the status that the problem has elsewhere. */
const BY_STATUS: Readonly<Record<number, Telling>> = {
  400: INVALID,
  401: { code: 400, status: 'INVALID_ARGUMENT', reason: 'API_KEY_INVALID', domain: 'global' },
  402: { code: 403, status: 'PERMISSION_DENIED', reason: 'dailyLimitExceeded', domain: 'usageLimits' },
  403: { code: 403, status: 'PERMISSION_DENIED', reason: 'forbidden', domain: 'global' },
  404: { code: 404, status: 'NOT_FOUND', reason: 'notFound', domain: 'global' },
  405: { code: 405, status: 'UNIMPLEMENTED', reason: 'httpMethodNotAllowed', domain: 'global' },
  429: { code: 429, status: 'RESOURCE_EXHAUSTED', reason: 'rateLimitExceeded', domain: 'usageLimits' },
  500: INTERNAL,
  503: UNAVAILABLE,
};

/** Whoever is told of an API key that is not valid looks for another one: only these mean that, and no code of a plugin. */
const KEY_CODES: ReadonlySet<string> = new Set(['unauthorized', 'key_revoked']);
const NOT_SIGNED_IN: Telling = { code: 401, status: 'UNAUTHENTICATED', reason: 'authError', domain: 'global' };

/** Cases of `validation_error` that are told in another way. */
const BY_PROBLEM = new WeakMap<Problem, Telling>();

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: (problem) => tellingOf(problem).code,
  body(problem) {
    const { code, status, reason, domain } = tellingOf(problem);
    const message = messageOf(problem);
    return JSON.stringify({ error: { code, message, errors: [{ message, domain, reason }], status } });
  },
};

function tellingOf(problem: Problem): Telling {
  const { status } = problem.kind;
  if (status === 401 && !KEY_CODES.has(problem.code)) return NOT_SIGNED_IN;
  return BY_PROBLEM.get(problem) ?? BY_STATUS[status] ?? (status < 500 ? { ...INVALID, code: status } : { ...INTERNAL, code: status });
}

/** What stands behind words that say the half of it already. */
const DETAILS = new WeakMap<Problem, string>([
  [KEY_MALFORMED.problem, 'A key is la_live_ or la_test_ and 40 letters or digits.'],
  [UNKNOWN_KEY.problem, 'Nobody has this key.'],
]);

function messageOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  // Clients look for these words.
  if (KEY_CODES.has(code)) return `API key not valid. ${DETAILS.get(problem) ?? detail}`;
  if (code !== 'text_too_long') return detail;
  return `Text too long: ${fields['characters']} characters in total; at most ${fields['max_characters']} are allowed in a request.`;
}

/** For a parameter that is not there. */
export function missing(detail: string): Refusal {
  return told(detail, { ...INVALID, reason: 'required' });
}

/** For a body over the limit, of `bytesMax` bytes. */
export function bodyTooLarge(bytesMax: number): Refusal {
  return told(`Request payload size exceeds the limit: ${bytesMax} bytes.`, { ...INVALID, code: 413, reason: 'uploadTooLarge' });
}

function told(detail: string, telling: Telling): Refusal {
  const refusal = refuse('validation_error', detail);
  BY_PROBLEM.set(refusal.problem, telling);
  return refusal;
}

const message = string('For people; may change at any time.');

const Failure = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer({ description: 'The status of the answer.' }),
      message,
      errors: Type.Array(
        Type.Object({
          message,
          domain: string('`global`, or `usageLimits` for rate and quota.'),
          reason: string('Why, in one word: `API_KEY_INVALID`, `rateLimitExceeded`.'),
        }),
        { description: 'One entry.' },
      ),
      status: string('The name of the status: `INVALID_ARGUMENT`, `RESOURCE_EXHAUSTED`.'),
    }),
  },
  { description: 'A failure.' },
);

export const DOCUMENT: ApiDocument = {
  title: 'Cloud Translation API v2',
  version: '2',
  summary: "Google's Cloud Translation API v2 over the keys, limits and books of this service.",
  description:
    'For programs that speak version 2 (Basic) of the API: its address and a key of this service are all they need. The engine is the ' +
    "service's own. If the operator allows it, a key is also taken from `key` in the query; a wrong one is a 400 " +
    'whose reason is `API_KEY_INVALID`. A quota or credit that is used up is a 403 whose reason is `dailyLimitExceeded`.',
  tags: {
    Translation: 'Translate texts.',
    Languages: 'What can be translated, and what texts are in.',
  },
  failure: Failure,
  keyField: 'X-Goog-Api-Key',
};
