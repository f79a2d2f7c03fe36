// The registry of problem codes, the interface's Errors table; the only way to create a problem.
import { NO_HEADERS } from './outcome.ts';
import type { HeaderList, Refusal } from './outcome.ts';

/** A response field that tells more about a problem; their values are in `problem-writer.ts`. */
export type ProblemHeader = 'Retry-After' | 'X-RateLimit-Limit' | 'WWW-Authenticate' | 'Allow';

/** A member of a problem document: its schema, and its value in the code's example, if any. */
interface ProblemMember<V extends ProblemValue = ProblemValue, O extends boolean = boolean> {
  readonly schema: Readonly<Record<'type' | 'description', string> & Record<string, unknown>>;
  readonly example: V | undefined;
  /** Whether only some documents of the code have it. */
  readonly optional: O;
}

type DescribedMembers = Readonly<Record<string, ProblemMember>>;

/** What a request is for, where a code is only an answer to some. */
type Task = 'translation' | 'new_glossary' | 'glossary' | 'new_document' | 'document' | 'result';
const OF_ANY_DOCUMENT: ReadonlySet<Task> = new Set<Task>(['new_document', 'document', 'result']);

/**
 * The row of a code: its refusals' type, the reference, the OpenAPI documents, vendors' APIs and
 * what upstream statuses may become follow from it.
 */
export interface ProblemKind<M extends DescribedMembers = DescribedMembers> {
  readonly status: number;
  readonly title: string;
  /** One sentence for people: when it occurs. */
  readonly meaning: string;
  /** What a caller can do, after the word whether to try again. */
  readonly advice: string;
  /** The `detail` of its example, where that says more than the meaning. */
  readonly example?: string;
  /** Whether the same request may be sent again later (interface, Errors, rules 2 and 3). */
  readonly retry: boolean;
  /** Additional members of the problem document, by name. */
  readonly members: M;
  /** Response fields sent with it, in this order. */
  readonly headers: readonly ProblemHeader[];
  /** Who gets it: any request, any with a key, those that match no route, or for some tasks. */
  readonly to: 'everyone' | 'keys' | 'unmatched' | 'dashboard' | readonly Task[];
}

type KindParts<M extends DescribedMembers> = Pick<ProblemKind, 'to' | 'advice'> & Partial<ProblemKind<M>>;

function kind<M extends DescribedMembers = Readonly<Record<string, never>>>(
  status: number,
  title: string,
  meaning: string,
  parts: KindParts<M>,
): ProblemKind<M> {
  return { status, title, meaning, retry: false, members: {} as M, headers: [], ...parts };
}

function count(example: number, description: string, minimum = 0): ProblemMember<number, false> {
  return { schema: { type: 'integer', minimum, description }, example, optional: false };
}

function text(example: string, description: string, more: object = {}): ProblemMember<string, false> {
  return { schema: { type: 'string', ...more, description }, example, optional: false };
}

const LIMIT_OF: ProblemMember<string, true> = {
  ...text('', 'Whose limit it is, for what time, and what it counts, such as `team:day:characters`. Absent for the rate and the period.'),
  example: undefined,
  optional: true,
};
const MISSING_SCOPES: ProblemMember<readonly string[], true> = {
  schema: {
    type: 'array',
    items: { type: 'string' },
    description: 'The scopes that the key would need; empty if no scope opens the route.',
  },
  example: ['usage:read'],
  optional: true,
};

/** Advice for what a later attempt may mend. */
export const BACK_OFF = 'Wait for `Retry-After` seconds, then try again with growing pauses.';

const LANGUAGES = ['translation', 'new_glossary', 'new_document'] as const;
const CHARGED = ['translation', 'new_document'] as const;

const LATER = { retry: true, headers: ['Retry-After'] } as const;

/** Every code of the Errors table, in order. A code never changes its meaning. */
export const problems = {
  validation_error: kind(400, 'Invalid request', 'A parameter or the body breaks a rule; the detail names which.', {
    to: 'everyone',
    advice: '`detail` names the field that is wrong: change it.',
    example: 'text[1]: must not be an empty string.',
  }),
  invalid_target_lang: kind(400, 'Unknown target language', 'target_lang is missing or not one of the target codes.', {
    to: LANGUAGES,
    advice: '`GET /v1/languages?type=target` lists the codes. `EN` and `PT` are targets only with a region.',
    example: 'target_lang: must be one of the target codes that GET /v1/languages?type=target lists.',
  }),
  invalid_source_lang: kind(400, 'Unknown source language', 'source_lang is not one of the base source codes.', {
    to: LANGUAGES,
    advice: '`GET /v1/languages` lists the codes. Send `EN`, not `EN-GB`; or leave it out and let the engine detect the language.',
  }),
  too_many_texts: kind(400, 'Too many texts', 'text holds more entries than one request may carry.', {
    to: ['translation'],
    advice: 'Send at most `max_texts` texts at a time.',
    example: 'text: may hold at most 50 entries.',
    members: { max_texts: count(50, 'The most entries that `text` may have.') },
  }),
  text_too_long: kind(400, 'Text too long', "The texts together are longer than the plan's limit for one request.", {
    to: ['translation'],
    advice: 'Send at most `max_characters` characters in all texts of a request; `characters` is how many you sent.',
    example: 'text: is 12345 characters long in total; the plan allows 10000 per request.',
    members: {
      max_characters: count(10_000, 'The most characters that the plan allows in one request.'),
      characters: count(12_345, 'The characters sent.'),
    },
  }),
  bad_request: kind(400, 'Bad request', 'Unknown checkout kind or plan.', {
    to: 'dashboard',
    advice: 'Go back to the dashboard and choose again.',
  }),
  unauthorized: kind(401, 'Unauthorized', 'No key was sent, or it is malformed, unknown, or not allowed from this address.', {
    to: 'keys',
    advice:
      'Check that the key is complete and sent in one of the accepted forms. If an `Authorization` field is sent, only that one counts. If the key is limited to certain addresses, `detail` says so.',
    headers: ['WWW-Authenticate'],
  }),
  key_revoked: kind(401, 'Key revoked', 'The key was valid once and has been revoked, or it is disabled, or has expired.', {
    to: 'keys',
    advice:
      'Use another key of the team, or have one created. If this one is only disabled or has expired, `detail` says so, and it can be made valid again.',
  }),
  quota_exceeded: kind(
    402,
    'Quota exceeded',
    "The period's characters are used up: the team's, overage included, the key's, or the tag's of the request; or the request has more than another limit ever allows.",
    {
      to: CHARGED,
      advice: "Wait for `period_end`, or have the limit of the key, of the request's tag, of the plan or its overage cap raised.",
      members: {
        character_limit: count(
          500_000,
          'The characters that the plan includes per period; if the limit of the key or the tag is used up, those that it may use; with `limit_of`, those of that limit.',
        ),
        overage_cap_minor: count(0, 'The most that overage may cost, in minor currency units.'),
        period_end: text('2026-12-01T00:00:00Z', 'When the next period, or the next time of `limit_of`, begins.', { format: 'date-time' }),
        limit_of: LIMIT_OF,
      },
    },
  ),
  credit_exhausted: kind(402, 'Credit exhausted', 'The prepaid balance does not cover the request; nothing was charged.', {
    to: CHARGED,
    advice: 'Add credit. A request that costs less than `balance_minor` still goes through.',
    members: {
      balance_minor: count(12, 'The balance, in minor currency units, rounded down.'),
      required_minor: count(31, 'The price of the request, in minor currency units, rounded up.'),
      currency: text('EUR', 'ISO 4217.', { pattern: '^[A-Z]{3}$' }),
    },
  }),
  forbidden: kind(403, 'Forbidden', "The scopes of the API key do not cover this route, or the request's tag is disabled.", {
    to: 'keys',
    advice:
      'Use a key that has the scopes in `missing_scopes`, or have them added to this one. Without that member the tag of the request is disabled: have it enabled, or send another.',
    example: 'The API key has scopes, and this route needs usage:read. Use another key, or ask for its scopes to be changed.',
    members: { missing_scopes: MISSING_SCOPES },
  }),
  glossary_limit_reached: kind(403, 'Glossary limit reached', 'The team already has as many glossaries as its plan allows.', {
    to: ['new_glossary'],
    advice: 'Delete a glossary, or upgrade the plan.',
    members: { max_glossaries: count(20, 'The most glossaries that the plan allows.') },
  }),
  not_found: kind(404, 'Not found', 'The path matches no endpoint.', {
    to: 'unmatched',
    advice: 'Check the path: it is case-sensitive and takes no slash at the end.',
  }),
  glossary_not_found: kind(404, 'Glossary not found', 'The team has no glossary with this id.', {
    to: ['glossary'],
    advice: '`GET /v1/glossaries` lists the ids of the team. Glossaries of other teams look as if they did not exist.',
  }),
  document_not_found: kind(404, 'Document not found', 'The team has no document with this id; it may have expired.', {
    to: ['document', 'result'],
    advice: 'Send the document again. Documents of other teams look as if they did not exist.',
  }),
  method_not_allowed: kind(405, 'Method not allowed', 'The path exists but does not accept this method.', {
    to: 'unmatched',
    advice: '`Allow` lists the methods that this path accepts.',
    example: 'This path accepts POST.',
    headers: ['Allow'],
  }),
  document_not_ready: kind(409, 'Document not ready', 'The document is queued or being translated.', {
    to: ['result'],
    advice: 'Wait for `Retry-After` seconds, then try again.',
    ...LATER,
  }),
  document_failed: kind(409, 'Document failed', 'The document could not be translated; nothing was charged.', {
    to: ['result'],
    advice: '`failed_with` and `detail` say why. Correct the document, or send it again later.',
    members: { failed_with: text('engine_unavailable', 'The code of the problem that the translation met.') },
  }),
  csrf_invalid: kind(419, 'Form expired', 'A form came with a missing or stale anti-forgery token.', {
    to: 'dashboard',
    advice: 'Load the form again and send it from there.',
  }),
  rate_limited: kind(
    429,
    'Too many requests',
    'More requests came in the last second, or more requests or characters in the minute, hour, day, week or month, than the plan of the team, the key, or the tag of the request allows.',
    {
      to: 'keys',
      advice: `${BACK_OFF} The limit is the team's, so more keys do not help, or the key's, or the tag's that the request carries.`,
      example: 'At most 50 requests per second are allowed for the team, across all of its keys.',
      retry: true,
      members: {
        limit: count(
          50,
          'What the plan, the key or the tag allows: requests per second, or what `limit_of` says; the same as `X-RateLimit-Limit`.',
          1,
        ),
        limit_of: LIMIT_OF,
      },
      headers: ['Retry-After', 'X-RateLimit-Limit'],
    },
  ),
  internal_error: kind(
    500,
    'Internal error',
    'Something unexpected failed on our side. Retry once, then contact support with the request_id.',
    {
      to: 'everyone',
      advice: 'If it fails again, contact support with the `request_id`.',
      retry: true,
    },
  ),
  engine_unavailable: kind(503, 'Translation unavailable', 'No usable translation was available; nothing was charged.', {
    to: ['translation'],
    advice: BACK_OFF,
    ...LATER,
  }),
  service_unavailable: kind(503, 'Service unavailable', 'A service that this one depends on is unreachable; nothing was charged.', {
    to: 'keys',
    advice: BACK_OFF,
    ...LATER,
  }),
} as const;

export type ProblemCode = keyof typeof problems;

const CODES = Object.keys(problems) as ProblemCode[];

/** The codes that requests get, by who gets them or by their task; in the order of the table. */
export function problemsTo(...whom: readonly (Task | Extract<ProblemKind['to'], string>)[]): readonly ProblemCode[] {
  return CODES.filter((code) => [problems[code].to].flat().some((one) => whom.includes(one)));
}

/** What a gateway may have, so that there are more codes. */
interface Having {
  readonly documents?: boolean;
  readonly dashboard?: boolean;
}

/** The codes that a gateway can answer, or the dashboard beside it. */
export function problemsWith({ documents = false, dashboard = false }: Having): readonly ProblemCode[] {
  return CODES.filter((code) => {
    const { to }: ProblemKind = problems[code];
    return typeof to === 'string' ? dashboard || to !== 'dashboard' : documents || !to.every((task) => OF_ANY_DOCUMENT.has(task));
  });
}

type MembersOf<C extends ProblemCode> = (typeof problems)[C]['members'];
type OptionalIn<M> = { [N in keyof M]: M[N] extends { readonly optional: true } ? N : never }[keyof M];
type ValueOf<D> = D extends ProblemMember<infer V> ? V : never;

/** The additional members of a code's documents, as its row describes them. */
type ProblemFields<C extends ProblemCode, M = MembersOf<C>> = { readonly [N in Exclude<keyof M, OptionalIn<M>>]: ValueOf<M[N]> } & {
  readonly [N in OptionalIn<M>]?: ValueOf<M[N]>;
};

/** The codes whose documents have no additional members. */
export type PlainCode = { [C in ProblemCode]: MembersOf<C> extends Readonly<Record<string, never>> ? C : never }[ProblemCode];

/** What an additional member may be; of callers' problems only texts and numbers. */
type ProblemValue = string | number | readonly string[] | Readonly<Record<string, number>>;

/** A problem before rendering, which adds the request id and the service's own URIs. */
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
  /** The body. `document` is the default one; `query` is the request's, for APIs with versions. */
  body(problem: Problem, document: ProblemDocument, query: string): string;
}

type FieldsArgument<C extends ProblemCode> = C extends PlainCode
  ? [fields?: undefined, headers?: HeaderList]
  : object extends ProblemFields<C>
    ? [fields?: ProblemFields<C>, headers?: HeaderList]
    : [fields: ProblemFields<C>, headers?: HeaderList];

/**
 * The refusal for a code, with the members that its row lists. `headers` only where their values
 * differ from the usual ones.
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
