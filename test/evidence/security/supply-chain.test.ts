// Dependencies: few packages, pinned by content, none that runs code when it is installed, and one known binary.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { describeUws, NEWER, OLDER } from '../../support/door/tables.ts';
import { UWS } from '../../support/listeners.ts';

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

const manifest = JSON.parse(read('package.json')) as {
  readonly dependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
};
const lock = JSON.parse(read('package-lock.json')) as { readonly packages: Record<string, Locked> };
const runtime = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);

/** Everything in an image besides Node: review it when it changes. */
const RUNTIME_PACKAGES =
  '@btc-vision/uwebsockets.js @ioredis/commands @opentelemetry/api @opentelemetry/core ' +
  '@opentelemetry/exporter-trace-otlp-proto @opentelemetry/otlp-exporter-base @opentelemetry/otlp-transformer @opentelemetry/resources ' +
  '@opentelemetry/sdk-logs @opentelemetry/sdk-metrics ' +
  '@opentelemetry/sdk-trace @opentelemetry/semantic-conventions bintrees cluster-key-slot debug denque entities follow-redirects ' +
  'http-proxy-3 ioredis jose lru-cache ms oauth4webapi openid-client parse5 prom-client redis-errors saxes standard-as-callback tdigest ' +
  'typebox uWebSockets.js ulid ' +
  'xmlchars yaml';
const DIRECT_MAX = 18;
const LICENSES = new Set(['MIT', 'ISC', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause']);
/** The ABIs of Node 22 and 24: binaries of the others are never loaded. */
const ABIS = ['127', '137'];

describe('runtime packages', () => {
  test('are at most 18 direct ones, each pinned to one version', () => {
    const direct = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies });
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

  test('are free to use and to redistribute', () => {
    expect(runtime.filter(([, { license }]) => !LICENSES.has(license ?? ''))).toEqual([]);
  });

  test('are used, all but the builds of the HTTP library, OpenTelemetry’s SDK and what the sign-in by a provider needs', () => {
    const optional = runtime.filter(([, packed]) => packed.optional === true).map(([path]) => path.replace('node_modules/', ''));
    const others = optional.filter((name) => !name.startsWith('@opentelemetry/'));
    expect(others).toEqual(['@btc-vision/uwebsockets.js', 'oauth4webapi', 'openid-client', 'uWebSockets.js']);
  });

  test('contain no machine code but the two builds of the HTTP library', () => {
    const native = runtime.flatMap(([path]) =>
      readdirSync(`${root}${path}`, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.node'))
        .map(() => path),
    );
    expect([...new Set(native)]).toEqual(['node_modules/@btc-vision/uwebsockets.js', 'node_modules/uWebSockets.js']);
  });
});

describe('the native binary', () => {
  test.each([NEWER, OLDER])('of $name is pinned for every platform, byte for byte', ({ name, version, installedAs, folder, binaries }) => {
    const home = `${root}node_modules/${installedAs}/`;
    const loadable = readdirSync(home + folder).filter((file) => ABIS.some((abi) => file.endsWith(`_${abi}.node`)));
    const found = loadable.map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(`${home}${folder}/${file}`))
        .digest('hex'),
    ]);
    expect(Object.fromEntries(found)).toEqual(binaries);
    expect(JSON.parse(readFileSync(`${home}package.json`, 'utf8'))).toMatchObject({ name, version });
  });

  test.each(UWS === undefined ? [] : [UWS])('is the one of the two that this machine can load', (build) => {
    expect(build.pinned).toBe(true);
    expect([NEWER, OLDER].map(({ name, version }) => `uWebSockets.js ${version} (${name})`)).toContain(describeUws(build));
  });

  test('is the only one that the image keeps', () => {
    // Which one that is, is tested with the image: npm run task -- test:image.
    expect(read('Dockerfile')).toMatch(/^ && test -f "\$kept" \\\n && find \. -name '\*\.node' ! -path "\.\/\$kept" -delete$/m);
  });

  test('comes with its authors’ licence, which the package leaves out', () => {
    expect(readdirSync(`${root}node_modules/uWebSockets.js`).filter((name) => /third-party|notice/i.test(name))).toEqual([]);
    const notice = read('config/THIRD-PARTY.md');
    for (const words of ['uWebSockets', 'BoringSSL', 'Apache License', '`dist/Apache-2.0.txt`']) expect(notice).toContain(words);
    // The text of that licence is in dist/, which the test of the package judges.
    expect(read('Dockerfile')).toMatch(/^COPY --from=built \/app\/dist \.\/dist$[^]*^COPY config \.\/config$/m);
  });
});
