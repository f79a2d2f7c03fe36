// The parameters of a request, from a form, a multipart form, JSON, or the query.
import { isFormType, isMultipartType, readFormBody, readJsonBody, readMultipartBody, readQuery, refuse } from 'lingate';
import type { Body, FormBody, TooManyValues } from 'lingate';
import { isRefusal } from './parameters.ts';
import type { Judged } from './parameters.ts';

/** Names and values as sent, unchecked. A Map has no inherited members. */
export type Members = ReadonlyMap<string, unknown>;

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;
const NEITHER = refuse('validation_error', 'Content-Type: must be application/json or application/x-www-form-urlencoded.');
const NOT_AN_OBJECT = refuse('validation_error', 'body: must be a JSON object or a form.');

const NONE: Members = new Map();

/** Repeated form fields are lists; without a body there are none. */
export function readMembers(
  headers: Readonly<Record<string, string>>,
  body: Body,
  bytesMax: number,
  tooMany?: TooManyValues,
): Judged<Members> {
  if (body === 'none' || body.length === 0) return NONE;
  if (isFormType(headers)) return fromForm(readFormBody(headers, body, bytesMax));
  if (isMultipartType(headers)) return fromForm(readMultipartBody(headers, body, bytesMax));
  if (!isJsonType(headers)) return NEITHER;
  const json = readJsonBody(headers, body, bytesMax, tooMany);
  if (json.kind === 'refused') return json.refusal;
  const { value } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NOT_AN_OBJECT;
  return new Map(Object.entries(value));
}

export function isJsonType(headers: Readonly<Record<string, string>>): boolean {
  return JSON_TYPE.test(headers['content-type'] ?? '');
}

/** With those of the query, repeated ones as lists. None of `names` may be in both; of others the body's count. */
export function withQuery(inBody: Members, query: string, names: readonly string[]): Judged<Members> {
  if (query === '') return inBody;
  const inQuery = fromForm(readQuery(query));
  if (isRefusal(inQuery) || inBody.size === 0) return inQuery;
  const both = names.find((name) => inQuery.has(name) && inBody.has(name));
  if (both !== undefined) return refuse('validation_error', `${both}: must not be both in the query and in the body.`);
  return new Map([...inQuery, ...inBody]);
}

function fromForm(form: FormBody): Judged<Members> {
  if (form.kind === 'refused') return form.refusal;
  const members = new Map<string, string | string[]>();
  for (const [name, value] of form.fields) {
    const before = members.get(name);
    if (before === undefined) members.set(name, value);
    else if (typeof before === 'string') members.set(name, [before, value]);
    else before.push(value);
  }
  return members;
}
