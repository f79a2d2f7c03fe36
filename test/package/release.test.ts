// A release is reproducible: copies of the same commit, built at other times with another umask and time zone, give the same bytes.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runProgram } from '../support/start-program.ts';
import { emptyFolder, npmEnv, ROOT } from './installed.ts';

const NOT_COPIED = new Set(['node_modules', '.git', 'dist', 'release', 'data']);
const COMMITTED_AT = '1790000000';
const folders: string[] = [];

afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A checkout in a folder of its own, with this checkout's packages. */
function copy(name: string): string {
  const folder = emptyFolder();
  folders.push(folder);
  const checkout = join(folder, name);
  mkdirSync(checkout);
  cpSync(ROOT, checkout, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  return checkout;
}

async function released(checkout: string, umask: string, zone: string): Promise<Readonly<Record<string, Buffer>>> {
  const env = { ...npmEnv(), TZ: zone, SOURCE_DATE_EPOCH: COMMITTED_AT };
  const command = `umask ${umask} && exec node src/release.ts`;
  const { status, stderr } = await runProgram('sh', ['-c', command], { cwd: checkout, env, msMax: 250_000, uses: ['node'] });
  expect([status, stderr.split('\n').filter((line) => line.startsWith('release:'))]).toEqual([0, []]);
  const folder = join(checkout, 'release');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

test('the same commit gives the same bytes, and the checksums match them', { timeout: 600_000 }, async () => {
  const one = await released(copy('checkout'), '022', 'UTC');
  const other = await released(copy('another'), '077', 'Asia/Tokyo');
  expect(Object.keys(one).toSorted()).toEqual([
    expect.stringMatching(/^SHA256SUMS$/),
    expect.stringMatching(/\.cdx\.json$/),
    expect.stringMatching(/\.tgz$/),
  ]);
  expect(Object.keys(other)).toEqual(Object.keys(one));
  for (const [name, bytes] of Object.entries(one)) expect([name, bytes.equals(other[name]!)]).toEqual([name, true]);
  const sums = one['SHA256SUMS']!.toString().trimEnd().split('\n');
  expect(sums).toHaveLength(2);
  for (const [digest, name] of sums.map((line) => line.split('  '))) {
    expect(createHash('sha256').update(one[name!]!).digest('hex')).toBe(digest);
  }
  const bill = JSON.parse(
    Object.entries(one)
      .find(([name]) => name.endsWith('.cdx.json'))![1]
      .toString(),
  ) as {
    readonly metadata: { readonly timestamp: string; readonly component: { readonly name: string } };
    readonly components: readonly {
      readonly name: string;
      readonly version: string;
      readonly hashes?: readonly { readonly content: string }[];
    }[];
  };
  expect(bill.metadata).toMatchObject({ timestamp: '2026-09-21T14:13:20.000Z', component: { name: 'lingate' } });
  const named = bill.components.map(({ name }) => name);
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Readonly<
    Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
  >;
  expect(Object.keys(dependencies).filter((name) => !named.includes(name))).toEqual([]);
  expect(Object.keys(devDependencies).filter((name) => named.includes(name))).toEqual([]);
  expect(bill.components.filter(({ hashes }) => hashes === undefined)).toEqual([]);
  // Exactly what the lock file has for running it, by version and content.
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly version: string; readonly integrity?: string }>>;
  };
  const locked = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  const hexOf = (integrity: string): string => Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  const rows = locked.map(([path, { version, integrity }]) =>
    [path.replace(/^.*node_modules\//, ''), version, hexOf(integrity!)].join(' '),
  );
  const listed = bill.components.map(({ name, version, hashes }) => [name, version, hashes![0]!.content].join(' '));
  // A package may be there several times.
  expect([...new Set(listed)].toSorted()).toEqual([...new Set(rows)].toSorted());
});

test('an invalid time is reported in one line', async () => {
  const env = { ...npmEnv(), SOURCE_DATE_EPOCH: 'today' };
  const { status, stderr } = await runProgram('node', ['src/release.ts'], { cwd: ROOT, env });
  expect([status, stderr]).toEqual([1, 'release: SOURCE_DATE_EPOCH: must be whole seconds since 1970\n']);
});
