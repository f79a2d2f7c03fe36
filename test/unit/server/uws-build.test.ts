// Which build of uWebSockets.js is loaded: the first that works, only if it is the reviewed file, or an operator's own upstream release.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { load, loadUws, NoUws, NEWER, OLDER } from '../../../src/server/uws-build.ts';
import type { Candidate } from '../../../src/server/uws-build.ts';

/** The name of the build that loads on this Node and C library; the manual has the same table. */
const HERE = loadedWith(Number(process.versions.modules), glibc());

const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
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

/** The version of glibc; `undefined` on systems without it. */
function glibc(): number | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? undefined : Number(header.glibcVersionRuntime);
}

function loadedWith(abi: number, libc = Infinity): string | undefined {
  const pinned = [NEWER, OLDER].filter(({ binaries }) => binaries[`uws_linux_x64_${abi}.node`] !== undefined);
  return pinned.find((pin) => pin === OLDER || libc >= 2.38)?.name;
}
