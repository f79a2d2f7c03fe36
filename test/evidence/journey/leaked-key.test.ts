// A leaked key: found and revoked by command line, admin API and console, and repeated by none of them.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { displayOf, newKey } from '../../support/door/terms.ts';
import { commandsOf } from '../../support/door/tables.ts';
import { adminClient } from '../../support/admin-client.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { ConsoleVisitor } from '../../support/console-visitor.ts';
import { ask, expectProblem, onOneGateway } from '../../support/every-gateway.ts';
import { inProcess, lingate, MAIN, temporaryFolder } from '../../support/lingate-command.ts';
import { codeBlocks, manualSection } from '../../support/manual.ts';
import { outputOf, runProgram } from '../../support/start-program.ts';

const TOKEN = randomBytes(24).toString('hex');
const NOBODYS = newKey('live');
/** Runs a command at its own terminal, types the key when asked, and prints everything that the terminal shows. */
const AT_A_TERMINAL = `
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
shown = b''
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    if b': ' in piece and b': ' not in shown:
        os.write(terminal, os.environ['KEY'].encode() + b'\\r')
    shown += piece
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
`;

onOneGateway({ config: { admin: { token: TOKEN } } }, (setting) => {
  const { call } = adminClient(setting, TOKEN);
  const cli = (args: readonly string[], stdin = '') => inProcess([...args, '--store', setting.url], {}, stdin);
  const usage = (key: string) => ask(setting, { path: '/v1/usage', key });

  test('an unknown key is exit status 1, by either command', async () => {
    const line = 'no team in this store has this key; check that --store and --config are those of the gateway\n';
    expect(await cli(['key', 'find', '--json'], NOBODYS)).toEqual({
      status: 1,
      stdout: '{"keys":[]}\n',
      stderr: `lingate key find: ${line}`,
    });
    expect(await cli(['key', 'find'], NOBODYS)).toEqual({ status: 1, stdout: '', stderr: `lingate key find: ${line}` });
    expect(await cli(['key', 'find', '--display', 'la_live_----'.replaceAll('-', 'Z'), '--json'])).toMatchObject({ status: 1 });
    expect(await cli(['key', 'revoke', '--stdin'], NOBODYS)).toEqual({ status: 1, stdout: '', stderr: `lingate key revoke: ${line}` });
  });

  test.each([
    [{}, /^body: must have exactly one of key and display\.$/],
    [{ key: NOBODYS, display: displayOf(NOBODYS) }, /^body: must have exactly one of key and display\.$/],
    [{ key: `${NOBODYS}x` }, /^key: must be a whole key, /],
    [{ key: displayOf(NOBODYS) }, /^key: must be a whole key, .*for its first characters use display\.$/],
    [{ key: 7 }, /^key: 7 is not a string\.$/],
    [{ display: NOBODYS }, /^display: must be the first twelve characters of a key, for example la_live_Ab3d\.$/],
    [{ display: 'la_live_' }, /^display: /],
    [{ secret: 'x' }, /^secret: is not known; the known ones are key, display\.$/],
  ])('the admin API refuses %j in words that do not repeat it', async (body, words) => {
    const response = await call('POST', '/keys/find', { body });
    expect(expectProblem(response, 'validation_error')).toMatch(words);
    expect(response.body).not.toContain(NOBODYS);
  });

  test('the admin API takes no key in an address', async () => {
    const response = await call('GET', `/teams?q=${NOBODYS}`);
    expect(expectProblem(response, 'validation_error')).toMatch(/^q: contains a key, which does not belong here: /);
    expect((await call('GET', '/keys/find')).header('allow')).toBe('POST, PATCH');
  });

  describe('the console', () => {
    const signedIn = (): Promise<ConsoleVisitor> => ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);

    test('finds it by its first twelve characters, and links to its revocation', async () => {
      const operator = await signedIn();
      const team = await setting.gateway.team();
      const { body } = await operator.get(`/console/teams?q=${displayOf(team.key)}`);
      expect(body).toContain(`Keys that begin with <code>${displayOf(team.key)}</code>`);
      const revoke = `/console/teams/${team.teamId}/keys/${team.keyId}/revoke`;
      expect(body).toContain(`href="${revoke}"`);
      expect((await operator.submit(revoke, revoke)).status).toBe(303);
      expectProblem(await usage(team.key), 'key_revoked');
      const after = (await operator.get(`/console/teams?q=${displayOf(team.key)}`)).body;
      expect(after).not.toContain(`href="${revoke}"`);
      expect(after).toContain('class="revoked"');
      expect((await operator.get('/console/teams?q=la_live_ZZZZ')).body).toContain('No key begins with <code>la_live_ZZZZ</code>');
    });

    test('keeps a whole key out of addresses: browsers do not send it, and one that arrives is neither searched for nor repeated', async () => {
      const operator = await signedIn();
      const team = await setting.gateway.team();
      const pattern = /pattern="([^"]+)"/.exec((await operator.get('/console/teams')).body)![1]!;
      // As a browser interprets it.
      const takes = (text: string): boolean => new RegExp(`^(?:${pattern})$`, 'v').test(text);
      expect([team.key, `x ${team.key} x`, team.key.slice(0, 13)].map(takes)).toEqual([false, false, false]);
      expect(['', 'Acme', displayOf(team.key), team.teamId].map(takes)).toEqual([true, true, true, true]);
      const answer = await operator.get(`/console/teams?sort=name&q=${team.key}`);
      expect([answer.status, answer.body]).toEqual([303, '']);
      expect(answer.header('location')).not.toContain('la_live');
      const { body } = await operator.get(answer.header('location')!);
      expect(body).toContain('That was more of a key than may stand in an address');
      expect(body).not.toContain(team.key);
      expect(setting.gateway.logLines.join('')).not.toContain(team.key);
    });
  });

  test('a process can pass it through a pipe', async () => {
    const team = await setting.gateway.team();
    const { status, stdout, stderr } = await lingate(['key', 'revoke', '--stdin', '--store', setting.url], { input: `${team.key}\n` });
    expect([status, stdout, stderr]).toEqual([0, `Key ${team.keyId} (${displayOf(team.key)}…) is revoked.\n`, '']);
  });

  test('a terminal prompts for it, and shows nothing of what is typed', async () => {
    const team = await setting.gateway.team();
    const env = { ...bareEnvironment(), KEY: team.key };
    const command = [process.execPath, MAIN, 'key', 'revoke', '--stdin', '--store', setting.url];
    const { status, stdout } = await runProgram('python3', ['-c', AT_A_TERMINAL, ...command], { env });
    expect(stdout.replaceAll('\r', '')).toBe(`Key (it is not shown): \nKey ${team.keyId} (${displayOf(team.key)}…) is revoked.\n`);
    expect(status).toBe(0);
    expectProblem(await usage(team.key), 'key_revoked');
  });

  test('the manual’s commands work unchanged: a file with the key, ids and ports are filled in', async () => {
    const blocks = codeBlocks(manualSection('teams-and-keys', 'A leaked key: found and revoked in one minute'), 'sh');
    expect(blocks).toHaveLength(4);
    for (const [index, block] of blocks.entries()) {
      const team = await setting.gateway.team();
      expect((await usage(team.key)).status).toBe(200);
      const folder = temporaryFolder();
      writeFileSync(join(folder.path, 'leaked.txt'), `${team.key}\n`);
      const text = block
        .replaceAll('KEY_ID', team.keyId)
        .replaceAll('la_live_Ab3d', displayOf(team.key))
        .replaceAll('--team TEAM', `--team ${team.teamId} --yes --json`)
        .replaceAll(':9090', `:${setting.gateway.opsPort}`);
      expect([index, text === block]).toEqual([index, index === 0]);
      const env = { ...bareEnvironment(), NODE: process.execPath, MAIN, LINGATE_STORE: setting.url, LINGATE_ADMIN_TOKEN: TOKEN };
      const out = await outputOf('sh', ['-ec', text.replaceAll(/^lingate /gm, '"$NODE" "$MAIN" ')], {
        cwd: folder.path,
        env,
        uses: ['curl'],
      });
      folder.remove();
      // First its owner, then that it is revoked.
      expect(out.indexOf(team.teamId)).toBeGreaterThan(-1);
      expect(out.slice(out.indexOf(team.teamId))).toContain('revoked');
      expect(out).not.toContain(team.key);
      expectProblem(await usage(team.key), 'key_revoked');
    }
  });
});

const COMMANDS = await commandsOf();

describe('the command line', () => {
  const REFUSED = /^lingate: there is a key on the command line, .*"lingate key revoke --stdin" revokes it\.\n$/;

  test.each([
    ...COMMANDS.map(({ name }) => [...name.split(' '), NOBODYS]),
    [NOBODYS],
    ['--help', NOBODYS],
    ['help', NOBODYS],
    ['key', NOBODYS],
    ['key', 'find', '--display', NOBODYS],
    ['key', 'find', `--display=${NOBODYS}`],
    ['key', 'find', `--${NOBODYS}`],
    ['key', 'find', `--key=${NOBODYS}`],
    ['team', 'create', '--name', `for ${NOBODYS}`, '--plan', 'free'],
    ['team', 'list', '--store', `redis://:${NOBODYS}@127.0.0.1`],
    ['key', 'revoke', NOBODYS.slice(0, 40)],
    ['key', 'revoke', NOBODYS.toUpperCase()],
  ])('takes no key as an argument, and does not repeat it: %s %s', async (...args) => {
    const { status, stdout, stderr } = await inProcess(args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(REFUSED);
    expect(stderr.toLowerCase()).not.toContain(NOBODYS.slice(8, 20).toLowerCase());
  });

  test.each([
    ['', 'standard input is empty'],
    [`${NOBODYS}${NOBODYS}`, 'standard input does not contain a key'],
    [`${NOBODYS} ${NOBODYS}`, 'standard input does not contain a key'],
    [NOBODYS.slice(1), 'standard input does not contain a key'],
    [displayOf(NOBODYS), 'standard input does not contain a key'],
  ])('refuses an invalid key without repeating it (%#)', async (stdin, words) => {
    for (const command of [
      ['key', 'find'],
      ['key', 'revoke', '--stdin'],
    ]) {
      const { status, stdout, stderr } = await inProcess(command, {}, stdin);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toBe(
        `lingate ${command.slice(0, 2).join(' ')}: ${words}: give one whole key, la_live_ or la_test_ and 40 letters and digits\n`,
      );
    }
  });
});
