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
}

type Extra = Partial<Pick<ProblemKind, 'fields' | 'mayHave' | 'headers' | 'dashboardOnly'>>;

function kind(status: number, title: string, meaning: string, retry: boolean, extra: Extra = {}): ProblemKind {
  return { status, title, meaning, retry, fields: [], mayHave: [], headers: [], dashboardOnly: false, ...extra };
}

const dashboardOnly = true;

/** Every code of the Errors table, in order. A code never changes its meaning. */
export const problems = {
  validation_error: kind(400, 'Invalid request', 'A parameter or the body breaks a rule; the detail names which.', false),
  invalid_target_lang: kind(400, 'Unknown target language', 'target_lang is missing or not one of the target codes.', false),
  invalid_source_lang: kind(400, 'Unknown source language', 'source_lang is not one of the base source codes.', false),
  too_many_texts: kind(400, 'Too many texts', 'text holds more entries than one request may carry.', false, { fields: ['max_texts'] }),
  text_too_long: kind(400, 'Text too long', "The texts together are longer than the plan's limit for one request.", false, {
    fields: ['max_characters', 'characters'],
  }),
  bad_request: kind(400, 'Bad request', 'Unknown checkout kind or plan.', false, { dashboardOnly }),
  unauthorized: kind(401, 'Unauthorized', 'No key was sent, or it is malformed, unknown, or not allowed from this address.', false, {
    headers: ['WWW-Authenticate'],
  }),
  key_revoked: kind(401, 'Key revoked', 'The key was valid once and has been revoked, or it is disabled, or has expired.', false),
  quota_exceeded: kind(
    402,
    'Quota exceeded',
    "The period's characters are used up: the team's, overage included, the key's, or the tag's of the request; or the request has more than another limit ever allows.",
    false,
    {
      fields: ['character_limit', 'overage_cap_minor', 'period_end'],
      mayHave: ['limit_of'],
    },
  ),
  credit_exhausted: kind(402, 'Credit exhausted', 'The prepaid balance does not cover the request; nothing was charged.', false, {
    fields: ['balance_minor', 'required_minor', 'currency'],
  }),
  forbidden: kind(403, 'Forbidden', "The scopes of the API key do not cover this route, or the request's tag is disabled.", false, {
    fields: ['missing_scopes'],
  }),
  glossary_limit_reached: kind(403, 'Glossary limit reached', 'The team already has as many glossaries as its plan allows.', false, {
    fields: ['max_glossaries'],
  }),
  not_found: kind(404, 'Not found', 'The path matches no endpoint.', false),
  glossary_not_found: kind(404, 'Glossary not found', 'The team has no glossary with this id.', false),
  document_not_found: kind(404, 'Document not found', 'The team has no document with this id; it may have expired.', false),
  method_not_allowed: kind(405, 'Method not allowed', 'The path exists but does not accept this method.', false, { headers: ['Allow'] }),
  document_not_ready: kind(409, 'Document not ready', 'The document is queued or being translated.', true, { headers: ['Retry-After'] }),
  document_failed: kind(409, 'Document failed', 'The document could not be translated; nothing was charged.', false, {
    fields: ['failed_with'],
  }),
  csrf_invalid: kind(419, 'Form expired', 'A form came with a missing or stale anti-forgery token.', false, { dashboardOnly }),
  rate_limited: kind(
    429,
    'Too many requests',
    'More requests came in the last second, or more requests or characters in the minute, hour, day, week or month, than the plan of the team, the key, or the tag of the request allows.',
    true,
    {
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
