// The schema of the chart's values refuses every wrong value by its name, and allows every setting of the configuration.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Document, parse } from 'yaml';
import { CHART, chartTools } from '../../kubernetes/chart-tools.ts';
import type { ChartTools } from '../../kubernetes/chart-tools.ts';
import { manifestsIn } from '../../kubernetes/manifests.ts';
import { manualPage } from '../../support/manual.ts';
import type { Ended } from '../../support/start-program.ts';

/** By their JSON pointers, as helm names them: of another type, beyond a limit, of another text, in a list or a map. */
const WRONG: readonly (readonly [at: string, value: unknown])[] = [
  ['/nameOverride', 12_345],
  ['/fullnameOverride', ' :@'],
  ['/image/repository', ' :@'],
  ['/image/tag', 1.2],
  ['/image/digest', 'sha256:ab'],
  ['/image/pullPolicy', 'Sometimes'],
  ['/imagePullSecrets/0/name', ' :@'],
  ['/replicas', 1001],
  ['/workers', -1],
  ['/listenHost', '127.0.0.1'],
  ['/store/existingSecret', ' :@'],
  ['/store/key', ' :@'],
  ['/store/trialRedis/enabled', 'yes'],
  ['/store/trialRedis/storage/size', 'much'],
  ['/admin/existingSecret', 12_345],
  ['/secretEnv/NAME/secret', ' :@'],
  ['/service/type', 'ExternalName'],
  ['/service/port', 65_536],
  ['/service/annotations/one', 1],
  ['/ingress/hosts/0', ' :@'],
  ['/ingress/tls/0/hosts', 'api.example.com'],
  ['/httpRoute/parentRefs/0/name', ' :@'],
  ['/autoscaling/minReplicas', 0],
  ['/autoscaling/requestsInFlightMetric', 'in flight'],
  ['/podDisruptionBudget/maxUnavailable', '100%'],
  ['/networkPolicy/storePort', 0],
  ['/podMonitor/interval', 'often'],
  ['/podLabels/one', true],
  ['/probes/startup/periodSeconds', 0],
  ['/preStopSeconds', 601],
  ['/terminationGracePeriodSeconds', -1],
  ['/config/admin/token/env', 1],
];

interface Part {
  readonly $ref?: string;
  readonly additionalProperties?: unknown;
}

let folder: string;
let tools: ChartTools;

const ENGINE = { config: { engine: { urls: ['http://engine:7001'] } } };
const STORE = { store: { existingSecret: 'store' } };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-values-'));
  tools = await chartTools();
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** One object with values at JSON pointers; a member named 0 is the only one of a list. */
function valuesOf(wrong: readonly (readonly [at: string, value: unknown])[]): unknown {
  const values = new Document({});
  for (const [at, value] of wrong) {
    const path = at.slice(1).split('/');
    values.setIn(
      path.map((name) => (name === '0' ? 0 : name)),
      value,
    );
  }
  return values.toJS();
}

function template(...values: readonly unknown[]): Promise<Ended> {
  const files = values.flatMap((value, index) => {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(value));
    return ['--values', file];
  });
  return tools.helm(['template', 'lingate', CHART, ...files]);
}

test('helm lint finds nothing, with the defaults and with values of a customer', async () => {
  for (const flags of [[], ['--set', 'store.existingSecret=store', '--set', 'config.engine.urls={http://engine:7001}']]) {
    const { status, stdout } = await tools.helm(['lint', '--strict', CHART, ...flags]);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^1 chart\(s\) linted, 0 chart\(s\) failed$/m)]);
    expect(stdout).not.toMatch(/\[(?:WARNING|ERROR)\]/);
  }
});

test('every wrong value is refused by its name', async () => {
  const { status, stderr } = await template(valuesOf(WRONG));
  expect(status).toBe(1);
  expect(WRONG.filter(([at]) => !stderr.includes(`at '${at}':`))).toEqual([]);
});

test('a member that there is none of is refused wherever it is', async () => {
  const { properties, $defs } = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as Record<
    'properties' | '$defs',
    Record<string, Part>
  >;
  const isClosed = ({ $ref, additionalProperties }: Part): boolean =>
    ($ref ? $defs[$ref.slice(8)]! : { additionalProperties }).additionalProperties === false;
  const paths = ['', ...Object.entries(properties).flatMap(([name, part]) => (isClosed(part) ? [`/${name}`] : []))];
  expect(paths).toHaveLength(16);
  const { status, stderr } = await template(valuesOf(paths.map((place) => [`${place}/unknwon`, 1])));
  expect(status).toBe(1);
  expect(paths.filter((place) => !stderr.includes(`at '${place}': additional properties 'unknwon' not allowed`))).toEqual([]);
});

test.each([
  ['config.engine', STORE],
  ['config.engines', { ...STORE, config: { ...ENGINE.config, engines: { one: { urls: ['http://engine:7001'] } } } }],
  ['store.existingSecret', ENGINE],
  ['store.trialRedis.enabled', { ...ENGINE, store: { existingSecret: 'store', trialRedis: { enabled: true } } }],
  ['ingress.hosts', { ...ENGINE, ...STORE, ingress: { enabled: true } }],
  ['httpRoute.parentRefs', { ...ENGINE, ...STORE, httpRoute: { enabled: true } }],
  ['autoscaling.maxReplicas', { ...ENGINE, ...STORE, autoscaling: { enabled: true, minReplicas: 11 } }],
  ['autoscaling.cpuUtilization', { ...ENGINE, ...STORE, autoscaling: { enabled: true, cpuUtilization: 0 } }],
  ['secretEnv.OPS_TOKEN', { ...STORE, config: { ...ENGINE.config, admin: { token: { env: 'OPS_TOKEN' } } } }],
])('what contradicts or lacks something is refused by %s', async (name, values) => {
  const { status, stderr } = await template(values);
  expect([status, stderr]).toEqual([1, expect.stringContaining(`${name}: `)]);
});

test('a store in the configuration is refused: pods have that of the Secret', async () => {
  const { status, stderr } = await template(STORE, { config: { ...ENGINE.config, store: 'redis://elsewhere:6379' } });
  expect([status, stderr]).toEqual([1, expect.stringContaining(`at '/config/store':`)]);
});

test('a secret itself is not allowed in the configuration, which everyone may read', async () => {
  const config = { ...ENGINE.config, admin: { token: 'a'.repeat(32) }, events: { url: 'https://a', secret: 'whsec_x' } };
  const { status, stderr } = await template(STORE, { config });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/at '\/config\/admin\/token': got string, want object/)]);
  expect(stderr).toContain(`at '/config/events/secret': got string, want object`);
});

test('the default configuration is allowed as it stands, and reaches the pods unchanged', async () => {
  const written = parse(readFileSync(join(CHART, '../../lingate.yaml'), 'utf8')) as Record<string, unknown>;
  const { listen: _listen, ops: _ops, store: _store, ...config } = written;
  const { status, stdout, stderr } = await template(STORE, { config });
  expect([status, stderr]).toEqual([0, '']);
  const { data } = manifestsIn(stdout).find(({ kind }) => kind === 'ConfigMap')!;
  expect(parse(data!['lingate.yaml']!)).toEqual(config);
});

test('every value in the tables of the manual is a value of the chart', async () => {
  const { stdout } = await tools.helm(['show', 'values', CHART]);
  const values = parse(stdout) as Record<string, unknown>;
  const named = [...manualPage('helm').matchAll(/`((?:[a-z][A-Za-z]+)(?:\.[a-z][A-Za-z]+)+)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(10);
  const isThere = (path: string): boolean =>
    path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], values) !== undefined;
  const files = new Set(['lingate.yaml', 'languages.yaml']);
  expect(named.filter((path) => !files.has(path) && !isThere(path))).toEqual([]);
});
