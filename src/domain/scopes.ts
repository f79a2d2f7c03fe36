// Scopes: what a key may be used for; all without one. A route names the one that opens it.

/** Those of the gateway's own routes, in the order in which they are documented. */
export const SCOPES = [
  'translate:text',
  'translate:document',
  'languages:read',
  'usage:read',
  'glossaries:read',
  'glossaries:write',
] as const;

/** `forward:NAME` opens the forward routes of that name. */
export type Scope = (typeof SCOPES)[number] | `forward:${string}`;

/** What a route without a scope needs: nothing opens it to a key with scopes. */
export const CLOSED = '';

/** Limited because each request of a key with scopes is compared with all of them. */
export const SCOPES_MAX = 100;

/** The name of a forward route. */
export const FORWARD_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const FORWARD = 'forward:';

export function isScope(text: string): text is Scope {
  if (text.startsWith(FORWARD)) return FORWARD_NAME.test(text.slice(FORWARD.length));
  return (SCOPES as readonly string[]).includes(text);
}

export function forwardScope(name: string): Scope {
  return `${FORWARD}${name}`;
}

/** What a refused key lacks on a route that needs `scope`: none would help if it has none. */
export function missingScopes(scope: string): readonly string[] {
  return scope === CLOSED ? [] : [scope];
}
