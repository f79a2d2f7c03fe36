// What the versions of Google's API share: codes, problems, where keys and parameters are.
import { KEY_MALFORMED, refuse, SOURCE_LANG_NEEDED, unknownAmong, UNKNOWN_KEY } from 'lingate';
import type { Exchange, GatewayServices, PluginHost, Problem, ProblemForm, Refusal, TooManyValues } from 'lingate';
import type { TSchema } from 'typebox';
import { standardCode, VendorCodes } from '../facades/codes.ts';
import type { DefaultVariants } from '../facades/codes.ts';
import { bodyKeyStep, bodyKeySteps, keyStep, membersOnce } from '../facades/keys.ts';
import type { KeyOptions, ReadSlot } from '../facades/keys.ts';
import { withQuery } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';
import type { ApiPart, FacadeApi } from '../facades/operation.ts';
import { isRefusal, parametersIn, readAll } from '../facades/parameters.ts';
import type { Judged, Described, ParameterEntry } from '../facades/parameters.ts';
import { oneOrMore, schemaOf } from '../facades/reference.ts';
import { judgeTexts } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';

export const invalid = (detail: string): Refusal => refuse('validation_error', detail);

/** Our codes that Google writes differently, not just in lower case. */
const THEIRS: Readonly<Record<string, string>> = { ZH: 'zh-CN', 'ZH-HANS': 'zh-CN', 'ZH-HANT': 'zh-TW', NB: 'no', KMR: 'ku' };

/** In Google's spelling `PT-BR` is `pt-BR`, and `ZH` is `zh-CN`. */
export const CODES = new VendorCodes((code) => THEIRS[code] ?? standardCode(code));

/** Status and name, the reason in one word, and the domain if it is not `global`. */
type GoogleFailure = readonly [code: number, status: string, reason: string, domain?: 'usageLimits'];

const INVALID: GoogleFailure = [400, 'INVALID_ARGUMENT', 'invalid'];
const REQUIRED: GoogleFailure = [400, 'INVALID_ARGUMENT', 'required'];
const TOO_LARGE: GoogleFailure = [413, 'INVALID_ARGUMENT', 'uploadTooLarge'];
const BY_STATUS: Readonly<Record<number, GoogleFailure>> = {
  400: INVALID,
  401: [400, 'INVALID_ARGUMENT', 'API_KEY_INVALID'],
  402: [403, 'PERMISSION_DENIED', 'dailyLimitExceeded', 'usageLimits'],
  403: [403, 'PERMISSION_DENIED', 'forbidden'],
  404: [404, 'NOT_FOUND', 'notFound'],
  405: [405, 'UNIMPLEMENTED', 'httpMethodNotAllowed'],
  429: [429, 'RESOURCE_EXHAUSTED', 'rateLimitExceeded', 'usageLimits'],
  503: [503, 'UNAVAILABLE', 'backendError'],
};
/** Who reads that a key is not valid looks for another: only these codes mean that. */
const KEY_CODES: ReadonlySet<string> = new Set(['unauthorized', 'key_revoked']);
/** Cases of `validation_error` with another status. */
const BY_PROBLEM = new WeakMap<Problem, GoogleFailure>([[SOURCE_LANG_NEEDED.problem, REQUIRED]]);
/** For keys the rest of the message, whose first words already say half of the detail. */
const DETAILS = new WeakMap<Problem, string>([
  [KEY_MALFORMED.problem, 'A key is la_live_ or la_test_ and 40 letters or digits.'],
  [UNKNOWN_KEY.problem, 'This key is unknown.'],
  [SOURCE_LANG_NEEDED.problem, 'source: is needed, because the engine of this service does not detect the language of a text.'],
]);

function failureOf(problem: Problem): GoogleFailure {
  const { status } = problem.kind;
  if (status === 401 && !KEY_CODES.has(problem.code)) return [401, 'UNAUTHENTICATED', 'authError'];
  return (
    BY_PROBLEM.get(problem) ??
    BY_STATUS[status] ??
    (status < 500 ? [status, 'INVALID_ARGUMENT', 'invalid'] : [status, 'INTERNAL', 'backendError'])
  );
}

function messageOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  // Clients search for these words.
  if (KEY_CODES.has(code)) return `API key not valid. ${DETAILS.get(problem) ?? detail}`;
  if (code !== 'text_too_long') return DETAILS.get(problem) ?? detail;
  return `Text too long: ${Number(fields['characters'])} characters in total; at most ${Number(fields['max_characters'])} are allowed in a request.`;
}

interface GoogleCause {
  readonly message: string;
  readonly domain: string;
  readonly reason: string;
}

/** `withCause` is how a version writes reason and domain. */
export function problemForm(withCause: (cause: GoogleCause) => object): ProblemForm {
  return {
    contentType: 'application/json',
    status: (problem) => failureOf(problem)[0],
    body(problem) {
      const [code, status, reason, domain = 'global'] = failureOf(problem);
      const message = messageOf(problem);
      return JSON.stringify({ error: { code, message, ...withCause({ message, domain, reason }), status } });
    },
  };
}

const FAILURE_WORDS = {
  code: 'The status of the answer.',
  message: 'For people; may change at any time.',
  status: 'The name of the status: `INVALID_ARGUMENT`, `RESOURCE_EXHAUSTED`.',
  domain: '`global`, or `usageLimits` for rate and quota.',
  '@type': '`type.googleapis.com/google.rpc.ErrorInfo`.',
};

/** The form of a failure, for the reference; `reason` describes the member. */
export function failureSchema(form: ProblemForm, reason: string): TSchema {
  const example: unknown = JSON.parse(form.body(UNKNOWN_KEY.problem, {} as never, ''));
  return { ...schemaOf([example], { ...FAILURE_WORDS, reason }), description: 'A failure.' };
}

function refusedAs(detail: string, failure: GoogleFailure): Refusal {
  const refusal = invalid(detail);
  BY_PROBLEM.set(refusal.problem, failure);
  return refusal;
}

export const missing = (detail: string): Refusal => refusedAs(detail, REQUIRED);

// Where keys and parameters are.
const NO_EFFECT =
  'key access_token oauth_token quotaUser userIp userProject uploadType upload_protocol $.xgafv prettyPrint $prettyPrint fields $fields';
/**
 * Of all of Google's APIs, for credentials, accounts and the format of answers. None changes a
 * translation, and no key is read from them here; `callback`, a script's, is not among them.
 */
export const COMMON: readonly ParameterEntry<object, undefined>[] = [
  ...NO_EFFECT.split(' ').map((name) => ({ name, does: 'nothing', about: "Common to Google's APIs; has no effect." }) as const),
  ...['alt', '$alt'].map((name) => {
    const refusal = (): Refusal => invalid('alt: answers are json only.');
    // The second is that of Google's newer clients.
    return { name, does: 'refused', about: '`json`.', but: ['json', 'json;enum-encoding=int'], refusal } as const;
  }),
];
const COMMON_NAMES = parametersIn(COMMON).map(({ name }) => name);

export interface GoogleApi extends FacadeApi {
  /** Identifies the caller. */
  readonly key: ApiPart;
  /** Of the query, a JSON object or a form; names that an operation does not have are refused. */
  readonly members: (x: Exchange, parameters: Described, services: GatewayServices) => Judged<Members>;
}

/** `limit` is that of the texts. */
export function googleApi(variants: DefaultVariants, where: KeyOptions, limit: TextsLimit, host: PluginHost): GoogleApi {
  const { inQuery, inBody } = where;
  const tooManyTexts: TooManyValues = (_, member) => (member === limit.name ? limit.refusal : undefined);
  const rules = { slot: host.reserveSlot('parameters') as ReadSlot, tooMany: tooManyTexts };
  const outside = { api: 'google', field: 'x-goog-api-key', parameter: inQuery ? 'key' : undefined, noKey: noKeyFor(where) };
  const sources = { ...outside, member: 'key' };
  return {
    name: 'google',
    variants,
    before: ['access-log', 'shed', 'google-key', 'authenticate', ...(inBody ? bodyKeySteps('google') : []), 'team-shed'],
    key: {
      routes: [],
      steps: (services) => (inBody ? [keyStep(sources, services), bodyKeyStep(sources, rules, services)] : [keyStep(outside, services)]),
    },
    members(x, parameters, { bodyBytesMax }) {
      if (x.body === 'too_large') return refusedAs(`Request payload size exceeds the limit: ${bodyBytesMax} bytes.`, TOO_LARGE);
      const names = parametersIn(parameters).map(({ name }) => name);
      const sent = membersOnce(x, rules, bodyBytesMax);
      const all = isRefusal(sent) ? sent : withQuery(sent, x.head.query, names);
      if (isRefusal(all)) return all;
      // Google's clients send every parameter, as null or an empty list if there is nothing in it.
      const members = new Map([...all].filter(([name, value]) => name === limit.name || !isEmpty(value)));
      const unknown = unknownAmong([...members.keys()], new Set([...COMMON_NAMES, ...names]));
      // Otherwise the answer would not be the requested one.
      if (unknown !== undefined) return invalid(`Unknown name: ${unknown}. Accepted are ${names.join(', ')}.`);
      return readAll(COMMON, members, {}, undefined) ?? members;
    },
  };
}

function noKeyFor({ inQuery, inBody }: KeyOptions): Refusal {
  const further = [...(inQuery ? ['?key=<key>'] : []), ...(inBody ? ['key in the body'] : [])];
  const ways = ['"X-Goog-Api-Key: <key>"', '"Authorization: Bearer <key>"', ...further];
  const not = inQuery ? '' : '; a key in the query is not accepted here';
  return refuse('unauthorized', `Send one as ${ways.slice(0, -1).join(', ')} or ${ways.at(-1)!}${not}.`);
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

type TextsLimit = ReturnType<typeof textsLimit>;

/** As many texts as Google accepts. */
export function textsLimit(name: string, entriesMax: number) {
  const words = `Too many text segments: at most ${entriesMax} are allowed in a request.`;
  return { name, entriesMax, refusal: refuse('too_many_texts', words, { max_texts: entriesMax }) };
}

/** The parameter with one text, or several. */
export function textsParameter({ name, entriesMax, refusal }: TextsLimit, about: string) {
  const none = missing(`Required Text: ${name} must have at least one text that is not empty.`);
  const faults = {
    notText: () => invalid(`${name}: must be a string, or a list of strings.`),
    half: () => invalid(`${name}: has half of a surrogate pair, which is not a character.`),
    none,
  };
  const read = (value: unknown): Judged<Texts> => {
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
    return entries.length > entriesMax ? refusal : judgeTexts(entries, faults);
  };
  const [schema, example] = [oneOrMore(entriesMax, ''), 'Hello, world!'];
  return { name, means: 'texts', mayBeEmpty: true, about, schema, example, missing: () => none, read } as const;
}
