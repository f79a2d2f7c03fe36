// A run of vitest that takes too long is stopped: it fails, reports which tests were running, and leaves nothing behind.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, test } from 'vitest';
import { isRunning } from './process-tree.ts';
import { launch } from './start-program.ts';
import type { Program } from './started-program.ts';

const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const href = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

/** Vitest reports what has begun in batches, at most a tenth of a second apart: what is printed after this comes later. */
const REPORTED = 'new Promise((resolve) => setTimeout(resolve, 400))';

/** One test waits for ever with a program that it started; one blocks its process; one has finished; one hangs before its first test. */
const FILES: Readonly<Record<string, string>> = {
  'waits.test.js': `
    import { launch } from ${href('start-program.ts')};
    test('is done', () => {});
    test('waits for ever', async () => {
      await ${REPORTED};
      console.log('sleeper', launch('sleep', ['600']).pid);
      await new Promise(() => {});
    });`,
  'blocks.test.js': `
    test('blocks', async () => {
      await ${REPORTED};
      console.log('is about to block');
      await ${REPORTED};
      for (;;);
    });`,
  'hook.test.js': `beforeAll(async () => { await ${REPORTED}; console.log('is in its hook'); await new Promise(() => {}); }); test('never begins', () => {});`,
};

const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function start(minutes: number): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-suite-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
  const config = `
    import { suiteLimit } from ${href('suite-limit.ts')};
    const test = { globals: true, maxWorkers: 3, testTimeout: 0, hookTimeout: 0, reporters: ['json'] };
    export default { plugins: [suiteLimit(${minutes})], test };`;
  await writeFile(join(folder, 'vitest.config.js'), config);
  const args = [VITEST, 'run', '--config', join(folder, 'vitest.config.js'), '--root', folder, '--reporter=default'];
  return launch('node', args, { env: { ...process.env, NO_COLOR: '1', CI: '1' } });
}

// Both at once, because they mostly wait.
test.concurrent('at its time limit', async ({ expect }) => {
  const cutAfter = async (minutes: number): Promise<string> => {
    const run = await start(minutes);
    expect(await run.ended).toEqual({ status: 1, signal: null });
    expect(run.output).toContain(`The suite was cut after ${minutes} minutes. These were running:\n`);
    // A busy machine may have begun nothing by then.
    return run.output.includes('.test.js (for ') ? run.output : cutAfter(minutes * 2);
  };
  expect(await cutAfter(0.04)).toContain('  waits.test.js (for ');
});

test.concurrent('on a signal, as when CI stops it', async ({ expect }) => {
  const run = await start(10);
  for (const begun of [/sleeper \d+/, /is about to block/, /is in its hook/]) await run.until(begun, 30_000);
  run.child.kill('SIGTERM');
  expect(await run.ended).toEqual({ status: 1, signal: null });
  const output = run.output.slice(run.output.indexOf('The suite was cut'));
  expect(output).toContain('The suite was cut by SIGTERM. These were running:\n');
  const names = ['waits.test.js > waits for ever', 'blocks.test.js > blocks', 'hook.test.js > beforeAll'];
  for (const name of names) expect(output).toContain(`  ${name} (for `);
  expect(output).not.toContain('is done');
  const sleeper = Number(/sleeper (\d+)/.exec(run.output)![1]);
  await expect.poll(() => isRunning(sleeper)).toBe(false);
});
