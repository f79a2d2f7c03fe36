// What the chart installs: pods that are confined, start and stop without failed requests, and are watched; the judges of manifests find mistakes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { CHART, chartOfRelease, chartTools } from '../../kubernetes/chart-tools.ts';
import type { ChartTools } from '../../kubernetes/chart-tools.ts';
import { expectValid, manifestsIn, namesFaults } from '../../kubernetes/manifests.ts';
import type { Manifest } from '../../kubernetes/manifests.ts';
import { lingate } from '../../support/lingate-command.ts';

const CONFIG = fileURLToPath(new URL('../../../config/', import.meta.url));

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly [Record<string, unknown>];
}
interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> };
  readonly spec: Pod & Record<string, unknown>;
}

let folder: string;
let chartFolder: string;
let tools: ChartTools;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-deployment-'));
  chartFolder = chartOfRelease(folder);
  tools = await chartTools();
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SET = 'store.existingSecret=store,config.engine.urls={http://engine:7001}';
const SIMPLE = { config: { engine: { urls: ['http://engine:7001'] } }, store: { existingSecret: 'store' } };

async function installed(values: object, chart = chartFolder): Promise<readonly Manifest[]> {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const { status, stdout, stderr } = await tools.helm(['template', 'lingate', chart, '--values', file]);
  expect([status, stderr]).toEqual([0, '']);
  return manifestsIn(stdout);
}

const find = (manifests: readonly Manifest[], kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)!;
const templateOf = (manifests: readonly Manifest[], kind = 'Deployment'): PodTemplate =>
  (find(manifests, kind).spec as { template: PodTemplate }).template;

test('a pod is as in kubernetes.yaml: rights, probes, resources, the pause before it stops', async () => {
  const ours = parseAllDocuments(readFileSync(`${CONFIG}kubernetes.yaml`, 'utf8')).map((document) => document.toJS() as Manifest);
  const [plain, chart] = [templateOf(ours).spec, templateOf(await installed(SIMPLE)).spec];
  const same = ['securityContext', 'startupProbe', 'readinessProbe', 'livenessProbe', 'lifecycle', 'ports', 'resources', 'args'];
  for (const name of same) expect([name, chart.containers[0][name]]).toEqual([name, plain.containers[0][name]]);
  // A group for files of volumes, which the plain one has none of.
  expect(chart['securityContext']).toEqual({ ...(plain['securityContext'] as object), fsGroup: 65532 });
  for (const name of ['automountServiceAccountToken', 'enableServiceLinks', 'terminationGracePeriodSeconds'])
    expect([name, chart[name]]).toEqual([name, plain[name]]);
});

test('it is given time to leave the endpoints, drain and settle', async () => {
  const limits = { drain_seconds: 100, drain_delay_seconds: 20 };
  const { terminationGracePeriodSeconds } = templateOf(await installed({ ...SIMPLE, config: { ...SIMPLE.config, limits } })).spec;
  expect(terminationGracePeriodSeconds).toBe(8 + 20 + 100 + 12);
});

test('a changed configuration replaces the pods, another value does not', async () => {
  const sum = async (values: object): Promise<string> => templateOf(await installed(values)).metadata.annotations['checksum/config']!;
  const first = await sum(SIMPLE);
  expect(await sum({ ...SIMPLE, replicas: 5 })).toBe(first);
  expect(await sum({ ...SIMPLE, config: { ...SIMPLE.config, history: { days: 30 } } })).not.toBe(first);
  expect(await sum({ ...SIMPLE, configFiles: { 'languages.yaml': 'x' } })).not.toBe(first);
});

test('the trial Redis is as confined, keeps its data, and only the gateway reaches it', async () => {
  const manifests = await installed({ ...SIMPLE, store: { trialRedis: { enabled: true } } });
  const redis = templateOf(manifests, 'StatefulSet').spec;
  expect(redis.containers[0]['securityContext']).toEqual(templateOf(manifests).spec.containers[0]['securityContext']);
  expect(redis['securityContext']).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  const compose = parse(readFileSync(`${CONFIG}compose.yaml`, 'utf8'), { merge: true }) as {
    services: { redis: { image: string; command: string[] } };
  };
  expect(redis.containers[0]['image']).toBe(compose.services.redis.image);
  expect(redis.containers[0]['command']).toEqual([...compose.services.redis.command, '--protected-mode', 'no', '--dir', '/data']);
  const policy = manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'lingate-redis')!;
  const from = [
    { podSelector: { matchLabels: (find(manifests, 'Deployment').spec as { selector: { matchLabels: object } }).selector.matchLabels } },
  ];
  expect(policy.spec).toMatchObject({ ingress: [{ from, ports: [{ port: 'redis' }] }], egress: [] });
});

test('pods reach DNS, the store, and the ports of the URLs in the configuration', async () => {
  const config = {
    engines: { a: { urls: ['http://a:5000', 'http://b'] }, b: { urls: ['https://api.example.com/v1'] } },
    events: { url: 'https://billing.example.com:8443/hook', secret: { env: 'EVENTS_SECRET' } },
    service: { public_url: 'https://api.example.com:9999' },
  };
  const secretEnv = { EVENTS_SECRET: { secret: 'events', key: 'secret' } };
  const { egress } = find(await installed({ ...SIMPLE, config, secretEnv }), 'NetworkPolicy').spec as {
    egress: { ports: { port: number }[] }[];
  };
  expect(egress.map(({ ports }) => ports.map(({ port }) => port).toSorted((one, other) => one - other))).toEqual([
    [53, 53],
    [80, 443, 5000, 6379, 8443],
  ]);
});

test('alerts and dashboard are those of the manual', async () => {
  const on = { enabled: true };
  const manifests = await installed({ ...SIMPLE, alerts: on, dashboard: on, podMonitor: on });
  expect(find(manifests, 'PrometheusRule').spec).toEqual(parse(readFileSync(`${CONFIG}alerts.yaml`, 'utf8')));
  const dashboard = manifests.find(({ data }) => data?.['lingate.json'] !== undefined)!;
  expect(dashboard.data!['lingate.json']!.trimEnd()).toBe(readFileSync(`${CONFIG}grafana-dashboard.json`, 'utf8').trimEnd());
  expect(find(manifests, 'PodMonitor').spec).toMatchObject({ selector: { matchLabels: { 'app.kubernetes.io/component': 'gateway' } } });
});

test('a chart without the copies of a release says where alerts and dashboard come from', async () => {
  for (const name of ['alerts', 'dashboard']) {
    const { status, stderr } = await tools.helm(['template', 'lingate', CHART, '--set', `${name}.enabled=true`, '--set', SET]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(new RegExp(`${name}\\.enabled: files/.* is only in a packed chart; in a checkout copy`)),
    ]);
  }
});

test('a container checks the configuration before the gateway starts, with the same variables, files and rights', async () => {
  const { spec } = templateOf(await installed(SIMPLE));
  const [check] = spec['initContainers'] as [Record<string, unknown>];
  expect(check['args']).toEqual(['config', 'check', '--offline']);
  for (const name of ['image', 'imagePullPolicy', 'env', 'resources', 'securityContext', 'volumeMounts'])
    expect([name, check[name]]).toEqual([name, spec.containers[0][name]]);
});

test('the command itself accepts the configuration that the pods get, with the variables that they have', async () => {
  const config = {
    service: { public_url: 'https://api.example.com' },
    admin: { tokens: [{ name: 'ops', role: 'read', token: { env: 'OPS_TOKEN' } }] },
    engine: { urls: ['http://engine:7001'] },
  };
  const secretEnv = { OPS_TOKEN: { secret: 'tokens', key: 'ops' } };
  const manifests = await installed({ ...SIMPLE, config, secretEnv, admin: { existingSecret: 'admin' } });
  const env = templateOf(manifests).spec.containers[0]['env'] as {
    name: string;
    value?: string;
    valueFrom?: { secretKeyRef: { key: string } };
  }[];
  const secrets: Readonly<Record<string, string>> = {
    'store-url': 'redis://redis:6379',
    'admin-token': 'a'.repeat(40),
    ops: 'b'.repeat(40),
  };
  const file = join(folder, 'lingate.yaml');
  writeFileSync(file, find(manifests, 'ConfigMap').data!['lingate.yaml']!);
  const variables = Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? secrets[valueFrom!.secretKeyRef.key]!]));
  const { status, stdout, stderr } = await lingate(['config', 'check', '--offline', '--json'], {
    env: { ...variables, LINGATE_CONFIG: file },
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({ valid: true, listen: '0.0.0.0:8080', ops: '0.0.0.0:9090', warnings: [] });
});

test('the packed chart installs the same, and with the values of a release its image by content', async () => {
  const packed = await tools.helm(['package', chartFolder, '--destination', folder]);
  expect([packed.status, packed.stderr]).toEqual([0, '']);
  const { version } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as { version: string };
  const file = join(folder, 'values.json');
  const digest = `sha256:${'ab'.repeat(32)}`;
  // As the release workflow sets them.
  writeFileSync(file, JSON.stringify({ ...SIMPLE, image: { repository: 'ghcr.io/owner/lingate', tag: 'v0.1.0', digest } }));
  const render = (chart: string) => tools.helm(['template', 'lingate', chart, '--values', file]);
  const [one, other] = await Promise.all([render(chartFolder), render(join(folder, `lingate-${version}.tgz`))]);
  expect([other.status, other.stdout]).toEqual([0, one.stdout]);
  expect(templateOf(manifestsIn(other.stdout)).spec.containers[0]['image']).toBe(`ghcr.io/owner/lingate:v0.1.0@${digest}`);
});

describe('the judges', () => {
  test('find a member that Kubernetes does not have', async () => {
    const deployment = find(await installed(SIMPLE), 'Deployment');
    const spec = { ...(deployment.spec as object), replcas: 2 };
    const found = await namesFaults(tools.folder, [{ ...deployment, spec }]);
    expect(found.match(/'"replcas"' does not exist in type 'IDeploymentSpec'/g)).toHaveLength(1);
  });

  test('find a value that the schema does not allow, and a member that is missing', async () => {
    const manifests = await installed({ ...SIMPLE, podMonitor: { enabled: true } });
    const deployment = find(manifests, 'Deployment');
    await expect(expectValid(tools.folder, { ...deployment, spec: { ...(deployment.spec as object), replicas: 'two' } })).rejects.toThrow(
      /replicas/,
    );
    const monitor = find(manifests, 'PodMonitor');
    await expect(expectValid(tools.folder, { ...monitor, spec: {} })).rejects.toThrow(/selector|podMetricsEndpoints/);
  });
});
