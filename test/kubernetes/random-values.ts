// Random values for the chart: combinations of everything that it has, each valid, and each different from the defaults somewhere.
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

export type Values = Readonly<Record<string, unknown>>;

/** Members that may each be left out. */
const some = (members: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<Values> => fc.record(members, { requiredKeys: [] });
const of = <Value>(...values: readonly Value[]): Arbitrary<Value> => fc.constantFrom(...values);
const whole = (min: number, max: number): Arbitrary<number> => fc.integer({ min, max });
const listOf = (...values: readonly unknown[]): Arbitrary<unknown[]> => fc.subarray([...values]);
const texts = fc.dictionary(of('team', 'example.com/owner', 'a.b-c_d'), of('', 'x', 'translation: "prod"', '12', 'true'), { maxKeys: 2 });
/** Labels have fewer characters than annotations. */
const labels = fc.dictionary(of('team', 'example.com/owner', 'release'), of('', 'x', '12', 'true', 'A.b-c'), { maxKeys: 2 });
const on = fc.boolean();

const image = (repository: string, tag: string) =>
  some({
    repository: of(repository, 'registry.example.com:5000/team/image', 'image'),
    tag: of(tag, '1.2.3-rc.1', 'latest'),
    digest: of('', `sha256:${'0123456789abcdef'.repeat(4)}`),
    pullPolicy: of('Always', 'IfNotPresent', 'Never'),
  });
const resources = some({
  requests: some({ cpu: of<unknown>('500m', 2, '1.5'), memory: of('256Mi', '1Gi'), 'ephemeral-storage': of('1Gi') }),
  limits: some({ cpu: of<unknown>('2', 0.5), memory: of<unknown>('512Mi', 536_870_912) }),
});
const probe = some({ periodSeconds: whole(1, 60), timeoutSeconds: whole(1, 10), failureThreshold: whole(1, 1000) });
const peers = listOf(
  { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } },
  { podSelector: { matchLabels: { app: 'nginx' } }, namespaceSelector: {} },
  { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
);

const engine = of(
  { urls: ['http://engine:7001'] },
  { protocol: 'libretranslate', urls: ['http://one:5000', 'http://two:5000'], timeout_ms: 3000, pairs: 'ask', batch: { wait_ms: 5 } },
  { protocol: 'apertium', urls: ['https://apertium.example.com'], pairs: ['EN-ES', 'ES-EN'], keep_alive: false },
  { protocol: 'openai', urls: ['https://api.example.com/v1'], options: { model: 'm', api_key: { env: 'OPENAI_API_KEY' } }, queue_max: 0 },
);
const engines: Arbitrary<Values> = fc.oneof(
  fc.record({ engine }),
  fc.record({
    engines: fc.record({ small: engine, large: engine }),
    routing: of([{ plans: ['free'], engines: ['small'] }, { engines: ['small', 'large'] }]),
  }),
  fc.record({ engines: fc.record({ only: engine }) }),
);
const plans = of(
  {
    free: {
      billing: 'quota',
      requests_per_second: 5,
      max_characters_per_request: 10_000,
      max_glossaries: 0,
      characters: 1_000_000_000_000,
      currency: 'EUR',
    },
    paid: {
      billing: 'credit',
      requests_per_second: 100_000,
      max_characters_per_request: 1,
      max_glossaries: 3,
      credit_minor_per_million: 100_000_000,
      currency: 'JPY',
    },
  },
  {
    free: {
      billing: 'quota',
      requests_per_second: 1,
      max_characters_per_request: 5000,
      max_glossaries: 1,
      characters: 5_000_000,
      period: 'P7D',
      period_anchor: 'calendar',
      overage_cap_minor: 10_000,
      overage_minor_per_million: 2000,
      currency: 'EUR',
    },
  },
);
const others = some({
  service: some({ name: of('translations', "it's: # {one}"), public_url: of('https://api.example.com') }),
  docs: some({ public: on }),
  ops_names: of([], ['lingate.internal']),
  admin: fc.record({
    tokens: of(
      [
        { name: 'ops', role: 'read', token: { env: 'OPS_TOKEN' } },
        { name: 'sales', role: 'manage', token: { file: '/run/secrets/sales' } },
      ],
      [{ name: 'x', role: 'manage', token: { env: 'OPS_TOKEN' } }],
    ),
  }),
  listener: of('auto', 'node'),
  listen_trusted_proxies: of([], ['10.0.0.0/8', 'fd00::/8']),
  listen_client_address: of('x-forwarded-for', 'forwarded'),
  listen_quiet_paths: of([], ['/health']),
  store_options: some({ command_timeout_ms: whole(10, 10_000), wait_seconds: whole(0, 3600) }),
  auth: some({ vendor_names: of(['Vendor-Auth-Key'], []), key_cache_max: whole(1, 10_000_000) }),
  limits: some({
    body_bytes: whole(100_000, 67_108_864),
    reservation_seconds: whole(61, 600),
    drain_seconds: whole(0, 600),
    drain_delay_seconds: whole(0, 600),
    concurrency: whole(1, 1_000_000),
    team_engine_share: of(0.01, 0.5, 1),
    glossary_bytes: whole(1, 1_073_741_824),
    rate_limit_headers: on,
  }),
  plans,
  team_metrics: some({ every_seconds: whole(1, 86_400), teams_max: whole(1, 1000) }),
  history: some({ days: whole(1, 3650) }),
  events: of({ url: 'https://billing.example.com:8443/lingate', secret: { env: 'EVENTS_SECRET' }, thresholds: [80] }),
  forward: of(
    [],
    [{ path: '/v1/voices', methods: ['GET'], target: 'http://voices:7002', headers: { authorization: { env: 'VOICES_TOKEN' } } }],
  ),
  plugins: of([], [{ module: 'lingate/plugins/deepl-v2' }, { module: 'lingate/plugins/memory', options: { bytes: 268_435_456 } }]),
});
const config = fc.tuple(engines, others).map(([one, other]) => ({ ...other, ...one }));

const store = fc.oneof(
  fc.record({ existingSecret: of('store', 'team.store-1'), key: of('store-url', 'URL', 'redis_url') }),
  fc.record({
    trialRedis: fc
      .tuple(some({ image: image('redis', '7'), storage: some({ size: of('', '1Gi', '500Mi'), className: of('', 'fast') }), resources }))
      .map(([redis]) => ({ ...redis, enabled: true })),
  }),
);
/** Every variable that a configuration above names. */
const secretEnv = fc.constant(
  Object.fromEntries(
    ['OPENAI_API_KEY', 'OPS_TOKEN', 'EVENTS_SECRET', 'VOICES_TOKEN'].map((name) => [name, { secret: 'keys', key: name.toLowerCase() }]),
  ),
);

const optional = some({
  global: of({}, { team: 'x' }),
  nameOverride: of('', 'gateway'),
  fullnameOverride: of('', 'translation-gateway', 'a'.repeat(50)),
  image: image('ghcr.io/example/lingate', ''),
  imagePullSecrets: listOf({ name: 'registry' }),
  replicas: whole(0, 20),
  workers: whole(0, 64),
  listenHost: of('0.0.0.0', '[::]'),
  configFiles: of({}, { 'notes.txt': 'line: "one"\n\t- {{ not a template }}\n\n  é\u0001\\' }),
  admin: some({ existingSecret: of('', 'admin'), key: of('admin-token', 'token') }),
  service: some({ type: of('ClusterIP', 'NodePort', 'LoadBalancer'), port: whole(1, 65_535), annotations: texts }),
  ingress: fc.record({
    enabled: on,
    className: of('', 'nginx'),
    annotations: texts,
    hosts: of(['api.example.com'], ['*.example.com', 'b']),
    tls: listOf({ secretName: 'tls', hosts: ['api.example.com'] }),
  }),
  httpRoute: fc.record({
    enabled: on,
    annotations: texts,
    parentRefs: of([{ name: 'public' }], [{ name: 'public', namespace: 'gateways', sectionName: 'https' }]),
    hostnames: listOf('api.example.com', '*.example.org'),
    filters: listOf({ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x-internal'] } }),
  }),
  autoscaling: fc.record({
    enabled: on,
    minReplicas: whole(1, 3),
    maxReplicas: whole(3, 1000),
    cpuUtilization: of(0, 70, 250),
    requestsInFlight: whole(1, 1_000_000),
    requestsInFlightMetric: of('lingate_requests_in_flight', 'lingate:in_flight'),
    behavior: of(
      { scaleDown: { stabilizationWindowSeconds: 300 } },
      { scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }] } },
    ),
  }),
  podDisruptionBudget: some({ enabled: on, maxUnavailable: of<unknown>(1, 3, '25%') }),
  networkPolicy: some({
    enabled: on,
    callers: peers,
    monitoring: peers,
    dns: peers,
    storePort: whole(1, 65_535),
    egress: listOf({ to: [{ podSelector: {} }], ports: [{ port: 5000 }] }, { ports: [{ port: 443, protocol: 'TCP' }] }),
  }),
  podMonitor: some({ enabled: on, labels, interval: of('15s', '1m'), scrapeTimeout: of('10s', '500ms') }),
  alerts: some({ enabled: on, labels }),
  dashboard: some({ enabled: on, labels, annotations: texts }),
  resources,
  probes: some({ startup: probe, readiness: probe, liveness: probe }),
  preStopSeconds: whole(0, 600),
  terminationGracePeriodSeconds: whole(0, 3600),
  serviceAccount: some({ create: on, name: of('', 'gateway'), annotations: texts }),
  podAnnotations: texts,
  podLabels: labels,
  podSecurityContext: of({}, { runAsUser: 1000, supplementalGroups: [1] }),
  securityContext: of({}, { privileged: false }),
  topologySpreadConstraints: listOf(
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
    { maxSkew: 2, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels: { a: 'b' } } },
  ),
  nodeSelector: labels,
  tolerations: listOf({ key: 'dedicated', operator: 'Equal', value: 'x', effect: 'NoSchedule' }, { operator: 'Exists' }),
  affinity: of(
    {},
    {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'DoesNotExist' }] }],
        },
      },
    },
  ),
  priorityClassName: of('', 'high'),
  extraEnv: listOf(
    { name: 'TZ', value: 'UTC' },
    { name: 'LINGATE_OPS', value: '0.0.0.0:9090' },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ),
  extraEnvFrom: listOf({ secretRef: { name: 'more', optional: true } }, { configMapRef: { name: 'env' } }),
  extraVolumes: listOf({ name: 'secrets', secret: { secretName: 'x', defaultMode: 256 } }, { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } }),
  extraVolumeMounts: listOf({ name: 'secrets', mountPath: '/run/secrets', readOnly: true }, { name: 'tmp', mountPath: '/tmp' }),
});

/** Values that the chart's schema allows, and that do not contradict each other. */
export const values: Arbitrary<Values> = fc
  .tuple(optional, fc.record({ config, store, secretEnv }))
  .map(([one, other]) => ({ ...one, ...other }));

export const releaseNames: Arbitrary<string> = of('lingate', 'x', 'a-lingate-for-tests', 'r'.repeat(53));
