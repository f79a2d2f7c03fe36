// The Kubernetes manifests match Kubernetes' own schemas, use only what lingate has, and let pods start and stop without failed requests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service } from 'kubernetes-models/v1';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Config } from '../../../src/config/config.ts';
import { secretsOf, sourcesOf } from '../../../src/config/secrets.ts';
import { configOf, ofImage, opsPaths, read, version } from './image.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-kubernetes-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The variable with the admin token. */
const TOKEN = 'LINGATE_ADMIN_TOKEN';

type Json = Record<string, unknown>;
interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string };
  readonly spec: Json;
  readonly data?: Record<string, string>;
  readonly stringData?: Record<string, string>;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly resources: Json;
  readonly securityContext: Json;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Json;
  readonly automountServiceAccountToken: boolean;
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly configMap: { readonly name: string } }[];
}

describe('the Kubernetes manifest', () => {
  const documents = parseAllDocuments(read('config/kubernetes.yaml'));
  const manifests = documents.map((document) => document.toJS() as Manifest);
  const of = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)!;
  const template = of('Deployment').spec['template'] as { metadata: { labels: Record<string, string> }; spec: Pod };
  const pod = template.spec;
  const [container] = pod.containers;
  const monitor = parse(read('config/podmonitor.yaml')) as Manifest;

  function config(): Config {
    const secrets = of('Secret').stringData!;
    const plain = container.env.filter(({ name }) => name !== TOKEN);
    const env = Object.fromEntries(plain.map(({ name, value, valueFrom }) => [name, value ?? secrets[valueFrom!.secretKeyRef.key]!]));
    const [mount] = container.volumeMounts;
    expect(pod.volumes.find(({ name }) => name === mount!.name)!.configMap.name).toBe(of('ConfigMap').metadata.name);
    return configOf(container.args, env, (path) => {
      expect(dirname(path)).toBe(mount!.mountPath);
      const file = join(folder, basename(path));
      writeFileSync(file, of('ConfigMap').data![basename(path)]!);
      return file;
    });
  }

  test('is valid YAML with the kinds that a deployment needs', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    expect(manifests.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      'v1 ConfigMap',
      'v1 Secret',
      'apps/v1 Deployment',
      'v1 Service',
      'policy/v1 PodDisruptionBudget',
      'networking.k8s.io/v1 NetworkPolicy',
    ]);
  });

  test('matches the schemas of Kubernetes and of the Prometheus operator', () => {
    const models = { ConfigMap, Secret, Deployment, Service, PodDisruptionBudget, NetworkPolicy };
    const validate = (Model: new (manifest: never) => { validate(): void }, manifest: Manifest): void =>
      new Model(manifest as never).validate();
    for (const manifest of manifests) validate(models[manifest.kind as keyof typeof models], manifest);
    validate(PodMonitor, monitor);
    // The schemas do refuse what is wrong.
    const deployment = of('Deployment');
    expect(() => validate(Deployment, { ...deployment, spec: { ...deployment.spec, replicas: 'two' } })).toThrow(
      'replicas must be integer',
    );
    expect(() => validate(PodMonitor, { ...monitor, spec: { selector: 'all' } })).toThrow(/selector|podMetricsEndpoints/);
  });

  test('lets no pod start with the placeholder for the admin token', () => {
    const from = (token: string) => secretsOf({ admin: config().admin }, sourcesOf(config(), { [TOKEN]: token })).operators;
    expect(() => from(of('Secret').stringData!['admin-token']!)).toThrow(/at least 32 characters/);
    expect(from('a'.repeat(32))).toHaveLength(1);
  });

  test('lets Prometheus scrape the port and path of the metrics', () => {
    const { selector, podMetricsEndpoints } = monitor.spec as {
      readonly selector: Json;
      readonly podMetricsEndpoints: readonly { readonly port: string; readonly path: string }[];
    };
    expect(selector).toEqual({ matchLabels: template.metadata.labels });
    expect(podMetricsEndpoints).toMatchObject([{ port: 'ops', path: '/metrics' }]);
    expect(opsPaths).toContain('/metrics');
  });

  test('runs the image of this version with a valid configuration, and the store from the Secret', () => {
    expect(container.image).toBe(`lingate:${version}`);
    expect(container.env.map(({ name }) => name)).toEqual(['LINGATE_CONFIG', 'LINGATE_STORE', TOKEN]);
    // A variable names the file rather than a flag of the gateway, so that commands run by kubectl in the pod read it too.
    expect(container.args).not.toContain('--config');
    for (const { valueFrom } of container.env.slice(1)) expect(valueFrom!.secretKeyRef.name).toBe(of('Secret').metadata.name);
    const { store, listen, ops } = config();
    expect(store).toBe(of('Secret').stringData!['store-url']);
    expect(container.ports).toEqual([
      { name: 'http', containerPort: listen.port },
      { name: 'ops', containerPort: ops.port },
    ]);
    expect([listen.host, ops.host]).toEqual(['0.0.0.0', '0.0.0.0']);
  });

  test('probes paths that the ops listener has', () => {
    expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'ops' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'ops' });
    expect(container.startupProbe.httpGet).toEqual({ path: '/readyz?engines=true', port: 'ops' });
    // An engine may load its models for minutes.
    expect(container.startupProbe.failureThreshold * container.startupProbe.periodSeconds).toBeGreaterThanOrEqual(600);
    // A store that is away for less than this makes no pod unready.
    expect(container.readinessProbe.failureThreshold * container.readinessProbe.periodSeconds).toBeGreaterThanOrEqual(10);
    expect(opsPaths).toEqual(expect.arrayContaining(['/livez', '/readyz']));
  });

  test('gives a pod time to be removed from the endpoints, drain and settle before it is killed', () => {
    const [program, seconds] = container.lifecycle.preStop.exec.command;
    expect(program).toBe('sleep');
    const { drain_delay_seconds: delay, drain_seconds: drain } = config().limits;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + delay + drain + 5);
  });

  test('gives a pod no more rights than serving needs', () => {
    const [user, group] = ofImage('USER')[0]!.split(':').map(Number);
    const { securityContext, automountServiceAccountToken } = pod;
    expect(securityContext).toEqual({ runAsNonRoot: true, runAsUser: user, runAsGroup: group, seccompProfile: { type: 'RuntimeDefault' } });
    expect(automountServiceAccountToken).toBe(false);
    const dropped = { drop: ['ALL'] };
    expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: dropped });
    expect(container.resources).toMatchObject({ requests: { memory: '256Mi' }, limits: { memory: '512Mi' } });
  });

  test('selects its own pods everywhere, and lets callers in on the public port only', () => {
    const { labels } = template.metadata;
    expect(of('Deployment').spec).toMatchObject({ replicas: 2, selector: { matchLabels: labels } });
    expect(of('Service').spec).toEqual({ selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] });
    expect(of('PodDisruptionBudget').spec).toEqual({ minAvailable: 1, selector: { matchLabels: labels } });
    const { podSelector, ingress } = of('NetworkPolicy').spec as { podSelector: Json; ingress: { from?: unknown; ports: unknown }[] };
    expect(podSelector).toEqual({ matchLabels: labels });
    const open = ingress.filter(({ from }) => from === undefined);
    expect(open).toEqual([{ ports: [{ port: 'http' }] }]);
    expect(ingress.filter(({ from }) => from !== undefined).map(({ ports }) => ports)).toEqual([[{ port: 'ops' }]]);
  });
});
