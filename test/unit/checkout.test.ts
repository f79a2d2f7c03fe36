// What Node makes of the sources is kept in node_modules/.cache: used if it is of exactly this source and its owner wrote it, and only
// written by that user.
import { hash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

/** Replaces the kept JavaScript of `cli/answer.ts` by another that is marked as if it were made of it. */
function plant(other: string): string {
  const source = readFileSync(join(checkout, 'src/cli/answer.ts'), 'utf8');
  const file = join(kept, 'cli+answer.ts');
  writeFileSync(file, `${other}\n//${hash('sha256', `${source}\0${other}`)}`);
  return file;
}

function run(): Promise<string> {
  return outputOf(OWN_NODE, [join(checkout, 'src/lingate.js')], { cwd: checkout });
}

/** As the Dockerfile does it. */
function keepAll(): Promise<string> {
  const command = `import(${JSON.stringify(join(checkout, 'src/checkout.js'))}).then(({ keepAll }) => keepAll())`;
  return outputOf(OWN_NODE, ['--eval', command]);
}

describe('with node_modules of our own', () => {
  beforeEach(() => mkdirSync(join(checkout, 'node_modules')));

  test('each source is kept once, and used in the next run', async () => {
    expect(await run()).toBe('41\n');
    expect(readdirSync(kept).toSorted()).toEqual(['cli+answer.ts', 'main.ts']);
    plant('export const answer = 42;');
    expect(await run()).toBe('42\n');
  });

  test.each([
    ['its group', 0o664],
    ['everybody', 0o646],
  ])('a kept file that %s may write is not used', async (_who, mode) => {
    await run();
    const file = plant('export const answer = 42;');
    chmodSync(file, mode);
    expect(await run()).toBe('41\n');
    expect(statSync(file).mode & 0o022).toBe(0);
  });

  test('every source can be kept in advance, for users who may only read it', async () => {
    write('cli/not-imported.ts', 'export const other: number = 1;\n');
    await keepAll();
    expect(readdirSync(kept).toSorted()).toEqual(['cli+answer.ts', 'cli+not-imported.ts', 'main.ts']);
    const file = plant('export const answer = 42;');
    // From here on, whoever runs it may not write there: not being the owner, or, for anyone but root, by the folders' modes.
    if (process.getuid?.() === 0) for (const each of [join(checkout, 'node_modules'), file]) chownSync(each, 1, 1);
    else chmodSync(kept, 0o555);
    write('main.ts', "import { answer } from './cli/answer.ts';\nconsole.log(answer + 1 satisfies number);\n");
    const before = readFileSync(join(kept, 'main.ts'), 'utf8');
    expect(await run()).toBe('43\n');
    expect(readFileSync(join(kept, 'main.ts'), 'utf8')).toBe(before);
    chmodSync(kept, 0o755);
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

  test('a cache that cannot be written is done without, but keeping every source in advance fails', async () => {
    writeFileSync(join(checkout, 'node_modules/.cache'), '');
    expect(await run()).toBe('41\n');
    await expect(keepAll()).rejects.toThrow('cannot write');
  });

  test('what could not be written leaves nothing behind', async () => {
    mkdirSync(join(kept, 'main.ts'), { recursive: true });
    expect(await run()).toBe('41\n');
    expect(readdirSync(kept)).toEqual(['main.ts']);
  });
});

test.runIf(process.getuid?.() === 0)('a kept file of somebody else than the owner of node_modules is not used', async () => {
  mkdirSync(join(checkout, 'node_modules'));
  await run();
  chownSync(plant('export const answer = 42;'), 1, 1);
  expect(await run()).toBe('41\n');
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
