// The checks of an image's contents find what does not belong there: each fault is planted in a folder that looks like an image.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BINARY, changeable, nativeBinaries, packageFaults, settingsOfTheBuilder, surplus } from './contents.ts';

const LOCK = JSON.stringify({
  packages: {
    '': {},
    'node_modules/plain': {},
    'node_modules/@scoped/one': {},
    'node_modules/plain/node_modules/inner': {},
    'node_modules/tool': { dev: true },
  },
});

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lingate-contents-'));
  for (const path of ['plain', '@scoped/one', 'plain/node_modules/inner']) put(`app/node_modules/${path}/package.json`);
  put(`app/node_modules/@scoped/one/${BINARY}`);
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true }));

function put(path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), '');
}

test('what belongs there is no fault', () => {
  expect(packageFaults(root, LOCK)).toEqual([]);
  expect(nativeBinaries(root)).toEqual([`app/node_modules/@scoped/one/${BINARY}`]);
  expect(settingsOfTheBuilder(root)).toEqual([]);
});

test('a development dependency, a package of nobody, and one that is missing', () => {
  put('app/node_modules/tool/package.json');
  put('app/node_modules/plain/node_modules/stray/package.json');
  rmSync(join(root, 'app/node_modules/@scoped'), { recursive: true });
  expect(packageFaults(root, LOCK).toSorted()).toEqual([
    'node_modules/@scoped/one is missing',
    'node_modules/plain/node_modules/stray is not needed',
    'node_modules/tool is not needed',
  ]);
});

test('a second native binary', () => {
  put('app/node_modules/plain/other.node');
  expect(nativeBinaries(root)).toHaveLength(2);
});

test('a file that anybody may write', () => {
  chmodSync(join(root, 'app/node_modules/plain/package.json'), 0o666);
  expect(changeable(root)).toContain('app/node_modules/plain/package.json');
});

test('a source, and a declaration', () => {
  for (const path of ['dist/main.js', 'dist/cli/run.d.ts', 'src/lingate.js', 'src/main.ts', 'config/examples/plugin.ts'])
    put(`app/${path}`);
  put('app/node_modules/plain/index.d.ts');
  expect(surplus(root).toSorted()).toEqual(['app/dist/cli/run.d.ts', 'app/src/main.ts']);
});

test.each(['usr/local/etc/npmrc', 'usr/local/etc/ca.pem', 'app/.npmrc', 'etc/ssl/certs/ca-certificates.crt'])(
  '%s of the machine that built it',
  (path) => {
    put(path);
    expect(settingsOfTheBuilder(root)).toEqual([path]);
  },
);
