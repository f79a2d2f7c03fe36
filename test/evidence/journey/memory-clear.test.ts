// Remembered translations are deleted with their team and by command, in Redis and in running gateways.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { inProcess } from '../../support/lingate-command.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { LEARNT_MS, ownFigures, startSharedMemory, translated } from '../../support/shared-memory.ts';
import { startedUntil } from '../../support/started.ts';

test('are deleted with their team, by command for a team, and all of them', { timeout: 120_000 }, async () => {
  const started = startedUntil(onTestFinished);
  const [place, memory, engine] = [await started.place('sqlite'), await startSharedMemory(), await started.engine()];
  started.closes(() => memory.stop());
  const { module, options } = memory.plugin;
  const plugins = [{ module, options: { ...options, store: { env: 'SHARED_MEMORY' } } }];
  vi.stubEnv('SHARED_MEMORY', memory.plugin.options.store);
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(place.folder, 'command.yaml');
  writeFileSync(file, JSON.stringify({ store: place.url, plugins }));
  const gateway = await started.gateway({ listener: LISTENERS[0], store: place.url, engineUrls: [engine.url], config: { plugins } });
  const [one, two, three, first] = [await gateway.team(), await gateway.team(), await gateway.team(), await gateway.team()];
  const command = async (...args: readonly string[]): Promise<unknown> => {
    const { status, stdout, stderr } = await inProcess([...args, '--config', file, '--json']);
    expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
    return JSON.parse(stdout);
  };
  const own = async (): Promise<number> => (await ownFigures(gateway)).entries;

  // The first request connects to Redis, and does not wait for it. What the process remembers by then is not written to Redis later.
  let ofFirst = 0;
  const connected = async (): Promise<readonly string[]> => {
    await translated(gateway, first, `Hello ${ofFirst}`);
    ofFirst++;
    return memory.teams();
  };
  await expect.poll(connected, { timeout: LEARNT_MS, interval: 250 }).toContain(first.teamId);
  for (const team of [one, two, three]) for (const text of ['Hello', 'again', 'again']) await translated(gateway, team, text);
  const all = [one, two, three, first].map(({ teamId }) => teamId);
  await expect.poll(async () => new Set(await memory.teams()), { timeout: LEARNT_MS }).toEqual(new Set(all));
  expect(await own()).toBe(6 + ofFirst);

  expect(await command('memory', 'clear', '--team', one.teamId)).toMatchObject({ team_id: one.teamId });
  expect(await memory.teams()).not.toContain(one.teamId);
  await command('team', 'delete', two.teamId, '--yes');
  expect(new Set(await memory.teams())).toEqual(new Set([three.teamId, first.teamId]));
  await expect.poll(own, { timeout: LEARNT_MS }).toBe(2 + ofFirst);

  expect(await command('memory', 'clear', '--yes')).toMatchObject({ team_id: null });
  expect(await memory.teams()).toEqual([]);
  await expect.poll(own, { timeout: LEARNT_MS }).toBe(0);
  const { entries } = (await command('audit', 'list')) as { entries: readonly { action: string; team_id: string | null }[] };
  expect(entries.filter(({ action }) => action === 'clearMemory').map(({ team_id: teamId }) => teamId)).toEqual([null, one.teamId]);

  // Entries without a team are valid, and not orphaned.
  await command('store', 'check');

  await memory.stop();
  expect(await command('memory', 'clear', '--yes')).toMatchObject({ away: ['memory'] });
});

test('without a plugin that caches, the command says so', async () => {
  const { status, stderr } = await inProcess(['memory', 'clear', '--yes', '--store', 'sqlite:/nowhere/x.db']);
  expect([status, stderr]).toEqual([
    1,
    'lingate memory clear: the configuration has no plugin that caches translations, such as lingate/plugins/memory\n',
  ]);
});
