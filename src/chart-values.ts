// The values of the Helm chart besides `config`: names, types and limits, from which `chart.ts` writes their schema. `values.yaml` has the defaults.
import type { TProperties, TSchema, TSchemaOptions } from 'typebox';
import { Type } from './domain/typebox.ts';

const PORT_MAX = 65_535;
const closed = { additionalProperties: false } as const;

/** Every member is in `values.yaml`; a section that is set to null would be missing. */
const section = <Members extends TProperties>(members: Members) => Type.Object(members, closed);
const pattern = (source: string, options: TSchemaOptions = {}) => Type.String({ pattern: source, ...options });
const whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
const optional = (schema: TSchema) => Type.Optional(schema);

/** Of a Kubernetes object that is passed on as it is; Kubernetes checks it. */
const passedOn = () => Type.Object({}, { additionalProperties: true });
const listPassedOn = () => Type.Array(passedOn());
const strings = () => Type.Record(Type.String(), Type.String());
const enabled = { enabled: Type.Boolean() };

const DNS_LABEL = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
const OBJECT_NAME = '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$';
const HOST_NAME = '^(\\*\\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$';
const KEY_OF_SECRET = '^[A-Za-z0-9._-]{1,253}$';
const VARIABLE = '^[A-Za-z_][A-Za-z0-9_]*$';

const nameOrNone = () => Type.Union([Type.Enum(['']), pattern(OBJECT_NAME)]);
const secretKey = { existingSecret: nameOrNone(), key: pattern(KEY_OF_SECRET) };
const image = {
  repository: pattern('^[^\\s:@]+(:[0-9]+/[^\\s:@]+)?$'),
  tag: pattern('^[A-Za-z0-9_.-]{0,128}$'),
  digest: pattern('^(sha256:[0-9a-f]{64})?$'),
};
const pullPolicy = Type.Enum(['Always', 'IfNotPresent', 'Never']);

const resources = () =>
  section({
    requests: optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
    limits: optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
  });

const store = section({
  ...secretKey,
  trialRedis: section({
    ...enabled,
    image: section({ ...image, pullPolicy }),
    storage: section({ size: pattern('^([0-9]+[KMGT]i)?$'), className: Type.String() }),
    resources: resources(),
  }),
});

const ingress = section({
  ...enabled,
  className: Type.String(),
  annotations: strings(),
  hosts: Type.Array(pattern(HOST_NAME)),
  tls: Type.Array(section({ secretName: pattern(OBJECT_NAME), hosts: Type.Array(pattern(HOST_NAME), { minItems: 1 }) })),
});

const httpRoute = section({
  ...enabled,
  annotations: strings(),
  parentRefs: Type.Array(Type.Object({ name: pattern(OBJECT_NAME) }, { additionalProperties: true })),
  hostnames: Type.Array(pattern(HOST_NAME)),
  filters: listPassedOn(),
});

const autoscaling = section({
  ...enabled,
  minReplicas: whole(1, 1000),
  maxReplicas: whole(1, 1000),
  // 0: not by this metric.
  cpuUtilization: whole(0, 1000),
  requestsInFlight: whole(0, 1_000_000),
  requestsInFlightMetric: pattern('^[a-zA-Z_:][a-zA-Z0-9_:]*$'),
  behavior: passedOn(),
});

const networkPolicy = section({
  ...enabled,
  callers: listPassedOn(),
  monitoring: listPassedOn(),
  dns: listPassedOn(),
  storePort: whole(1, PORT_MAX),
  egress: listPassedOn(),
});

const probe = section({
  periodSeconds: whole(1, 3600),
  timeoutSeconds: whole(1, 600),
  failureThreshold: whole(1, 10_000),
});

/** All but `config`, which has the schema of the configuration file. */
export const CHART_VALUES = {
  // Helm's own: the values that a chart shares with the charts in it.
  global: optional(passedOn()),
  nameOverride: Type.Union([Type.Enum(['']), pattern(DNS_LABEL, { maxLength: 50 })]),
  fullnameOverride: Type.Union([Type.Enum(['']), pattern(DNS_LABEL, { maxLength: 50 })]),
  image: section({ ...image, pullPolicy }),
  imagePullSecrets: Type.Array(section({ name: pattern(OBJECT_NAME) })),
  replicas: whole(0, 1000),
  workers: whole(0, 64),
  listenHost: Type.Enum(['0.0.0.0', '[::]']),
  configFiles: Type.Record(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$' }), Type.String()),
  store,
  admin: section({ ...secretKey }),
  secretEnv: Type.Record(Type.String({ pattern: VARIABLE }), section({ secret: pattern(OBJECT_NAME), key: pattern(KEY_OF_SECRET) })),
  service: section({ type: Type.Enum(['ClusterIP', 'NodePort', 'LoadBalancer']), port: whole(1, PORT_MAX), annotations: strings() }),
  ingress,
  httpRoute,
  autoscaling,
  podDisruptionBudget: section({ ...enabled, maxUnavailable: Type.Union([whole(1, 1000), pattern('^[1-9][0-9]?%$')]) }),
  networkPolicy,
  podMonitor: section({ ...enabled, labels: strings(), interval: pattern('^[0-9]+(ms|s|m)$'), scrapeTimeout: pattern('^[0-9]+(ms|s|m)$') }),
  alerts: section({ ...enabled, labels: strings() }),
  dashboard: section({ ...enabled, labels: strings(), annotations: strings() }),
  resources: resources(),
  probes: section({ startup: probe, readiness: probe, liveness: probe }),
  preStopSeconds: whole(0, 600),
  terminationGracePeriodSeconds: whole(0, 3600),
  serviceAccount: section({ create: Type.Boolean(), name: nameOrNone(), annotations: strings() }),
  podAnnotations: strings(),
  podLabels: strings(),
  podSecurityContext: passedOn(),
  securityContext: passedOn(),
  topologySpreadConstraints: listPassedOn(),
  nodeSelector: strings(),
  tolerations: listPassedOn(),
  affinity: passedOn(),
  priorityClassName: Type.String(),
  extraEnv: Type.Array(Type.Object({ name: pattern(VARIABLE) }, { additionalProperties: true })),
  extraEnvFrom: listPassedOn(),
  extraVolumes: Type.Array(Type.Object({ name: pattern(DNS_LABEL) }, { additionalProperties: true })),
  extraVolumeMounts: Type.Array(Type.Object({ name: pattern(DNS_LABEL), mountPath: pattern('^/') }, { additionalProperties: true })),
} as const;
