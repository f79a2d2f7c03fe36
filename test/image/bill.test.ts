// The check of an image's bill of materials finds what is listed and not there, and what is there and not listed; a base image must be pinned.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withoutDigests } from './base-image.ts';
import { BILL, billFaults } from './bill.ts';

const LOCK = JSON.stringify({
  packages: {
    '': {},
    'node_modules/one': { version: '1.0.0' },
    'node_modules/@a/two': { version: '2.0.0' },
    'node_modules/tool': { dev: true },
  },
});
const OTHERS = ['node@24.0.0', 'libc6@2.41'];
const npm = (name: string, version: string) => ({ name, version, purl: `pkg:npm/${name}@${version}` });
const WHOLE = [
  npm('one', '1.0.0'),
  npm('@a/two', '2.0.0'),
  { name: 'node', version: '24.0.0' },
  { name: 'libc6', version: '2.41', purl: 'pkg:deb/x' },
];

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lingate-bill-'));
  put('app/node_modules/one/package.json', { version: '1.0.0' });
  put('app/node_modules/@a/two/package.json', { version: '2.0.0' });
});

afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, content: object): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), JSON.stringify(content));
}

const faults = (components: readonly object[], others = OTHERS): string[] => {
  put(BILL, { components });
  return billFaults(root, LOCK, others);
};

test('what is whole is no fault', () => {
  expect(faults(WHOLE)).toEqual([]);
});

test('a package that is not listed, and one that is not there', () => {
  expect(faults(WHOLE.slice(1))).toEqual([
    'one@1.0.0 is in the lock file and not listed',
    'one@1.0.0 is in the file system and not listed',
  ]);
  expect(faults([...WHOLE, npm('three', '3.0.0')])).toEqual([
    'three@3.0.0 is listed and not in the lock file',
    'three@3.0.0 is listed and not in the file system',
  ]);
});

test('another version than the installed one', () => {
  put('app/node_modules/one/package.json', { version: '1.0.1' });
  expect(faults(WHOLE)).toEqual(['one@1.0.0 is listed and not in the file system', 'one@1.0.1 is in the file system and not listed']);
});

test('a package of Debian, and Node', () => {
  expect(faults(WHOLE, [...OTHERS, 'bash@5.2'])).toEqual(['bash@5.2 is in the base system and not listed']);
  expect(faults(WHOLE, ['libc6@2.41'])).toEqual(['node@24.0.0 is listed and not in the base system']);
});

test('a stage must begin with an image that is pinned by its content', () => {
  const digest = `@sha256:${'a'.repeat(64)}`;
  expect(withoutDigests(`FROM x:1${digest} AS one\nRUN y\nFROM x:1${digest}\n`)).toBe('FROM x:1 AS one\nRUN y\nFROM x:1\n');
  expect(() => withoutDigests(`FROM x:1${digest}\nFROM x:2\n`)).toThrow('begins with x:2, which is not pinned');
});
