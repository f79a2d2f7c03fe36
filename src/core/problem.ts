// The registry of problem codes: the interface's Errors table as data, and the only way to create a problem.
import { NO_HEADERS } from './outcome.ts';
import type { HeaderList, Refusal } from './outcome.ts';

/** A response field that tells more about a problem; their values are in `problem-writer.ts`. */
export type ProblemHeader = 'Retry-After' | 'X-RateLimit-Limit' | 'WWW-Authenticate' | 'Allow';

/** The registry entry of a code; the reference page and the OpenAPI document are generated from it. */
export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** One sentence for people: when it occurs. */
  readonly meaning: string;
  /** Whether the same request may be sent again later (interface, Errors, rules 2 and 3). */
  readonly retry: boolean;
  /** Names of the additional members of the problem document. */
  readonly fields: readonly string[];
  /** Names of those that only some of its documents have. */
  readonly mayHave: readonly string[];
  /** Response fields sent with it, in this order. */
  readonly headers: readonly ProblemHeader[];
  /** Only used by the dashboard; no route of this service returns it. */
  readonly dashboardOnly: boolean;
  /** What a caller can do; by default what `retry` says. */
  readonly advice: string;
  /** A detail that says more than the meaning, for the reference. */
  readonly example?: string;
}

const BACK_OFF = 'Wait for `Retry-After` seconds, then try again with growing pauses.';

type Extra = Partial<Pick<ProblemKind, 'fields' | 'mayHave' | 'headers' | 'dashboardOnly' | 'advice' | 'example'>>;

/** A row of a table of codes; a plugin's own are made by it, too. */
export function kind(status: number, title: string, meaning: string, retry: boolean, extra: Extra = {}): ProblemKind {
  const advice = retry ? BACK_OFF : '`detail` says what to change.';
  return { status, title, meaning, retry, fields: [], mayHave: [], headers: [], dashboardOnly: false, advice, ...extra };
}

const dashboardOnly = true;

/** Every code of the Errors table, in order. A code never changes its meaning. */
export const problems = {
  validation_error: kind(400, 'Invalid request', 'A parameter or the body breaks a rule; the detail names which.', false, {
    advice: '`detail` names the field that is wrong: change it.',
    example: 'text[1]: must not be an empty string.',
  }),
  invalid_target_lang: kind(400, 'Unknown target language', 'target_lang is missing or not one of the target codes.', false, {
    advice: '`GET /v1/languages?type=target` lists the codes. `EN` and `PT` are targets only with a region.',
    example: 'target_lang: must be one of the target codes that GET /v1/languages?type=target lists.',
  }),
  invalid_source_lang: kind(400, 'Unknown source language', 'source_lang is not one of the base source codes.', false, {
    advice: '`GET /v1/languages` lists the codes. Send `EN`, not `EN-GB`; or leave it out and let the engine detect the language.',
  }),
  too_many_texts: kind(400, 'Too many texts', 'text holds more entries than one request may carry.', false, {
    advice: 'Send at most `max_texts` texts at a time.',
    example: 'text: may hold at most 50 entries.',
    fields: ['max_texts'],
  }),
  text_too_long: kind(400, 'Text too long', "The texts together are longer than the plan's limit for one request.", false, {
    advice: 'Send at most `max_characters` characters in all texts of a request; `characters` is how many you sent.',
    example: 'text: is 12345 characters long in total; the plan allows 10000 per request.',
    fields: ['max_characters', 'characters'],
  }),
  bad_request: kind(400, 'Bad request', 'Unknown checkout kind or plan.', false, {
    advice: 'Go back to the dashboard and choose again.',
    dashboardOnly,
  }),
  unauthorized: kind(401, 'Unauthorized', 'No key was sent, or it is malformed, unknown, or not allowed from this address.', false, {
    advice:
      'Check that the key is complete and sent in one of the accepted forms. If an `Authorization` field is sent, only that one counts. If the key is limited to certain addresses, `detail` says so.',
    headers: ['WWW-Authenticate'],
  }),
  key_revoked: kind(401, 'Key revoked', 'The key was valid once and has been revoked, or it is disabled, or has expired.', false, {
    advice:
      'Use another key of the team, or have one created. If this one is only disabled or has expired, `detail` says so, and it can be made valid again.',
  }),
  quota_exceeded: kind(
    402,
    'Quota exceeded',
    "The period's characters are used up: the team's, overage included, the key's, or the tag's of the request; or the request has more than another limit ever allows.",
    false,
    {
      advice: "Wait for `period_end`, or have the limit of the key, of the request's tag, of the plan or its overage cap raised.",
      fields: ['character_limit', 'overage_cap_minor', 'period_end'],
      mayHave: ['limit_of'],
    },
  ),
  credit_exhausted: kind(402, 'Credit exhausted', 'The prepaid balance does not cover the request; nothing was charged.', false, {
    advice: 'Add credit. A request that costs less than `balance_minor` still goes through.',
    fields: ['balance_minor', 'required_minor', 'currency'],
  }),
  forbidden: kind(403, 'Forbidden', "The scopes of the API key do not cover this route, or the request's tag is disabled.", false, {
    advice:
      'Use a key that has the scopes in `missing_scopes`, or have them added to this one. Without that member the tag of the request is disabled: have it enabled, or send another.',
    example: 'The API key has scopes, and this route needs usage:read. Use another key, or ask for its scopes to be changed.',
    fields: ['missing_scopes'],
  }),
  glossary_limit_reached: kind(403, 'Glossary limit reached', 'The team already has as many glossaries as its plan allows.', false, {
    advice: 'Delete a glossary, or upgrade the plan.',
    fields: ['max_glossaries'],
  }),
  not_found: kind(404, 'Not found', 'The path matches no endpoint.', false, {
    advice: 'Check the path: it is case-sensitive and takes no slash at the end.',
  }),
  glossary_not_found: kind(404, 'Glossary not found', 'The team has no glossary with this id.', false, {
    advice: '`GET /v1/glossaries` lists the ids of the team. Glossaries of other teams look as if they did not exist.',
  }),
  document_not_found: kind(404, 'Document not found', 'The team has no document with this id; it may have expired.', false, {
    advice: 'Send the document again. Documents of other teams look as if they did not exist.',
  }),
  method_not_allowed: kind(405, 'Method not allowed', 'The path exists but does not accept this method.', false, {
    advice: '`Allow` lists the methods that this path accepts.',
    example: 'This path accepts POST.',
    headers: ['Allow'],
  }),
  document_not_ready: kind(409, 'Document not ready', 'The document is queued or being translated.', true, {
    advice: 'Wait for `Retry-After` seconds, then try again.',
    headers: ['Retry-After'],
  }),
  document_failed: kind(409, 'Document failed', 'The document could not be translated; nothing was charged.', false, {
    advice: '`failed_with` and `detail` say why. Correct the document, or send it again later.',
    fields: ['failed_with'],
  }),
  csrf_invalid: kind(419, 'Form expired', 'A form came with a missing or stale anti-forgery token.', false, {
    advice: 'Load the form again and send it from there.',
    dashboardOnly,
  }),
  rate_limited: kind(
    429,
    'Too many requests',
    'More requests came in the last second, or more requests or characters in the minute, hour, day, week or month, than the plan of the team, the key, or the tag of the request allows.',
    true,
    {
      advice: `${BACK_OFF} The limit is the team's, so more keys do not help, or the key's, or the tag's that the request carries.`,
      example: 'At most 50 requests per second are allowed for the team, across all of its keys.',
      fields: ['limit'],
      mayHave: ['limit_of'],
      headers: ['Retry-After', 'X-RateLimit-Limit'],
    },
  ),
  internal_error: kind(
    500,
    'Internal error',
    'Something unexpected failed on our side. Retry once, then contact support with the request_id.',
    true,
    { advice: 'If it fails again, contact support with the `request_id`.' },
  ),
  engine_unavailable: kind(503, 'Translation unavailable', 'No usable translation was available; nothing was charged.', true, {
    headers: ['Retry-After'],
  }),
  service_unavailable: kind(503, 'Service unavailable', 'A service that this one depends on is unreachable; nothing was charged.', true, {
    headers: ['Retry-After'],
  }),
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof problems;

/** Only routes of documents answer them, which a gateway need not have. */
export const OF_DOCUMENTS: ReadonlySet<string> = new Set<ProblemCode>(['document_not_found', 'document_not_ready', 'document_failed']);

/** The additional members of the codes that have any (interface, Errors table). */
export interface ProblemFields {
  too_many_texts: { readonly max_texts: number };
  text_too_long: { readonly max_characters: number; readonly characters: number };
  quota_exceeded: {
    readonly character_limit: number;
    readonly overage_cap_minor: number;
    readonly period_end: string;
    readonly limit_of?: string;
  };
  credit_exhausted: { readonly balance_minor: number; readonly required_minor: number; readonly currency: string };
  forbidden: { readonly missing_scopes?: readonly string[] };
  glossary_limit_reached: { readonly max_glossaries: number };
  document_failed: { readonly failed_with: string };
  rate_limited: { readonly limit: number; readonly limit_of?: string };
}

/** What an additional member may be; of callers' problems only texts and numbers. */
type ProblemValue = string | number | readonly string[] | Readonly<Record<string, number>>;

/** A problem before rendering: the request id and the service's own URIs are added when it is written. */
export interface Problem {
  /** A code of the table, or a plugin's own. */
  readonly code: string;
  readonly kind: ProblemKind;
  /** For people; may change at any time. Names the field, never quotes its value. */
  readonly detail: string;
  readonly fields: ProblemMembers | undefined;
  readonly headers: HeaderList;
}

/** Additional members of a problem document, by name. */
export type ProblemMembers = Readonly<Record<string, ProblemValue>>;

/** A problem document as sent. */
export type ProblemDocument = Readonly<Record<'type' | 'title' | 'code' | 'detail' | 'request_id', string>> & {
  readonly status: number;
  readonly [field: string]: ProblemValue;
};

/** How a route reports problems, if not as problem documents with the codes' own statuses. */
export interface ProblemForm {
  readonly contentType: string;
  /** The HTTP status of the answer, also used in the log and the metrics. */
  status(problem: Problem): number;
  /** The body. `document` is the default problem document; `query` is the request's, for an API with several versions. */
  body(problem: Problem, document: ProblemDocument, query: string): string;
}

type FieldsArgument<C extends ProblemCode> = C extends keyof ProblemFields
  ? object extends ProblemFields[C]
    ? [fields?: ProblemFields[C], headers?: HeaderList]
    : [fields: ProblemFields[C], headers?: HeaderList]
  : [fields?: undefined, headers?: HeaderList];

/**
 * Creates the refusal for a code; the compiler requires the members that the code's row lists. `headers` only where their values
 * differ from the usual ones, or for others.
 */
export function refuse<C extends ProblemCode>(code: C, detail: string, ...rest: FieldsArgument<C>): Refusal {
  const [fields, headers = NO_HEADERS] = rest;
  return refuseAs(code, problems[code], detail, fields, headers);
}

/** The same for a code outside the table, such as a plugin's own. */
export function refuseAs(
  code: string,
  row: ProblemKind,
  detail: string,
  fields?: ProblemMembers,
  headers: HeaderList = NO_HEADERS,
): Refusal {
  return { kind: 'problem', problem: { code, kind: row, detail, fields, headers } };
}

/** The fragment of a code's `type` URI: underscores become hyphens. */
export function anchorOf(code: string): string {
  return code.replaceAll('_', '-');
}
