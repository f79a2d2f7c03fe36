// A program that cannot start, ends early, or takes too long is reported at once and by name; none outlives the test.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isRunning } from './process-tree.ts';
import { PROGRAMS } from './programs.ts';
import { COMMAND_VARIABLE, launch, outputOf, runProgram, startProgram } from './start-program.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-programs-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** As on a machine where the program is installed elsewhere. */
async function withFile<T>(file: string, run: () => Promise<T>): Promise<T> {
  const row = PROGRAMS.openssl as { file: string };
  const usual = row.file;
  row.file = file;
  try {
    return await run();
  } finally {
    row.file = usual;
  }
}

describe('a program', () => {
  test('that does not exist is reported by name and package, in every way of starting it', async () => {
    await withFile('/nowhere/openssl', async () => {
      const told = 'openssl cannot be started: there is no /nowhere/openssl; install the Debian package openssl';
      await expect(startProgram('openssl', [], { ready: /x/ })).rejects.toThrow(told);
      await expect(runProgram('openssl', [])).rejects.toThrow(told);
      await expect(outputOf('openssl', [])).rejects.toThrow(told);
      expect(() => launch('openssl', [])).toThrow(told);
      expect(() => launch('node', [], { uses: ['openssl'] })).toThrow(told);
    });
  });

  test('that exists but is no program is reported', async () => {
    const file = join(folder, 'broken');
    await writeFile(file, '#!/nowhere/interpreter\n');
    await chmod(file, 0o755);
    await withFile(file, async () => {
      await expect(startProgram('openssl', [], { ready: /x/ })).rejects.toThrow(
        /^openssl \(Debian package openssl\) could not be started: /,
      );
      await expect(runProgram('openssl', [])).rejects.toThrow(/^openssl \(Debian package openssl\) could not be started/);
    });
  });

  test('that ends before it is ready is reported at once, with its output', async () => {
    const started = startProgram('node', ['-e', 'console.error("no port"); process.exit(3)'], { ready: /ready/ });
    await expect(started).rejects.toThrow('a program of our own ended with 3 before it was ready; it said: no port');
    const asked = startProgram('redis-server', ['--no-such-setting', '1'], { ready: () => new Promise(() => undefined) });
    await expect(asked).rejects.toThrow(/^redis-server \(Debian package redis-server\) ended with 1 before it was ready; it said: /);
  });

  test('that is not ready in time is reported, and killed with everything that it started', async () => {
    const args = ['-c', 'sleep 600 & echo child $!; wait'];
    const program = launch('sh', args, { uses: ['sleep'] });
    await expect(program.until(/ready/, 300)).rejects.toThrow(/^sh \(Debian package dash\) was not ready within 0.3 s; it said: child \d+/);
    const sleeper = Number(/child (\d+)/.exec(program.output)![1]);
    expect(isRunning(sleeper)).toBe(true);
    expect(await program.end()).toEqual({ status: null, signal: 'SIGKILL' });
    await expect.poll(() => isRunning(sleeper)).toBe(false);
  });

  test('that does not end in time is reported, and killed', async () => {
    const run = runProgram('node', ['-e', 'console.log("busy"); setInterval(() => {}, 1000)'], { msMax: 500 });
    await expect(run).rejects.toThrow('a program of our own did not end within 0.5 s; it said: busy');
  });

  test('that fails is reported with its errors when only its output was wanted', async () => {
    await expect(outputOf('node', ['-e', 'console.error("why"); process.exit(4)'])).rejects.toThrow(
      'a program of our own ended with 4; it said: why',
    );
    expect(await runProgram('node', ['-e', 'process.exit(4)'])).toMatchObject({ status: 4 });
    expect(await outputOf('node', ['-p', '6 * 7'])).toBe('42\n');
  });

  test('that the table does not list for this npm script is not started', () => {
    vi.stubEnv(COMMAND_VARIABLE, 'test');
    expect(() => launch('strace', [])).toThrow('strace is started in test, for which test/support/programs.ts does not list it');
    vi.unstubAllEnvs();
  });

  test('is not started by a shell unless it was declared', () => {
    expect(() => launch('sh', ['-c', 'sleep 1; curl x'], { uses: ['curl'] })).toThrow('a shell would start sleep');
  });

  test('ends when we end, however that happens', async () => {
    const start = `
      const { launch } = await import('${new URL('start-program.ts', import.meta.url).href}');
      const sleeper = launch('sleep', ['600']);
      console.log('sleeper', sleeper.pid);`;
    const endings = [
      ['process.exit(5)', { status: 5, signal: null }],
      ['throw new Error("broken")', { status: 1, signal: null }],
      ['process.kill(process.pid, "SIGTERM")', { status: null, signal: 'SIGTERM' }],
      ['process.kill(process.pid, "SIGINT")', { status: null, signal: 'SIGINT' }],
    ] as const;
    const ends = async ([end, expected]: (typeof endings)[number]): Promise<void> => {
      const program = launch('node', ['--input-type=module', '-e', `${start} setTimeout(() => { ${end} }, 50);`]);
      expect(await program.ended, program.output).toEqual(expected);
      const sleeper = Number(/sleeper (\d+)/.exec(program.output)![1]);
      await expect.poll(() => isRunning(sleeper)).toBe(false);
    };
    await Promise.all(endings.map(ends));
  });
});
