// Reads an admin API request: route, checked body, page, token.
import type { TObject } from 'typebox';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { holdsKey } from '../domain/api-key.ts';
import { unknownMembers } from '../domain/caller-words.ts';
import type { JsonMembers } from '../domain/json-body.ts';
import { jsonFault } from '../domain/json-bounds.ts';
import { judgeReason, judgeRecordName, judgeReference } from '../domain/record-name.ts';
import type { JudgedText } from '../domain/record-name.ts';
import { schemaRefusal } from '../domain/schema-refusal.ts';
import { Compile } from '../domain/typebox.ts';
import type { TeamPage } from '../ports/team-registry.ts';
import { ADMIN_ROUTES } from './admin-routes.ts';
import type { AdminRoute } from './operation-http.ts';

export interface AdminRequest {
  readonly method: string;
  /** Includes the prefix `/admin/v1`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  readonly remoteAddress: string;
}

const PAGE_DEFAULT = 50;
const PAGE_MAX = 200;
const CURSOR = /^[0-9A-HJKMNP-TV-Z]{26}$/;
const NO_CURSOR = 'cursor: must be the `next` of the previous page.';
const SEARCH_MAX = 100;
const WHOLE_KEY = 'contains a key, which does not belong in a URL: find it with POST /admin/v1/keys/find.';
const NO_PATH = refuse('not_found', 'The admin API has no such path.');
const checks = new Map(
  ADMIN_ROUTES.flatMap(({ id, body, operation }) => {
    if (body === undefined || operation !== undefined) return [];
    return [[id, { checked: body, check: Compile(body) }] as const];
  }),
);

const matched = matchingOf(ADMIN_ROUTES, { segment: segmentOf, what: 'path', methodsOf: ({ method }) => [method] });

/** `path` is without the prefix. */
export function match(method: string, path: string): MatchedRoute<AdminRoute> | Refusal {
  return matched(method, path) ?? NO_PATH;
}

/** A tag may be anything printable, percent-encoded; its handler judges it. */
function segmentOf(name: string): string {
  return name === 'tag' ? '[!-.0-~]+' : '[A-Za-z0-9_-]+';
}

/** The variable segments of the path are as they were sent, by their names. */
export interface MatchedRoute<Route> {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Matching<Route> {
  /** What the variable segment of this name may be, as a regular expression. */
  readonly segment: (name: string) => string;
  readonly what: 'path' | 'page';
  readonly methodsOf: (route: Route) => readonly string[];
}

/** Finds the row for a path; a refusal for another method; `undefined` if there is no such path. */
export function matchingOf<Route extends { readonly path: string }>(
  routes: readonly Route[],
  { segment, what, methodsOf }: Matching<Route>,
): (method: string, path: string) => MatchedRoute<Route> | Refusal | undefined {
  const patterns = routes.map((route) => ({ route, pattern: patternOf(route.path, segment) }));
  return (method, path) => {
    const matching = patterns.flatMap(({ route, pattern }) => {
      const found = pattern.exec(path);
      return found === null ? [] : [{ route, parameters: { ...found.groups } }];
    });
    const found = matching.find(({ route }) => methodsOf(route).includes(method));
    if (found !== undefined || matching.length === 0) return found;
    const Allow = [...new Set(matching.flatMap(({ route }) => methodsOf(route)))].join(', ');
    return refuse('method_not_allowed', `This ${what} accepts ${Allow}.`, undefined, [['Allow', Allow]]);
  };
}

/** A named group for each variable segment; all else stands for itself. */
function patternOf(path: string, segment: (name: string) => string): RegExp {
  const whole = path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, (_braces, name: string) => `(?<${name}>${segment(name)})`);
  return new RegExp(`^${whole}$`);
}

/** `schema` is the route's. */
export function readBody(request: AdminRequest, route: AdminRoute, schema: TObject): { readonly members: JsonMembers } | Refusal {
  const type = headerOf(request, 'content-type')?.split(';', 1)[0]!.trim().toLowerCase();
  if (type !== 'application/json') return refuse('validation_error', 'Content-Type: must be application/json.');
  let value: unknown;
  try {
    const { body } = request;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    const fault = jsonFault(Buffer.from(body.buffer, body.byteOffset, body.length), text);
    if (fault !== undefined) return refuse('validation_error', `body: ${fault}.`);
    value = JSON.parse(text);
  } catch {
    return refuse('validation_error', 'body: must be well-formed JSON in UTF-8.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse('validation_error', 'body: must be a JSON object.');
  const judge = checks.get(route.id);
  // An operation is judged with the members of its path.
  if (judge === undefined) return { members: value as JsonMembers };
  const { checked, check } = judge;
  const accepted = new Set(Object.keys(schema.properties));
  const unknown = unknownMembers(value, accepted);
  if (unknown !== undefined) return refuse('validation_error', `Unknown member: ${unknown}. Accepted are ${[...accepted].join(', ')}.`);
  if (check.Check(value)) return { members: value };
  const missing = (schema.required ?? []).find((name) => !(name in value));
  if (missing !== undefined) return refuse('validation_error', `${missing}: is required.`);
  return schemaRefusal(checked, value);
}

export function nameOf(body: JsonMembers, field: string): string | Refusal {
  return textOf(judgeRecordName(body[field] as string), field);
}

/** `undefined` where none was given, `null` where it is to be removed. */
export function referenceOf({ reference }: JsonMembers): string | null | undefined | Refusal {
  return reference === undefined || reference === null ? reference : textOf(judgeReference(reference as string), 'reference');
}

/** `undefined` where none was given. */
export function reasonOf({ reason }: JsonMembers): string | undefined | Refusal {
  return reason === undefined ? undefined : textOf(judgeReason(reason as string), 'reason');
}

function textOf(judged: JudgedText, field: string): string | Refusal {
  return 'fault' in judged ? refuse('validation_error', `${field}: ${judged.fault}.`) : judged.text;
}

/** The size of a page. */
function limitOf(query: URLSearchParams): number | Refusal {
  const limit = query.get('limit') ?? String(PAGE_DEFAULT);
  if (/^\d{1,3}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= PAGE_MAX) return Number(limit);
  return refuse('validation_error', `limit: must be a whole number from 1 to ${PAGE_MAX}.`);
}

export function pageOf(query: URLSearchParams): TeamPage | Refusal {
  const limit = limitOf(query);
  if (typeof limit === 'object') return limit;
  const cursor = query.get('cursor') ?? undefined;
  if (cursor !== undefined && !CURSOR.test(cursor)) return refuse('validation_error', NO_CURSOR);
  const search = query.get('q')?.trim();
  if (search !== undefined && search.length > SEARCH_MAX)
    return refuse('validation_error', `q: may be at most ${SEARCH_MAX} characters long.`);
  if (search !== undefined && holdsKey(search)) return refuse('validation_error', `q: ${WHOLE_KEY}`);
  return { after: cursor, limit, search: search === '' ? undefined : search };
}

/** `undefined` if the header is absent or was sent twice. */
export function headerOf({ headers }: Pick<AdminRequest, 'headers'>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}
