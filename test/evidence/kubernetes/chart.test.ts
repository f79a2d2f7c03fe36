// The Helm chart under the real helm: everything that it has, on and off, gives manifests that the oldest Kubernetes accepts, and a configuration that Lingate accepts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../support/door/gateways.ts';
import { chartOfRelease, chartTools } from '../../kubernetes/chart-tools.ts';
import type { ChartTools } from '../../kubernetes/chart-tools.ts';
import { expectValid, manifestsIn, namesFaults } from '../../kubernetes/manifests.ts';
import type { Manifest } from '../../kubernetes/manifests.ts';

const ENGINE = { config: { engine: { urls: ['http://engine:7001'] } } };
const PEER = { podSelector: { matchLabels: { app: 'nginx' } }, namespaceSelector: {} };
/** Everything on, and every list and map with something in it. */
const EVERYTHING = {
  global: { team: 'x' },
  nameOverride: 'gateway',
  fullnameOverride: 'a'.repeat(50),
  image: { repository: 'registry.example.com:5000/team/image', tag: '1.2.3-rc.1', digest: `sha256:${'0123456789abcdef'.repeat(4)}` },
  imagePullSecrets: [{ name: 'registry' }],
  replicas: 20,
  workers: 64,
  listenHost: '[::]',
  config: {
    engines: {
      small: { protocol: 'apertium', urls: ['https://apertium.example.com'], pairs: ['EN-ES', 'ES-EN'] },
      large: { protocol: 'openai', urls: ['https://api.example.com/v1'], options: { model: 'm', api_key: { env: 'OPENAI_API_KEY' } } },
    },
    service: { name: "it's: # {one}", public_url: 'https://api.example.com' },
    listen_trusted_proxies: ['10.0.0.0/8', 'fd00::/8'],
    limits: { drain_seconds: 600, drain_delay_seconds: 600 },
    otel: { endpoint: 'https://otlp.example.com' },
  },
  configFiles: { 'notes.txt': 'line: "one"\n\t- {{ not a template }}\n\n  é\u0001\\' },
  secretEnv: { OPENAI_API_KEY: { secret: 'keys', key: 'openai_api_key' } },
  store: { trialRedis: { enabled: true, image: { tag: '7' }, storage: { size: '500Mi', className: 'fast' } } },
  admin: { existingSecret: 'admin', key: 'token' },
  service: { type: 'LoadBalancer', port: 65_535, annotations: { 'example.com/owner': 'translation: "prod"' } },
  ingress: { enabled: true, className: 'nginx', hosts: ['*.example.com', 'b'], tls: [{ secretName: 'tls', hosts: ['api.example.com'] }] },
  httpRoute: {
    enabled: true,
    parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
    hostnames: ['api.example.com', '*.example.org'],
    filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x-internal'] } }],
  },
  autoscaling: {
    enabled: true,
    minReplicas: 3,
    maxReplicas: 1000,
    cpuUtilization: 250,
    requestsInFlight: 1_000_000,
    requestsInFlightMetric: 'lingate:in_flight',
    behavior: { scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }] } },
  },
  podDisruptionBudget: { enabled: true, maxUnavailable: '25%' },
  networkPolicy: {
    enabled: true,
    callers: [PEER],
    monitoring: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
    dns: [PEER],
    egress: [{ to: [{ podSelector: {} }], ports: [{ port: 5000 }] }, { ports: [{ port: 443, protocol: 'TCP' }] }],
  },
  podMonitor: { enabled: true, labels: { release: 'A.b-c' }, interval: '1m', scrapeTimeout: '500ms' },
  alerts: { enabled: true, labels: { team: '' } },
  dashboard: { enabled: true, labels: { team: '12' }, annotations: { 'a.b-c_d': 'true' } },
  resources: { requests: { cpu: 2, memory: '1Gi' }, limits: { cpu: 0.5, memory: 536_870_912 } },
  probes: { startup: { failureThreshold: 1000 }, readiness: { periodSeconds: 60 }, liveness: { timeoutSeconds: 10 } },
  preStopSeconds: 600,
  terminationGracePeriodSeconds: 3600,
  serviceAccount: { create: true, name: 'gateway', annotations: { team: 'x' } },
  podAnnotations: { team: '12' },
  podLabels: { release: 'true' },
  podSecurityContext: { runAsUser: 1000, supplementalGroups: [1] },
  securityContext: { privileged: false },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }],
  nodeSelector: { team: 'x' },
  tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'x', effect: 'NoSchedule' }, { operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  priorityClassName: 'high',
  extraEnv: [
    { name: 'LINGATE_OPS', value: '0.0.0.0:9090' },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ],
  extraEnvFrom: [{ secretRef: { name: 'more', optional: true } }, { configMapRef: { name: 'env' } }],
  extraVolumes: [{ name: 'secrets', secret: { secretName: 'x', defaultMode: 256 } }],
  extraVolumeMounts: [{ name: 'secrets', mountPath: '/run/secrets', readOnly: true }],
};
const off = Object.fromEntries(
  Object.entries(EVERYTHING).flatMap(([name, value]) => (Object.hasOwn(value as object, 'enabled') ? [[name, { enabled: false }]] : [])),
);
const secret = { store: { existingSecret: 'team.store-1', key: 'URL' } };
const VALUES: readonly (readonly [string, release: string, object])[] = [
  ['as little as possible', 'lingate', { ...ENGINE, ...secret }],
  ['everything', 'r'.repeat(53), EVERYTHING],
  ['everything beside a store of one’s own', 'x', { ...EVERYTHING, ...secret, fullnameOverride: '' }],
  ['everything off that can be', 'x', { ...EVERYTHING, ...off, serviceAccount: { create: false }, replicas: 0, workers: 0 }],
];

type Named = readonly { readonly name: string }[];
interface PodLists {
  readonly containers: readonly [{ readonly env: Named; readonly ports: Named }];
  readonly volumes: Named;
}

let folder: string;
let chart: string;
let tools: ChartTools;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-chart-'));
  chart = chartOfRelease(folder);
  tools = await chartTools();
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function rendered(name: string, release: string, drawn: object): Promise<Manifest[]> {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(drawn));
  const { status, stdout, stderr } = await tools.helm(['template', release, chart, '--namespace', 'translation', '--values', file]);
  expect([status, stderr, status === 0 ? '' : JSON.stringify(drawn)]).toEqual([0, '', '']);
  return manifestsIn(stdout);
}

/** Kubernetes takes no list with a name twice, which its schemas do not say. */
function expectNamesOnce(manifests: readonly Manifest[]): void {
  const { spec } = manifests.find(({ kind }) => kind === 'Deployment')! as { spec: { template: { spec: PodLists } } };
  const { containers, volumes } = spec.template.spec;
  for (const list of [containers[0].env, containers[0].ports, volumes]) {
    const names = list.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  }
}

/** What the pods would read, as a file beside the other ones. */
function expectWhole(name: string, manifests: readonly Manifest[]): void {
  const found = manifests.find(({ data }) => data?.['lingate.yaml'] !== undefined)!;
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, found.data!['lingate.yaml']!);
  loadConfig({ file, env: {} });
}

test('each of its values is taken', async () => {
  const unique = new Map<string, Manifest>();
  for (const [index, [what, release, own]] of VALUES.entries()) {
    const manifests = await rendered(`${index} ${what}`, release, own);
    expectWhole(String(index), manifests);
    expectNamesOnce(manifests);
    for (const manifest of manifests) unique.set(JSON.stringify(manifest), manifest);
  }
  const [routes, others] = [true, false].map((isRoute) => [...unique.values()].filter(({ kind }) => (kind === 'HTTPRoute') === isRoute));
  for (const manifest of others!) await expectValid(tools.folder, manifest);
  expect(await namesFaults(tools.folder, others!)).toBe('');
  // No package has the schemas of the Gateway API for a Kubernetes that old: this is what they allow.
  const { parentRefs, hostnames, filters } = EVERYTHING.httpRoute;
  for (const { metadata, spec } of routes!) {
    const rule = { matches: [{ path: { type: 'PathPrefix', value: '/' } }], filters, backendRefs: [{ name: metadata.name, port: 65_535 }] };
    expect(spec).toEqual({ parentRefs, hostnames, rules: [rule] });
  }
  const { properties } = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as { properties: object };
  expect(Object.keys(properties).filter((name) => !Object.hasOwn(EVERYTHING, name))).toEqual([]);
  const kinds = new Set([...unique.values()].map(({ apiVersion, kind }) => `${apiVersion} ${kind}`));
  expect([...kinds].toSorted()).toEqual([
    'apps/v1 Deployment',
    'apps/v1 StatefulSet',
    'autoscaling/v2 HorizontalPodAutoscaler',
    'gateway.networking.k8s.io/v1 HTTPRoute',
    'monitoring.coreos.com/v1 PodMonitor',
    'monitoring.coreos.com/v1 PrometheusRule',
    'networking.k8s.io/v1 Ingress',
    'networking.k8s.io/v1 NetworkPolicy',
    'policy/v1 PodDisruptionBudget',
    'v1 ConfigMap',
    'v1 Service',
    'v1 ServiceAccount',
  ]);
});
