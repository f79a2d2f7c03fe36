// A wrong configuration is refused with exactly these messages: path, value and reason.
import { describe, expect, test } from 'vitest';
import { linesOf, loaded, refusals, written } from '../../support/written-file.ts';

const QUOTA = 'billing: quota, requests_per_second: 5, max_characters_per_request: 100, max_glossaries: 1, characters: 1000, currency: EUR';
const CREDIT =
  'billing: credit, requests_per_second: 5, max_characters_per_request: 100, max_glossaries: 1, credit_minor_per_million: 2500, currency: EUR';
const HOST_PORT = 'HOST:PORT, for example 127.0.0.1:8080 or [::1]:8080 (port 0 picks a free one)';
const WEBHOOK_URL = 'an absolute http or https URL without credentials and fragment';
const HTTP_URL = 'an absolute http or https URL without credentials, query and fragment, for example http://10.0.0.5:2737';
const STORES =
  'sqlite:PATH, redis://HOST:PORT, rediss://HOST:PORT, redis+cluster://HOST:PORT,HOST:PORT or redis+sentinel://HOST:PORT,HOST:PORT/NAME';

const ENGINES = 'engines: { small: { urls: ["http://s"] }, large: { urls: ["http://l"] } }';
const PAIRS = 'any, ask, or a list of pairs, for example [EN-ES, ES-EN]';

const ISSUER = 'an https URL without credentials, query and fragment, for example https://id.example.com (http only on loopback)';
const CONSOLE = 'the https origin of the console, without a path, for example https://lingate.example.com (http only on loopback)';
const oidc = (members: string, more?: string): string =>
  `admin: { oidc: { client_id: c, client_secret: s, ${members.includes('roles') ? '' : 'roles: { read: [a] }, '}${members} }${more === undefined ? '' : `, ${more}`} }`;

const quota = (rest: string): string => `plans: { free: { ${QUOTA}, ${rest} } }`;
/** A valid plan with one member replaced. */
const plan = (valid: string, member: string, value: string): string =>
  `plans: { free: { ${valid.replace(new RegExp(`${member}: [^,]+`), `${member}: ${value}`)} } }`;

const WRONG: readonly [yaml: string, line: string][] = [
  // Names.
  ['listner: uws', 'listner: is not known; did you mean listener?'],
  ['engine: { timout_ms: 5 }', 'engine.timout_ms: is not known; did you mean timeout_ms?'],
  ['service: { colour: red }', 'service.colour: is not known; the known ones are name, public_url, docs_url, dashboard_url'],
  // Sign-in by a provider.
  ['admin: {}', 'admin: has no token; give it a token, or tokens, or oidc, or leave it out'],
  [oidc('issuer: https://id'), `admin.console_url: is missing; with admin.oidc it must be ${CONSOLE}`],
  [
    oidc('issuer: https://id, roles: {}', 'console_url: https://c'),
    'admin.oidc.roles: name no group; write at least one into manage or read, or nobody can sign in',
  ],
  [oidc('issuer: http://id.example.com', 'console_url: https://c'), `admin.oidc.issuer: "http://id.example.com" is not ${ISSUER}`],
  [oidc('issuer: "https://u:p@id"', 'console_url: https://c'), `admin.oidc.issuer: "https://***@id" is not ${ISSUER}`],
  [
    oidc('issuer: https://id/.well-known/openid-configuration', 'console_url: https://c'),
    `admin.oidc.issuer: "https://id/.well-known/openid-configuration" is not ${ISSUER}`,
  ],
  [oidc('issuer: https://id', 'console_url: https://c/console'), `admin.console_url: "https://c/console" is not ${CONSOLE}`],
  [oidc('issuer: https://id', 'console_url: http://c'), `admin.console_url: "http://c" is not ${CONSOLE}`],
  [
    oidc('issuer: https://id, name_claim: "a b"', 'console_url: https://c'),
    `admin.oidc.name_claim: "a b" is not the name of a claim of 1 to 200 printable characters without spaces, for example groups`,
  ],
  // Several engines.
  ['engines: {}', 'engines: has too few entries; it must have at least 1'],
  [
    `engines: { "a b": { urls: ["http://h"] } }`,
    'engines: "a b" is not a valid name of an engine; use up to 40 letters, digits, hyphens and underscores',
  ],
  [`engine: { timeout_ms: 5 }\n${ENGINES}`, 'engine: cannot be used together with engines; leave one of the two out'],
  [
    'engines: { a: { urls: ["http://h"], timeout_ms: 40000 } }',
    'limits.reservation_seconds: 60 is too short; two attempts of engines.a.timeout_ms 40000 plus one second need at least 81',
  ],
  [
    'engines: { a: { urls: ["http://h"], pairs: [EN-XX] } }',
    'engines.a.pairs.0: "EN-XX": XX is neither a target code of the list of languages nor the base of one',
  ],
  // Routing.
  [
    `${ENGINES}\nrouting: [{ engines: [smal] }]`,
    'routing.0.engines.0: there is no engine "smal"; did you mean small? the engines are small, large',
  ],
  ['routing: [{ engines: [small] }]', 'routing.0.engines.0: there is no engine "small"; the engines are default'],
  [
    `${ENGINES}\nrouting: [{ plans: [fre], engines: [small] }, { engines: [large] }]`,
    'routing.0.plans.0: there is no plan "fre"; did you mean free? the plans are free, pro, prepaid',
  ],
  [
    `${ENGINES}\nrouting: [{ pairs: [XX-DE], engines: [small] }]`,
    'routing.0.pairs.0: "XX-DE": does not begin with a source code of the list of languages, nor with *; write SOURCE-TARGET, such as EN-ES, *-ES or EN-*',
  ],
  [
    `${ENGINES}\nrouting: [{ engines: [small] }, { plans: [free], engines: [large] }]`,
    'routing.1: can never match: routing.0 matches everything that it would; move it up or leave it out',
  ],
  [
    `${ENGINES}\nrouting: [{ pairs: ["*-EN-GB"], engines: [small] }, { pairs: ["*-EN-US"], engines: [small] }, { pairs: [DE-EN], engines: [large] }]`,
    'routing.2: can never match: the rules before it match everything that it would; move it up or leave it out',
  ],
  // Shapes.
  ['- listen', 'this is not a mapping of names to values'],
  ['store:', 'store: is empty; give it a value or leave it out'],
  [
    'engine: native',
    'engine: "native" is not a mapping of names to values; its members are protocol, options, timeout_ms, connections_max, ' +
      'queue_max, response_bytes_max, response_bytes_factor, keep_alive, check_ids, pairs, characters, batch, urls',
  ],
  [
    'plugins: [lingate/plugins/memory]',
    'plugins.0: "lingate/plugins/memory" is not a mapping of names to values; its members are module, options',
  ],
  ['listener: nodee', 'listener: "nodee" is not one of auto, uws, node; did you mean node?'],
  // Addresses.
  ['listen: 8080', `listen: 8080 is not ${HOST_PORT}`],
  ['listen: "::1:8080"', `listen: "::1:8080" is not ${HOST_PORT}`],
  ['listen: "[::1]"', `listen: "[::1]" is not ${HOST_PORT}`],
  ['listen: "[1.2.3.4]:80"', `listen: "[1.2.3.4]:80" is not ${HOST_PORT}`],
  ['ops: 127.0.0.1:65536', `ops: "127.0.0.1:65536" is not ${HOST_PORT}`],
  ['ops: 127.0.0.1:8080', 'ops: "127.0.0.1:8080" is also the address of listen; the ops listener needs its own'],
  [
    'listen_trusted_proxies: [10.0.0.0/33]',
    'listen_trusted_proxies.0: "10.0.0.0/33" is not an IP address or a range, for example 10.0.0.0/8',
  ],
  ['tls: { cert_file: c.pem }', 'tls.key_file: is missing; it must be the path of a file'],
  // Service.
  [`service: { name: 'a"b' }`, 'service.name: "a\\"b" is not 1 to 64 printable ASCII characters without quotes and backslashes'],
  ['service: { docs_url: /docs }', `service.docs_url: "/docs" is not ${HTTP_URL}`],
  // Store.
  ['store: mysql://127.0.0.1/x', `store: "mysql://127.0.0.1/x" is not one of ${STORES}`],
  ['store: sqlite://data/x.db', `store: "sqlite://data/x.db" is not one of ${STORES}`],
  // Events.
  ['events: { url: "http://u:p@h/", secret: x }', `events.url: "http://***@h/" is not ${WEBHOOK_URL}`],
  ['events: { url: "https://h/#x", secret: x }', `events.url: "https://h/#x" is not ${WEBHOOK_URL}`],
  ['events: { url: "http://h/", secret: x, thresholds: [80, 80] }', 'events.thresholds: has an entry twice; leave one out'],
  ['events: { url: "http://h/", secret: x, thresholds: 80 }', 'events.thresholds: 80 is not a list; write [80]'],
  [
    'otel: { endpoint: "collector:4318" }',
    'otel.endpoint: "collector:4318" is not an absolute http or https URL without credentials, query and fragment, for example http://10.0.0.5:2737',
  ],
  ['gateway: a b', 'gateway: "a b" is not 1 to 64 letters, digits, dots, hyphens and underscores, for example eu-1'],
  // Keys.
  [
    'auth: { vendor_names: [Authorization] }',
    'auth.vendor_names.0: "Authorization" is not a header name that has no other meaning, for example Vendor-Auth-Key',
  ],
  [
    'auth: { vendor_names: ["X Key"] }',
    'auth.vendor_names.0: "X Key" is not a header name that has no other meaning, for example Vendor-Auth-Key',
  ],
  ['auth: { vendor_names: [X-Key, x-key] }', 'auth.vendor_names.1: "x-key" is listed twice; leave one out'],
  ['auth: { vendor_names: [X-Key, X-Key] }', 'auth.vendor_names: has an entry twice; leave one out'],
  // Engine.
  ['engine: { urls: ["ftp://h"] }', `engine.urls.0: "ftp://h" is not ${HTTP_URL}`],
  ['engine: { protocol: "" }', 'engine.protocol: "" is not the name of a protocol, for example native'],
  ['engine: { pairs: EN-ES }', `engine.pairs: "EN-ES" is not ${PAIRS}`],
  ['engine: { pairs: [] }', `engine.pairs: this is not ${PAIRS}`],
  [
    'engine: { pairs: [EN-ES, XX-ES] }',
    'engine.pairs.1: "XX-ES": does not begin with a source code of the list of languages; write SOURCE-TARGET, such as EN-ES',
  ],
  ['engine: { pairs: [EN-XX] }', 'engine.pairs.0: "EN-XX": XX is neither a target code of the list of languages nor the base of one'],
  ['engine: { batch: { texts_max: 1 } }', 'engine.batch.texts_max: 1 is too small; it must be at least 2'],
  // Limits.
  [
    'limits: { reservation_seconds: 20 }',
    'limits.reservation_seconds: 20 is too short; two attempts of engine.timeout_ms 10000 plus one second need at least 21',
  ],
  [
    'limits: { request_seconds: 20 }',
    'limits.request_seconds: 20 is too short; two attempts of engine.timeout_ms 10000 plus one second need at least 21',
  ],
  // Plans.
  ['plans: { free: }', 'plans.free: is empty; give it a value or leave it out'],
  ['plans: { free: 5 }', 'plans.free: 5 is not a mapping of names to values'],
  ['plans: { free: {} }', 'plans.free.billing: is missing; it must be one of quota, credit'],
  ['plans: { free: { billing: quote } }', 'plans.free.billing: "quote" is not one of quota, credit; did you mean quota?'],
  ['plans: { free: { billing: toString } }', 'plans.free.billing: "toString" is not one of quota, credit'],
  [`plans: { "a b": { ${QUOTA} } }`, `plans: "a b" is not a valid name of a plan; use up to 40 letters, digits, hyphens and underscores`],
  [plan(QUOTA, 'requests_per_second', '"5"'), 'plans.free.requests_per_second: "5" is not a whole number from 1 to 100000'],
  [plan(QUOTA, 'currency', 'eur'), 'plans.free.currency: "eur" is not an ISO 4217 code of three capital letters, for example EUR'],
  [quota('period: 1 month'), 'plans.free.period: "1 month" is not an ISO 8601 duration of a second or more, for example P1M, P7D or PT30S'],
  [
    quota('limits: [{ per: day, requests: 1 }, { per: day, requests: 2 }]'),
    'plans.free.limits: limits the requests of a day a second time',
  ],
  [quota('limits: [{ per: day }]'), 'plans.free.limits.0: has neither requests nor characters'],
  [quota('period: PT0S'), 'plans.free.period: "PT0S" is not an ISO 8601 duration of a second or more, for example P1M, P7D or PT30S'],
  [
    quota('period: P3M, period_anchor: calendar'),
    'plans.free.period_anchor: there are no calendar periods of P3M; set period to one of P1M, P7D, P1D, P1Y, or leave period_anchor out',
  ],
  [
    quota('overage_cap_minor: 100'),
    'plans.free.overage_minor_per_million: must not be 0 with an overage_cap_minor of 100; set a price, or set overage_cap_minor to 0 for no overage',
  ],
  [
    quota('overage_cap_minor: 9007199254, overage_minor_per_million: 1'),
    'plans.free.overage_cap_minor: 9007199254 pays for more characters than can be counted exactly; lower it or raise overage_minor_per_million',
  ],
  [quota('overage_cap_minor: 9007199255'), 'plans.free.overage_cap_minor: 9007199255 is too large; it must be at most 9007199254'],
  [plan(CREDIT, 'credit_minor_per_million', '0'), 'plans.free.credit_minor_per_million: 0 is too small; it must be at least 1'],
  // Syntax.
  ['listen: [\n', 'line 2, column 1: Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ['ops: a:1\nops: b:1', 'line 2, column 1: Map keys must be unique'],
];

describe('a wrong configuration', () => {
  test.each(WRONG)('%s', (yaml, line) => {
    expect(refusals(yaml)).toEqual([line]);
  });

  test('all faults are listed, each on a line of its own', () => {
    const lines = refusals(`listen: 1\nops: 2\nlistner: x\nlimits: { reservation_seconds: 5 }\n${plan(QUOTA, 'currency', 'x')}`);
    expect(lines.map((line) => line.split(':', 1)[0])).toEqual([
      'listner',
      'listen',
      'ops',
      'plans.free.currency',
      'limits.reservation_seconds',
    ]);
    expect(lines.every((line) => !line.includes('\n'))).toBe(true);
  });

  test('all faults are listed even beyond the schema library’s default limit', () => {
    const plans = Array.from({ length: 30 }, (_, index) => `  p${index}: { billing: none }`);
    expect(refusals(`plans:\n${plans.join('\n')}`)).toHaveLength(30);
    const proxies = Array.from({ length: 40 }, (_, index) => `x${index}`);
    expect(refusals(`listen_trusted_proxies: [${proxies.join(', ')}]`)).toHaveLength(40);
  });

  test.each([
    ['store: mysql://root:hunter2@db/x?password=hunter2'],
    ['store: "mysql://root:hun@ter/2?hunter2@db/x"'],
    ['engine: { urls: ["http://user:hunter2@engine:1"] }'],
    ['service: { docs_url: "http://user:hunter2@docs/" }'],
  ])('an error never shows credentials: %s', (yaml) => {
    const lines = refusals(yaml);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/hunter2|hun@ter/);
    expect(lines[0]).toContain('***');
  });

  test('a value of any length or kind gives one short line', () => {
    const [line = ''] = refusals(`listener: "${'x'.repeat(10_000)}\\n\\e[31m"`);
    expect(line.length).toBeLessThan(200);
    expect(line).not.toMatch(/\p{Cc}/u);
  });

  test('a file that is missing, or is a folder, is named', () => {
    const file = written('');
    expect(linesOf(`${file}.none`)).toEqual(['cannot be read: there is no such file']);
    expect(linesOf(file.slice(0, file.lastIndexOf('/')))).toEqual(['cannot be read: it is a directory']);
  });

  test('an alias bomb is refused, not expanded', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 0; i < 9; i++) {
      const [from, to] = ['abcdefghij'[i], 'abcdefghij'[i + 1]];
      lines.push(`${to}: &${to} [${Array.from({ length: 10 }, () => `*${from}`).join(', ')}]`);
    }
    expect(refusals(lines.join('\n'))).toEqual(['Excessive alias count indicates a resource exhaustion attack']);
  });

  test('names that every object has are not plans', () => {
    expect(loaded(`plans: { free: { ${QUOTA} } }`).plans.get('constructor')).toBeUndefined();
  });
});
