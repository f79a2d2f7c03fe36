// serve and demo as processes: what they print, when they refuse to start, how they stop, what they keep.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { inProcess, lingate, parsed } from '../support/lingate-command.ts';
import type { Ended } from '../support/lingate-command.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { builtInProtocols } from '../support/door/tables.ts';
import { startedUntil } from '../support/started.ts';
import { outputOf, startProgram } from '../support/start-program.ts';

const FREE = ['--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'];

const started = startedUntil(afterEach);

describe('demo', () => {
  /** The line to paste, as soon as it is printed. */
  async function curlOf(demo: GatewayProcess): Promise<string> {
    const find = (): string | undefined =>
      demo
        .output()
        .split('\n')
        .slice(0, -1)
        .find((line) => line.startsWith('curl '));
    await expect.poll(find).toBeDefined();
    return find()!;
  }

  const signedIn = async ({ opsUrl }: GatewayProcess, token: string): Promise<number | undefined> =>
    (await new ConsoleVisitor(Number(new URL(opsUrl).port)).signIn(token)).status;

  test('prints its addresses, a token with which its console can be used, and a curl line that translates; after a kill, team, key and usage are kept; problems link to its pages', async () => {
    const first = await startGatewayProcess({ args: ['demo', ...FREE], cwd: started.folder });
    const line = await curlOf(first);
    expect(first.output()).toContain(`API      ${first.url}`);
    expect(first.output()).toContain(`console  ${first.opsUrl}/console`);
    const stdout = await outputOf('sh', ['-c', line], { uses: ['curl'] });
    expect(JSON.parse(stdout)).toEqual({
      translations: [{ detected_source_language: 'EN', text: 'Hallo, Welt!' }],
      billed_characters: 13,
    });
    const before = JSON.parse(await readFile(join(started.folder, 'data/demo.json'), 'utf8')) as {
      team_id: string;
      key: string;
      console_token: string;
    };
    expect((await stat(join(started.folder, 'data/demo.json'))).mode & 0o777).toBe(0o600);
    expect(line).toContain(before.key);
    expect(first.output()).toContain(`token    ${before.console_token}\n`);
    expect(await signedIn(first, before.console_token)).toBe(303);
    expect(await signedIn(first, `${before.console_token}x`)).toBe(401);
    await expect.poll(() => usage(before.team_id)).toMatchObject({ character_count: 13 });
    expect(await first.end('SIGKILL')).toBe('SIGKILL');

    const second = await startGatewayProcess({ args: ['demo', ...FREE], cwd: started.folder });
    expect((await curlOf(second)).split(' -d ')[0]).toContain(before.key);
    await outputOf('sh', ['-c', await curlOf(second)], { uses: ['curl'] });
    await expect.poll(() => usage(before.team_id)).toMatchObject({ character_count: 26 });

    expect(second.output()).toContain(`token    ${before.console_token}\n`);
    expect(await signedIn(second, before.console_token)).toBe(303);

    // A problem links to a page that the demo's own ops listener serves.
    const { type } = (await (await fetch(`${second.url}/nowhere`)).json()) as { type: string };
    expect(type).toBe(`${second.opsUrl}/docs/errors#not-found`);
    expect(await (await fetch(type)).text()).toContain('id="not-found"');
    expect(await second.end('SIGINT')).toBe(0);
  });

  // npm passes a signal to its child; a shell in between would end and leave the gateway behind with its ports.
  test('started by npm, it stops when npm is signalled', async () => {
    const args = ['run', '--silent', 'lingate', '--', 'serve', '--store', `sqlite:${started.folder}/npm.db`, ...FREE];
    const npm = await startProgram('npm', args, { ready: /"msg":"lingate is ready/ });
    let output = '';
    npm.child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    npm.child.kill('SIGTERM');
    // Every process that holds its pipes has ended.
    await npm.ended;
    expect(output).toContain('"msg":"lingate has stopped"');
  });

  async function usage(team: string): Promise<unknown> {
    return parsed(await inProcess(['usage', team, '--store', `sqlite:${started.folder}/data/lingate.db`, '--json']));
  }
});

describe('a gateway that cannot start says so in one clear line', () => {
  test.each<[string, readonly string[], number, RegExp]>([
    ['a bad flag', ['--lisen', 'x'], 2, /^lingate serve: unknown flag --lisen; did you mean --listen\?.*\n$/],
    ['an unreachable store', [...FREE, '--store', 'redis://127.0.0.1:1'], 1, /^lingate serve: .*redis:\/\/127\.0\.0\.1:1.*\n$/],
    ['a missing configuration', ['--config', 'none.yaml'], 1, /^none\.yaml: .*\n$/],
    ['a bad address', ['--listen', 'nowhere'], 2, /^lingate serve: --listen: .*\n$/],
    [
      'an unknown protocol',
      [...FREE, '--engine-protocol', 'soap'],
      2,
      new RegExp(`^lingate serve: --engine-protocol: there is no "soap"; the protocols are ${[...builtInProtocols.keys()].join(', ')}\\n$`),
    ],
    ['an unknown kind of store', [...FREE, '--store', 'mysql://x'], 2, /^lingate serve: --store: .*sqlite:PATH.*\n$/],
    ['a store with a password', [...FREE, '--store', 'redis://user:hunter2@127.0.0.1:1'], 1, /^(?!.*hunter2)lingate serve: .*\n$/],
  ])('%s', async (_name, args, status, stderr) => {
    expectRefused(await inProcess(['serve', ...args]), status, stderr);
  });

  function expectRefused(ended: Ended, status: number, stderr: RegExp): void {
    expect(ended.stderr).toMatch(stderr);
    expect(ended.status).toBe(status);
    expect(ended.stdout).not.toContain('ready');
  }

  test('a wrong configuration lists every error at once with path, value and reason', async () => {
    const file = join(started.folder, 'bad.yaml');
    await writeFile(file, 'listen: 5\nplans: { free: { billing: quota, requests_per_second: 0 } }\nlimit: {}\n');
    const { status, stderr } = await inProcess(['serve', '--config', file]);
    expect(status).toBe(1);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.every((line) => line.startsWith(`${file}: `))).toBe(true);
    for (const path of ['listen', 'plans.free.requests_per_second', 'limit']) expect(lines.some((line) => line.includes(path))).toBe(true);
  });

  const byProcess = (args: readonly string[]): Promise<Ended> => lingate(args, { cwd: started.folder });

  // The public port is the last thing that is opened, so by a process: nothing may keep it running.
  test.each([
    ['serve', '--listen', byProcess],
    ['serve', '--ops', inProcess],
    ['demo', '--listen', byProcess],
  ])('a port in use (%s %s)', async (command, flag, run) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const address = `127.0.0.1:${port}`;
    const args = flag === '--listen' ? ['--listen', address, '--ops', '127.0.0.1:0'] : ['--listen', '127.0.0.1:0', '--ops', address];
    const { status, stderr } = await run([command, ...args, '--store', `sqlite:${started.folder}/x.db`]);
    other.close();
    expect(status).toBe(1);
    expect(stderr).toMatch(/^(?:lingate demo: made a new database, [^\n]+\n)?lingate (?:serve|demo): [^\n]*in use[^\n]*\n$/);
    expect(stderr).toContain(address);
  });
});

describe('serve stops', () => {
  // Both listeners, and what else may be open: evidence/drain.
  test('on SIGTERM it finishes a request in flight, charges it, and exits with 0', async () => {
    const engine = await started.engine();
    const store = `sqlite:${started.folder}/lingate.db`;
    const args = ['serve', ...FREE, '--store', store, '--engine-url', engine.url];
    const gateway = await startGatewayProcess({ args, cwd: started.folder });
    const team = parsed(await inProcess(['team', 'create', '--name', 'T', '--plan', 'free', '--store', store, '--json'])) as {
      team_id: string;
    };
    const created = await inProcess(['key', 'create', '--team', team.team_id, '--mode', 'live', '--store', store, '--json']);
    const { key } = parsed(created) as { key: string };
    engine.behave((_request, response) => {
      gateway.process.kill('SIGTERM');
      const stopping = setInterval(() => {
        if (!gateway.output().includes('"msg":"stopping"')) return;
        clearInterval(stopping);
        response.end('{"translations":[{"text":"late"}]}');
      }, 300);
    });
    const response = await fetch(`${gateway.url}/v1/translate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ text: ['Hello'], target_lang: 'DE' }),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('connection')).toBe('close');
    await response.arrayBuffer();
    expect(await gateway.end('SIGCONT')).toBe(0);
    await expect(fetch(gateway.url)).rejects.toThrow('fetch failed');
    expect(parsed(await inProcess(['usage', team.team_id, '--store', store, '--json']))).toMatchObject({ character_count: 5 });
  });
});
