// The manual's page about Helm: its commands and its values, with the real helm and kubectl and without a cluster.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chartTools } from '../../kubernetes/chart-tools.ts';
import type { ChartTools } from '../../kubernetes/chart-tools.ts';
import { manifestsIn } from '../../kubernetes/manifests.ts';
import { lingate } from '../../support/lingate-command.ts';
import { codeBlocks, manualPage } from '../../support/manual.ts';
import { runProgram } from '../../support/start-program.ts';

const CONFIG = fileURLToPath(new URL('../../../config', import.meta.url));
const PAGE = manualPage('helm');
const [secret, install, first, forward, upgrade] = codeBlocks(PAGE, 'sh') as [string, string, string, string, string];

let folder: string;
let tools: ChartTools;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-helm-page-'));
  tools = await chartTools();
  // A checkout, as far as the commands see.
  symlinkSync(CONFIG, join(folder, 'config'));
  writeFileSync(join(folder, 'my-values.yaml'), codeBlocks(PAGE, 'yaml')[0]!);
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a command prints in a shell. */
async function printed(command: string): Promise<string> {
  const path = `${join(tools.folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env = { PATH: path, HOME: folder, REDIS_PASSWORD: 'a-password' };
  const { status, stdout, stderr } = await runProgram('sh', ['-c', command], { cwd: folder, env, uses: ['helm', 'kubectl', 'openssl'] });
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

test('its commands install what it says, with the keys of its Secret, and upgrade the same', async () => {
  const [, created] = secret.trim().split(/\n(?=kubectl)/);
  const { metadata, data } = JSON.parse(await printed(`${created} --dry-run=client --output json`)) as {
    metadata: { name: string; namespace: string };
    data: Record<string, string>;
  };
  expect(secret.split('\n')[0]).toBe(`kubectl create namespace ${metadata.namespace}`);
  expect(Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))).toEqual({
    'store-url': 'redis://:a-password@redis.example.com:6379',
    'admin-token': expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
  });
  const [installs, waits] = install.trim().split('\n') as [string, string];
  const manifests = manifestsIn(await printed(installs.replace('helm install', 'helm template')));
  expect(manifests.map(({ kind, metadata: { name } }) => `${kind} ${name}`).toSorted()).toEqual([
    'ConfigMap lingate',
    'Deployment lingate',
    'Ingress lingate',
    'NetworkPolicy lingate',
    'PodDisruptionBudget lingate',
    'Service lingate',
  ]);
  // The pods' variables are read from keys that there are.
  const deployed = JSON.stringify(manifests.find(({ kind }) => kind === 'Deployment'));
  const keys = [...deployed.matchAll(/"secretKeyRef":(\{[^}]+\})/g)].map(([, text]) => JSON.parse(text!) as { name: string; key: string });
  expect(new Set(keys.map(({ name, key }) => `${name} ${key}`))).toEqual(
    new Set(Object.keys(data).map((key) => `${metadata.name} ${key}`)),
  );
  expect(waits).toBe(`kubectl --namespace ${metadata.namespace} rollout status deployment/lingate --timeout 10m`);
  expect(upgrade.split('\n')[0]).toBe(installs.replace('install', 'upgrade'));
});

test('what it runs in a pod and forwards from one are commands that there are', async () => {
  const inside = [...first.matchAll(/^kubectl --namespace translation exec deployment\/lingate -- lingate (.+)$/gm)].map(([, args]) =>
    args!.split(' '),
  );
  expect(inside).toHaveLength(2);
  const env = { LINGATE_STORE: `sqlite:${join(folder, 'lingate.db')}` };
  const team = await lingate([...inside[0]!, '--json'], { env });
  const { team_id: id } = JSON.parse(team.stdout) as { team_id: string };
  const key = await lingate(
    inside[1]!.map((part) => (part === 'TEAM_ID' ? id : part)),
    { env },
  );
  expect([team.status, key.status, key.stdout]).toEqual([0, 0, expect.stringMatching(/la_live_\w{40}/)]);
  expect(forward.trim()).toBe('kubectl --namespace translation port-forward deployment/lingate 9090');
});
