// The manual's page on Helm: its commands run as they stand, by the real helm and kubectl against a stand-in for the cluster.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chartTools } from '../../kubernetes/chart-tools.ts';
import type { ChartTools } from '../../kubernetes/chart-tools.ts';
import { startStandInApi } from '../../kubernetes/stand-in-api.ts';
import type { StandInApi } from '../../kubernetes/stand-in-api.ts';
import { lingate } from '../../support/lingate-command.ts';
import { codeBlocks, manualPage } from '../../support/manual.ts';
import { runProgram } from '../../support/start-program.ts';
import type { Ended } from '../../support/start-program.ts';

const CONFIG = fileURLToPath(new URL('../../../config', import.meta.url));
const PAGE = manualPage('helm');
const [secret, install, first, forward, upgrade] = codeBlocks(PAGE, 'sh') as [string, string, string, string, string];

let folder: string;
let tools: ChartTools;
let api: StandInApi;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-helm-page-'));
  [tools, api] = await Promise.all([chartTools(), startStandInApi()]);
  const cluster = { name: 'stand-in', cluster: { server: api.url } };
  const context = { name: 'stand-in', context: { cluster: 'stand-in', user: 'nobody' } };
  const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], contexts: [context], users: [{ name: 'nobody', user: {} }] };
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify({ ...config, 'current-context': 'stand-in' }));
  // A checkout, as far as the commands see.
  symlinkSync(CONFIG, join(folder, 'config'));
  writeFileSync(join(folder, 'my-values.yaml'), codeBlocks(PAGE, 'yaml')[0]!);
}, 300_000);

afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

/** In a shell that stops at the first failure. */
function run(block: string): Promise<Ended> {
  const path = `${join(tools.folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env = { PATH: path, HOME: folder, KUBECONFIG: join(folder, 'kubeconfig'), REDIS_PASSWORD: 'a-password' };
  return runProgram('sh', ['-e', '-c', block], { cwd: folder, env, uses: ['helm', 'kubectl', 'openssl'] });
}

const ended = async (block: string): Promise<readonly [number | null, string]> => {
  const { status, stderr } = await run(block);
  return [status, stderr];
};

test('its commands install the chart, wait for it and upgrade it', async () => {
  expect(await ended(secret)).toEqual([0, '']);
  const installed = await run(install);
  expect([installed.status, installed.stderr]).toEqual([0, '']);
  expect(installed.stdout).toMatch(/deployment "lingate" successfully rolled out/);
  const kinds = api.objects().map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(kinds.toSorted()).toEqual([
    'ConfigMap lingate',
    'Deployment lingate',
    'Ingress lingate',
    'Namespace translation',
    'NetworkPolicy lingate',
    'PodDisruptionBudget lingate',
    'Secret lingate',
    'Service lingate',
  ]);
  const data = api.objects().find(({ kind }) => kind === 'Secret')!['data'] as Record<string, string>;
  const text = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  expect(text).toEqual({
    'store-url': 'redis://:a-password@redis.example.com:6379',
    'admin-token': expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
  });
  // The pods' variables are read from keys that there are.
  const deployed = JSON.stringify(api.objects().find(({ kind }) => kind === 'Deployment'));
  for (const [, key] of deployed.matchAll(/"secretKeyRef":\{"(?:key":"([\w-]+)","name":"lingate|name":"lingate","key":"([\w-]+))"/g)) {
    if (key !== undefined) expect(Object.keys(text)).toContain(key);
  }
  const upgraded = await run(upgrade);
  expect([upgraded.status, upgraded.stderr]).toEqual([0, '']);
  expect(upgraded.stdout).toMatch(/^2 .*deployed.*Upgrade complete/m);
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
