// Forward routes in a configuration: what is refused, in which words, and the values of valid ones.
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { forwardSettings } from '../../../src/config/forward.ts';
import { secretsOf } from '../../../src/config/secrets.ts';
import type { Environment } from '../../../src/config/environment.ts';
import { ROUTES } from '../../../src/routes.ts';
import { loaded, refusals } from '../../support/written-file.ts';

const entry = (rest: string): string => `forward: [{ path: /v1/voices, methods: [GET], target: "http://127.0.0.1:7002", ${rest} }]`;
const at = (path: string): string => `forward: [{ path: "${path}", methods: [GET], target: "http://127.0.0.1:7002" }]`;
const to = (target: string): string => `forward: [{ path: /v1/voices, methods: [GET], target: "${target}" }]`;
const PATH = 'a path of plain segments, for example /v1/voices, or /v1/documents/* for that path and everything below it';
const ORIGIN = 'the http or https URL of a server: scheme, host and port, nothing else';
const FIELD = 'the name of a header that may be passed on, in lower case';

const WRONG: readonly [yaml: string, line: string][] = [
  ['forward: {}', 'forward: this is not a list'],
  ['forward: [{ methods: [GET], target: "http://a" }]', `forward.0.path: is missing; it must be ${PATH}`],
  [entry('timeout: 5'), 'forward.0.timeout: is not known; did you mean timeout_ms?'],
  ...['v1/voices', '/v1//voices', '/v1/../voices', '/v1/%2e', '/v1/voices/', '/v1/*/voices', '/v1/{id}', '/v1/a b', '/v1/**', '/*'].map(
    (path): [string, string] => [at(path), `forward.0.path: "${path}" is not ${PATH}`],
  ),
  ...['ftp://a', 'http://a/b', 'http://a?x=1', 'http://u:p@a', 'http://a#b', 'a:80', 'http://'].map((target): [string, string] => [
    to(target),
    expect.stringContaining(` is not ${ORIGIN}`) as string,
  ]),
  [entry('charge_characters: -1'), 'forward.0.charge_characters: -1 is too small; it must be at least 0'],
  [entry('body_bytes: 0'), 'forward.0.body_bytes: 0 is too small; it must be at least 1'],
  [entry('timeout_ms: 0'), 'forward.0.timeout_ms: 0 is too small; it must be at least 1'],
  ...[
    'connection',
    'transfer-encoding',
    'content-length',
    'host',
    'expect',
    'te',
    'trailer',
    'upgrade',
    'authorization',
    'x-request-id',
    'Accept',
    'a b',
  ].map((name): [string, string] => [entry(`request_fields: ["${name}"]`), `forward.0.request_fields.0: "${name}" is not ${FIELD}`]),
  ...['server', 'x-powered-by', 'set-cookie', 'content-length', 'transfer-encoding', 'cache-control', 'connection', 'x-request-id'].map(
    (name): [string, string] => [entry(`response_fields: ["${name}"]`), `forward.0.response_fields.0: "${name}" is not ${FIELD}`],
  ),
  [
    entry('request_fields: [deepl-auth-key]'),
    `forward.0.request_fields: "deepl-auth-key" is one of auth.vendor_names: callers' keys are not passed on`,
  ],
  [entry('statuses: { 200: not_found }'), 'forward.0.statuses: "200" is not a status from 300 to 599 other than 304'],
  [entry('statuses: { 304: not_found }'), 'forward.0.statuses: "304" is not a status from 300 to 599 other than 304'],
  [entry('statuses: { 404: nowhere }'), expect.stringContaining('forward.0.statuses.404: "nowhere" is not one of') as string],
  [entry('statuses: { 429: rate_limited }'), expect.stringContaining('"rate_limited" is not one of') as string],
  [entry('headers: { Transfer-Encoding: chunked }'), 'forward.0.headers: "Transfer-Encoding" is not a header that can be added'],
  [
    'listener: uws\nforward: [{ path: /a, methods: [GET], target: "http://a" }]',
    'forward: what it sends and receives is streamed, which uWebSockets.js cannot do; set "listener" to auto or node',
  ],
  [
    'forward: [{ path: /a, methods: [GET], target: "http://a" }, { path: /a, methods: [POST, GET], target: "http://b" }]',
    'forward.1.path: "GET /a" is listed twice; leave one out',
  ],
];

describe('a wrong forward route', () => {
  test.each(WRONG)('%s', (yaml, line) => {
    expect(refusals(yaml)).toEqual([line]);
  });

  test('has at least one method', () => {
    expect(refusals('forward: [{ path: /a, methods: [], target: "http://a" }]')).toEqual([
      'forward.0.methods: has too few entries; it must have at least 1',
    ]);
    expect(refusals('forward: [{ path: /a, methods: [TRACE], target: "http://a" }]')[0]).toContain('"TRACE" is not one of GET, POST');
  });
});

describe('a valid forward route', () => {
  test.each(['auto', 'node'])('may have bodies longer than any other with listener: %s', (listener) => {
    expect(refusals(`listener: ${listener}\nforward: [{ path: /a, methods: [POST], target: "http://a", body_bytes: 1048577 }]`)).toEqual(
      [],
    );
  });

  test('has the given values, and defaults for the rest', () => {
    const { forward } = loaded(
      'forward: [{ path: /a/*, methods: [GET], target: "https://Example.org:443/", statuses: { 404: not_found }, headers: { X-Token: t } }]',
    );
    expect(forward).toEqual([
      {
        path: '/a/*',
        methods: ['GET'],
        target: 'https://Example.org:443/',
        origin: 'https://example.org',
        charge_characters: 0,
        body_bytes: 1_048_576,
        timeout_ms: 10_000,
        check_ids: true,
        request_fields: ['accept', 'content-type'],
        response_fields: ['content-type'],
        statuses: new Map([[404, 'not_found']]),
        headers: { 'X-Token': 't' },
      },
    ]);
  });

  test.each([
    '/health',
    '/v1/translate',
    '/v1/*',
    '/v1/glossaries/x',
    '/v1/glossaries/*',
    '/v1/glossaries/a/entries',
    '/v1/glossaries/a/*',
  ])('is refused at %s, which is a route of ours', (path) => {
    const { forward } = loaded(at(path));
    const settle = (): unknown => forwardSettings({ forward, file: 'a.yaml' }, [], own);
    expect(faultsOf(settle)[0]).toMatch(/^a\.yaml: forward\.0\.path: ".*" would hide \/.*; choose another path$/);
  });

  test.each(['/v1/voices', '/v1/translate/x', '/v1/translate2', '/v1/glossaries/a/b/c', '/v2/*', '/healthy/*'])(
    'is accepted at %s',
    (path) => {
      const { forward } = loaded(at(path));
      expect(forwardSettings({ forward, file: 'a.yaml' }, [], own)).toHaveLength(1);
    },
  );

  test('gets secrets from variables; a missing one gives one line, and none is ever shown', () => {
    const { forward } = loaded(entry('headers: { Authorization: { env: TOKEN } }'));
    const secrets = (env: Environment) => secretsOf({ forward }, { env, file: 'a.yaml', files: new Map() });
    const settings = forwardSettings({ forward, file: 'a.yaml' }, secrets({ TOKEN: 'Bearer x' }).forwardHeaders, own);
    expect(settings[0]!.headers).toEqual({ authorization: 'Bearer x' });
    expect(faultsOf(() => secrets({}))).toEqual(['a.yaml: forward.0.headers.Authorization: the environment variable TOKEN is not set']);
  });
});

const own = ROUTES.map(({ path }) => path);

function faultsOf(action: () => unknown): readonly string[] {
  try {
    action();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.lines;
  }
}
