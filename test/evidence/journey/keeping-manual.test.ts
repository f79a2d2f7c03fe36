// The commands of the manual for backups, checks and moves of a store, run in a shell unchanged.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { inProcess, MAIN, parsed } from '../../support/lingate-command.ts';
import { codeBlocks, manualSection } from '../../support/manual.ts';
import { outputOf } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';
import { untilOneDay } from '../../support/one-day.ts';
const PROGRAMS = ['curl', 'openssl', 'mv', 'rm', 'cp'] as const;

const started = startedUntil(afterEach);
let folder: string;
let store: string;
beforeEach(() => {
  ({ folder } = started);
  store = `sqlite:${join(folder, 'data/lingate.db')}`;
});

/** As in the manual, with ids, the port, folders and the program's name filled in. */
function typed(block: string, filled: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}): Promise<string> {
  let text = block.replaceAll('/backups/', `${folder}/`).replaceAll(/^lingate /gm, '"$NODE" "$MAIN" ');
  for (const [shown, own] of Object.entries(filled)) text = text.replaceAll(shown, own);
  const variables = { ...bareEnvironment(), NODE: process.execPath, MAIN, LINGATE_STORE: store, ...env };
  const uses = PROGRAMS.filter((name) => new RegExp(`\\b${name} `).test(text));
  return outputOf('sh', ['-ec', text], { cwd: folder, env: variables, uses });
}
const blocksOf = (page: string, section: string, language = 'sh'): string[] => codeBlocks(manualSection(page, section), language);
const oneOf = (page: string, section: string, language = 'sh'): string => {
  const [block, ...more] = blocksOf(page, section, language);
  expect([typeof block, more]).toEqual(['string', []]);
  return block!;
};

async function command(...args: readonly string[]): Promise<Record<string, unknown>> {
  return parsed(await inProcess([...args, '--json', '--store', store])) as Record<string, unknown>;
}
const makeTeam = async (): Promise<string> =>
  String((await command('team', 'create', '--name', 'Acme', '--plan', 'prepaid', '--credit-minor', '900'))['team_id']);
const LIMITS = ['--characters', '100', '--requests-per-second', '5', '--allow', '10.0.0.0/8', '--expires-at', '2099-01-31T18:00:00Z'];
const makeKey = async (teamId: string): Promise<string> =>
  String((await command('key', 'create', '--team', teamId, '--mode', 'live', ...LIMITS))['key_id']);
const keysOf = async (teamId: string, url = store): Promise<unknown> =>
  parsed(await inProcess(['key', 'list', '--team', teamId, '--json', '--store', url]));
const teamsIn = async (url: string): Promise<object[]> =>
  (parsed(await inProcess(['team', 'list', '--json', '--store', url])) as { teams: object[] }).teams;

await untilOneDay();

test('a store is backed up, restored over a damaged one, checked and migrated', async () => {
  const teamId = await makeTeam();
  const keyId = await makeKey(teamId);
  const retained = await keysOf(teamId);
  const backup = oneOf('keeping-data', 'Backup of a SQLite file');
  const copy = join(folder, /\/backups\/(\S+)/.exec(backup)![1]!);
  expect(await typed(backup)).toMatch(/^Wrote \S+\.db, \d+ bytes\.\n$/);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  await command('team', 'create', '--name', 'Later', '--plan', 'pro');
  await command('key', 'update', keyId, '--no-characters', '--disable');
  expect(await keysOf(teamId)).not.toEqual(retained);
  const file = join(folder, 'data/lingate.db');
  writeFileSync(file, readFileSync(file).fill(0x55, 4096));
  const check = blocksOf('keeping-data', 'Checking a store')[0]!;
  await expect(typed(check)).rejects.toThrow('is damaged; restore it from a backup');
  expect(await typed(oneOf('keeping-data', 'Restore of a SQLite file'))).toContain('Acme');
  expect(await teamsIn(store)).toMatchObject([{ name: 'Acme' }]);
  expect(await keysOf(teamId)).toEqual(retained);
  expect(await typed(check)).toBe('Checked 1 team, 1 key and 0 glossaries: nothing is wrong.\n');
  expect(await typed(oneOf('keeping-data', 'Upgrade'))).toBe('sqlite:data/lingate.db is of this version already.\n');
});

test('a store is moved into Redis and back, and both answer alike', async () => {
  const teamId = await makeTeam();
  await makeKey(teamId);
  const { url: other } = await started.place('redis');
  const move = oneOf('keeping-data', 'Moving to another store');
  const [from, to] = [/sqlite:\S+/.exec(move)![0], /redis:\S+/.exec(move)![0]];
  expect(await typed(move, { [to]: other })).toContain('Both hold the same');
  await expect(typed(move, { [to]: other })).rejects.toThrow('is not empty');
  const back = `sqlite:${join(folder, 'back.db')}`;
  await typed(move, { [from]: other, [to]: back });
  for (const url of [other, back]) {
    expect([await teamsIn(url), await keysOf(teamId, url)]).toEqual([await teamsIn(store), await keysOf(teamId)]);
  }
});
