// Reads secrets from a string, an environment variable or a file, as configured. Never prints one.
import { ADMIN_OPERATOR } from '../domain/operator.ts';
import type { OidcSettings, OperatorToken } from '../domain/operator.ts';
import { isSecret, secret } from '../domain/option-schema.ts';
import type { SchemaNode } from '../domain/option-schema.ts';
import { assertFaultless } from './config-error.ts';
import type { Fault } from './config-error.ts';
import { besideFile, bytesOf } from './file-set.ts';
import type { FileContents } from './file-set.ts';
import type { Config } from './config.ts';
import { join, shown } from './faults.ts';
import { reasonOf } from './yaml-file.ts';
import type { Environment } from './environment.ts';

export interface SecretSources {
  readonly env: Environment;
  /** Absolute path of the file that names them: their paths are relative to it. */
  readonly file: string;
  /** As read with that file. */
  readonly files: FileContents;
}

/** A value with its secrets filled in, or its faults. */
interface Revealed {
  readonly value: unknown;
  readonly faults: readonly Fault[];
  /** Paths of the secrets that were found. */
  readonly found: readonly string[];
}

/** Longer ones do not fit into a request's head. */
const SECRET_LENGTH_MAX = 8192;
const PRINTABLE = /^[\x20-\x7e]*$/;
const FORMS = 'it must be a string, { env: NAME } or { file: PATH }';
/** Replaces a wrong secret, so that it is reported once and not by the schema as well. */
const UNKNOWN = 'unknown';

/** Walks through `value` wherever `schema` has secrets; `at` is the value's own path. */
export function reveal(schema: unknown, value: unknown, sources: SecretSources, at: string): Revealed {
  if (isSecret(schema)) return revealOne(value, sources, at);
  const { properties, patternProperties } = schema as SchemaNode;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value, faults: [], found: [] };
  const faults: Fault[] = [];
  const found: string[] = [];
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => {
    const shape = properties?.[name] ?? Object.values(patternProperties ?? {})[0];
    if (shape === undefined) return [name, member] as const;
    const revealed = reveal(shape, member, sources, join(at, name));
    faults.push(...revealed.faults);
    found.push(...revealed.found);
    return [name, revealed.value] as const;
  });
  return { value: Object.fromEntries(members), faults, found };
}

function revealOne(written: unknown, sources: SecretSources, at: string): Revealed {
  const { text, fault = faultOf(text!) } = read(written, sources);
  return fault === undefined
    ? { value: text, faults: [], found: [at] }
    : { value: UNKNOWN, faults: [{ path: at, reason: fault }], found: [] };
}

function read(written: unknown, { env, file, files }: SecretSources): { readonly text?: string; readonly fault?: string } {
  if (typeof written === 'string') return { text: written };
  const members = typeof written === 'object' && written !== null ? Object.entries(written) : [];
  const [name, place]: [string?, unknown?] = members.length === 1 ? members[0]! : [];
  if (typeof place !== 'string' || place === '' || place.includes('\0')) return { fault: `is not a secret; ${FORMS}` };
  if (name === 'env') {
    const text = env[place];
    return text === undefined ? { fault: `the environment variable ${place} is not set` } : { text };
  }
  if (name !== 'file') return { fault: `is not a secret; ${FORMS}` };
  const path = besideFile(place, file);
  try {
    return {
      text: bytesOf(files, path)
        .toString('utf8')
        .replace(/\r?\n$/, ''),
    };
  } catch (error) {
    return { fault: `the file ${path} cannot be read: ${reasonOf((error as NodeJS.ErrnoException).code ?? 'unknown')}` };
  }
}

function faultOf(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.length > SECRET_LENGTH_MAX) return `is longer than ${SECRET_LENGTH_MAX} characters`;
  return PRINTABLE.test(text) ? undefined : 'is not one line of printable ASCII';
}

/** Too long to guess or type: it should be generated at random. */
const TOKEN_LENGTH_MIN = 32;

/** `undefined` if the admin API is off. Throws a `ConfigError` with all faults. */
export function adminOperators({ admin, file, sources: { files } }: Config, env: Environment): readonly OperatorToken[] | undefined {
  if (admin === undefined) return undefined;
  const listed = [
    ...(admin.token === undefined ? [] : [{ at: 'admin', name: ADMIN_OPERATOR, role: 'manage' as const, token: admin.token }]),
    ...admin.tokens.map((operator, index) => ({ at: `admin.tokens.${index}`, ...operator })),
  ];
  const faults: Fault[] = nameFaults(listed);
  const operators: OperatorToken[] = [];
  for (const { at: entry, name, role, token: written } of listed) {
    const at = join(entry, 'token');
    const { value, faults: unread } = reveal(secret(''), written, { env, file, files }, at);
    const token = value as string;
    const twin = operators.find((other) => other.token === token);
    if (unread.length > 0) faults.push(...unread);
    else if (token.length < TOKEN_LENGTH_MIN || token.includes(' ')) faults.push({ path: at, reason: TOO_WEAK });
    else if (twin !== undefined) faults.push({ path: at, reason: `is also the token of ${twin.name}; give each operator a different one` });
    else operators.push({ name, role, token });
  }
  assertFaultless(file, faults);
  return operators;
}

/** Names are compared case-insensitively, so that nobody is mistaken for another in the audit. */
function nameFaults(listed: readonly { readonly at: string; readonly name: string }[]): Fault[] {
  return listed.flatMap(({ at, name }, index) => {
    const twin = listed.slice(0, index).find((other) => other.name.toLowerCase() === name.toLowerCase());
    if (twin === undefined) return [];
    return [{ path: join(at, 'name'), reason: `${shown(name)} is also the name of ${twin.at}; give each operator a different one` }];
  });
}

const TOO_WEAK = `is too weak; it must be at least ${TOKEN_LENGTH_MIN} characters without spaces, for example from "openssl rand -hex 32"`;

const WEBHOOK_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const WEBHOOK_BYTES = { min: 24, max: 64 };

/** The secret that signs events; `undefined` if events are off. Throws a `ConfigError`. */
export function eventsSecret(config: Config, env: Environment): Buffer | undefined {
  if (config.events === undefined) return undefined;
  const path = 'events.secret';
  const base64 = WEBHOOK_SECRET.exec(secretAt(path, config.events.secret, config, env))?.[1];
  const key = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
  // Node skips characters that are not base64: encoding the result again shows it.
  const isWhole = key !== undefined && key.toString('base64').replace(/=+$/, '') === base64?.replace(/=+$/, '');
  const isKey = isWhole && key.length >= WEBHOOK_BYTES.min && key.length <= WEBHOOK_BYTES.max;
  const right = `it must be whsec_ and the base64 of ${WEBHOOK_BYTES.min} to ${WEBHOOK_BYTES.max} bytes, for example from: echo "whsec_$(openssl rand -base64 32)"`;
  assertFaultless(config.file, isKey ? [] : [{ path, reason: `is not a signing secret; ${right}` }]);
  return key;
}

const SECRET_LENGTH_MIN = 32;

/** `undefined` if documents are off. Throws a `ConfigError`. */
export function documentsSecret(config: Config, env: Environment): Buffer | undefined {
  if (config.documents === undefined) return undefined;
  const path = 'documents.secret';
  const text = secretAt(path, config.documents.secret, config, env);
  const reason = `is too weak; it must be at least ${SECRET_LENGTH_MIN} characters, for example from "openssl rand -hex 32"`;
  assertFaultless(config.file, text.length < SECRET_LENGTH_MIN ? [{ path, reason }] : []);
  return Buffer.from(text);
}

/** `undefined` if it is off. Throws a `ConfigError`. */
export function oidcSettings(config: Config, env: Environment): OidcSettings | undefined {
  const { oidc, console_url: consoleUrl } = config.admin ?? {};
  if (oidc === undefined || consoleUrl === undefined) return undefined;
  const { issuer, client_id: clientId, scopes, roles, claim: groupsClaim, name_claim: nameClaim } = oidc;
  const clientSecret = secretAt('admin.oidc.client_secret', oidc.client_secret, config, env);
  return { issuer, clientId, clientSecret, scopes, roles, groupsClaim, nameClaim, consoleUrl: new URL(consoleUrl).origin };
}

/** Throws a `ConfigError`. */
function secretAt(path: string, written: unknown, { file, sources: { files } }: Config, env: Environment): string {
  const { value, faults } = reveal(secret(''), written, { env, file, files }, path);
  assertFaultless(file, faults);
  return value as string;
}
