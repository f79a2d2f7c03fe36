// Remembered translations are deleted with their team and by command, in Redis and in running gateways.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { V1 } from '../../support/fronts.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { request } from '../../support/raw-http.ts';
import { startRedis } from '../../support/redis.ts';
import { storePlace } from '../../support/store-place.ts';

/** Gateways check every five seconds; a busy machine needs longer. */
const LEARNT_MS = 30_000;

test('are deleted with their team, by command for a team, and all of them', { timeout: 120_000 }, async () => {
  const [place, shared, engine] = await Promise.all([storePlace('sqlite'), startRedis(), startScriptedEngine()]);
  const client = new Redis(shared.url);
  const plugins = [{ module: 'lingate/plugins/memory', options: { store: { env: 'SHARED_MEMORY' }, look_up_ms: 10_000 } }];
  vi.stubEnv('SHARED_MEMORY', shared.url);
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(place.folder, 'command.yaml');
  writeFileSync(file, JSON.stringify({ store: place.url, plugins }));
  const gateway = await startGateway({ listener: LISTENERS[0], store: place.url, engineUrls: [engine.url], config: { plugins } });
  try {
    const [one, two, three, first] = [await gateway.team(), await gateway.team(), await gateway.team(), await gateway.team()];
    const command = async (...args: readonly string[]): Promise<unknown> => {
      const { status, stdout, stderr } = await inProcess([...args, '--config', file, '--json']);
      expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
      return JSON.parse(stdout);
    };
    const teamsInRedis = async (): Promise<string[]> => (await client.keys('*')).map((key) => key.split(':')[2]!).toSorted();
    const own = (): Promise<number> => entriesOf(gateway);

    // The first request connects to Redis, and does not wait for it. What the process remembers by then is not written to Redis later.
    let ofFirst = 0;
    const connected = async (): Promise<string[]> => {
      await translate(gateway, first, `Hello ${ofFirst}`);
      ofFirst++;
      return teamsInRedis();
    };
    await expect.poll(connected, { timeout: LEARNT_MS, interval: 250 }).toContain(first.teamId);
    for (const team of [one, two, three]) for (const text of ['Hello', 'again', 'again']) await translate(gateway, team, text);
    const all = [one, two, three, first].map(({ teamId }) => teamId);
    await expect.poll(async () => new Set(await teamsInRedis()), { timeout: LEARNT_MS }).toEqual(new Set(all));
    expect(await own()).toBe(6 + ofFirst);

    expect(await command('memory', 'clear', '--team', one.teamId)).toMatchObject({ team_id: one.teamId });
    expect(await teamsInRedis()).not.toContain(one.teamId);
    await command('team', 'delete', two.teamId, '--yes');
    expect(new Set(await teamsInRedis())).toEqual(new Set([three.teamId, first.teamId]));
    await expect.poll(own, { timeout: LEARNT_MS }).toBe(2 + ofFirst);

    expect(await command('memory', 'clear', '--yes')).toMatchObject({ team_id: null });
    expect(await teamsInRedis()).toEqual([]);
    await expect.poll(own, { timeout: LEARNT_MS }).toBe(0);
    const { entries } = (await command('audit', 'list')) as { entries: readonly { action: string; team_id: string | null }[] };
    expect(entries.filter(({ action }) => action === 'clearMemory').map(({ team_id: teamId }) => teamId)).toEqual([null, one.teamId]);

    // Entries without a team are valid, and not orphaned.
    await command('store', 'check');

    await shared.stop();
    expect(await command('memory', 'clear', '--yes')).toMatchObject({ away: ['memory'] });
  } finally {
    client.disconnect();
    await gateway.stop();
    await engine.close();
    await shared.stop();
    await place.remove();
  }
});

test('without a plugin that caches, the command says so', async () => {
  const { status, stderr } = await inProcess(['memory', 'clear', '--yes', '--store', 'sqlite:/nowhere/x.db']);
  expect([status, stderr]).toEqual([
    1,
    'lingate memory clear: the configuration has no plugin that caches translations, such as lingate/plugins/memory\n',
  ]);
});

async function translate(gateway: TestGateway, { key }: TestTeam, text: string): Promise<void> {
  const { status } = await request({ port: gateway.port, ...V1.translation(key, [text]) });
  expect(status).toBe(200);
}

async function entriesOf(gateway: TestGateway): Promise<number> {
  const { body } = await request({ port: gateway.opsPort, method: 'GET', path: '/metrics', headers: {} });
  return Number(/^lingate_memory_entries (\S+)$/m.exec(body)![1]);
}
