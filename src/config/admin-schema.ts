// The configuration's section `admin`: tokens of operators, and the provider by which people sign
// in.
import { OPERATOR_NAME } from '../domain/operator.ts';
import { Type } from '../domain/typebox.ts';
import type { Fault } from './config-error.ts';
import { isLoopback } from './network-address.ts';
import type { ConfigFile } from './schema.ts';
import { closed, matching, text } from '../domain/option-schema.ts';
import { list, reloaded, secretValue } from './schema-parts.ts';

const ISSUER = 'an https URL without credentials, query and fragment, for example https://id.example.com (http only on loopback)';
const CONSOLE_URL = 'the https origin of the console, without a path, for example https://lingate.example.com (http only on loopback)';
const GROUP = 'a name of 1 to 200 printable characters';
const CLAIM = 'the name of a claim of 1 to 200 printable characters without spaces, for example groups';
const SCOPE = 'a scope of 1 to 200 printable characters without spaces and quotes, for example email';
const LENGTH_MAX = 200;
const URL_LENGTH_MAX = 500;

const Token = Type.Object(
  {
    name: matching('a name of 1 to 40 letters, digits, dots, hyphens and underscores, for example ops', OPERATOR_NAME),
    token: secretValue(),
    role: Type.Enum(['manage', 'read']),
  },
  closed,
);

const Groups = list(GROUP, (group) => group.length <= LENGTH_MAX && /^[^\p{C}]+$/u.test(group), LENGTH_MAX, []);

const Oidc = Type.Object(
  {
    issuer: text(ISSUER, isIssuer),
    client_id: matching('the 1 to 500 printable ASCII characters by which the provider knows this gateway', /^[\x20-\x7e]{1,500}$/),
    client_secret: secretValue(),
    // `openid` is always requested.
    scopes: list(SCOPE, (scope) => scope.length <= LENGTH_MAX && /^[!#-[\]-~]+$/.test(scope), 20, ['email', 'profile']),
    roles: Type.Object({ manage: Groups, read: Groups }, closed),
    claim: text(CLAIM, isClaim, { default: 'groups' }),
    name_claim: text(CLAIM, isClaim, { default: 'email' }),
  },
  // Whether people can sign in by a provider is decided at the start.
  { ...closed, reload: 'members' },
);

export const AdminSection = Type.Object(
  {
    token: Type.Optional(secretValue(reloaded)),
    tokens: Type.Array(Token, { maxItems: 100, default: [], ...reloaded }),
    console_url: Type.Optional(text(CONSOLE_URL, isConsoleUrl)),
    oidc: Type.Optional(Oidc),
  },
  closed,
);

/** What is wrong between the members of a section that is right by the schema. */
export function adminFaults({ admin }: ConfigFile): Fault[] {
  if (admin === undefined) return [];
  const { token, tokens, oidc, console_url: consoleUrl } = admin;
  if (oidc === undefined) {
    if (token !== undefined || tokens.length > 0) return [];
    return [{ path: 'admin', reason: 'has no token; give it a token, or tokens, or oidc, or leave it out' }];
  }
  const faults: Fault[] = [];
  if (consoleUrl === undefined) faults.push({ path: 'admin.console_url', reason: `is missing; with admin.oidc it must be ${CONSOLE_URL}` });
  if (oidc.roles.manage.length + oidc.roles.read.length === 0) {
    faults.push({ path: 'admin.oidc.roles', reason: 'name no group; write at least one into manage or read, or nobody can sign in' });
  }
  return faults;
}

/** Without TLS everyone on the way could sign in: only this machine itself needs none. */
function isPrivate(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || value.length > URL_LENGTH_MAX || !/^[!-~]+$/.test(value)) return false;
  if (url.username !== '' || url.password !== '' || /[?#\\]/.test(value)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1')));
}

function isIssuer(value: string): boolean {
  return isPrivate(value) && !value.includes('/.well-known/');
}

/** The pages of the console name each other by paths from the root. */
function isConsoleUrl(value: string): boolean {
  return isPrivate(value) && URL.parse(value)?.pathname === '/';
}

function isClaim(value: string): boolean {
  return value.length <= LENGTH_MAX && /^[!-~]+$/.test(value);
}
