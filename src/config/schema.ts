// The configuration file's schema: members, limits and defaults, under operators' names.
import type { Static } from 'typebox';
import { MINOR_MAX } from '../domain/money.ts';
import { LANGUAGE_CODE } from '../domain/languages.ts';
import { HISTORY_DAYS } from '../domain/period.ts';
import { CHARACTERS_MAX } from '../domain/key-limits.ts';
import type { Plan } from '../domain/plan.ts';
import { Type } from '../domain/typebox.ts';
import { otherSchemeOf, STORE_URL_FORMS, storeKindOf } from '../domain/store-url.ts';
import { AdminSection } from './admin-schema.ts';
import { ForwardEntries } from './forward.ts';
import { EngineSections, HTTP_URL, isHttpUrl } from './engine-schema.ts';
import { isAddressOrRange, parseNetworkAddress } from './network-address.ts';
import { closed, matching, text, whole } from '../domain/option-schema.ts';
import { list, reloaded, secretValue, section } from './schema-parts.ts';

const DEFAULT_PLANS: Readonly<Record<string, Plan>> = {
  free: {
    billing: 'quota',
    requests_per_second: 5,
    max_characters_per_request: 10_000,
    max_glossaries: 1,
    characters: 500_000,
    period: 'P1M',
    overage_cap_minor: 0,
    overage_minor_per_million: 0,
    currency: 'EUR',
  },
  pro: {
    billing: 'quota',
    requests_per_second: 50,
    max_characters_per_request: 50_000,
    max_glossaries: 20,
    characters: 5_000_000,
    period: 'P1M',
    overage_cap_minor: 10_000,
    overage_minor_per_million: 2000,
    currency: 'EUR',
  },
  prepaid: {
    billing: 'credit',
    requests_per_second: 50,
    max_characters_per_request: 50_000,
    max_glossaries: 100,
    credit_minor_per_million: 2500,
    currency: 'EUR',
  },
};

const LEASE_SECONDS_MAX = 600;
/** uWebSockets.js supports at most 960. */
const IDLE_SECONDS_MAX = 900;

const HOST_PORT = 'HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080 (port 0 picks a free one)';
const WEBHOOK_URL = 'an absolute http or https URL without credentials and fragment';
const FILE = 'the path of a file';
const isWebhookUrl = (value: string): boolean =>
  /^https?:\/\/[^\s"'<>\\^`{|}#@]+$/i.test(value) && URL.canParse(value) && /^[!-~]+$/.test(value) && value.length <= 2000;
const isHostName = (value: string): boolean => /^[A-Za-z0-9_]([A-Za-z0-9._-]{0,252})$/.test(value);
const isListenAddress = (value: string): boolean => parseNetworkAddress(value) !== undefined;

/** With a meaning already: as a vendor's name, each would change how requests are read. */
const TAKEN_NAMES =
  /^(?:authorization|bearer|basic|digest|negotiate|proxy-.*|cookie|host|connection|upgrade|te|trailer|transfer-encoding|keep-alive|expect|date|content-.*|accept.*|x-request-id|traceparent|tracestate|user-agent|forwarded|x-forwarded-.*)$/i;
const isVendorName = (value: string): boolean => /^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(value) && !TAKEN_NAMES.test(value);

/** `languages.yaml`. */
export const LanguagesFile = Type.Object(
  {
    sources: Type.Array(Type.Object({ code: languageCode(), name: languageName() }, closed), { minItems: 1, maxItems: 500 }),
    targets: Type.Array(Type.Object({ code: languageCode(), name: languageName(), formality: Type.Boolean({ default: false }) }, closed), {
      minItems: 1,
      maxItems: 500,
    }),
  },
  closed,
);

function languageCode() {
  return matching('a language code in upper case, for example "DE" or "PT-BR"', LANGUAGE_CODE);
}

function languageName() {
  return matching('a name of 1 to 60 printable characters', /^[^\p{C}]{1,60}$/u);
}

/** Where files are stored, for how long, and how many bytes. */
const DocumentsSection = Type.Object(
  {
    keep: matching('store, or the path of a directory that all gateways share', /^[^\0]+$/, { default: 'store' }),
    secret: secretValue(),
    hours: whole(1, 720, 24),
    bytes: whole(1024, 31_457_280, 31_457_280),
    store_bytes: whole(1_048_576, 1_099_511_627_776, 1_073_741_824),
    slowest_bytes_per_second: whole(1, 1_048_576, 1024),
  },
  closed,
);

/** Where traces are sent, and how many requests are traced. */
const OtelSection = Type.Object(
  {
    endpoint: text(HTTP_URL, isHttpUrl, { default: 'http://127.0.0.1:4318' }),
    headers: Type.Record(Type.String(), secretValue(), { maxProperties: 32, default: {} }),
    sample: Type.Number({ minimum: 0, maximum: 1, default: 0.01 }),
    follow_callers: Type.Boolean({ default: false }),
  },
  closed,
);

/** `lingate.yaml`. Plans are checked one by one, each by the schema of its billing. */
export const ConfigFile = Type.Object(
  {
    listen: text(HOST_PORT, isListenAddress, { default: '127.0.0.1:8080' }),
    ops: text(HOST_PORT, isListenAddress, { default: '127.0.0.1:9090' }),
    gateway: Type.Optional(matching('1 to 64 letters, digits, dots, hyphens and underscores, for example eu-1', /^[\w.-]{1,64}$/)),
    ops_names: list('a host name, for example lingate.internal', isHostName, 32, []),
    admin: Type.Optional(AdminSection),
    listener: Type.Enum(['auto', 'uws', 'node'], { default: 'auto' }),
    listen_trusted_proxies: list('an IP address or a range, for example 10.0.0.0/8', isAddressOrRange, 100, []),
    listen_client_address: Type.Enum(['x-forwarded-for', 'forwarded'], { default: 'x-forwarded-for' }),
    listen_quiet_paths: list('a path, for example /health', (path) => /^\/[!-~]{0,255}$/.test(path), 100, ['/livez', '/readyz', '/health']),
    tls: Type.Optional(
      Type.Object({ cert_file: matching(FILE, /^[^\0]+$/), key_file: matching(FILE, /^[^\0]+$/) }, { ...closed, reload: 'members' }),
    ),
    service: Type.Object(
      {
        // In quotes in WWW-Authenticate's realm.
        name: matching('1 to 64 printable ASCII characters without quotes and backslashes', /^(?! )[ !#-[\]-~]{1,64}(?<! )$/, {
          default: 'lingate',
        }),
        public_url: Type.Optional(text(HTTP_URL, isHttpUrl)),
        // By default below public_url, or on the ops listener.
        docs_url: Type.Optional(text(HTTP_URL, isHttpUrl)),
        dashboard_url: Type.Optional(text(HTTP_URL, isHttpUrl)),
      },
      section,
    ),
    docs: Type.Object({ public: Type.Boolean({ default: false }) }, section),
    store: text(`one of ${STORE_URL_FORMS}`, (value) => storeKindOf(value) !== undefined || otherSchemeOf(value) !== undefined, {
      default: 'sqlite:data/lingate.db',
    }),
    store_options: Type.Object(
      {
        sqlite_durability: Type.Enum(['full', 'normal'], { default: 'full' }),
        command_timeout_ms: whole(10, 10_000, 500),
        wait_seconds: whole(0, 3600, 0),
      },
      section,
    ),
    auth: Type.Object(
      {
        vendor_names: list('a header name that has no other meaning, for example Vendor-Auth-Key', isVendorName, 8, [
          'Vendor-Auth-Key',
          'DeepL-Auth-Key',
        ]),
        key_cache_max: whole(1, 10_000_000, 100_000),
      },
      section,
    ),
    ...EngineSections,
    limits: Type.Object(
      {
        body_bytes: whole(1024, 67_108_864, 1_048_576),
        reservation_seconds: whole(1, LEASE_SECONDS_MAX, 60),
        request_seconds: Type.Optional(whole(1, LEASE_SECONDS_MAX)),
        idle_seconds: whole(1, IDLE_SECONDS_MAX, 8),
        drain_seconds: whole(0, LEASE_SECONDS_MAX, 30),
        drain_delay_seconds: whole(0, LEASE_SECONDS_MAX, 0),
        concurrency: whole(1, 1_000_000, 10_000),
        team_concurrency: whole(1, 1_000_000, 1000),
        team_engine_share: Type.Number({ minimum: 0.01, maximum: 1, default: 0.5 }),
        shed_loop_delay_ms: whole(0, 60_000, 200),
        unknown_keys_per_minute: whole(0, 1_000_000, 0),
        slowest_bytes_per_second: whole(1, 1_048_576, 1024),
        rate_limit_headers: Type.Boolean({ default: false }),
        glossary_bytes: whole(1, 1_073_741_824, 16_777_216),
        tags: whole(0, 10_000, 1000),
      },
      section,
    ),
    plans: Type.Record(Type.String(), Type.Unknown(), { minProperties: 1, maxProperties: 100, default: DEFAULT_PLANS, ...reloaded }),
    team_metrics: Type.Optional(
      Type.Object(
        {
          every_seconds: whole(1, 86_400, 300),
          teams_max: whole(1, 1000, 50),
          quota_used_percent: whole(1, 100, 80),
          credit_characters: whole(0, CHARACTERS_MAX, 1_000_000),
          key_unused_days: whole(1, 3650, 90),
        },
        closed,
      ),
    ),
    history: Type.Object({ days: whole(1, 3650, HISTORY_DAYS) }, section),
    events: Type.Optional(
      Type.Object(
        {
          url: text(WEBHOOK_URL, isWebhookUrl),
          secret: secretValue(),
          thresholds: Type.Array(whole(1, 1000), { maxItems: 20, uniqueItems: true, default: [80, 95, 100] }),
          credit_minor: Type.Array(whole(0, MINOR_MAX), { maxItems: 20, uniqueItems: true, default: [1000, 0] }),
        },
        closed,
      ),
    ),
    documents: Type.Optional(DocumentsSection),
    otel: Type.Optional(OtelSection),
    languages: Type.Optional(matching(FILE, /^[^\0]+$/, reloaded)),
    forward: ForwardEntries,
    plugins: Type.Array(
      Type.Object(
        { module: matching('the path of a module or the name of a package', /^[^\0]+$/), options: Type.Unknown({ default: {} }) },
        closed,
      ),
      { maxItems: 100, default: [] },
    ),
  },
  closed,
);

export type ConfigFile = Static<typeof ConfigFile>;
