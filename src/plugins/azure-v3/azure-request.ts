// Common to all requests of this API: the first steps, the version and other parameters of the query, and the list of texts.
import { countCharacters, JSON_BODY_HEADERS, readJsonBody, refuse } from 'lingate';
import type { Body, GatewayServices, ListLimit, Step } from 'lingate';
import Type from 'typebox';
import { idStep } from '../facades/api.ts';
import { keyFieldStep } from '../facades/key-field.ts';
import { isJsonType } from '../facades/members.ts';
import type { Judged } from '../facades/members.ts';
import type { QueryDoc } from '../facades/reference.ts';
import { PIECE_TEXTS, textsOf } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { NO_KEY, wrong } from './azure-problem-form.ts';

/** Access log, and the request id under the name that Azure's support uses. */
export const LOGGED = ['access-log', 'azure-request-id'] as const;
/** Then load shedding, identification, and the team's load shedding. */
export const AUTHENTICATED = [...LOGGED, 'shed', 'azure-key', 'authenticate', 'team-shed'] as const;

/** The steps that several routes share. */
export function sharedSteps(services: GatewayServices): readonly Step[] {
  const key = keyFieldStep('azure-key', { field: 'ocp-apim-subscription-key', noKey: NO_KEY }, services);
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

/** The part that `readTexts` uses. */
export const TEXTS_HEADERS = JSON_BODY_HEADERS;

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
  const entries: string[] = [];
  let characters = 0;
  for (const [index, element] of (value as readonly unknown[]).entries()) {
    if (typeof element !== 'object' || element === null) return wrong(400_020, `[${index}]: must be an object with a member Text.`);
    const { Text, text } = element as { readonly Text?: unknown; readonly text?: unknown };
    const entry = Text ?? text;
    if (typeof entry !== 'string') return wrong(400_005, `[${index}].Text: must be a string.`);
    if (!entry.isWellFormed()) return wrong(400_005, `[${index}].Text: has half of a surrogate pair.`);
    entries.push(entry);
    characters += countCharacters(entry);
  }
  return { sound: textsOf(entries, characters) };
}
