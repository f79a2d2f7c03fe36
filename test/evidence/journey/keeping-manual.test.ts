// The manual's commands on operators, the audit log, events, erasure, backups and checks, run in a shell unchanged.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ulid } from 'ulid';
import { answered } from '../../../src/index.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { startGateway } from '../../support/gateway.ts';
import { inProcess, MAIN, parsed, temporaryFolder } from '../../support/lingate-command.ts';
import type { Folder } from '../../support/lingate-command.ts';
import { codeBlocks, manualPage, manualSection } from '../../support/manual.ts';
import { outputOf } from '../../support/start-program.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import { useStore } from '../../support/used-store.ts';
import { untilOneDay } from '../../support/one-day.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const PROGRAMS = ['curl', 'openssl', 'mv', 'rm', 'cp'] as const;
const GLOSSARY = '01JD3QB5W1T9C4E8S7X2G6V0PA';

let folder: Folder;
let store: string;

beforeEach(() => {
  folder = temporaryFolder();
  store = `sqlite:${join(folder.path, 'data/lingate.db')}`;
});
afterEach(() => folder.remove());

/** As in the manual, with ids, the port, folders and the program's name filled in. */
function typed(block: string, filled: Readonly<Record<string, string>> = {}, env: Readonly<Record<string, string>> = {}): Promise<string> {
  let text = block.replaceAll('/backups/', `${folder.path}/`).replaceAll(/^lingate /gm, '"$NODE" "$MAIN" ');
  for (const [shown, own] of Object.entries(filled)) text = text.replaceAll(shown, own);
  const variables = { ...bareEnvironment(), NODE: process.execPath, MAIN, LINGATE_STORE: store, ...env };
  const uses = PROGRAMS.filter((name) => new RegExp(`\\b${name} `).test(text));
  return outputOf('sh', ['-ec', text], { cwd: folder.path, env: variables, uses });
}

/** The pages' readers have a terminal, at which they are asked. */
const confirmed = (block: string): string => block.replaceAll(/^lingate \w+ delete .*$/gm, '$& --yes');
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
test('a team, its usage kept and not, and a glossary are deleted', async () => {
  // Only the team's usage is kept.
  const today = new Date().toISOString().slice(0, 10);
  const used = await useStore(store, today, [{ name: 'Used', days: { [today]: { backend: [4, 1] } } }]);
  const [whole, kept, owner] = [await makeTeam(), used[0]!.teamId, await makeTeam()];
  const [keep, remove] = blocksOf('erasure', 'Delete a team').map(confirmed) as [string, string];
  expect(await typed(remove, { [TEAM]: whole })).toContain(whole);
  expect(await typed(keep, { [TEAM]: kept })).toContain(kept);
  expect(await teamsIn(store)).toMatchObject([{ team_id: owner }]);
  // As the page says: once more, to remove what was kept.
  await typed(remove, { [TEAM]: kept });
  await expect(typed(remove, { [TEAM]: kept })).rejects.toThrow(`there is no team ${kept}`);

  const glossaryId = ulid();
  const beside = await openBeside(store);
  const dictionaries = [{ dictionaryId: ulid(), sourceLang: 'EN', targetLang: 'DE', entries: { cat: 'Katze' } }];
  answered(await beside.glossaries.create({ glossaryId, teamId: owner, name: 'Terms', dictionaries }));
  const both = confirmed(oneOf('erasure', 'Delete a glossary'));
  expect(await typed(both, { [TEAM]: owner, [GLOSSARY]: glossaryId })).toContain('Terms');
  expect(await beside.glossaries.list(owner)).toEqual([]);
  await beside.close();
});

test('credit is deducted with a reason, and each audit command shows it, with the documented members', async () => {
  const teamId = await makeTeam();
  await typed(oneOf('operators-and-audit', 'Deducting credit'), { TEAM: teamId });
  const token = (await typed(/`(openssl rand -hex 32)`/.exec(manualPage('operators-and-audit'))![1]!)).trim();
  const config = { admin: { token } };
  const gateway = await startGateway({ listener: 'node', store, engineUrls: ['http://127.0.0.1:9'], config });
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const filled = { TEAM: teamId, '2026-11-01': day, ':9090': `:${gateway.opsPort}` };
  const [since, ofTeam, filtered, api] = oneOf('operators-and-audit', 'The audit').trimEnd().split('\n') as [
    string,
    string,
    string,
    string,
  ];
  expect(await typed(since, filled)).toMatch(/updateTeam[\s\S]*createTeam/);
  const { entries } = JSON.parse(await typed(ofTeam, filled)) as { entries: object[] };
  expect(await typed(filtered, filled)).toMatch(/^No change fits/);
  const answer = JSON.parse(await typed(api, filled, { LINGATE_ADMIN_TOKEN: token })) as { entries: object[]; next: null };
  expect(answer).toEqual({ entries, next: null });
  const shown = JSON.parse(oneOf('operators-and-audit', 'The audit', 'json')) as { entries: [Record<string, unknown>] };
  expect(answer.entries).toHaveLength(2);
  for (const entry of answer.entries) expect(Object.keys(entry)).toEqual(Object.keys(shown.entries[0]));
  const { before, after, action, key_id } = shown.entries[0];
  expect(entries[0]).toMatchObject({ before, after, action, key_id });
  await gateway.stop();
});

test('a key is limited, changed, disabled and enabled', async () => {
  const teamId = await makeTeam();
  const [create, ...changes] = oneOf('teams-and-keys', 'Keys with limits').split(/^(?=lingate key update)/m) as [string, ...string[]];
  const made = await typed(create, { TEAM: teamId });
  const list = async () => ((await command('key', 'list', '--team', teamId)) as { keys: Record<string, unknown>[] }).keys[0]!;
  const shown = await list();
  expect(shown).toMatchObject({
    label: 'trade fair',
    status: 'active',
    expires_at: '2099-01-31T18:00:00Z',
    requests_per_second: 5,
    characters: 100_000,
    allowed_addresses: ['203.0.113.0/24', '2001:db8::/32'],
  });
  expect(made).toContain(String(shown['key_id']));
  const statuses = [];
  for (const change of changes) {
    await typed(change, { KEY_ID: String(shown['key_id']) });
    statuses.push((await list())['status']);
  }
  expect(statuses).toEqual(['active', 'active', 'disabled', 'active']);
  const freed = await list();
  expect(freed).toMatchObject({ characters: 250_000, requests_per_second: 5 });
  expect(freed).not.toHaveProperty('allowed_addresses');
});

test('the documented operators and events are valid, and the check says where events go', async () => {
  const page = manualPage('events');
  const make = /: (echo "whsec_\$\(openssl rand -base64 32\)")$/m.exec(page)![1]!;
  const secret = (await typed(make)).trim();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const salesToken = join(folder.path, 'sales-token');
  writeFileSync(salesToken, `${'s'.repeat(32)}\n`, { mode: 0o600 });
  const [events] = codeBlocks(page, 'yaml') as [string];
  const file = join(folder.path, 'lingate.yaml');
  const operators = oneOf('operators-and-audit', 'Operators', 'yaml').replace('/run/secrets/sales-token', salesToken);
  writeFileSync(file, `${operators}${events}`);
  const env = { EVENTS_SECRET: secret, LINGATE_ADMIN_TOKEN: 'a'.repeat(32), LINGATE_OPS_TOKEN: 'o'.repeat(32) };
  const check = /`(lingate config check)`/.exec(page)![1]!;
  expect(await typed(`${check} --config ${file}`, {}, env)).toContain('https://billing.example.com/lingate');
});

test('a store is backed up, restored over a damaged one, checked and migrated', async () => {
  const teamId = await makeTeam();
  const keyId = await makeKey(teamId);
  const kept = await keysOf(teamId);
  const backup = oneOf('keeping-data', 'Backup of a SQLite file');
  const copy = join(folder.path, /\/backups\/(\S+)/.exec(backup)![1]!);
  expect(await typed(backup)).toMatch(/^Wrote \S+\.db, \d+ bytes\.\n$/);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  await command('team', 'create', '--name', 'Later', '--plan', 'pro');
  await command('key', 'update', keyId, '--no-characters', '--disable');
  expect(await keysOf(teamId)).not.toEqual(kept);
  const file = join(folder.path, 'data/lingate.db');
  writeFileSync(file, readFileSync(file).fill(0x55, 4096));
  const check = blocksOf('keeping-data', 'Checking a store')[0]!;
  await expect(typed(check)).rejects.toThrow('is damaged; restore it from a backup');
  expect(await typed(oneOf('keeping-data', 'Restore of a SQLite file'))).toContain('Acme');
  expect(await teamsIn(store)).toMatchObject([{ name: 'Acme' }]);
  expect(await keysOf(teamId)).toEqual(kept);
  expect(await typed(check)).toBe('Checked 1 team, 1 key and 0 glossaries: nothing is wrong.\n');
  expect(await typed(oneOf('keeping-data', 'Upgrade'))).toBe('sqlite:data/lingate.db is of this version already.\n');
});

test('a store is moved into Redis and back, and both answer alike', async () => {
  const teamId = await makeTeam();
  await makeKey(teamId);
  const place = await storePlace('redis');
  const move = oneOf('keeping-data', 'Moving to another store');
  const [from, to] = [/sqlite:\S+/.exec(move)![0], /redis:\S+/.exec(move)![0]];
  expect(await typed(move, { [to]: place.url })).toContain('Both hold the same');
  await expect(typed(move, { [to]: place.url })).rejects.toThrow('is not empty');
  const back = `sqlite:${join(folder.path, 'back.db')}`;
  await typed(move, { [from]: place.url, [to]: back });
  for (const url of [place.url, back]) {
    expect([await teamsIn(url), await keysOf(teamId, url)]).toEqual([await teamsIn(store), await keysOf(teamId)]);
  }
  await place.remove();
});
