// Common to all requests of this API: problems in Azure's format, the first steps, the parameters of the query, and the list of texts.
import { KEY_MALFORMED, readJsonBody, refuse, SOURCE_LANG_NEEDED } from 'lingate';
import type { Body, GatewayServices, Problem, ProblemCode, Refusal, Step } from 'lingate';
import { idStep } from '../facades/api.ts';
import { keyStep } from '../facades/keys.ts';
import { isJsonType } from '../facades/members.ts';
import type { Judged } from '../facades/members.ts';
import { PIECE_TEXTS } from '../facades/texts.ts';

/** The codes that are not just the status and three zeros; cases of `validation_error` get their number where they are refused. */
const BY_CODE: ReadonlyMap<string, number> = new Map<ProblemCode, number>([
  ['invalid_source_lang', 400_035],
  ['invalid_target_lang', 400_036],
  ['text_too_long', 400_050],
  ['too_many_texts', 400_072],
  ['quota_exceeded', 403_001],
  ['credit_exhausted', 403_001],
  ['rate_limited', 429_001],
]);

/** Cases of `validation_error` that have their own number. */
const BY_PROBLEM = new WeakMap<Problem, number>([[SOURCE_LANG_NEEDED.problem, 400_035]]);

/** The header with a key alone. */
export const KEY_FIELD = 'Ocp-Apim-Subscription-Key';
const NO_KEY = refuse('unauthorized', `No API key was sent. Send it as "${KEY_FIELD}: <key>".`);
const MALFORMED = `The API key is malformed: la_live_ or la_test_ and 40 letters or digits, sent as "${KEY_FIELD}: <key>".`;

const FROM_NEEDED = 'from: is needed, because the engine of this service does not detect the language of a text.';

/** An error in a request; `number` is Azure's code for it. */
export function wrong(number: number, message: string): Refusal {
  const refusal = refuse('validation_error', message);
  BY_PROBLEM.set(refusal.problem, number);
  return refusal;
}

/** The status, followed by three digits. */
export function numberOf(problem: Problem): number {
  return BY_PROBLEM.get(problem) ?? BY_CODE.get(problem.code) ?? problem.kind.status * 1000;
}

/** The message for people. */
export function wordsOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  if (problem === KEY_MALFORMED.problem) return MALFORMED;
  if (problem === SOURCE_LANG_NEEDED.problem) return FROM_NEEDED;
  if (code !== 'text_too_long') return detail;
  return `The texts are ${Number(fields['characters'])} characters long, counted once for each target language; the plan allows ${Number(fields['max_characters'])} in one request.`;
}

/** Access log, and the request id under the name that Azure's support uses. */
export const LOGGED = ['access-log', 'azure-request-id'] as const;
/** Then load shedding, identification, and the team's load shedding. */
export const AUTHENTICATED = [...LOGGED, 'shed', 'azure-key', 'authenticate', 'team-shed'] as const;

/** The steps that several routes share. */
export function sharedSteps(services: GatewayServices): readonly Step[] {
  const key = keyStep({ api: 'azure', field: KEY_FIELD.toLowerCase(), noKey: NO_KEY }, services);
  return [idStep('azure-request-id', 'X-RequestId'), key];
}

/** The values as sent, by names in lower case. */
export type Query = ReadonlyMap<string, readonly string[]>;

export function queryOf(query: string): Query {
  const found = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const key = name.toLowerCase();
    const values = found.get(key);
    if (values === undefined) found.set(key, [value]);
    else values.push(value);
  }
  return found;
}

/** A repeated parameter is a list of its values. */
export function valuesOf(query: Query): { readonly get: (name: string) => string | readonly string[] | undefined } {
  return {
    get(name) {
      const values = query.get(name.toLowerCase());
      return values?.length === 1 ? values[0] : values;
    },
  };
}

/** One of these words in any case; `number` is Azure's code for another value. */
export function wordOf<Word extends string>(value: unknown, named: string, words: readonly Word[], number = 400_000): Judged<Word> {
  if (Array.isArray(value)) return wrong(number, `${named}: may be given once.`);
  const lower = String(value).toLowerCase();
  const valid = words.find((word) => word.toLowerCase() === lower);
  return valid === undefined ? wrong(number, `${named}: must be ${words.join(' or ')}.`) : { valid };
}

export const TOO_MANY_TEXTS = refuse('too_many_texts', `The body may hold at most ${PIECE_TEXTS} texts.`, { max_texts: PIECE_TEXTS });
const NOT_JSON_TYPE = wrong(415_000, 'Content-Type: must be application/json.');
const ENCODED = wrong(415_000, 'Content-Encoding: is not supported; send the body uncompressed.');

/** Parses the body; `undefined` if there is none. `list` as in `ReadJson`. */
export function readBody(
  headers: Readonly<Record<string, string>>,
  body: Body,
  bytesMax: number,
  list: string | undefined,
): Judged<unknown> {
  if (!isJsonType(headers)) return NOT_JSON_TYPE;
  if (headers['content-encoding'] !== undefined) return ENCODED;
  if (body === 'too_large') return wrong(400_077, `The body may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return { valid: undefined };
  const json = readJsonBody(headers, body, bytesMax, { name: list, entriesMax: PIECE_TEXTS, refusal: TOO_MANY_TEXTS });
  if (json.kind === 'value') return { valid: json.value };
  return json.refusal === TOO_MANY_TEXTS ? json.refusal : wrong(400_074, json.refusal.problem.detail);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
