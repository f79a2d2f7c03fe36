// The API's own parts of its OpenAPI document, and problems in Google's format: one member `error`.
import { KEY_MALFORMED, refuse, UNKNOWN_KEY } from 'lingate';
import type { ApiDocument, Problem, ProblemForm, Refusal } from 'lingate';
import Type from 'typebox';
import { string } from '../facades/reference.ts';

/** A failure in Google's format: the status of the answer, its name, and the reason in one word. */
interface Telling {
  readonly code: number;
  readonly status: string;
  readonly reason: string;
  readonly domain: 'global' | 'usageLimits';
}

const INVALID: Telling = { code: 400, status: 'INVALID_ARGUMENT', reason: 'invalid', domain: 'global' };
const UNAVAILABLE: Telling = { code: 503, status: 'UNAVAILABLE', reason: 'backendError', domain: 'global' };
const INTERNAL: Telling = { code: 500, status: 'INTERNAL', reason: 'backendError', domain: 'global' };

/** By the usual status of the problem. */
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

/** A caller who is told that a key is not valid looks for another key: only these codes mean that, and no plugin's code does. */
const KEY_CODES: ReadonlySet<string> = new Set(['unauthorized', 'key_revoked']);
const NOT_SIGNED_IN: Telling = { code: 401, status: 'UNAUTHENTICATED', reason: 'authError', domain: 'global' };

/** Cases of `validation_error` with another status. */
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

/** The rest of the message, where the first words already say half of the detail. */
const DETAILS = new WeakMap<Problem, string>([
  [KEY_MALFORMED.problem, 'A key is la_live_ or la_test_ and 40 letters or digits.'],
  [UNKNOWN_KEY.problem, 'This key is unknown.'],
]);

function messageOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  // Clients search for these words.
  if (KEY_CODES.has(code)) return `API key not valid. ${DETAILS.get(problem) ?? detail}`;
  if (code !== 'text_too_long') return detail;
  return `Text too long: ${fields['characters']} characters in total; at most ${fields['max_characters']} are allowed in a request.`;
}

/** For a missing parameter. */
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
  summary: "Google's Cloud Translation API v2, with the keys, limits and charges of this service.",
  description:
    'For clients of version 2 (Basic) of the API: they only need this address and a key of this service. The engine is the ' +
    "service's own. If the operator allows it, a key is also accepted as `key` in the query; a wrong key is a 400 " +
    'with the reason `API_KEY_INVALID`. A quota or credit that is used up is a 403 with the reason `dailyLimitExceeded`.',
  tags: {
    Translation: 'Translate texts.',
    Languages: 'Supported languages, and language detection.',
  },
  failure: Failure,
  keyField: 'X-Goog-Api-Key',
};
