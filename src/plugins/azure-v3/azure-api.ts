// What all requests of this API share: its versions, codes of languages as Azure writes them,
// problems with Azure's numbers, the first steps, the query, and the body.
import { KEY_MALFORMED, readJsonBody, refuse, SOURCE_LANG_NEEDED } from 'lingate';
import type { Exchange, GatewayServices, Problem, ProblemCode, ProblemForm, Refusal, Step } from 'lingate';
import Type from 'typebox';
import { standardCode, VendorCodes } from '../facades/codes.ts';
import { keyStep } from '../facades/keys.ts';
import { isJsonType } from '../facades/members.ts';
import { idStep } from '../facades/operation.ts';
import type { Judged } from '../facades/parameters.ts';
import type { QueryDoc } from '../facades/reference.ts';
import { PIECE_TEXTS } from '../facades/texts.ts';

/** As in the reference. Failures without a version have the form of the first. */
export const VERSIONS = ['3.0', '2026-06-06'] as const;
export type AzureVersion = (typeof VERSIONS)[number];

/** `api-version` of a route that these versions have. */
export function apiVersion(versions: readonly AzureVersion[] = VERSIONS): QueryDoc {
  const examples = Object.fromEntries(versions.map((name) => [name, { summary: `Version ${name}`, value: name }]));
  return { name: 'api-version', description: 'The version of the API.', schema: Type.Enum([...versions]), required: true, examples };
}

/** The version of the API that a request is for. */
export function versionOf(query: Query): Judged<AzureVersion> {
  return VERSIONS.find((one) => one === query.get('api-version')) ?? BAD_VERSION;
}

/** Our codes that Azure writes differently, not just in another case. */
const THEIRS: Readonly<Record<string, string>> = {
  'ZH-CN': 'zh-Hans',
  'ZH-TW': 'zh-Hant',
  NO: 'nb',
  IW: 'he',
  SR: 'sr-Cyrl',
  MN: 'mn-Cyrl',
  NY: 'nya',
  LG: 'lug',
  RN: 'run',
  CKB: 'ku',
  KU: 'kmr',
  HMN: 'mww',
  TL: 'fil',
};

/** Kurdish is the one of Iraq here. A bare `ZH` is simplified Chinese. */
export const CODES = new VendorCodes(
  (code) => THEIRS[code] ?? standardCode(code),
  (code) => (code.toLowerCase() === 'ku' ? 'CKB' : code),
);

/** Those that are not the status and three zeros; of `validation_error` where it is refused. */
const BY_CODE: ReadonlyMap<string, number> = new Map<ProblemCode, number>([
  ['invalid_source_lang', 400_035],
  ['invalid_target_lang', 400_036],
  ['text_too_long', 400_050],
  ['too_many_texts', 400_072],
  ['quota_exceeded', 403_001],
  ['credit_exhausted', 403_001],
  ['rate_limited', 429_001],
]);
const BY_PROBLEM = new WeakMap<Problem, number>([[SOURCE_LANG_NEEDED.problem, 400_035]]);

/** The header with a key alone. */
export const KEY_FIELD = 'Ocp-Apim-Subscription-Key';

/** An error in a request; `number` is Azure's code for it. */
export function wrong(number: number, message: string): Refusal {
  const refusal = refuse('validation_error', message);
  BY_PROBLEM.set(refusal.problem, number);
  return refusal;
}

/** The status, followed by three digits. */
function numberOf(problem: Problem): number {
  return BY_PROBLEM.get(problem) ?? BY_CODE.get(problem.code) ?? problem.kind.status * 1000;
}

function messageOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  if (problem === KEY_MALFORMED.problem) {
    return `The API key is malformed: la_live_ or la_test_ and 40 letters or digits, sent as "${KEY_FIELD}: <key>".`;
  }
  if (problem === SOURCE_LANG_NEEDED.problem) {
    return 'from: is needed, because the engine of this service does not detect the language of a text.';
  }
  if (code !== 'text_too_long') return detail;
  return `The texts are ${Number(fields['characters'])} characters long, counted once for each target language; the plan allows ${Number(fields['max_characters'])} in one request.`;
}

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: (problem) => Math.floor(numberOf(problem) / 1000),
  body(problem, _document, query) {
    const number = numberOf(problem);
    const code = queryOf(query).get('api-version') === '2026-06-06' ? String(number) : number;
    return JSON.stringify({ error: { code, message: messageOf(problem) } });
  },
};

/** Access log, and the request id under the name that Azure's support uses. */
export const LOGGED = ['access-log', 'azure-request-id'] as const;
/** Then load shedding, identification, and the team's load shedding. */
export const AUTHENTICATED = [...LOGGED, 'shed', 'azure-key', 'authenticate', 'team-shed'] as const;

/** The steps that several routes share. */
export function sharedSteps(services: GatewayServices): readonly Step[] {
  const noKey = refuse('unauthorized', `No API key was sent. Send it as "${KEY_FIELD}: <key>".`);
  return [idStep('azure-request-id', 'X-RequestId'), keyStep({ api: 'azure', field: KEY_FIELD.toLowerCase(), noKey }, services)];
}

/** The parameters of the query, with names in any case; a repeated one is a list of its values. */
export interface Query {
  readonly get: (name: string) => string | readonly string[] | undefined;
}

export function queryOf(text: string): Query {
  const pairs = Map.groupBy(new URLSearchParams(text), ([name]) => name.toLowerCase());
  return {
    get(name) {
      const values = pairs.get(name.toLowerCase())?.map(([, value]) => value);
      return values?.length === 1 ? values[0] : values;
    },
  };
}

const BAD_VERSION = wrong(400_021, `api-version: must be ${VERSIONS.join(' or ')}, in the query of every request.`);
export const TOO_MANY_TEXTS = refuse('too_many_texts', `The body may hold at most ${PIECE_TEXTS} texts.`, { max_texts: PIECE_TEXTS });

/** A parsed body; `undefined` if there is none. */
export interface ReadBody {
  readonly value: unknown;
}

export function readBody({ head: { headers }, body }: Exchange, { bodyBytesMax: bytesMax }: GatewayServices): Judged<ReadBody> {
  if (!isJsonType(headers)) return wrong(415_000, 'Content-Type: must be application/json.');
  if (headers['content-encoding'] !== undefined) return wrong(415_000, 'Content-Encoding: is not supported; send the body uncompressed.');
  if (body === 'too_large') return wrong(400_077, `The body may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return { value: undefined };
  const json = readJsonBody(headers, body, bytesMax, (_, member) =>
    member === undefined || member === 'inputs' ? TOO_MANY_TEXTS : undefined,
  );
  if (json.kind === 'value') return json;
  return json.refusal === TOO_MANY_TEXTS ? json.refusal : wrong(400_074, json.refusal.problem.detail);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
