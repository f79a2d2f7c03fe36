// The table of routes: method, path, and the names of their steps in order.
import type { RouteRow } from './core/route.ts';
import { forwardScope } from './domain/scopes.ts';
import type { Scope } from './domain/scopes.ts';

/** First under /v1: access log, load shedding, identification, the team's load shedding. */
const AUTHENTICATED = ['access-log', 'shed', 'identify', 'authenticate', 'team-shed'] as const;

export const ROUTES = [
  get('/health', ['access-log', 'health']),
  post('/v1/translate', [...AUTHENTICATED, 'read', 'admit', 'translate'], 'translate:text'),
  get('/v1/languages', [...AUTHENTICATED, 'admit', 'languages'], 'languages:read'),
  get('/v1/usage', [...AUTHENTICATED, 'admit', 'usage'], 'usage:read'),
  post('/v1/glossaries', [...AUTHENTICATED, 'read-glossary', 'admit', 'create-glossary'], 'glossaries:write'),
  get('/v1/glossaries', [...AUTHENTICATED, 'admit', 'list-glossaries'], 'glossaries:read'),
  get('/v1/glossaries/{id}', [...AUTHENTICATED, 'admit', 'show-glossary'], 'glossaries:read'),
  remove('/v1/glossaries/{id}', [...AUTHENTICATED, 'admit', 'delete-glossary'], 'glossaries:write'),
  get('/v1/glossaries/{id}/entries', [...AUTHENTICATED, 'admit', 'show-glossary-entries'], 'glossaries:read'),
] as const;

/** Of documents, if they are configured: streamed bodies, read after the admission. */
const DOCUMENT_ROUTES = [
  post('/v1/documents', [...AUTHENTICATED, 'hold-document', 'admit', 'create-document'], 'translate:document'),
  get('/v1/documents/{id}', [...AUTHENTICATED, 'admit', 'show-document'], 'translate:document'),
  remove('/v1/documents/{id}', [...AUTHENTICATED, 'admit', 'delete-document'], 'translate:document'),
  get('/v1/documents/{id}/result', [...AUTHENTICATED, 'admit', 'document-result'], 'translate:document'),
] as const;

/** Those of documents; the bodies of uploads are streamed. */
export const ROWS_OF_DOCUMENTS: readonly RouteRow[] = DOCUMENT_ROUTES.map((row) =>
  row.takesBody ? { ...row, takesBody: false, streamsBody: true } : row,
);

/** The steps of a forward route; its charge and its upstream come from the configuration. */
const FORWARD = [...AUTHENTICATED, 'admit', 'forward'] as const;

/** `name`: what the route is called in scopes, if it has a name. */
export function forwardRow(method: string, path: string, name: string | undefined): RouteRow {
  const scope = name === undefined ? undefined : forwardScope(name);
  return { method, path, takesBody: false, streamsBody: true, scope, steps: FORWARD };
}

/** A page of the documentation, if it is configured to be public. It needs no key. */
export function documentRow(path: string): RouteRow {
  return { ...get(path, ['access-log', 'shed', 'documentation']), revalidated: true };
}

/** The names of the gateway's steps, which a plugin may use in `after`. */
export type StepName = (typeof ROUTES)[number]['steps'][number];

export type DocumentStepName = Exclude<(typeof DOCUMENT_ROUTES)[number]['steps'][number], StepName>;

/** Only for routes of plugins: authenticates a key found in the body. */
export type PluginStepName = 'authenticate-body-key';

function get<Name extends string>(path: string, steps: readonly Name[], scope?: Scope): RouteRow<Name> {
  return { method: 'GET', path, takesBody: false, scope, steps };
}

function remove<Name extends string>(path: string, steps: readonly Name[], scope: Scope): RouteRow<Name> {
  return { method: 'DELETE', path, takesBody: false, scope, steps };
}

function post<Name extends string>(path: string, steps: readonly Name[], scope: Scope): RouteRow<Name> {
  return { method: 'POST', path, takesBody: true, scope, steps };
}
