// A wrong command line gives one line on standard error that says what would be right, and exit status 2.
import { describe, expect, test } from 'vitest';
import { inProcess, lingate } from '../../support/lingate-command.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const KEY = '01JD3QB5W1T9C4E8S7X2G6V0PA';

/** The arguments, the command that the error names, and the line without `lingate …: ` and `Run "… --help".` */
const WRONG: readonly [words: string, title: string, reason: string][] = [
  ['taem list', '', 'unknown command "taem"; did you mean team?'],
  [
    'frobnicate',
    '',
    'unknown command "frobnicate"; the commands are serve, reload, demo, team, key, tag, glossary, usage, invoices, plan, store, requests, documents, audit, memory, config, engine, routes, openapi.',
  ],
  ['--json team list', '', 'unknown flag --json; flags go after the command.'],
  ['glossary', 'glossary', 'a command is missing; use one of list, delete.'],
  ['team crate', 'team', 'unknown command "crate"; did you mean create?'],
  ['team --json', 'team', 'unknown flag --json; flags go after the command.'],
  ['team create --nmae x', 'team create', 'unknown flag --nmae; did you mean --name?'],
  ['team create -n x', 'team create', 'unknown flag -n.'],
  ['team create --name', 'team create', '--name needs a value; write --name NAME.'],
  ['team create --name= --plan free', 'team create', '--name needs a value; write --name NAME.'],
  ['team create --name --plan', 'team create', '--name needs a value; write one that begins with a dash as --name=--plan.'],
  ['team create --name a', 'team create', '--plan PLAN is missing.'],
  ['team create --name a --name b --plan free', 'team create', '--name is given twice.'],
  ['team create a --name a --plan free', 'team create', '"a" is one argument too many; this command takes only flags.'],
  ['team create --name=\u0007 --plan free', 'team create', '--name holds a control character; use printable characters only.'],
  [`team create --name=${'x'.repeat(101)} --plan free`, 'team create', '--name is too long; it may have at most 100 characters.'],
  [
    'team create --name a --plan prepaid --credit-minor 1.5',
    'team create',
    '--credit-minor "1.5" is not a whole number from 0 to 9007199254.',
  ],
  ['team create --name a --plan prepaid --credit-minor=-1', 'team create', '--credit-minor -1 is too small; it must be at least 0.'],
  [
    'team create --name a --plan prepaid --credit-minor 9007199255',
    'team create',
    '--credit-minor 9007199255 is too large; it must be at most 9007199254.',
  ],
  ['team list extra', 'team list', '"extra" is one argument too many; this command takes only flags.'],
  ['team list --json=yes', 'team list', '--json takes no value.'],
  ['team show', 'team show', 'TEAM is missing.'],
  [`team update ${TEAM}`, 'team update', 'nothing to change; give --name, --reference, --plan, --when or --add-credit-minor.'],
  [
    `team update ${TEAM} --add-credit-minor 0`,
    'team update',
    '--add-credit-minor must not be 0: positive to add credit, negative to deduct it.',
  ],
  [`team update ${TEAM} --add-credit-minor -5`, 'team update', '--reason is required to deduct credit.'],
  [`key create --team ${TEAM}`, 'key create', '--mode live|test is missing.'],
  [`key create --team ${TEAM} --mode prod`, 'key create', '--mode "prod" is not one of live, test.'],
  [
    `key create --team ${TEAM} --mode live --expires-at tomorrow`,
    'key create',
    '--expires-at "tomorrow" is not an RFC 3339 time with a time zone, such as 2027-01-31T18:00:00Z.',
  ],
  [
    `key create --team ${TEAM} --mode live --allow ::1 --allow 10.0.0.0/33`,
    'key create',
    '--allow "10.0.0.0/33" is not an address or a range such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32.',
  ],
  [
    `key create --team ${TEAM} --mode live ${Array.from({ length: 101 }, (_, i) => `--allow ::${i + 1}`).join(' ')}`,
    'key create',
    '--allow has too many entries; it may have at most 100.',
  ],
  [`key create --team ${TEAM} --mode live --no-allow`, 'key create', 'unknown flag --no-allow; did you mean --allow?'],
  ['tag set', 'tag set', 'TEAM is missing.'],
  [`tag set ${TEAM} acme`, 'tag set', 'there is nothing to set; give a limit or --disable, or remove all that is set.'],
  [
    `tag set ${TEAM} ä --disable`,
    'tag set',
    'TAG "ä" is not a tag: it must be 1 to 100 printable ASCII characters without spaces, and no API key.',
  ],
  [
    `tag set ${TEAM} acme --limit requests=5/year`,
    'tag set',
    '--limit "requests=5/year" is not a limit such as requests=600/minute or characters=1000000/day (minute, hour, day, week, month; 1 to 1000000000000).',
  ],
  [`tag set ${TEAM} acme --limit requests=5/day --limit requests=6/day`, 'tag set', '--limit limits the requests of a day a second time.'],
  [`key update ${KEY}`, 'key update', 'nothing to change; give --label, a limit or --disable.'],
  [`key update ${KEY} --disable --enable`, 'key update', '--disable and --enable contradict each other; give one of them.'],
  [`key update ${KEY} --scope usage:read --no-scopes`, 'key update', '--scope and --no-scopes contradict each other; give one of them.'],
  [
    `key create --team ${TEAM} --mode live --scope usage:read --scope usage`,
    'key create',
    '--scope "usage" is not a scope; scopes are translate:text, translate:document, languages:read, usage:read, glossaries:read, glossaries:write, and forward:NAME for forward routes of that name.',
  ],
  ['key revoke --all --yes', 'key revoke', '--team TEAM is missing: it says whose keys are revoked.'],
  [`key revoke ${KEY} --team ${TEAM}`, 'key revoke', '--team is only used with --all.'],
  [`key revoke ${KEY} --yes`, 'key revoke', '--yes is only used with --all.'],
  ['key revoke --all --stdin', 'key revoke', '--all and --stdin contradict each other; give one of them.'],
  ['config check --listen 127.0.0.1:0', 'config check', 'unknown flag --listen.'],
];

describe('a wrong command line', () => {
  test.each(WRONG)('lingate %s', async (words, title, reason) => {
    const command = title === '' ? 'lingate' : `lingate ${title}`;
    expect(await inProcess(words.split(' '))).toEqual({
      status: 2,
      stdout: '',
      stderr: `${command}: ${reason} Run "${command} --help".\n`,
    });
  });

  test('a flag with a value that the configuration refuses is wrong usage too', async () => {
    const { status, stdout, stderr } = await inProcess(['team', 'list', '--store', 'mysql://root:geheim@db']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^lingate team list: --store: "mysql:\/\/\*\*\*@db" is not one of sqlite:PATH, [^\n]+\n$/);
  });

  test('a blank name is refused', async () => {
    const { status, stderr } = await inProcess(['team', 'create', '--name', '  ', '--plan', 'free']);
    expect([status, stderr]).toEqual([2, 'lingate team create: --name is blank; give it a name. Run "lingate team create --help".\n']);
  });

  test('without arguments the help is shown as an error', async () => {
    const { status, stdout, stderr } = await inProcess([]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: lingate COMMAND');
  });

  test('the process exits with that status', async () => {
    expect(await lingate(['team', 'create', '--nmae', 'x'])).toEqual({
      status: 2,
      stdout: '',
      stderr: 'lingate team create: unknown flag --nmae; did you mean --name? Run "lingate team create --help".\n',
    });
  });
});
