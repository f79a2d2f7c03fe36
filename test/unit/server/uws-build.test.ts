// Which build of uWebSockets.js is loaded: the first that can be, only as it was looked at, and an upstream release of the operator's own.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { describeUws, load, loadUws } from '../../../src/server/uws-build.ts';
import type { Candidate } from '../../../src/server/uws-build.ts';
import { outputOf } from '../../support/start-program.ts';
import { NEWER, OLDER } from '../../../src/server/uws-pins.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
const PACKAGES = { [NEWER.name]: NEWER, [OLDER.name]: OLDER };
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderOf(content?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-uws-'));
  folders.push(folder);
  if (content !== undefined) writeFileSync(join(folder, BINARY), content);
  return folder;
}

const candidate = (pin: Candidate['pin'], folder: string, version = pin?.version ?? '20.70.0'): Candidate => ({
  name: pin?.name ?? 'uWebSockets.js',
  version,
  folder,
  pin,
});

/** A gateway's listener code in a place of its own, with the packages that a test puts beside it. */
function place(): {
  readonly folder: string;
  install(as: string, manifest: object, from: typeof NEWER, folder: string): void;
  load(env?: object): Promise<string>;
} {
  const folder = folderOf();
  mkdirSync(join(folder, 'src/server'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of ['uws-build.ts', 'uws-pins.ts', 'listener.ts', 'body-collector.ts']) {
    copyFileSync(join(root, 'src/server', name), join(folder, 'src/server', name));
  }
  return {
    folder,
    install(as, manifest, from, inside) {
      const home = join(folder, 'node_modules', as);
      mkdirSync(join(home, inside), { recursive: true });
      writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
      symlinkSync(join(root, 'node_modules', from.installedAs, from.folder, BINARY), join(home, inside, BINARY));
    },
    async load(env = {}) {
      const code = `import('./src/server/uws-build.ts').then((m) => m.describeUws(m.loadUws())).then(console.log, (e) => console.log(e.message))`;
      return (await outputOf('node', ['-e', code], { cwd: folder, env: { ...process.env, ...env } })).trim();
    },
  };
}

describe('one build is chosen', () => {
  test('one whose binary is missing or does not load gives way to the next, and all reasons are told', () => {
    const upstream = candidate(undefined, folderOf('no binary at all'));
    expect(() => load([candidate(NEWER, folderOf()), upstream], undefined)).toThrow(
      new RegExp(
        `has no binary for this platform and Node \\(${NEWER.name} [\\d.]+: no ${BINARY}; uWebSockets\\.js 20\\.70\\.0: .+\\): use "listener: node"$`,
      ),
    );
    expect(() => load([], undefined)).toThrow('(it is not installed)');
  });

  test('the variable names the only one that may be loaded', () => {
    const found = [candidate(NEWER, folderOf()), candidate(OLDER, folderOf())];
    expect(() => load(found, OLDER.name)).toThrow(`(${OLDER.name} ${OLDER.version}: no ${BINARY})`);
    expect(() => load(found, 'other')).toThrow(`LINGATE_UWS_BUILD: there is no "other"; there are ${NEWER.name}, ${OLDER.name}`);
  });

  test('it is the same for the whole process', () => {
    expect(loadUws()).toBe(loadUws());
    expect(Object.keys(PACKAGES)).toContain(loadUws().package);
  });
});

describe('a pinned build is loaded only as it was looked at', () => {
  test.each([NEWER, OLDER])('$name with another binary ends the start in one line, and nothing else is tried', (pin) => {
    const found = [candidate(pin, folderOf('something else')), candidate(undefined, folderOf('never tried'))];
    expect(() => load(found, undefined)).toThrow(
      new RegExp(
        `^${pin.name} ${pin.version}: ${BINARY} is not the file that was looked at \\(SHA-256 [0-9a-f]{64}, not ${pin.binaries[BINARY]}\\); run "npm ci", or use "listener: node"$`,
      ),
    );
  });

  test('another version is refused', () => {
    expect(() => load([candidate(OLDER, folderOf('x'), '20.0.9')], undefined)).toThrow(
      `uws-pack 20.0.9: the release that was looked at is uws-pack 20.0.8; run "npm ci"`,
    );
  });
});

describe('as it is installed', () => {
  const manifestOf = ({ name, version }: typeof NEWER): object => ({ name, version });

  test('alone, the older one is taken', async () => {
    const here = place();
    here.install('uWebSockets.js', manifestOf(OLDER), OLDER, OLDER.folder);
    expect(await here.load()).toBe('uWebSockets.js 20.0.8 (uws-pack)');
  });

  test('beside it, the newer one is taken where it loads', async () => {
    const here = place();
    here.install('uWebSockets.js', manifestOf(OLDER), OLDER, OLDER.folder);
    here.install('@btc-vision/uwebsockets.js', manifestOf(NEWER), NEWER, NEWER.folder);
    expect(await here.load()).toBe(describeUws(loadUws()));
    expect(await here.load({ LINGATE_UWS_BUILD: 'uws-pack' })).toBe('uWebSockets.js 20.0.8 (uws-pack)');
  });

  test('an upstream release under its own name goes before both, and is said not to be pinned', async () => {
    const here = place();
    // As upstream packs it: the binaries beside the wrappers.
    here.install('uWebSockets.js', { name: 'uWebSockets.js', version: '20.70.0' }, PACKAGES[loadUws().package]!, '.');
    here.install('@btc-vision/uwebsockets.js', manifestOf(NEWER), NEWER, NEWER.folder);
    expect(await here.load()).toBe('uWebSockets.js 20.70.0 (not pinned)');
  });

  test('without any, it says what to do', async () => {
    expect(await place().load()).toBe(
      'uWebSockets.js has no binary for this platform and Node (it is not installed): use "listener: node"',
    );
  });

  test('the command line names it', async () => {
    const stdout = await outputOf('node', [join(root, 'src/main.ts'), '--version'], { cwd: dirname(root) });
    expect(stdout.split('\n')[1]).toBe(describeUws(loadUws()));
  });
});
