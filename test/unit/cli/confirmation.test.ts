// What cannot be undone asks: at a terminal for a name, without one it is refused unless --yes is given. Nothing is done before.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../../../src/testing/store/team-under-test.ts';
import { atTerminal, inProcess, parsed } from '../../support/lingate-command.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';

interface KeyList {
  readonly keys: readonly { readonly key_id: string; readonly status: string }[];
}

interface GlossaryList {
  readonly glossaries: readonly { readonly name: string }[];
}

interface AuditList {
  readonly entries: readonly { readonly action: string; readonly team_id: string | null }[];
}

let place: StorePlace;
let teamId: string;
const at = (...args: string[]): string[] => [...args, '--store', place.url];
const json = async (...args: string[]): Promise<unknown> => parsed(await inProcess(at(...args, '--json')));
const statuses = async (): Promise<string[]> => ((await json('key', 'list', '--team', teamId)) as KeyList).keys.map(({ status }) => status);

beforeEach(async () => {
  place = await storePlace('sqlite');
  ({ team_id: teamId } = (await json('team', 'create', '--name', 'Web shop', '--plan', 'free')) as { team_id: string });
  for (const label of ['one', 'two']) await json('key', 'create', '--team', teamId, '--mode', 'live', '--label', label);
});
afterEach(() => place.remove());

test('without a terminal a deletion is refused in one line that names --yes, before the store is opened', async () => {
  const deletion = await inProcess(['team', 'delete', teamId, '--store', 'sqlite:/nowhere/x.db']);
  expect(deletion).toEqual({
    status: 2,
    stdout: '',
    stderr:
      'lingate team delete: deleting a team asks before it changes anything, and there is no terminal to ask at; use --yes as well. ' +
      'Run "lingate team delete --help".\n',
  });
  for (const args of [
    ['key', 'revoke', '--all', '--team', teamId],
    ['glossary', 'delete', teamId],
    ['memory', 'clear'],
  ]) {
    const { status, stderr } = await inProcess(at(...args));
    expect({ args, status }).toEqual({ args, status: 2 });
    expect(stderr).toMatch(/^lingate [^\n]+ asks before it changes anything, [^\n]+; use --yes as well\. [^\n]+\n$/);
  }
  expect(await statuses()).toEqual(['active', 'active']);
});

test('at a terminal a team is deleted when its name is typed, and not for anything else', async () => {
  expect(await atTerminal(at('team', 'delete', teamId), 'web shop')).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'This deletes the team "Web shop" permanently. It owes nothing for the running period. Type its name to continue: ' +
      'lingate team delete: this is not "Web shop"; nothing was changed\n',
  });
  expect(await statuses()).toEqual(['active', 'active']);
  expect((await atTerminal(at('team', 'delete', teamId), 'Web shop')).status).toBe(0);
  expect((await inProcess(at('team', 'show', teamId))).status).toBe(1);
});

test('usage is erased only after a question that says so, also what an earlier deletion has kept', async () => {
  const erase = at('team', 'delete', teamId, '--erase-usage');
  expect(await atTerminal(erase, '')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(
      'Its usage by day and period, on which its invoices are based, is deleted too. Type its name',
    ) as string,
  });
  expect((await atTerminal(at('team', 'delete', teamId), 'Web shop')).status).toBe(0);
  expect(await atTerminal(erase, 'Web shop')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`the remaining usage of team ${teamId}, on which its invoices are based. Type its id`) as string,
  });
  // Nothing was left: the team was not used.
  expect(await atTerminal(erase, teamId)).toMatchObject({ status: 1, stderr: expect.stringContaining('no team') as string });
});

test("all keys of a team are revoked when the team's name is typed; a second time there is none left", async () => {
  expect((await atTerminal(at('key', 'revoke', '--all', '--team', teamId), '')).status).toBe(1);
  expect(await statuses()).toEqual(['active', 'active']);
  const { status, stdout } = await atTerminal(at('key', 'revoke', '--all', '--team', teamId), 'Web shop');
  expect({ status, stdout }).toEqual({ status: 0, stdout: '2 keys are revoked.\n' });
  expect(await statuses()).toEqual(['revoked', 'revoked']);
  expect(await json('key', 'revoke', '--all', '--team', teamId, '--yes')).toEqual({ team_id: teamId, revoked: [] });
});

test('at a terminal a glossary is deleted when its name is typed, and not for anything else', async () => {
  const glossaryId = newId();
  const store = await openBeside(place.url);
  const terms = { dictionaryId: newId(), sourceLang: 'EN', targetLang: 'DE', entries: { cat: 'Katze' } };
  await store.glossaries.create({ glossaryId, teamId, name: 'Press terms', dictionaries: [terms] });
  await store.close();
  const names = async (): Promise<string[]> =>
    ((await json('glossary', 'list', '--team', teamId)) as GlossaryList).glossaries.map(({ name }) => name);
  expect(await atTerminal(at('glossary', 'delete', glossaryId), glossaryId)).toEqual({
    status: 1,
    stdout: '',
    stderr:
      `This deletes the glossary "Press terms" of team ${teamId} permanently. Type its name to continue: ` +
      'lingate glossary delete: this is not "Press terms"; nothing was changed\n',
  });
  expect(await names()).toEqual(['Press terms']);
  expect(await atTerminal(at('glossary', 'delete', glossaryId), 'Press terms')).toMatchObject({
    status: 0,
    stdout: `Glossary ${glossaryId} of team ${teamId} is deleted.\n`,
  });
  expect(await names()).toEqual([]);
});

test('at a terminal the cache of all teams is cleared when "clear" is typed, that of one team without a question', async () => {
  const file = join(place.folder, 'memory.yaml');
  await writeFile(file, JSON.stringify({ plugins: [{ module: 'lingate/plugins/memory' }] }));
  const clear = (...args: string[]): string[] => at('memory', 'clear', ...args, '--config', file);
  const cleared = async (): Promise<(string | null)[]> =>
    ((await json('audit', 'list')) as AuditList).entries.filter(({ action }) => action === 'clearMemory').map(({ team_id: of }) => of);
  const asks = 'This deletes the cached translations of all teams. Type clear to continue: ';
  expect(await atTerminal(clear(), 'yes')).toEqual({
    status: 1,
    stdout: '',
    stderr: `${asks}lingate memory clear: this is not "clear"; nothing was changed\n`,
  });
  expect(await cleared()).toEqual([]);
  expect(await atTerminal(clear(), 'clear')).toMatchObject({ status: 0, stderr: asks });
  expect(await cleared()).toEqual([null]);
  expect(await atTerminal(clear('--team', teamId), '')).toMatchObject({ status: 0, stderr: '' });
  expect(await cleared()).toEqual([teamId, null]);
});

test('with --yes programs revoke all keys, and the audit has one entry for each', async () => {
  const { keys } = (await json('key', 'list', '--team', teamId)) as KeyList;
  const { revoked } = (await json('key', 'revoke', '--all', '--team', teamId, '--yes')) as { revoked: string[] };
  expect(revoked).toEqual(keys.map(({ key_id: id }) => id));
  const { entries } = (await json('audit', 'list', '--team', teamId)) as AuditList;
  expect(entries.filter(({ action }) => action === 'revokeKey')).toHaveLength(2);
});
