// Forward routes in a configuration, to another server: their schema, the rules between their
// members, and their settings with secrets.
import type { Static } from 'typebox';
import { isPlainPath } from '../core/router.ts';
import { problems, problemsWith } from '../core/problem.ts';
import type { ForwardRoute } from '../domain/forward-route.ts';
import { FORWARD_NAME } from '../domain/scopes.ts';
import { Type } from '../domain/typebox.ts';
import { assertFaultless } from './config-error.ts';
import type { Fault } from './config-error.ts';
import { join, shown } from './faults.ts';
import { closed, text, whole } from '../domain/option-schema.ts';
import { list, secretValue } from './schema-parts.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const PATH = 'a path of plain segments, for example /v1/voices, or /v1/documents/* for that path and everything below it';
const ROUTE_NAME = '1 to 64 lower-case letters, digits, - and _, the first a letter or a digit, for example voices';
const ORIGIN = 'the http or https URL of a server: scheme, host and port, nothing else';
const FIELD = 'the name of a header that may be passed on, in lower case';
const STATUS = 'a status from 300 to 599 other than 304';

const isPath = (value: string): boolean =>
  /^[A-Za-z0-9\-._~/]+$/.test(value.replace(/\/\*$/, '')) && isPlainPath(value.replace(/\/\*$/, ''));
const isOrigin = (value: string): boolean => {
  if (!/^https?:\/\/[!-~]+$/.test(value) || !URL.canParse(value)) return false;
  const url = new URL(value);
  return (
    url.origin ===
    value
      .toLowerCase()
      .replace(/\/$/, '')
      .replace(/^(http:\/\/.*):80$|^(https:\/\/.*):443$/, '$1$2')
  );
};

/** Framing and hop-by-hop headers: each connection has its own. */
const CONNECTION =
  'connection|keep-alive|proxy-[a-z-]+|te|trailer|transfer-encoding|upgrade|content-length|host|expect|http2-settings|alt-svc|date|via';
/** The caller's key, and headers that the gateway sets itself. */
const OURS_UP = new RegExp(`^(?:${CONNECTION}|authorization|x-request-id|traceparent|tracestate)$`);
const OURS_DOWN = new RegExp(
  `^(?:${CONNECTION}|cache-control|server|x-powered-by|set-cookie|www-authenticate|x-request-id|ratelimit.*|x-ratelimit-.*)$`,
);
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const mayGoUp = (value: string): boolean => NAME.test(value) && !OURS_UP.test(value);
const mayGoDown = (value: string): boolean => NAME.test(value) && !OURS_DOWN.test(value);

/** Whether the operator may add a header with this name to every request. */
const isAddedField = (name: string): boolean => NAME.test(name) && (name === 'authorization' || mayGoUp(name));

/** To which no upstream status may be mapped: they are about keys, limits and methods. */
const NOT_MAPPED: ReadonlySet<string> = new Set(['unauthorized', 'key_revoked', 'method_not_allowed']);
const MAPPED_CODES = problemsWith({}).filter((code) => Object.keys(problems[code].members).length === 0 && !NOT_MAPPED.has(code));

const ForwardEntry = Type.Object(
  {
    path: text(PATH, isPath),
    methods: Type.Array(Type.Enum(METHODS), { minItems: 1, uniqueItems: true }),
    name: Type.Optional(text(ROUTE_NAME, (value) => FORWARD_NAME.test(value))),
    target: text(ORIGIN, isOrigin),
    charge_characters: whole(0, 10_000_000, 0),
    body_bytes: Type.Optional(whole(1, 1_099_511_627_776)),
    timeout_ms: Type.Optional(whole(1, 300_000)),
    check_ids: Type.Boolean({ default: true }),
    request_fields: list(FIELD, mayGoUp, 64, ['accept', 'content-type']),
    response_fields: list(FIELD, mayGoDown, 64, ['content-type']),
    statuses: Type.Record(Type.String(), Type.Enum(MAPPED_CODES), { maxProperties: 100, default: {} }),
    headers: Type.Record(Type.String(), secretValue(), { maxProperties: 64, default: {} }),
  },
  closed,
);

export const ForwardEntries = Type.Array(ForwardEntry, { maxItems: 200, default: [] });

type ForwardEntry = Static<typeof ForwardEntry>;

const isMappedStatus = (status: string): boolean => /^[345]\d\d$/.test(status) && status !== '304';

/** A route before its secrets are read: `headers` as in the file, secrets as written. */
export interface ForwardConfig extends Omit<ForwardRoute, 'headers'> {
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Between valid members of entries. Vendor names are ways to send a key. */
export function forwardFaults(entries: readonly ForwardEntry[], vendorNames: readonly string[]): Fault[] {
  const taken = new Set<string>();
  return entries.flatMap((entry, index) => {
    const at = `forward.${index}`;
    const faults: Fault[] = [];
    for (const method of entry.methods) {
      const name = `${method} ${entry.path}`;
      if (taken.has(name)) faults.push({ path: join(at, 'path'), reason: `${shown(name)} is listed twice; leave one out` });
      taken.add(name);
    }
    for (const status of Object.keys(entry.statuses)) {
      if (!isMappedStatus(status)) faults.push({ path: join(at, 'statuses'), reason: `${shown(status)} is not ${STATUS}` });
    }
    for (const name of Object.keys(entry.headers)) {
      if (isAddedField(name.toLowerCase())) continue;
      faults.push({ path: join(at, 'headers'), reason: `${shown(name)} is not a header that can be added` });
    }
    const keys = new Set(vendorNames.map((name) => name.toLowerCase()));
    const leak = entry.request_fields.find((name) => keys.has(name));
    if (leak !== undefined) {
      faults.push({
        path: join(at, 'request_fields'),
        reason: `${shown(leak)} is one of auth.vendor_names: callers' keys are not passed on`,
      });
    }
    return faults;
  });
}

export function forwardOf(entry: ForwardEntry, bodyBytes: number, timeoutMs: number): ForwardConfig {
  return {
    ...entry,
    origin: new URL(entry.target).origin,
    body_bytes: entry.body_bytes ?? bodyBytes,
    timeout_ms: entry.timeout_ms ?? timeoutMs,
    statuses: new Map(Object.entries(entry.statuses).map(([status, code]) => [Number(status), code])),
  };
}

/**
 * `headers` are those of each route, with their secrets; `own`: other routes' paths. Throws a `ConfigError` with every route that would
 * hide such a path.
 */
export function forwardSettings(
  { forward: routes, file }: { readonly forward: readonly ForwardConfig[]; readonly file: string },
  headers: readonly Readonly<Record<string, string>>[] = [],
  own: readonly string[] = [],
): ForwardRoute[] {
  const faults = routes.flatMap(({ path }, index): Fault[] => {
    const shadowed = own.find((one) => covers(path, one));
    if (shadowed === undefined) return [];
    return [{ path: `forward.${index}.path`, reason: `${shown(path)} would hide ${shadowed}; choose another path` }];
  });
  assertFaultless(file, faults);
  const lowered = (fields: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
  return routes.map((route, index) => ({ ...route, headers: lowered(headers[index]) }));
}

/** Whether a route with this path could match requests for `own`, perhaps with a parameter. */
function covers(path: string, own: string): boolean {
  const wildcard = path.endsWith('/*');
  const segments = (wildcard ? path.slice(0, -2) : path).split('/');
  const others = own.split('/');
  if (wildcard ? others.length < segments.length : others.length !== segments.length) return false;
  return segments.every((segment, index) => others[index]!.startsWith('{') || others[index] === segment);
}
