// The Helm chart under the real helm: random values give manifests that three versions of Kubernetes accept, and a configuration that Lingate accepts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../support/door/gateways.ts';
import { chartOfRelease, chartTools } from '../../kubernetes/chart-tools.ts';
import type { ChartTools } from '../../kubernetes/chart-tools.ts';
import { expectValid, manifestsIn, namesFaults } from '../../kubernetes/manifests.ts';
import type { Manifest } from '../../kubernetes/manifests.ts';
import { releaseNames, values } from '../../kubernetes/random-values.ts';
import type { Values } from '../../kubernetes/random-values.ts';
import { SEED } from '../../support/seed.ts';
import { COMMAND_VARIABLE } from '../../support/start-program.ts';

/** helm takes a sixteenth of a second for each. */
const COMBINATIONS = process.env[COMMAND_VARIABLE] === 'test:long' ? 400 : 50;
const AT_ONCE = 2;

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

async function rendered(name: string, release: string, drawn: Values): Promise<Manifest[]> {
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
function expectSound(name: string, manifests: readonly Manifest[]): void {
  const found = manifests.find(({ data }) => data?.['lingate.yaml'] !== undefined)!;
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, found.data!['lingate.yaml']!);
  loadConfig({ file, env: {} });
}

test(`${COMBINATIONS} random combinations of values`, async () => {
  const drawn = fc.sample(fc.tuple(releaseNames, values), { numRuns: COMBINATIONS, seed: SEED });
  const unique = new Map<string, Manifest>();
  let count = 0;
  const worker = async (first: number): Promise<void> => {
    for (let index = first; index < drawn.length; index += AT_ONCE) {
      const [release, own] = drawn[index]!;
      const manifests = await rendered(String(index), release, own);
      expectSound(String(index), manifests);
      expectNamesOnce(manifests);
      count += manifests.length;
      for (const manifest of manifests) unique.set(JSON.stringify(manifest), manifest);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => worker(first)));
  for (const manifest of unique.values()) await expectValid(tools.folder, manifest);
  expect(await namesFaults(tools.folder, [...unique.values()])).toBe('');
  const named = new Set(drawn.flatMap(([, own]) => Object.keys(own)));
  const { properties } = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as { properties: object };
  expect(Object.keys(properties).filter((name) => !named.has(name))).toEqual([]);
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
  process.stdout.write(`${COMBINATIONS} combinations, ${count} manifests, ${unique.size} different ones\n`);
});
