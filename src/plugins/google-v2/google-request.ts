// Common to all requests of this API: the first steps, the key, the parameters from the query, JSON or a form, and problems in Google's format.
import { FORM_BODY_HEADERS, KEY_MALFORMED, refuse, unknownAmong, UNKNOWN_KEY } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, ListLimit, PluginHost, Problem, ProblemForm, Refusal, Step } from 'lingate';
import { readStep } from '../facades/api.ts';
import type { Taken } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { bodyKeyStep, bodyKeySteps, keyStep, membersOnce } from '../facades/keys.ts';
import type { KeyOptions, ReadSlot } from '../facades/keys.ts';
import { chosen, withQuery } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { judgeTexts } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';

/** A failure in Google's format: the status of the answer, its name, and the reason in one word. */
interface Telling {
  readonly code: number;
  readonly status: string;
  readonly reason: string;
  readonly domain: 'global' | 'usageLimits';
}

const INVALID: Telling = { code: 400, status: 'INVALID_ARGUMENT', reason: 'invalid', domain: 'global' };
const INTERNAL: Telling = { code: 500, status: 'INTERNAL', reason: 'backendError', domain: 'global' };

/** By the usual status of the problem. */
const BY_STATUS: Readonly<Record<number, Telling>> = {
  400: INVALID,
  401: { ...INVALID, reason: 'API_KEY_INVALID' },
  402: { code: 403, status: 'PERMISSION_DENIED', reason: 'dailyLimitExceeded', domain: 'usageLimits' },
  403: { code: 403, status: 'PERMISSION_DENIED', reason: 'forbidden', domain: 'global' },
  404: { code: 404, status: 'NOT_FOUND', reason: 'notFound', domain: 'global' },
  405: { code: 405, status: 'UNIMPLEMENTED', reason: 'httpMethodNotAllowed', domain: 'global' },
  429: { code: 429, status: 'RESOURCE_EXHAUSTED', reason: 'rateLimitExceeded', domain: 'usageLimits' },
  500: INTERNAL,
  503: { code: 503, status: 'UNAVAILABLE', reason: 'backendError', domain: 'global' },
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

/** What the routes of this API share. */
export interface GoogleSetting {
  readonly variants: DefaultVariants;
  readonly key: KeyOptions;
  /** Parameters that were read to find the key. */
  readonly read: ReadSlot;
  /** Access log, load shedding, identification, the team's load shedding. */
  readonly authenticated: readonly string[];
}

const API = 'google';
const KEY = 'key';

export function googleSetting(variants: DefaultVariants, key: KeyOptions, host: PluginHost): GoogleSetting {
  const inBody = key.inBody ? bodyKeySteps(API) : [];
  const authenticated = ['access-log', 'shed', `${API}-key`, 'authenticate', ...inBody, 'team-shed'];
  return { variants, key, read: host.reserveSlot('parameters'), authenticated };
}

export function keySteps({ key, read }: GoogleSetting, services: GatewayServices): readonly Step[] {
  const places = {
    api: API,
    field: 'x-goog-api-key',
    parameter: key.inQuery ? KEY : undefined,
    noKey: refuse('unauthorized', howToSend(key)),
  };
  if (!key.inBody) return [keyStep(places, services)];
  const inBody = { ...places, member: KEY };
  return [keyStep(inBody, services), bodyKeyStep(inBody, { slot: read, limit: TEXTS_LIMIT }, services)];
}

function howToSend({ inQuery, inBody }: KeyOptions): string {
  const places = [...(inQuery ? [`?${KEY}=<key>`] : []), ...(inBody ? [`${KEY} in the body`] : [])];
  const ways = ['"X-Goog-Api-Key: <key>"', '"Authorization: Bearer <key>"', ...places];
  const not = inQuery ? '' : '; a key in the query is not accepted here';
  return `Send one as ${ways.slice(0, -1).join(', ')} or ${ways.at(-1)!}${not}.`;
}

/** As many as Google accepts. */
export const TEXTS_MAX = 128;
/** Also for a list in a body that is too large to count it. */
const TEXTS_LIMIT: ListLimit = {
  name: 'q',
  entriesMax: TEXTS_MAX,
  refusal: refuse('too_many_texts', `Too many text segments: at most ${TEXTS_MAX} are allowed in a request.`, { max_texts: TEXTS_MAX }),
};

/** For parameters in the query, in a JSON object or in a form. `take` as for `readStep`. */
export function readParameters(
  name: string,
  services: GatewayServices,
  { read: slot }: GoogleSetting,
  take: (x: Exchange, members: Members) => Taken,
): BodyStep {
  const tooLarge = bodyTooLarge(services.bodyBytesMax);
  const read = (x: Exchange): Judged<Members> => (x.body === 'too_large' ? tooLarge : parametersOf(x, slot, services.bodyBytesMax));
  return readStep(name, FORM_BODY_HEADERS, services, read, take);
}

const PARAMETERS = ['q', 'source', 'target', 'format', 'model'];

function parametersOf(x: Exchange, slot: ReadSlot, bodyBytesMax: number): Judged<Members> {
  const inBody = membersOnce(x, { slot, limit: TEXTS_LIMIT }, bodyBytesMax);
  const all = 'problem' in inBody ? inBody : withQuery(inBody.sound, x.head.query, PARAMETERS);
  return 'problem' in all ? all : { sound: withoutEmpty(all.sound) };
}

/** Google's clients send every parameter, as null or an empty list if there is nothing in it. */
function withoutEmpty(members: Members): Members {
  return new Map([...members].filter(([name, value]) => name === 'q' || !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/**
 * Parameters that all of Google's APIs accept, for credentials, accounts and the format of the answer. None of them changes a
 * translation, and a key is never read from them; `callback`, which requests a script, is not among them.
 */
const STANDARD = [
  ...'key access_token oauth_token quotaUser userIp userProject uploadType upload_protocol $.xgafv'.split(' '),
  ...'alt $alt prettyPrint $prettyPrint fields $fields'.split(' '),
];

/** Both names have meant the same model for years. */
const MODELS = ['nmt', 'base'];

/** Refuses parameters that an operation does not have, because the answer would not be the requested one. */
export function unknownOf(members: Members, known: readonly string[]): Refusal | undefined {
  const unknown = unknownAmong([...members.keys()], new Set([...STANDARD, ...known]));
  if (unknown !== undefined) return refuse('validation_error', `Unknown name: ${unknown}. Accepted are ${known.join(', ')}.`);
  const alt = chosen(members, 'alt') ?? chosen(members, '$alt') ?? 'json';
  return typeof alt === 'string' && alt.toLowerCase() === 'json' ? undefined : refuse('validation_error', 'alt: answers are json only.');
}

const FAULTS = {
  notText: () => refuse('validation_error', 'q: must be a string, or a list of strings.'),
  half: () => refuse('validation_error', 'q: has half of a surrogate pair, which is not a character.'),
  none: missing('Required Text: q must have at least one text that is not empty.'),
};

/** One text, or several. */
export function textsOf(members: Members): Judged<Texts> {
  const q = chosen(members, 'q');
  const entries: readonly unknown[] = Array.isArray(q) ? q : q === undefined ? [] : [q];
  return entries.length > TEXTS_MAX ? TEXTS_LIMIT.refusal : judgeTexts(entries, FAULTS);
}

/** Checked to find mistakes; has no effect. */
export function modelFault(members: Members): Refusal | undefined {
  const model = chosen(members, 'model');
  if (model === undefined || (typeof model === 'string' && MODELS.includes(model))) return undefined;
  return refuse('validation_error', `model: must be one of ${MODELS.join(', ')}.`);
}
