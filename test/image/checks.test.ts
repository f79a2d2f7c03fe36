// The checks of an image find what does not belong there or is not listed: each fault is planted in a folder that looks like an image.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withoutDigests } from './base-image.ts';
import { BILL, billFaults } from './bill.ts';
import { BINARY, changeable, nativeBinaries, packageFaults, settingsOfTheBuilder, surplus } from './contents.ts';

const LOCK = JSON.stringify({
  packages: {
    '': {},
    'node_modules/one': { version: '1.0.0' },
    'node_modules/@a/two': { version: '2.0.0' },
    'node_modules/tool': { dev: true },
  },
});
const BASE = ['node@24.0.0', 'libc6@2.41'];
const npm = (name: string, version: string) => ({ name, version, purl: `pkg:npm/${name}@${version}` });
const LISTED = [npm('one', '1.0.0'), npm('@a/two', '2.0.0'), { name: 'node', version: '24.0.0' }, { name: 'libc6', version: '2.41' }];
const NATIVE = `app/node_modules/@a/two/${BINARY}`;

/** A whole image with these files besides; returns its folder. */
function image(more: Readonly<Record<string, object>> = {}): string {
  const root = mkdtempSync(join(tmpdir(), 'lingate-image-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const whole = {
    'app/node_modules/one/package.json': { version: '1.0.0' },
    'app/node_modules/@a/two/package.json': { version: '2.0.0' },
    [NATIVE]: {},
    'app/dist/main.js': {},
    'app/src/lingate.js': {},
    'app/config/examples/plugin.ts': {},
    [BILL]: { components: LISTED },
  };
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true });
  for (const [path, content] of Object.entries({ ...whole, ...more })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), JSON.stringify(content));
  }
  return root;
}

test('a whole one has no faults', () => {
  const root = image();
  expect([...packageFaults(root, LOCK), ...surplus(root), ...settingsOfTheBuilder(root), ...billFaults(root, LOCK, BASE)]).toEqual([]);
  expect(nativeBinaries(root)).toEqual([NATIVE]);
});

test('what is only for development, of the builder, changeable or missing is found', () => {
  const ofTheBuilder = ['usr/local/etc/npmrc', 'usr/local/etc/ca.pem', 'etc/ssl/certs/ca-certificates.crt', 'app/.npmrc'];
  const root = image({
    'app/node_modules/tool/package.json': {},
    'app/node_modules/one/other.node': {},
    'app/src/main.ts': {},
    'app/dist/run.d.ts': {},
    ...Object.fromEntries(ofTheBuilder.map((path) => [path, {}])),
  });
  rmSync(join(root, 'app/node_modules/@a'), { recursive: true });
  chmodSync(join(root, 'app/dist/main.js'), 0o666);
  expect(packageFaults(root, LOCK)).toEqual(['node_modules/tool is not needed', 'node_modules/@a/two is missing']);
  expect(nativeBinaries(root)).toEqual(['app/node_modules/one/other.node']);
  expect(surplus(root)).toEqual(['app/dist/run.d.ts', 'app/src/main.ts']);
  expect(settingsOfTheBuilder(root)).toEqual(expect.arrayContaining(ofTheBuilder));
  expect(changeable(root)).toContain('app/dist/main.js');
});

test('a bill that lists what is not there, or leaves out what is, is found', () => {
  const root = image({ [BILL]: { components: [...LISTED.slice(1), npm('three', '3.0.0')] } });
  expect(billFaults(root, LOCK, [...BASE.slice(1), 'bash@5.2'])).toEqual([
    'three@3.0.0 is listed and not in the lock file',
    'one@1.0.0 is in the lock file and not listed',
    'three@3.0.0 is listed and not in the file system',
    'one@1.0.0 is in the file system and not listed',
    'node@24.0.0 is listed and not in the base system',
    'bash@5.2 is in the base system and not listed',
  ]);
});

test('a base image that is not pinned by its content is refused', () => {
  expect(withoutDigests(`FROM node:24@sha256:${'0'.repeat(64)} AS one`)).toBe('FROM node:24 AS one');
  expect(() => withoutDigests('FROM node:24')).toThrow('node:24, which is not pinned by its content');
});
