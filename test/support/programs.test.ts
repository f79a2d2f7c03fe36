// Tests start only programs of the table: no other file starts processes, and every program is where the table says.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { TASKS } from '../task.ts';
import { COMMANDS, needsOf, PARTS, PROGRAMS } from './programs.ts';
import type { Need } from './programs.ts';
import { FROM_NPM } from './start-program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Which files may use child_process, and why. Types may be imported anywhere. */
const STARTERS: Readonly<Record<string, string>> = {
  'test/support/start-program.ts': 'the only way',
  'src/build.ts': 'runs the compiler on our own Node',
  'src/bill-of-materials.ts': 'has npm list the packages',
  'src/release.ts': 'runs npm and git to make a release',
  'src/app/worker-process.ts': "forks the gateway's workers, which run our own entry on our own Node",
};
/** npm scripts that start only Node and what npm installs. */
const WITHOUT_PROGRAMS =
  'lingate start dev build manual vendors test:package simulate fuzz task prepare format format:check lint typecheck static check'.split(
    ' ',
  );
/** Paths that are not programs that we start. */
const OTHER_PATHS: Readonly<Record<string, string>> = {
  '/usr/bin/env': 'the first line of an entry',
  '/usr/local/bin/lingate': 'in the image',
  '/usr/bin': 'a PATH',
  '/bin': 'a PATH',
  '/usr/local/sbin': 'a PATH',
  '/usr/sbin': 'a PATH',
  '/usr/local/bin': 'a PATH',
  '/sbin': 'a PATH',
  '/bin/sh': 'what an attacker requests',
};

const files = ['src', 'test', 'bench'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[cm]?[jt]s$/.test(name))
    .map((name) => `${folder}/${name}`),
);
const needs: readonly (readonly [name: string, need: Need])[] = Object.entries<Need>({ ...PROGRAMS, ...PARTS });
const packageJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const found = (pattern: RegExp): { file: string; found: string }[] =>
  files.flatMap((file) => [...read(file).matchAll(pattern)].map((match) => ({ file, found: match[1]! })));

describe('programs', () => {
  test('are started in one place only', () => {
    const touching = found(/^(?!import type ).*(?:node:|['"`])(child_process|(?<=node:)cluster)\b/gm).map(({ file }) => file);
    expect([...new Set(touching)].toSorted()).toEqual(Object.keys(STARTERS).toSorted());
  });

  test('are started by their names in the table', () => {
    const started = found(/\b(?:launch|startProgram|runProgram|outputOf|startPinned)\(\s*'([^']+)'/g);
    expect(started.length).toBeGreaterThan(20);
    expect(
      started.filter(({ found: name }) => !['node', 'npm', 'npx', ...FROM_NPM].includes(name) && !Object.hasOwn(PROGRAMS, name)),
    ).toEqual([]);
  });

  test('get their paths only from the table', () => {
    const paths = found(/(?<![\w.{}$])((?:\/usr(?:\/local)?)?\/s?bin(?:\/[\w.-]+)?)/g).filter(
      ({ file }) => !file.startsWith('test/support/programs'),
    );
    expect(paths.filter(({ found: path }) => !Object.hasOwn(OTHER_PATHS, path))).toEqual([]);
  });

  test.each(needs)('of the table exist: %s', (_name, { file, for: commands }) => {
    // Programs of other commands may be missing here.
    if (commands.includes('test')) expect(existsSync(file)).toBe(true);
    expect(file).toMatch(/^\/usr\/(?:s?bin|lib|share)\//);
  });

  test('are listed for every task and npm script that starts any', () => {
    const known = [...COMMANDS, ...WITHOUT_PROGRAMS];
    const names = new Set([...Object.keys(packageJson.scripts), ...Object.keys(TASKS)]);
    expect([...names].filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(COMMANDS)('%s is a task, which first installs what it starts', (command) => {
    expect(Object.keys(TASKS)).toContain(command);
    const script = packageJson.scripts[command];
    if (script !== undefined) expect(script).toBe(`${packageJson.scripts['task']!} ${command}`);
    expect(needsOf(command).length).toBeGreaterThan(0);
  });
});
