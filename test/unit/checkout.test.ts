// What Node makes of the sources is kept in node_modules/.cache: used if it is of exactly this source, and only written by its owner.
import { hash } from 'node:crypto';
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/lingate-command.ts';
import { OWN_NODE, outputOf } from '../support/start-program.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

let checkout: string;
let kept: string;
let count = 0;

beforeEach(() => {
  checkout = join(folder.path, String(count++));
  kept = join(checkout, 'node_modules/.cache/lingate', process.version);
  mkdirSync(join(checkout, 'src/cli'), { recursive: true });
  for (const file of ['package.json', 'src/lingate.js', 'src/supported-node.js', 'src/checkout.js']) {
    cpSync(new URL(`../../${file}`, import.meta.url), join(checkout, file));
  }
  write('main.ts', "import { answer } from './cli/answer.ts';\nconsole.log(answer satisfies number);\n");
  write('cli/answer.ts', 'export const answer: number = 41;\n');
});

function write(file: string, text: string): void {
  writeFileSync(join(checkout, 'src', file), text);
}

function run(): Promise<string> {
  return outputOf(OWN_NODE, [join(checkout, 'src/lingate.js')], { cwd: checkout });
}

describe('with node_modules of our own', () => {
  beforeEach(() => mkdirSync(join(checkout, 'node_modules')));

  test('each source is kept once, and used in the next run', async () => {
    expect(await run()).toBe('41\n');
    expect(readdirSync(kept).toSorted()).toEqual(['cli+answer.ts', 'main.ts']);
    const source = readFileSync(join(checkout, 'src/cli/answer.ts'), 'utf8');
    const other = 'export const answer = 42;';
    writeFileSync(join(kept, 'cli+answer.ts'), `${other}\n//${hash('sha256', `${source}\0${other}`)}`);
    expect(await run()).toBe('42\n');
  });

  test('a source that has changed is not run as it was', async () => {
    await run();
    write('cli/answer.ts', 'export const answer: number = 43;\n');
    expect(await run()).toBe('43\n');
    expect(readdirSync(kept).toSorted()).toEqual(['cli+answer.ts', 'main.ts']);
  });

  test.each([
    ['incomplete', (whole: string) => whole.slice(0, -1)],
    ['damaged', (whole: string) => whole.replace('41', '\0\0')],
    ['empty', () => ''],
  ])('what is %s is made again', async (_what, damaged) => {
    await run();
    const file = join(kept, 'cli+answer.ts');
    const whole = readFileSync(file, 'utf8');
    writeFileSync(file, damaged(whole));
    expect(await run()).toBe('41\n');
    expect(readFileSync(file, 'utf8')).toBe(whole);
  });

  test('a cache that cannot be written is done without', async () => {
    writeFileSync(join(checkout, 'node_modules/.cache'), '');
    expect(await run()).toBe('41\n');
  });

  test('what could not be written leaves nothing behind', async () => {
    mkdirSync(join(kept, 'main.ts'), { recursive: true });
    expect(await run()).toBe('41\n');
    expect(readdirSync(kept)).toEqual(['main.ts']);
  });
});

test('without node_modules, or with those of somebody else, nothing is written', async () => {
  expect(await run()).toBe('41\n');
  expect(existsSync(join(checkout, 'node_modules'))).toBe(false);
  const others = join(checkout, 'node_modules');
  if (process.getuid?.() === 0) {
    mkdirSync(others);
    chownSync(others, 1, 1);
  } else symlinkSync('/usr', others);
  expect(await run()).toBe('41\n');
  expect(existsSync(join(others, '.cache'))).toBe(false);
});
