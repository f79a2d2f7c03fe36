// Hints name commands as they can be typed: through npm in a checkout, through npx beside a package, as they are in an image.
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { inProcess, temporaryFolder } from '../../support/lingate-command.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

describe.each<[what: string, env: Readonly<Record<string, string>>, start: string]>([
  ['npm in a checkout', { npm_lifecycle_event: 'lingate' }, 'npm run -s lingate --'],
  ['npx', { npm_command: 'exec' }, 'npx lingate'],
  ['a shell', {}, 'lingate'],
  ['another npm script', { npm_lifecycle_event: 'test', npm_command: 'run-script' }, 'lingate'],
])('started by %s', (_what, env, start) => {
  test('errors, help and next steps show commands as they can be typed; the failed command keeps its name', async () => {
    const wrong = await inProcess(['team', 'crate'], env);
    expect(wrong.stderr).toBe(`lingate team: unknown command "crate"; did you mean create? Run "${start} team --help".\n`);
    const missing = await inProcess(['team', 'list', '--store', `sqlite:${folder.path}/none.db`], env);
    expect(missing.stderr).toMatch(/^lingate team list: there is no database at /);
    expect(missing.stderr).toContain(`or create this one with "${start} team create" or "${start} serve"`);
    expect((await inProcess(['team', 'create', '--help'], env)).stdout).toContain(
      `\n  ${start} team create --name "Web shop" --plan pro\n`,
    );
    expect((await inProcess(['--help'], env)).stdout).toContain(`To try it: ${start} demo\n`);
    const made = await inProcess(
      ['team', 'create', '--name', 'A', '--plan', 'free', '--store', `sqlite:${join(folder.path, 'a.db')}`],
      env,
    );
    expect(made.stdout).toContain(`Next, a key for it: ${start} key create --team `);
  });

  test('the help of every command is about that command as it can be typed', async () => {
    for (const { name } of COMMANDS) {
      const { stdout } = await inProcess([...name.split(' '), '--help'], env);
      expect(stdout).toContain(`Usage: ${start} ${name} `);
      expect(stdout).toMatch(new RegExp(`^  ${start} ${name}\\b`, 'm'));
    }
  });

  test('output for programs is unchanged', async () => {
    const store = ['--store', `sqlite:${join(folder.path, 'b.db')}`];
    const name = ': lingate team list "lingate serve"';
    const made = await inProcess(['team', 'create', '--name', name, '--plan', 'free', '--json', ...store], env);
    expect((JSON.parse(made.stdout) as { name: string }).name).toBe(name);
  });
});
