// Reads secrets from a string, an environment variable or a file, as configured, and judges each by what it is for. Never prints one.
import { ADMIN_OPERATOR } from '../domain/operator.ts';
import type { OidcSettings, OperatorToken } from '../domain/operator.ts';
import { isSecret } from '../domain/option-schema.ts';
import type { SchemaNode } from '../domain/option-schema.ts';
import { assertFaultless } from './config-error.ts';
import type { Fault } from './config-error.ts';
import type { Config } from './config.ts';
import { besideFile, bytesOf } from './file-set.ts';
import type { FileContents } from './file-set.ts';
import { join, shown } from './faults.ts';
import { isTracingOff } from './otel-settings.ts';
import { reasonOf } from './yaml-file.ts';
import type { Environment } from './environment.ts';
import { ConfigFile } from './schema.ts';

interface SecretSources {
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
  if (isSecret(schema) && value !== undefined) return revealOne(value, sources, at);
  if (schema === undefined || typeof value !== 'object' || value === null) return { value, faults: [], found: [] };
  const { properties, patternProperties, items } = schema as SchemaNode;
  const others = items ?? Object.values(patternProperties ?? {})[0];
  const members = Object.entries(value).map(
    ([name, member]) => [name, reveal(properties?.[name] ?? others, member, sources, join(at, name))] as const,
  );
  const revealed = members.map(([name, one]) => [name, one.value] as const);
  return {
    value: Array.isArray(value) ? revealed.map(([, one]) => one) : Object.fromEntries(revealed),
    faults: members.flatMap(([, one]) => one.faults),
    found: members.flatMap(([, one]) => one.found),
  };
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

/** Those of a configuration, but for its engines', which their protocols' schemas name. Do not print them. */
export interface Secrets {
  /** Their paths. */
  readonly found: readonly string[];
  /** `undefined` if the admin API is off. */
  readonly operators: readonly OperatorToken[] | undefined;
  readonly oidc: OidcSettings | undefined;
  /** The key that signs events. */
  readonly events: Buffer | undefined;
  readonly documents: Buffer | undefined;
  readonly otelHeaders: Readonly<Record<string, string>>;
  /** Of each forward route. */
  readonly forwardHeaders: readonly Readonly<Record<string, string>>[];
}

const SECTIONS = ['admin', 'documents', 'events', 'otel', 'forward'] as const;
type WithSecrets = Pick<Config, (typeof SECTIONS)[number]>;

/** Where those of this configuration are. */
export function sourcesOf({ file, sources: { files } }: Config, env: Environment): SecretSources {
  return { env, file, files };
}

/** Throws a `ConfigError` with all faults. Where tracing is off, nothing is sent, and its headers are not read. */
export function secretsOf(config: Partial<WithSecrets>, sources: SecretSources): Secrets {
  const sections = SECTIONS.filter((name) => name !== 'otel' || !isTracingOff(sources.env));
  const written = Object.fromEntries(sections.map((name) => [name, config[name]]));
  const { value, faults: unread, found } = reveal(ConfigFile, written, sources, '');
  const { admin, events, documents, otel, forward = [] } = value as Partial<WithSecrets>;
  const faults = [...unread];
  const refuse = (path: string, reason: string): void => {
    if (!unread.some((fault) => fault.path === path)) faults.push({ path, reason });
  };
  const secrets: Secrets = {
    found,
    operators: admin && operatorsOf(admin, refuse),
    oidc: admin && oidcOf(admin),
    events: events && signingKeyOf(events.secret as string, refuse),
    documents: documents && documentsKeyOf(documents.secret as string, refuse),
    otelHeaders: (otel?.headers ?? {}) as Readonly<Record<string, string>>,
    forwardHeaders: forward.map(({ headers }) => headers as Readonly<Record<string, string>>),
  };
  assertFaultless(sources.file, faults);
  return secrets;
}

type Refuse = (path: string, reason: string) => void;
type Admin = NonNullable<Config['admin']>;

/** Too long to guess or type: it should be generated at random. */
const SECRET_LENGTH_MIN = 32;
const TOO_WEAK = `is too weak; it must be at least ${SECRET_LENGTH_MIN} characters`;
const FOR_EXAMPLE = 'for example from "openssl rand -hex 32"';

function operatorsOf({ token, tokens }: Pick<Admin, 'token' | 'tokens'>, refuse: Refuse): readonly OperatorToken[] {
  const listed = [
    ...(token === undefined ? [] : [{ at: 'admin', name: ADMIN_OPERATOR, role: 'manage' as const, token: token as string }]),
    ...tokens.map((one, index) => ({ at: `admin.tokens.${index}`, ...one, token: one.token as string })),
  ];
  for (const [index, { at, name, token: text }] of listed.entries()) {
    const before = listed.slice(0, index);
    // Case-insensitively, so that nobody is mistaken for another in the audit.
    const namesake = before.find((other) => other.name.toLowerCase() === name.toLowerCase());
    if (namesake !== undefined)
      refuse(join(at, 'name'), `${shown(name)} is also the name of ${namesake.at}; give each operator a different one`);
    const twin = before.find((other) => other.token === text);
    if (text.length < SECRET_LENGTH_MIN || text.includes(' ')) refuse(join(at, 'token'), `${TOO_WEAK} without spaces, ${FOR_EXAMPLE}`);
    else if (twin !== undefined) refuse(join(at, 'token'), `is also the token of ${twin.name}; give each operator a different one`);
  }
  return listed.map(({ name, role, token: text }) => ({ name, role, token: text }));
}

/** Its URL is missing if that is a fault of the configuration. */
function oidcOf({ oidc, console_url: consoleUrl }: Admin): OidcSettings | undefined {
  if (oidc === undefined || consoleUrl === undefined) return undefined;
  const { issuer, client_id: clientId, client_secret: clientSecret, scopes, roles, claim: groupsClaim, name_claim: nameClaim } = oidc;
  const client = { clientId, clientSecret: clientSecret as string };
  return { issuer, ...client, scopes, roles, groupsClaim, nameClaim, consoleUrl: new URL(consoleUrl).origin };
}

const WEBHOOK_SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const WEBHOOK_BYTES = { min: 24, max: 64 };

function signingKeyOf(text: string, refuse: Refuse): Buffer {
  const base64 = WEBHOOK_SECRET.exec(text)?.[1] ?? '';
  const key = Buffer.from(base64, 'base64');
  // Node skips characters that are not base64: encoding the result again shows it.
  const isWhole = key.toString('base64').replace(/=+$/, '') === base64.replace(/=+$/, '');
  if (!isWhole || key.length < WEBHOOK_BYTES.min || key.length > WEBHOOK_BYTES.max) {
    const right = `it must be whsec_ and the base64 of ${WEBHOOK_BYTES.min} to ${WEBHOOK_BYTES.max} bytes, for example from: echo "whsec_$(openssl rand -base64 32)"`;
    refuse('events.secret', `is not a signing secret; ${right}`);
  }
  return key;
}

function documentsKeyOf(text: string, refuse: Refuse): Buffer {
  if (text.length < SECRET_LENGTH_MIN) refuse('documents.secret', `${TOO_WEAK}, ${FOR_EXAMPLE}`);
  return Buffer.from(text);
}
