// A stand-in for Kubernetes' API, for the real helm and kubectl: it knows the kinds that we use and keeps what it is sent. Nothing is run.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'yaml';

interface Stored {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [member: string]: unknown;
}

export interface StandInApi {
  readonly url: string;
  /** What it keeps, but for helm's own records. */
  objects(): readonly Stored[];
  close(): Promise<void>;
}

const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: {
    namespaces: 'Namespace',
    secrets: 'Secret',
    configmaps: 'ConfigMap',
    services: 'Service',
    serviceaccounts: 'ServiceAccount',
    pods: 'Pod',
  },
  'apps/v1': { deployments: 'Deployment', statefulsets: 'StatefulSet', replicasets: 'ReplicaSet' },
  'autoscaling/v2': { horizontalpodautoscalers: 'HorizontalPodAutoscaler' },
  'networking.k8s.io/v1': { ingresses: 'Ingress', networkpolicies: 'NetworkPolicy' },
  'policy/v1': { poddisruptionbudgets: 'PodDisruptionBudget' },
};
const HELM_RECORD = 'helm.sh/release.v1';

/** On a free port of loopback, without authentication. */
export async function startStandInApi(): Promise<StandInApi> {
  const kept = new Map<string, Stored>();
  let version = 0;
  const server = createServer((request, response) => {
    void body(request).then((text) => answer(request, response, text));
  });

  function answer(request: IncomingMessage, response: ServerResponse, text: string): void {
    const { pathname, searchParams } = new URL(request.url!, 'http://api');
    // An empty document has no schemas, so helm validates nothing by it.
    if (pathname === '/openapi/v2') return void response.writeHead(200).end();
    const known = discovery(pathname);
    if (known !== undefined) return send(response, 200, known);
    const parts = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))(?:\/namespaces\/[^/]+(?=\/))?\/([^/]+)(?:\/([^/]+))?$/.exec(pathname);
    const [, core, group, plural = '', name] = parts ?? [];
    const kind = GROUPS[core ?? group ?? '']?.[plural];
    if (kind === undefined) return send(response, 404, status(404, 'NotFound'));
    if (request.method === 'GET' && name === undefined) {
      const found = [...kept].filter(([path, object]) => path.startsWith(`${pathname}/`) && isSelected(object, searchParams));
      const items = found.map(([, object]) => object);
      if (searchParams.get('watch') === 'true') return watch(response, items, kind);
      return send(response, 200, { apiVersion: core ?? group, kind: `${kind}List`, metadata: { resourceVersion: '1' }, items });
    }
    const path = name === undefined ? `${pathname}/${nameIn(text)}` : pathname;
    if (request.method === 'GET' || request.method === 'DELETE') {
      const object = kept.get(path);
      if (request.method === 'DELETE') kept.delete(path);
      return object === undefined ? send(response, 404, status(404, 'NotFound')) : send(response, 200, object);
    }
    if (request.method === 'POST' && kept.has(path)) return send(response, 409, status(409, 'AlreadyExists'));
    version++;
    const object = withStatus(kept.get(path), parse(text) as Stored, version);
    kept.set(path, object);
    return send(response, request.method === 'POST' ? 201 : 200, object);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: () => [...kept.values()].filter((object) => object['type'] !== HELM_RECORD),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What is there, and that this is all; afterwards nothing happens. */
function watch(response: ServerResponse, items: readonly Stored[], kind: string): void {
  const end = { kind, metadata: { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } } };
  const events = [
    ...items.map((object) => ({ type: 'ADDED', object })),
    { type: 'BOOKMARK', object: { apiVersion: items[0]?.apiVersion, ...end } },
  ];
  response.writeHead(200, { 'content-type': 'application/json' });
  for (const event of events) response.write(`${JSON.stringify(event)}\n`);
}

/** As if its controllers had done their work. */
function withStatus(before: Stored | undefined, object: Stored, version: number): Stored {
  const metadata = { ...before?.metadata, ...object.metadata, uid: 'a', generation: 1, resourceVersion: String(version) };
  const replicas = (object['spec'] as { replicas?: number } | undefined)?.replicas ?? 1;
  const done = { observedGeneration: 1, replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  return { ...before, ...object, metadata, ...(object.kind === 'Deployment' ? { status: done } : {}) };
}

function isSelected({ metadata: { labels = {}, name } }: Stored, query: URLSearchParams): boolean {
  const pairs = [query.get('labelSelector'), query.get('fieldSelector')].map((text) =>
    (text ?? '').split(',').filter((pair) => pair !== ''),
  );
  const [byLabel, byField] = pairs as [string[], string[]];
  const isName = byField.every((pair) => pair === `metadata.name=${name}`);
  return isName && byLabel.every((pair) => labels[pair.split('=')[0]!] === pair.split('=').at(-1));
}

function discovery(path: string): unknown {
  if (path === '/version') return { major: '1', minor: '36', gitVersion: 'v1.36.0' };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (path === '/apis') {
    const groups = Object.keys(GROUPS).filter((name) => name !== 'v1');
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) };
  }
  const found = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))$/.exec(path);
  const kinds = GROUPS[found?.[1] ?? found?.[2] ?? ''];
  if (kinds === undefined) return undefined;
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
  const resources = Object.entries(kinds).map(([name, kind]) => ({
    name,
    kind,
    singularName: '',
    namespaced: kind !== 'Namespace',
    verbs,
  }));
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: found![1] ?? found![2], resources };
}

function groupOf(groupVersion: string): object {
  const [name, version] = groupVersion.split('/');
  return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
}

function status(code: number, reason: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code, message: reason };
}

function nameIn(text: string): string {
  return (parse(text) as Stored).metadata.name;
}

function send(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** As YAML. */
async function body(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return bytes.subarray(0, MAGIC.length).equals(MAGIC) ? JSON.stringify(fromProtobuf(bytes.subarray(MAGIC.length))) : bytes.toString();
}

const MAGIC = Buffer.from('k8s\0');

/** Some objects come as protobuf: here a Namespace, or a Secret. By the numbers of Kubernetes' fields. */
function fromProtobuf(bytes: Buffer): Stored {
  const [envelope, text] = [fieldsOf(bytes), (part: Buffer | undefined): string => (part ?? '').toString()];
  const type = fieldsOf(envelope.get(1)![0]!);
  const object = fieldsOf(envelope.get(2)![0]!);
  const metadata = fieldsOf(object.get(1)![0]!);
  const entries = (entry: readonly Buffer[] | undefined, encoding: 'utf8' | 'base64'): Record<string, string> => {
    const pairs = (entry ?? []).map((pair) => fieldsOf(pair));
    return Object.fromEntries(pairs.map((pair) => [text(pair.get(1)?.[0]), pair.get(2)?.[0]?.toString(encoding) ?? '']));
  };
  const kind = text(type.get(2)?.[0]);
  return {
    apiVersion: text(type.get(1)?.[0]),
    kind,
    metadata: { name: text(metadata.get(1)?.[0]), labels: entries(metadata.get(11), 'utf8') },
    ...(kind === 'Secret' ? { data: entries(object.get(2), 'base64'), type: text(object.get(3)?.[0]) } : {}),
  };
}

/** Those with a length; numbers are skipped. */
function fieldsOf(bytes: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const number = (): number => {
    let [value, scale] = [0, 1];
    for (; bytes[at]! >= 128; at++) [value, scale] = [value + (bytes[at]! - 128) * scale, scale * 128];
    return value + bytes[at++]! * scale;
  };
  while (at < bytes.length) {
    const [tag, length] = [number(), number()];
    if (tag % 8 !== 2) continue;
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), bytes.subarray(at, at + length)]);
    at += length;
  }
  return fields;
}
