// OpenTelemetry's settings: the configuration's, unless a standard variable says otherwise; what is wrong is named, values are not shown.
import { expect, test } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { otelSettings } from '../../../src/config/otel-settings.ts';

const OTEL = { endpoint: 'http://collector:4318', headers: { 'X-Token': { env: 'TOKEN' } }, sample: 0.01, followCallers: false };
const configWith = (otel: object | undefined): Config =>
  ({ file: '/etc/lingate.yaml', service: { name: 'mt' }, sources: { files: new Map() }, otel }) as unknown as Config;
const settings = (env: Readonly<Record<string, string>> = {}, otel: object | undefined = OTEL): ReturnType<typeof otelSettings> =>
  otelSettings(configWith(otel), { TOKEN: 'abc', ...env });
const linesOf = (env: Readonly<Record<string, string>>, otel: object = OTEL): readonly string[] => {
  try {
    settings(env, otel);
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
  return [];
};

test('without variables the configuration counts, with both paths added to the endpoint', () => {
  const common = {
    headers: { 'X-Token': 'abc' },
    encoding: 'protobuf',
    gzip: false,
    timeoutMs: 10_000,
    ca: undefined,
    cert: undefined,
    key: undefined,
  };
  expect(settings()).toEqual({
    traces: { url: 'http://collector:4318/v1/traces', ...common },
    metrics: { url: 'http://collector:4318/v1/metrics', ...common },
    sample: 0.01,
    followCallers: false,
    serviceName: 'mt',
    queue: { delayMs: 5000, spansMax: 2048, batchMax: 512 },
    metricsEveryMs: 60_000,
    variables: [],
  });
});

test('variables turn nothing on', () => {
  expect(otelSettings(configWith(undefined), { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' })).toBeUndefined();
});

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a/b/' }, { traces: { url: 'http://a/b/v1/traces' }, metrics: { url: 'http://a/b/v1/metrics' } }],
  [
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a/in', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://b' },
    { traces: { url: 'http://a/in' }, metrics: { url: 'http://b/v1/metrics' } },
  ],
  [
    { OTEL_EXPORTER_OTLP_HEADERS: 'x-a=1,x-b=two%20words' },
    { traces: { headers: { 'x-a': '1', 'x-b': 'two words' } }, metrics: { headers: { 'x-a': '1' } } },
  ],
  [
    { OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-a=1', OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' },
    { traces: { headers: { 'X-Token': 'abc' }, encoding: 'protobuf' }, metrics: { headers: { 'x-a': '1' }, encoding: 'json' } },
  ],
  [
    { OTEL_EXPORTER_OTLP_TIMEOUT: '50', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip', OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem' },
    { traces: { timeoutMs: 50, gzip: true, ca: '/ca.pem' } },
  ],
  [{ OTEL_TRACES_EXPORTER: 'none' }, { traces: undefined, metrics: { encoding: 'protobuf' } }],
  [
    { OTEL_METRICS_EXPORTER: 'none', OTEL_BSP_MAX_QUEUE_SIZE: '10' },
    { metrics: undefined, queue: { spansMax: 10, batchMax: 10 } },
  ],
  [{ OTEL_TRACES_SAMPLER: 'always_on' }, { sample: 1, followCallers: false }],
  [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
    { sample: 0.25, followCallers: false },
  ],
  [
    { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '.5' },
    { sample: 0.5, followCallers: true },
  ],
  [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, { sample: 0, followCallers: true }],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_SAMPLER: ' ' },
    { traces: { url: 'http://collector:4318/v1/traces' }, sample: 0.01 },
  ],
])('%j win', (env, expected) => {
  expect(settings(env as Record<string, string>)).toMatchObject(expected);
  const set = Object.entries(env).filter(([, value]) => value.trim() !== '');
  expect(settings(env as Record<string, string>)!.variables.toSorted()).toEqual(set.map(([name]) => name).toSorted());
});

test('OTEL_SDK_DISABLED turns it off', () => expect(settings({ OTEL_SDK_DISABLED: 'true' })).toBeUndefined());

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'secret:4318', 'is not an http or https URL, for example http://127.0.0.1:4318'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'is not one of http/protobuf, http/json'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret', 'is not a list of NAME=VALUE with commas between them'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'content-length=secret', 'is not a list of NAME=VALUE with commas between them'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%0d%0asecret', 'is not a list of NAME=VALUE with commas between them'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', 'is not a whole number from 1 to 2147483647'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', 'is not one of none, gzip'],
  ['OTEL_TRACES_EXPORTER', 'console', 'is not one of otlp, none'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', 'is not one of always_on, always_off, traceidratio'],
])('%s=%s is refused by its name', (name, value, reason) => {
  const [line, ...more] = linesOf({ [name]: value });
  expect([line, more]).toEqual([expect.stringContaining(`${name}: ${reason}`), []]);
  expect(line).not.toContain('secret');
});

test('a share beyond 1 is refused', () => {
  expect(linesOf({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' })).toEqual([
    'OTEL_TRACES_SAMPLER_ARG: is not a number from 0 to 1',
  ]);
});

test('a missing secret and a header of framing are refused by their places', () => {
  const otel = { ...OTEL, headers: { 'x-token': { env: 'MISSING' }, 'Content-Length': '5' } };
  expect(linesOf({}, otel)).toEqual([
    expect.stringContaining('otel.headers: "Content-Length" is not a header that can be added'),
    expect.stringContaining('otel.headers.x-token: the environment variable MISSING is not set'),
  ]);
});
