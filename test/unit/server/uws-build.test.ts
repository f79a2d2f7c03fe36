// Which build of uWebSockets.js is loaded: the first that works, only if it is the reviewed file, or an operator's own upstream release.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { describeUws, load, loadUws, NoUws } from '../../../src/server/uws-build.ts';
import type { Candidate } from '../../../src/server/uws-build.ts';
import { outputOf } from '../../support/start-program.ts';
import { NEWER, OLDER } from '../../../src/server/uws-pins.ts';

/** The name of the build that loads on this Node and C library; the manual has the same table. */
const HERE = loadedWith(Number(process.versions.modules), glibc());

const root = fileURLToPath(new URL('../../..', import.meta.url));
const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
/** It was made for Node 22 and older ones. */
const OLDER_LOADS = process.versions.modules === '127';
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

/** A gateway's listener code in a folder of its own, with the packages that a test installs beside it. */
function place(): {
  readonly folder: string;
  install(as: string, manifest: object, from: typeof NEWER, folder: string): void;
  load(env?: object): Promise<string>;
} {
  const folder = folderOf();
  mkdirSync(join(folder, 'src/server'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of ['uws-build.ts', 'uws-pins.ts', 'listener.ts']) {
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
  test('if a binary is missing or does not load, the next build is tried, and all reasons are reported', () => {
    const upstream = candidate(undefined, folderOf('no binary at all'));
    expect(() => load([candidate(NEWER, folderOf()), upstream], undefined)).toThrow(
      new RegExp(
        `has no binary for this platform and Node \\(${NEWER.name} [\\d.]+: no ${BINARY}; uWebSockets\\.js 20\\.70\\.0: .+\\): use "listener: auto", which is node:http here$`,
      ),
    );
    expect(() => load([], undefined)).toThrow('(it is not installed)');
  });

  test('the variable names the only build that may be loaded', () => {
    const found = [candidate(NEWER, folderOf()), candidate(OLDER, folderOf())];
    expect(() => load(found, OLDER.name)).toThrow(`(${OLDER.name} ${OLDER.version}: no ${BINARY})`);
    expect(() => load(found, 'other')).toThrow(`LINGATE_UWS_BUILD: there is no "other"; there are ${NEWER.name}, ${OLDER.name}`);
  });

  test.each([
    [115, 2.41, undefined],
    [127, 2.31, OLDER.name],
    [127, 2.38, NEWER.name],
    [137, 2.36, undefined],
    [137, 2.38, NEWER.name],
    [147, 2.41, undefined],
  ])('ABI %d and glibc %d have pins for %s', (abi, libc, name) => {
    expect(loadedWith(abi, libc)).toBe(name);
    const pinned = [NEWER, OLDER].filter(({ binaries }) => binaries[`uws_linux_x64_${abi}.node`] !== undefined);
    expect(pinned.filter((pin) => pin === OLDER || libc >= 2.38)[0]?.name).toBe(name);
  });

  test(`on this machine it is ${HERE ?? 'none'}, and the same for the whole process`, () => {
    if (HERE === undefined) return expect(() => loadUws()).toThrow(NoUws);
    expect(loadUws().package).toBe(HERE);
    expect(loadUws()).toBe(loadUws());
  });
});

describe('a pinned build is loaded only as it was reviewed', () => {
  test.each([NEWER, OLDER])('$name with another binary is refused in one line, and no other build is tried', (pin) => {
    const found = [candidate(pin, folderOf('something else')), candidate(undefined, folderOf('not tried'))];
    const known = pin.binaries[BINARY];
    const what =
      known === undefined
        ? `${BINARY} has not been reviewed`
        : `${BINARY} is not the reviewed file \\(SHA-256 [0-9a-f]{64}, not ${known}\\)`;
    expect(() => load(found, undefined)).toThrow(
      new RegExp(`^${pin.name} ${pin.version}: ${what}; run "npm ci", or use "listener: node"$`),
    );
  });

  test('another version is refused', () => {
    expect(() => load([candidate(OLDER, folderOf('x'), '20.0.9')], undefined)).toThrow(
      `uws-pack 20.0.9: the reviewed release is uws-pack 20.0.8; run "npm ci"`,
    );
  });
});

test('npm installs both on a machine with an older Node, because the lock file has no engines for them', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, object> };
  for (const { installedAs } of [NEWER, OLDER]) {
    expect(packages[`node_modules/${installedAs}`]).toMatchObject({ optional: true });
    expect(packages[`node_modules/${installedAs}`]).not.toHaveProperty('engines');
  }
});

describe('with installed packages', () => {
  const manifestOf = ({ name, version }: typeof NEWER): object => ({ name, version });

  test('the older one alone is used', async () => {
    const here = place();
    here.install('uWebSockets.js', manifestOf(OLDER), OLDER, OLDER.folder);
    expect(await here.load()).toContain(OLDER_LOADS ? 'uWebSockets.js 20.0.8 (uws-pack)' : `(uws-pack 20.0.8: no ${BINARY})`);
  });

  test('the newer one is used beside it, if it loads', async () => {
    const here = place();
    here.install('uWebSockets.js', manifestOf(OLDER), OLDER, OLDER.folder);
    here.install('@btc-vision/uwebsockets.js', manifestOf(NEWER), NEWER, NEWER.folder);
    expect(await here.load()).toContain(HERE === undefined ? 'no binary for this platform' : describeUws(loadUws()));
    const older = await here.load({ LINGATE_UWS_BUILD: 'uws-pack' });
    expect(older).toContain(OLDER_LOADS ? 'uWebSockets.js 20.0.8 (uws-pack)' : `(uws-pack 20.0.8: no ${BINARY})`);
  });

  const loadable = [NEWER, OLDER].filter(({ name }) => name === HERE);
  test.each(loadable)('an upstream release under its own name takes precedence over both, and is shown as not pinned', async (binaries) => {
    const here = place();
    // As upstream packages it: the binaries beside the wrappers.
    here.install('uWebSockets.js', { name: 'uWebSockets.js', version: '20.70.0' }, binaries, '.');
    here.install('@btc-vision/uwebsockets.js', manifestOf(NEWER), NEWER, NEWER.folder);
    expect(await here.load()).toBe('uWebSockets.js 20.70.0 (not pinned)');
  });

  test('without any of them the error says what to do', async () => {
    expect(await place().load()).toBe(
      'uWebSockets.js has no binary for this platform and Node (it is not installed): use "listener: auto", which is node:http here',
    );
  });

  test('lingate --version prints it', async () => {
    const stdout = await outputOf('node', [join(root, 'src/main.ts'), '--version'], { cwd: dirname(root) });
    expect(stdout.split('\n')[1]).toContain(HERE === undefined ? 'uWebSockets.js has no binary' : describeUws(loadUws()));
  });
});

/** The version of glibc; `undefined` on systems without it. */
function glibc(): number | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? undefined : Number(header.glibcVersionRuntime);
}

function loadedWith(abi: number, libc = Infinity): string | undefined {
  if ((abi === 127 || abi === 137) && libc >= 2.38) return NEWER.name;
  return abi === 127 ? OLDER.name : undefined;
}
