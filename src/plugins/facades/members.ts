// The parameters of a request, whether they came as a form, in parts or not, as JSON, or in the query.
import { isFormType, isMultipartType, readFormBody, readJsonBody, readMultipartBody, readQuery, refuse } from 'lingate';
import type { Body, FormBody, ListLimit, Refusal } from 'lingate';

/** Names and values as they came, unchecked. A Map: it has no inherited members. */
export type Members = ReadonlyMap<string, unknown>;

export type ReadMembers = { readonly kind: 'members'; readonly members: Members } | Refusal;

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;
const NEITHER = refuse('validation_error', 'Content-Type: must be application/json or application/x-www-form-urlencoded.');
const NOT_AN_OBJECT = refuse('validation_error', 'body: must be a JSON object or a form.');

const NONE: ReadMembers = { kind: 'members', members: new Map() };

/** A field that a form has more than once is a list of its values; no body has no members. */
export function readMembers(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number, limit?: ListLimit): ReadMembers {
  if (body === 'none' || body.length === 0) return NONE;
  if (isFormType(headers)) return fromForm(readFormBody(headers, body, bytesMax));
  if (isMultipartType(headers)) return fromForm(readMultipartBody(headers, body, bytesMax));
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) return NEITHER;
  const json = readJsonBody(headers, body, bytesMax, limit);
  if (json.kind === 'refused') return json.refusal;
  const { value } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NOT_AN_OBJECT;
  return { kind: 'members', members: new Map(Object.entries(value)) };
}

/** Those of the query; one that comes more than once is a list of its values. */
export function readQueryMembers(query: string): ReadMembers {
  return query === '' ? NONE : fromForm(readQuery(query));
}

function fromForm(form: FormBody): ReadMembers {
  return form.kind === 'fields' ? { kind: 'members', members: grouped(form.fields) } : form.refusal;
}

function grouped(fields: readonly (readonly [name: string, value: string])[]): Members {
  const members = new Map<string, string | string[]>();
  for (const [name, value] of fields) {
    const before = members.get(name);
    if (before === undefined) members.set(name, value);
    else if (typeof before === 'string') members.set(name, [before, value]);
    else before.push(value);
  }
  return members;
}

/** What passed, or what is wrong. */
export type Judged<T> = { readonly sound: T } | Refusal;
