// What comes along from others: few packages, pinned by their content, none that runs code when it is installed, and one known binary.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { NATIVE_BINARIES } from './native-binary.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
}

const manifest = JSON.parse(read('package.json')) as { readonly dependencies: Record<string, string> };
const lock = JSON.parse(read('package-lock.json')) as { readonly packages: Record<string, Locked> };
const runtime = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);

/** All that an image holds besides Node: to be looked at when it changes. */
const RUNTIME_PACKAGES =
  '@ioredis/commands @opentelemetry/api @pinojs/redact atomic-sleep bintrees cluster-key-slot debug denque ioredis lru-cache ms ' +
  'on-exit-leak-free pino pino-abstract-transport pino-std-serializers process-warning prom-client quick-format-unescaped real-require ' +
  'redis-errors safe-stable-stringify sonic-boom split2 standard-as-callback tdigest thread-stream typebox uWebSockets.js ulid yaml';
const DIRECT_MAX = 12;
const LICENSES = new Set(['MIT', 'ISC', 'Apache-2.0', 'BlueOak-1.0.0']);
/** Where the HTTP library's binaries lie. */
const BINARIES = `${root}node_modules/uWebSockets.js/dist/bin/`;

describe('runtime packages', () => {
  test('are at most 12 direct ones, each pinned to one version', () => {
    const direct = Object.entries(manifest.dependencies);
    expect(direct.length).toBeLessThanOrEqual(DIRECT_MAX);
    for (const [name, version] of direct) expect(`${name} ${version}`).toMatch(/ (?:npm:[\w.-]+@)?\d+\.\d+\.\d+$/);
  });

  test('are these and no others', () => {
    const names = runtime.map(([path]) => path.replace(/^.*node_modules\//, '')).toSorted();
    expect(names).toEqual(RUNTIME_PACKAGES.split(' ').toSorted());
  });

  test('are pinned by content', () => {
    expect(runtime.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true)).toEqual([]);
  });

  test('run nothing when they are installed: npm ci --ignore-scripts --omit=dev is enough', () => {
    expect(runtime.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
    expect(read('Dockerfile')).toMatch(/npm ci --omit=dev --ignore-scripts/);
  });

  test('are free to use and to pass on', () => {
    expect(runtime.filter(([, { license }]) => !LICENSES.has(license ?? ''))).toEqual([]);
  });

  test('hold no machine code but the HTTP library', () => {
    const native = runtime.flatMap(([path]) =>
      readdirSync(`${root}${path}`, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.node'))
        .map(() => path),
    );
    expect([...new Set(native)]).toEqual(['node_modules/uWebSockets.js']);
  });
});

describe('the native binary', () => {
  test('of this platform is the one that was looked at, byte for byte', () => {
    const platform = `${process.platform}-${process.arch}-${process.versions.modules}`;
    const known = NATIVE_BINARIES[platform];
    // Elsewhere `listener: node` needs none; a binary of a further platform is added to the table once it has been looked at.
    const sha256 =
      known === undefined
        ? undefined
        : createHash('sha256')
            .update(readFileSync(BINARIES + known.file))
            .digest('hex');
    expect(sha256).toBe(known?.sha256);
    expect(NATIVE_BINARIES['linux-x64-127']!.sha256).toMatch(/^8cabc918/);
  });

  test('is the only one that the image keeps', () => {
    expect(read('Dockerfile')).toMatch(/find \. -name '\*\.node' ! -name "uws_linux_\$\{arch\}_\$\{abi\}\.node" -delete/);
  });

  test("comes with its authors' licence, which the package leaves out", () => {
    expect(readdirSync(`${root}node_modules/uWebSockets.js`).filter((name) => /third-party|notice/i.test(name))).toEqual([]);
    const notice = read('config/THIRD-PARTY.md');
    for (const words of ['uWebSockets', 'BoringSSL', 'Apache License', 'TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION']) {
      expect(notice).toContain(words);
    }
    expect(read('Dockerfile')).toMatch(/^COPY config /m);
    expect(existsSync(`${root}config/THIRD-PARTY.md`)).toBe(true);
  });
});
