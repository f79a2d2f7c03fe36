// Common to all requests of this API: problems in Azure's format, the first steps, the parameters of the query, and the list of texts.
import { KEY_MALFORMED, readJsonBody, refuse } from 'lingate';
import type { Body, GatewayServices, ListLimit, Problem, ProblemCode, ProblemForm, Refusal, Step } from 'lingate';
import Type from 'typebox';
import { idStep } from '../facades/api.ts';
import { keyStep } from '../facades/keys.ts';
import { isJsonType } from '../facades/members.ts';
import type { Judged } from '../facades/members.ts';
import type { QueryDoc } from '../facades/reference.ts';
import { judgeTexts, PIECE_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';

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
const BY_PROBLEM = new WeakMap<Problem, number>();

/** The header with a key alone. */
export const KEY_FIELD = 'Ocp-Apim-Subscription-Key';
const NO_KEY = refuse('unauthorized', `No API key was sent. Send it as "${KEY_FIELD}: <key>".`);
const MALFORMED = `The API key is malformed: la_live_ or la_test_ and 40 letters or digits, sent as "${KEY_FIELD}: <key>".`;

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: (problem) => Math.floor(numberOf(problem) / 1000),
  body: (problem) => JSON.stringify({ error: { code: numberOf(problem), message: wordsOf(problem) } }),
};

/** An error in a request; `number` is Azure's code for it. */
export function wrong(number: number, message: string): Refusal {
  const refusal = refuse('validation_error', message);
  BY_PROBLEM.set(refusal.problem, number);
  return refusal;
}

function numberOf(problem: Problem): number {
  return BY_PROBLEM.get(problem) ?? BY_CODE.get(problem.code) ?? problem.kind.status * 1000;
}

function wordsOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  if (problem === KEY_MALFORMED.problem) return MALFORMED;
  if (code !== 'text_too_long') return detail;
  return `The texts are ${fields['characters']} characters long, counted once for each target language; the plan allows ${fields['max_characters']} in one request.`;
}

/** Access log, and the request id under the name that Azure's support uses. */
export const LOGGED = ['access-log', 'azure-request-id'] as const;
/** Then load shedding, identification, and the team's load shedding. */
export const AUTHENTICATED = [...LOGGED, 'shed', 'azure-key', 'authenticate', 'team-shed'] as const;

/** The steps that several routes share. */
export function sharedSteps(services: GatewayServices): readonly Step[] {
  const key = keyStep({ api: 'azure', field: 'ocp-apim-subscription-key', noKey: NO_KEY }, services);
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

export const API_VERSION: QueryDoc = {
  name: 'api-version',
  description: 'The version of the API.',
  schema: Type.Literal('3.0'),
  required: true,
  example: '3.0',
};
const BAD_VERSION = wrong(400_021, 'api-version: must be 3.0, in the query of every request.');

/** Whether the request is for this version of the API; otherwise the refusal. */
export function judgeVersion(query: Query): Judged<'3.0'> {
  const versions = query.get('api-version') ?? [];
  return versions.length === 1 && versions[0] === '3.0' ? { sound: '3.0' } : BAD_VERSION;
}

/** The value of a parameter that may be given once; `undefined` if it is absent or empty. */
export function single(query: Query, name: string, number = 400_000): Judged<string | undefined> {
  const values = query.get(name.toLowerCase()) ?? [];
  if (values.length > 1) return wrong(number, `${name}: may be given once.`);
  return { sound: values[0] === '' ? undefined : values[0] };
}

/** One of these words in any case; `undefined` if it is absent or empty. */
export function oneOf<Word extends string>(query: Query, name: string, words: readonly Word[], number = 400_000): Judged<Word | undefined> {
  const judged = single(query, name, number);
  if ('problem' in judged || judged.sound === undefined) return judged as Judged<undefined>;
  const lower = judged.sound.toLowerCase();
  const sound = words.find((word) => word.toLowerCase() === lower);
  return sound === undefined ? wrong(number, `${name}: must be ${words.join(' or ')}.`) : { sound };
}

const TEXTS_LIMIT: ListLimit = {
  name: undefined,
  entriesMax: PIECE_TEXTS,
  refusal: refuse('too_many_texts', `The body may hold at most ${PIECE_TEXTS} texts.`, { max_texts: PIECE_TEXTS }),
};
const NOT_JSON_TYPE = wrong(415_000, 'Content-Type: must be application/json.');
const ENCODED = wrong(415_000, 'Content-Encoding: is not supported; send the body uncompressed.');
const NOT_A_LIST = wrong(400_000, 'The body must be a list of objects with a member Text: [{"Text": "…"}].');
const EMPTY = wrong(400_005, 'The body has no text: it must be like [{"Text": "…"}].');

export const TextsBody = Type.Array(
  Type.Object({ Text: Type.String({ description: 'The text. An empty text is answered with an empty text. `text` is accepted too.' }) }),
  { minItems: 1, maxItems: PIECE_TEXTS, description: 'The texts.' },
);

export function readTexts(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number): Judged<Texts> {
  if (!isJsonType(headers)) return NOT_JSON_TYPE;
  if (headers['content-encoding'] !== undefined) return ENCODED;
  if (body === 'too_large') return wrong(400_077, `The body may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return EMPTY;
  const json = readJsonBody(headers, body, bytesMax, TEXTS_LIMIT);
  if (json.kind === 'value') return textsIn(json.value);
  return json.refusal === TEXTS_LIMIT.refusal ? json.refusal : wrong(400_074, json.refusal.problem.detail);
}

function textsIn(value: unknown): Judged<Texts> {
  if (!Array.isArray(value)) return NOT_A_LIST;
  if (value.length === 0) return EMPTY;
  if (value.length > PIECE_TEXTS) return TEXTS_LIMIT.refusal;
  const elements: readonly unknown[] = value;
  const entries = elements.map((element) => (isObject(element) ? (element['Text'] ?? element['text']) : undefined));
  return judgeTexts(entries, {
    notText: (index) =>
      isObject(elements[index])
        ? wrong(400_005, `[${index}].Text: must be a string.`)
        : wrong(400_020, `[${index}]: must be an object with a member Text.`),
    half: (index) => wrong(400_005, `[${index}].Text: has half of a surrogate pair.`),
    none: undefined,
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
