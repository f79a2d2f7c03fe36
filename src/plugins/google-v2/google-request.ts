// Common to all requests of this API: the first steps, the key, the parameters from the query, JSON or a form, and problems in Google's format.
import { FORM_BODY_HEADERS, KEY_MALFORMED, refuse, SOURCE_LANG_NEEDED, unknownAmong, UNKNOWN_KEY } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, ListLimit, PluginHost, Problem, ProblemForm, Refusal, Step } from 'lingate';
import { readStep } from '../facades/api.ts';
import type { Taken } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { bodyKeyStep, bodyKeySteps, keyStep, membersOnce } from '../facades/keys.ts';
import type { KeyOptions, ReadSlot } from '../facades/keys.ts';
import { withQuery } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { parametersIn, readAll } from '../facades/parameters.ts';
import type { Described, ParameterEntry } from '../facades/parameters.ts';
import { oneOrMore } from '../facades/reference.ts';
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
const BY_PROBLEM = new WeakMap<Problem, Telling>([[SOURCE_LANG_NEEDED.problem, { ...INVALID, reason: 'required' }]]);

/** In the form of version 3. */
export const PROBLEM_FORM_V3: ProblemForm = {
  contentType: 'application/json',
  status: (problem) => tellingOf(problem).code,
  body(problem) {
    const { code, status, reason, domain } = tellingOf(problem);
    // There it is written in capital letters.
    const name = /[a-z]/.test(reason) ? reason.replaceAll(/[A-Z]/g, '_$&').toUpperCase() : reason;
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: name, domain }];
    return JSON.stringify({ error: { code, message: messageOf(problem), status, details } });
  },
};

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

/** In the words of this API: for keys the rest of the message, whose first words already say half of the detail. */
const DETAILS = new WeakMap<Problem, string>([
  [KEY_MALFORMED.problem, 'A key is la_live_ or la_test_ and 40 letters or digits.'],
  [UNKNOWN_KEY.problem, 'This key is unknown.'],
  [SOURCE_LANG_NEEDED.problem, 'source: is needed, because the engine of this service does not detect the language of a text.'],
]);

function messageOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  // Clients search for these words.
  if (KEY_CODES.has(code)) return `API key not valid. ${DETAILS.get(problem) ?? detail}`;
  if (code !== 'text_too_long') return DETAILS.get(problem) ?? detail;
  return `Text too long: ${Number(fields['characters'])} characters in total; at most ${Number(fields['max_characters'])} are allowed in a request.`;
}

/** For a missing parameter. */
export function missing(detail: string): Refusal {
  return told(detail, { ...INVALID, reason: 'required' });
}

/** For a body over the limit, of `bytesMax` bytes. */
function bodyTooLarge(bytesMax: number): Refusal {
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
  /** Of the texts. */
  readonly limit: ListLimit;
  /** Access log, load shedding, identification, the team's load shedding. */
  readonly authenticated: readonly string[];
}

const API = 'google';
const KEY = 'key';

export function googleSetting(variants: DefaultVariants, key: KeyOptions, limit: ListLimit, host: PluginHost): GoogleSetting {
  const inBody = key.inBody ? bodyKeySteps(API) : [];
  const authenticated = ['access-log', 'shed', `${API}-key`, 'authenticate', ...inBody, 'team-shed'];
  return { variants, key, read: host.reserveSlot('parameters'), limit, authenticated };
}

export function keySteps({ key, read, limit }: GoogleSetting, services: GatewayServices): readonly Step[] {
  const places = {
    api: API,
    field: 'x-goog-api-key',
    parameter: key.inQuery ? KEY : undefined,
    noKey: refuse('unauthorized', howToSend(key)),
  };
  if (!key.inBody) return [keyStep(places, services)];
  const inBody = { ...places, member: KEY };
  return [keyStep(inBody, services), bodyKeyStep(inBody, { slot: read, limit }, services)];
}

function howToSend({ inQuery, inBody }: KeyOptions): string {
  const places = [...(inQuery ? [`?${KEY}=<key>`] : []), ...(inBody ? [`${KEY} in the body`] : [])];
  const ways = ['"X-Goog-Api-Key: <key>"', '"Authorization: Bearer <key>"', ...places];
  const not = inQuery ? '' : '; a key in the query is not accepted here';
  return `Send one as ${ways.slice(0, -1).join(', ')} or ${ways.at(-1)!}${not}.`;
}

/** Texts of a parameter, as many as Google accepts; also for a list in a body that is too large to count it. */
export function textsLimit(name: string, entriesMax: number): ListLimit & { readonly name: string } {
  const words = `Too many text segments: at most ${entriesMax} are allowed in a request.`;
  return { name, entriesMax, refusal: refuse('too_many_texts', words, { max_texts: entriesMax }) };
}

/** For parameters in the query, in a JSON object or in a form. `take` as for `readStep`. */
export function readParameters(
  name: string,
  services: GatewayServices,
  { read: slot, limit }: GoogleSetting,
  parameters: Described,
  take: (x: Exchange, members: Members) => Taken,
): BodyStep {
  const { bodyBytesMax } = services;
  const tooLarge = bodyTooLarge(bodyBytesMax);
  const names = parametersIn(parameters).map((one) => one.name);
  const read = (x: Exchange): Judged<Members> => {
    const inBody = x.body === 'too_large' ? tooLarge : membersOnce(x, { slot, limit }, bodyBytesMax);
    const all = 'problem' in inBody ? inBody : withQuery(inBody.sound, x.head.query, names);
    if ('problem' in all) return all;
    const members = withoutEmpty(all.sound, limit.name);
    return faultOfNames(members, names) ?? { sound: members };
  };
  return readStep(name, FORM_BODY_HEADERS, services, read, take);
}

/** Google's clients send every parameter, as null or an empty list if there is nothing in it. */
function withoutEmpty(members: Members, texts: string | undefined): Members {
  return new Map([...members].filter(([name, value]) => name === texts || !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

const NOT_JSON = refuse('validation_error', 'alt: answers are json only.');
/** The second is that of Google's newer clients. */
const JSON_NAMES = ['json', 'json;enum-encoding=int'];
const NO_EFFECT =
  'key access_token oauth_token quotaUser userIp userProject uploadType upload_protocol $.xgafv prettyPrint $prettyPrint fields $fields';

/**
 * Parameters that all of Google's APIs accept, for credentials, accounts and the format of the answer. None of them changes a
 * translation, and a key is never read from them here; `callback`, which requests a script, is not among them.
 */
export const COMMON: readonly ParameterEntry<object, undefined>[] = [
  ...NO_EFFECT.split(' ').map((name) => ({ name, does: 'nothing', about: "Common to Google's APIs; has no effect." }) as const),
  ...['alt', '$alt'].map((name) => ({ name, does: 'refused', about: '`json`.', but: JSON_NAMES, refusal: () => NOT_JSON }) as const),
];

/** Refuses parameters that an operation does not have, because the answer would not be the requested one. */
function faultOfNames(members: Members, known: readonly string[]): Refusal | undefined {
  const unknown = unknownAmong([...members.keys()], new Set([...COMMON_NAMES, ...known]));
  if (unknown !== undefined) return refuse('validation_error', `Unknown name: ${unknown}. Accepted are ${known.join(', ')}.`);
  return readAll(COMMON, members, {}, undefined);
}

const COMMON_NAMES = parametersIn(COMMON).map(({ name }) => name);

/** Of version 2. */
export const Q_LIMIT = textsLimit('q', 128);

/** The parameter with one text, or several. */
export function textsParameter({ name, entriesMax, refusal }: ListLimit & { readonly name: string }, about: string) {
  const none = missing(`Required Text: ${name} must have at least one text that is not empty.`);
  const faults = {
    notText: () => refuse('validation_error', `${name}: must be a string, or a list of strings.`),
    half: () => refuse('validation_error', `${name}: has half of a surrogate pair, which is not a character.`),
    none,
  };
  return {
    name,
    does: 'served',
    means: 'texts',
    mayBeEmpty: true,
    about,
    schema: oneOrMore(entriesMax, ''),
    example: 'Hello, world!',
    missing: () => none,
    read(value: unknown): Judged<Texts> {
      const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
      return entries.length > entriesMax ? refusal : judgeTexts(entries, faults);
    },
  } as const;
}

/** Checked to find mistakes: both names have meant the same model for years. */
export const MODEL = {
  name: 'model',
  does: 'nothing',
  about: '`nmt` or `base`; has no effect.',
  example: 'nmt',
  faultOf: (model: unknown): Refusal | undefined =>
    model === 'nmt' || model === 'base' ? undefined : refuse('validation_error', 'model: must be one of nmt, base.'),
} as const;
