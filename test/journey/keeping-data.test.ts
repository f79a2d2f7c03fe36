// The manual's commands for backup, restore, moving, checking and migrating, run as they stand, one after the other.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../support/compile-cache.ts';
import { inProcess, MAIN, parsed, temporaryFolder } from '../support/lingate-command.ts';
import type { Folder } from '../support/lingate-command.ts';
import { startRedis } from '../support/redis.ts';
import { outputOf } from '../support/start-program.ts';

const USES = ['mv', 'rm', 'cp'] as const;
const PAGE = readFileSync(fileURLToPath(new URL('../../config/manual/keeping-data.md', import.meta.url)), 'utf8');

let folder: Folder;
let redis: Awaited<ReturnType<typeof startRedis>>;
beforeAll(async () => {
  folder = temporaryFolder();
  redis = await startRedis();
  mkdirSync(join(folder.path, 'backups'));
});
afterAll(async () => {
  await redis.stop();
  folder.remove();
});

/** The commands under a heading; only places are others here. */
function commands(heading: string): string {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(heading))!;
  const block = /^```sh\n([\s\S]*?)^```$/m.exec(section)![1]!;
  return block.replaceAll('/backups/', `${folder.path}/backups/`).replaceAll('redis://127.0.0.1:6379', redis.url);
}

function runSection(heading: string): Promise<string> {
  const text = commands(heading).replaceAll(/^lingate /gm, '"$NODE" "$MAIN" ');
  return outputOf('sh', ['-ec', text], { cwd: folder.path, env: { ...bareEnvironment(), NODE: process.execPath, MAIN }, uses: USES });
}

test('a store is backed up, restored, checked, migrated and moved', async () => {
  const store = `sqlite:${join(folder.path, 'data/lingate.db')}`;
  const { team_id: team } = parsed(await inProcess(['team', 'create', '--name', 'Kept', '--plan', 'free', '--store', store, '--json'])) as {
    team_id: string;
  };
  const limits = ['--characters', '100', '--requests-per-second', '5', '--allow', '10.0.0.0/8', '--expires-at', '2099-01-31T18:00:00Z'];
  const made = await inProcess(['key', 'create', '--team', team, '--mode', 'live', ...limits, '--store', store, '--json']);
  const { key_id: key } = parsed(made) as { key_id: string };
  const keys = async (url = store): Promise<unknown> => parsed(await inProcess(['key', 'list', '--team', team, '--store', url, '--json']));
  const kept = await keys();
  expect(await runSection('Backup of a SQLite file')).toMatch(/^Wrote \S+\.db, \d+ bytes\.\n$/);
  await inProcess(['team', 'create', '--name', 'Made later', '--plan', 'free', '--store', store]);
  await inProcess(['key', 'update', key, '--no-characters', '--disable', '--store', store]);
  expect(await keys()).not.toEqual(kept);
  const restored = await runSection('Restore of a SQLite file');
  expect(restored).toContain('Kept');
  expect(restored).not.toContain('Made later');
  expect(await keys()).toEqual(kept);
  expect(await runSection('Checking the books')).toBe('Checked 1 teams, 1 keys and 0 glossaries: nothing is wrong.\n');
  expect(await runSection('Upgrade')).toBe('sqlite:data/lingate.db is of this version already.\n');
  expect(await runSection('Moving to another store')).toContain('Both hold the same');
  const moved = await inProcess(['team', 'show', team, '--json', '--store', redis.url]);
  expect(parsed(moved)).toEqual(parsed(await inProcess(['team', 'show', team, '--json', '--store', store])));
  expect(await keys(redis.url)).toEqual(kept);
}, 60_000);
