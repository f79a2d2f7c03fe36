// A command that fails prints one line that says what to do to standard error, exits with status 1, and changes nothing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProcess, parsed, temporaryFolder } from '../../support/lingate-command.ts';
import type { Folder } from '../../support/lingate-command.ts';

const ABSENT = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

let folder: Folder;
let env: Record<string, string>;

beforeAll(() => {
  folder = temporaryFolder();
  env = { LINGATE_STORE: `sqlite:${folder.path}/test.db` };
});

afterAll(() => folder.remove());

async function newTeam(plan: string, ...more: string[]): Promise<{ readonly team_id: string }> {
  return parsed(await inProcess(['team', 'create', '--name', 'Acme', '--plan', plan, ...more, '--json'], env)) as { team_id: string };
}

test('what does not exist is named, with what to do, and nothing is changed', async () => {
  const { team_id: quota } = await newTeam('free');
  const { team_id: full } = await newTeam('prepaid', '--credit-minor', '9007199254');
  const cases: readonly [args: string[], line: string][] = [
    [['team', 'show', ABSENT], `lingate team show: there is no team ${ABSENT}; "lingate team list" shows the teams`],
    [['team', 'show', 'Acme'], 'lingate team show: "Acme" is not a team\'s id; "lingate team list" shows the teams'],
    [['team', 'update', ABSENT, '--plan', 'free'], `lingate team update: there is no team ${ABSENT}; "lingate team list" shows the teams`],
    [['usage', ABSENT], `lingate usage: there is no team ${ABSENT}; "lingate team list" shows the teams`],
    [['key', 'list', '--team', ABSENT], `lingate key list: there is no team ${ABSENT}; "lingate team list" shows the teams`],
    [
      ['key', 'create', '--team', ABSENT, '--mode', 'live'],
      `lingate key create: there is no team ${ABSENT}; "lingate team list" shows the teams`,
    ],
    [
      ['key', 'revoke', ABSENT],
      `lingate key revoke: there is no key with the id ${ABSENT}; "lingate key list --team TEAM" shows the ids of its keys`,
    ],
    [
      ['team', 'create', '--name', 'x', '--plan', 'fre'],
      'lingate team create: the configuration has no plan "fre"; the plans are free, pro, prepaid; did you mean free?',
    ],
    [['plan', 'apply', 'gold'], 'lingate plan apply: the configuration has no plan "gold"; the plans are free, pro, prepaid'],
    [
      ['team', 'create', '--name', 'x', '--plan', 'free', '--credit-minor', '0'],
      'lingate team create: plan free has billing quota, which takes no credit; leave out --credit-minor or choose a credit plan',
    ],
    [
      ['team', 'update', quota, '--add-credit-minor', '5'],
      'lingate team update: plan free has billing quota, which takes no credit; leave out --add-credit-minor or choose a credit plan',
    ],
    [
      ['team', 'update', full, '--add-credit-minor', '1'],
      'lingate team update: the balance would exceed 9007199254 minor units, the most that a team can have; add less',
    ],
  ];
  const before = await inProcess(['team', 'list', '--json'], env);
  // One after the other: of many that open one database at once, the last may wait for its lock for too long.
  for (const [args, line] of cases) expect(await inProcess(args, env)).toEqual({ status: 1, stdout: '', stderr: `${line}\n` });
  expect(await inProcess(['team', 'list', '--json'], env)).toEqual(before);
});

describe('an unreachable store', () => {
  test('gives one line that names it without credentials, and status 1', async () => {
    const end = await inProcess(['team', 'list', '--store', 'redis://user:geheim@127.0.0.1:1']);
    expect(end.status).toBe(1);
    expect(end.stdout).toBe('');
    expect(end.stderr).toMatch(/^lingate team list: [^\n]+\n$/);
    expect(end.stderr).not.toMatch(/geheim|unexpected/);
  });

  test('that is a folder instead of a file is refused in the same way', async () => {
    const end = await inProcess(['team', 'list', '--store', 'sqlite:/']);
    expect(end).toMatchObject({ status: 1, stdout: '' });
    expect(end.stderr).toMatch(/^lingate team list: [^\n]+\n$/);
    expect(end.stderr).not.toContain('unexpected');
  });
});
