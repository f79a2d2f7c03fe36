// Common to all requests of this API: problems in its format, where a key may be, and the step that reads parameters.
import { FORM_BODY_HEADERS, refuse, SOURCE_LANG_NEEDED } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, ListLimit, Problem, ProblemForm, Refusal, Step } from 'lingate';
import { readStep } from '../facades/api.ts';
import type { Taken } from '../facades/api.ts';
import { bodyKeyStep, bodyKeySteps, keyStep, membersOnce, uploadKeyStep } from '../facades/keys.ts';
import type { KeyOptions, ReadSlot } from '../facades/keys.ts';
import { isJsonType, withQuery } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { optional } from '../facades/reference.ts';

/** Wrong or missing keys, and a used-up quota or credit, are 403 there. */
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 403 };

/** For a file that could not be translated, by the code of what it met; 500 for others, as for texts. */
const FAILED: Readonly<Record<string, number>> = {
  validation_error: 400,
  quota_exceeded: 403,
  credit_exhausted: 403,
  key_revoked: 403,
  unauthorized: 403,
  forbidden: 403,
};

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: ({ code, fields, kind: { status } }) => {
    const failedWith = fields?.['failed_with'];
    if (code === 'document_failed') return (typeof failedWith === 'string' ? FAILED[failedWith] : undefined) ?? 500;
    return code === 'engine_unavailable' ? 500 : (BY_STATUS[status] ?? status);
  },
  body: (problem) => JSON.stringify({ error: wordsOf(problem) }),
};

const SOURCE_NEEDED = 'Invalid request: missing source parameter, because the engine of this service does not detect languages';

function wordsOf(problem: Problem): string {
  if (problem === SOURCE_LANG_NEEDED.problem) return SOURCE_NEEDED;
  const { code, detail, fields = {} } = problem;
  if (code === 'rate_limited') return `Slowdown: ${Number(fields['limit'])} per 1 second`;
  if (code === 'text_too_long') return tooLong(Number(fields['characters']), Number(fields['max_characters']));
  return detail;
}

/** The message for too many characters, and for too many texts. */
function tooLong(size: unknown, limit: unknown): string {
  return `Invalid request: request (${String(size)}) exceeds text limit (${String(limit)})`;
}

/** How parameters may be sent. */
export const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const;

export const ApiKey = optional('The key, if no header has one and the operator allows it here.');

/** Twenty calls of the engine. */
export const TEXTS_MAX = 1000;
/** Also for a list in a body that is too large to count it. */
const TEXTS_LIMIT: ListLimit = { name: 'q', entriesMax: TEXTS_MAX, refusal: tooMany(`over ${TEXTS_MAX}`) };

export function tooMany(count: number | string): Refusal {
  return refuse('too_many_texts', tooLong(count, TEXTS_MAX), { max_texts: TEXTS_MAX });
}

const API = 'libretranslate';
const KEY = 'api_key';

/** The first steps of every route that needs a key; the step that reads the parameters comes next. */
export const AUTHENTICATED = ['access-log', 'shed', `${API}-key`, 'authenticate', ...bodyKeySteps(API), 'team-shed'] as const;

/** The same for uploads of files. */
export const UPLOADING = ['shed', `${API}-key`, `${API}-key-in-upload`, 'authenticate-body-key', 'team-shed'] as const;

export function keySteps(services: GatewayServices, { inBody, inQuery }: KeyOptions, slot: ReadSlot): readonly Step[] {
  const elsewhere = [...(inBody ? [KEY] : []), ...(inQuery ? [`?${KEY}=<key>`] : [])];
  const noKey = refuse(
    'unauthorized',
    `No API key was sent. Send it as ${[...elsewhere, '"Authorization: Bearer <key>"'].join(', or as ')}.`,
  );
  const places = { api: API, parameter: inQuery ? KEY : undefined, noKey };
  const { documents } = services;
  // Without a key in the body, the first step has already refused whoever sends none.
  return [
    keyStep({ ...places, member: inBody ? KEY : undefined }, services),
    bodyKeyStep({ ...places, member: KEY }, { slot, limit: TEXTS_LIMIT }, services),
    ...(documents === undefined ? [] : [uploadKeyStep({ ...places, member: KEY }, documents, services)]),
  ];
}

/** `take` as for `readStep`. */
export function readParameters(
  name: string,
  services: GatewayServices,
  slot: ReadSlot,
  take: (x: Exchange, members: Members) => Taken,
): BodyStep {
  return readStep(name, FORM_BODY_HEADERS, services, (x) => parametersOf(x, slot, services.bodyBytesMax), take);
}

const PARAMETERS = ['q', 'source', 'target', 'format', 'alternatives', 'text', 'source_lang', 'target_lang', 'tag_handling'];

/** Like LibreTranslate, which reads the query too, unless the body is JSON. */
function parametersOf(x: Exchange, slot: ReadSlot, bodyBytesMax: number): Judged<Members> {
  const inBody = membersOnce(x, { slot, limit: TEXTS_LIMIT }, bodyBytesMax);
  if ('problem' in inBody || (inBody.sound.size > 0 && isJsonType(x.head.headers))) return inBody;
  return withQuery(inBody.sound, x.head.query, PARAMETERS);
}
