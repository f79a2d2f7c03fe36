// The values of a valid configuration: defaults, the file, the environment, flags, and files beside it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { labelOf } from '../../../src/config/config-error.ts';
import type { ConfigError } from '../../../src/config/config-error.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { parseNetworkAddress } from '../../../src/config/network-address.ts';
import { linesOf, loaded, refusals, written } from '../../support/written-file.ts';

const packaged = (name: string): string => fileURLToPath(new URL(`../../../config/${name}`, import.meta.url));

describe('the default file', () => {
  test('is read if none is named, whatever the working directory', () => {
    expect(loadConfig({ env: {} }).file).toBe(packaged('lingate.yaml'));
  });

  test('has exactly the built-in defaults', () => {
    const { file: _a, sources: _x, raw: _r, ...shipped } = loadConfig({ env: {} });
    const { file: _b, sources: _y, raw: _s, ...bare } = loaded('{}');
    expect(bare).toEqual(shipped);
  });

  test('has the documented values', () => {
    const config = loadConfig({ env: {} });
    expect(config.listen).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(config.ops).toEqual({ host: '127.0.0.1', port: 9090 });
    expect(config.listener).toBe('auto');
    expect(config.service).toEqual({ name: 'lingate', public_url: undefined, docs_url: 'http://127.0.0.1:9090/docs' });
    expect(config.docs).toEqual({ public: false });
    expect(config.store).toBe('sqlite:data/lingate.db');
    expect(config.auth.vendor_names).toEqual(['Vendor-Auth-Key', 'DeepL-Auth-Key']);
    expect(config.engines[0]!).toMatchObject({ protocol: 'native', urls: ['http://127.0.0.1:7001'], timeout_ms: 10_000 });
    expect(config.limits).toEqual({
      body_bytes: 1_048_576,
      reservation_seconds: 60,
      request_seconds: 30,
      idle_seconds: 8,
      drain_seconds: 30,
      drain_delay_seconds: 0,
      concurrency: 10_000,
      team_concurrency: 1000,
      team_engine_share: 0.5,
      shed_loop_delay_ms: 200,
      unknown_keys_per_minute: 0,
      rate_limit_headers: false,
      glossary_bytes: 16_777_216,
      tags: 1000,
      slowest_bytes_per_second: 1024,
    });
    expect([...config.plans.keys()]).toEqual(['free', 'pro', 'prepaid']);
    expect(config.plans.get('pro')).toMatchObject({ overage_cap_minor: 10_000, overage_minor_per_million: 2000, max_glossaries: 20 });
  });
});

describe('precedence', () => {
  const file =
    'store: sqlite:file.db\nlisten: 127.0.0.1:1\nops: 127.0.0.1:2\nengine: { protocol: file, urls: ["http://file"], timeout_ms: 77 }';
  const env = {
    LINGATE_STORE: 'sqlite:env.db',
    LINGATE_LISTEN: '127.0.0.1:11',
    LINGATE_OPS: '127.0.0.1:12',
    LINGATE_ENGINE_URL: 'http://env1, http://env2/,',
    LINGATE_ENGINE_PROTOCOL: 'env',
  };
  const flags = {
    store: 'sqlite:flag.db',
    listen: '[::1]:21',
    ops: '127.0.0.1:22',
    'engine-url': ['http://flag1', 'http://flag2'],
    'engine-protocol': 'flag',
  };

  test('the file overrides the defaults, member by member', () => {
    const config = loaded(file);
    expect(config.store).toBe('sqlite:file.db');
    expect(config.engines[0]!).toMatchObject({ protocol: 'file', urls: ['http://file'], timeout_ms: 77, connections_max: 64 });
  });

  test('the environment overrides the file', () => {
    const config = loaded(file, { env });
    expect(config).toMatchObject({ store: 'sqlite:env.db', listen: { port: 11 }, ops: { port: 12 } });
    expect(config.engines[0]!).toMatchObject({ protocol: 'env', urls: ['http://env1', 'http://env2'], timeout_ms: 77 });
  });

  test('flags override the environment', () => {
    const config = loaded(file, { env, flags });
    expect(config).toMatchObject({ store: 'sqlite:flag.db', listen: { host: '::1', port: 21 }, ops: { port: 22 } });
    expect(config.engines[0]!).toMatchObject({ protocol: 'flag', urls: ['http://flag1', 'http://flag2'], timeout_ms: 77 });
  });

  test('an empty variable counts as not set', () => {
    const empty = { LINGATE_STORE: '', LINGATE_LISTEN: '', LINGATE_OPS: '', LINGATE_ENGINE_URL: ' , ', LINGATE_ENGINE_PROTOCOL: '' };
    const { file: _a, sources: _x, ...withEmpty } = loaded(file, { env: empty });
    const { file: _b, sources: _y, ...without } = loaded(file);
    expect(withEmpty).toEqual(without);
  });

  test('LINGATE_CONFIG names the file, and the flag overrides it', () => {
    const [one, other] = [written('store: sqlite:one.db'), written('store: sqlite:other.db')];
    expect(loadConfig({ env: { LINGATE_CONFIG: one } })).toMatchObject({ file: one, store: 'sqlite:one.db' });
    expect(loadConfig({ file: other, env: { LINGATE_CONFIG: one } })).toMatchObject({ file: other, store: 'sqlite:other.db' });
    expect(loadConfig({ env: { LINGATE_CONFIG: '' } }).file).toBe(packaged('lingate.yaml'));
    expect(linesOf('a', { file: undefined, env: { LINGATE_CONFIG: '/none.yaml' } })).toEqual([
      'LINGATE_CONFIG: /none.yaml: cannot be read: there is no such file',
    ]);
  });

  test('the sources of store and engine are recorded', () => {
    const sources = (text: string, more: Parameters<typeof loaded>[1] = {}) => loaded(text, more).sources;
    expect(loadConfig({ env: {} }).sources).toEqual({
      store: 'the default',
      engineUrls: 'the default',
      engineProtocol: 'the default',
      warnings: [],
      written: expect.arrayContaining(['engine', 'engine.urls', 'plans', 'store']) as readonly string[],
      files: new Map(
        [packaged('lingate.yaml'), packaged('languages.yaml')].map((path) => [path, { kind: 'file', bytes: readFileSync(path) }]),
      ),
    });
    expect(sources('{}')).toMatchObject({ store: 'the default', engineUrls: 'the default' });
    expect(sources(file).store).toMatch(/lingate\.yaml$/);
    expect(sources(file, { env })).toMatchObject({ store: 'LINGATE_STORE', engineUrls: 'LINGATE_ENGINE_URL' });
    expect(sources(file, { env, flags })).toMatchObject({ store: '--store', engineUrls: '--engine-url' });
  });

  test('a mistyped variable is a warning, and is also listed with the faults of a refused file', () => {
    const mistyped = { LINGATE_STROE: 'x', LINGATE_TOKEN_OF_MINE: 'y' };
    const config = loaded('admin: { token: { env: LINGATE_TOKEN_OF_MINE } }', { env: mistyped });
    expect(config.sources.warnings).toEqual([expect.stringMatching(/^nothing reads LINGATE_STROE \(did you mean LINGATE_STORE\?\); /)]);
    expect(refusals('listen: x', { env: mistyped })).toEqual([
      expect.stringContaining('listen: "x" is not HOST:PORT'),
      expect.stringContaining('nothing reads LINGATE_STROE (did you mean LINGATE_STORE?), LINGATE_TOKEN_OF_MINE'),
    ]);
    expect(linesOf('/none.yaml', { env: { LINGATE_CONFG: '/x' } })).toEqual([
      'cannot be read: there is no such file',
      expect.stringContaining('LINGATE_CONFG (did you mean LINGATE_CONFIG?)'),
    ]);
  });

  test('a fault names the place where the value was set', () => {
    expect(refusals(file, { env: { LINGATE_LISTEN: 'x' } })[0]).toMatch(/^LINGATE_LISTEN: "x" is not HOST:PORT/);
    expect(refusals(file, { env: { LINGATE_ENGINE_URL: 'http://a,b' } })[0]).toMatch(/^LINGATE_ENGINE_URL: "b" is not an absolute/);
    expect(refusals(file, { env, flags: { ops: 'x' } })[0]).toMatch(/^--ops: "x" is not HOST:PORT/);
  });

  test('a wrong flag is wrong usage, a wrong file is not', () => {
    expect(flagsOnly('{}', 'x')).toBe(true);
    expect(flagsOnly('listen: x', 'x')).toBe(false);
    expect(flagsOnly('listen: x', '127.0.0.1:0')).toBe(false);
    expect(flagsOnly('languages: none.yaml', '127.0.0.1:0')).toBe(false);
  });
});

describe('files that a configuration names', () => {
  test('languages, plugins and certificates are relative to the file, packages are not', () => {
    const from = written(
      'languages: codes.yaml\ntls: { cert_file: tls/c.pem, key_file: /k.pem }\nplugins: [{ module: ./a.ts }, { module: b/c.mjs, options: { x: 1 } }, { module: "@scope/package" }]',
    );
    const folder = dirname(from);
    written('sources: [{ code: EN, name: English }]\ntargets: [{ code: DE, name: German }]', 'codes.yaml', folder);
    const config = loadConfig({ file: from, env: {} });
    expect(config.languagesFile).toBe(join(folder, 'codes.yaml'));
    expect(config.languages).toEqual({
      sources: [{ code: 'EN', name: 'English' }],
      targets: [{ code: 'DE', name: 'German', formality: false }],
    });
    expect(config.tls).toEqual({ certFile: join(folder, 'tls/c.pem'), keyFile: '/k.pem' });
    expect(config.plugins).toEqual([
      { module: join(folder, 'a.ts'), from, options: {} },
      { module: join(folder, 'b/c.mjs'), from, options: { x: 1 } },
      { module: '@scope/package', from, options: {} },
    ]);
  });

  test('without languages in the file, those of the package apply', () => {
    expect(loaded('listener: node').languagesFile).toBe(packaged('languages.yaml'));
  });

  test('a path relative to the working directory is shown unchanged', () => {
    expect(labelOf(packaged('lingate.yaml'))).toBe('config/lingate.yaml');
    expect(linesOf('config/none.yaml')).toEqual(
      ['config/none.yaml: cannot be read: there is no such file'].map((line) => line.replace('config/none.yaml: ', '')),
    );
  });
});

describe('derived values', () => {
  test('a request may take two attempts and ten seconds, unless configured', () => {
    expect(loaded('engine: { timeout_ms: 20000 }').limits.request_seconds).toBe(50);
    expect(loaded('limits: { request_seconds: 40 }').limits.request_seconds).toBe(40);
  });

  test('the shortest accepted lease is two attempts and a second', () => {
    expect(loaded('limits: { reservation_seconds: 21 }').limits.reservation_seconds).toBe(21);
    expect(loaded('engine: { timeout_ms: 200 }\nlimits: { reservation_seconds: 2 }').limits.reservation_seconds).toBe(2);
  });

  test('batches are off by default, and a batch is never larger than the largest body', () => {
    expect(loaded('{}').engines[0]!.batch).toBeUndefined();
    expect(loaded('engine: { batch: {} }').engines[0]!.batch).toEqual({ texts_max: 50, characters_max: 10_000, wait_ms: 0 });
    const small = loaded('engine: { batch: { texts_max: 2, wait_ms: 5 } }\nlimits: { body_bytes: 6000 }');
    expect(small.engines[0]!.batch).toEqual({ texts_max: 2, characters_max: 1000, wait_ms: 5 });
  });

  test('two listeners may both ask for a free port', () => {
    expect(refusals('listen: 127.0.0.1:0\nops: 127.0.0.1:0')).toEqual([]);
  });

  test('trailing slashes of URLs are dropped', () => {
    const config = loaded('service: { docs_url: "https://x.example/docs/" }\nengine: { urls: ["http://h:1/base/"] }');
    expect(config.service.docs_url).toBe('https://x.example/docs');
    expect(config.engines[0]!.urls).toEqual(['http://h:1/base']);
  });

  test.each([
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['[::]:65535', { host: '::', port: 65_535 }],
    [':8080', undefined],
    ['a b:1', undefined],
    ['h:', undefined],
    ['h:+1', undefined],
    ['[::g]:1', undefined],
  ])('the address %s is parsed', (text, address) => {
    expect(parseNetworkAddress(text)).toEqual(address);
  });
});

/** Whether a refused configuration is reported as a fault of flags alone. */
function flagsOnly(text: string, ops: string): boolean | undefined {
  try {
    loaded(text, { flags: { ops } });
    return undefined;
  } catch (error) {
    return (error as ConfigError).flagsOnly;
  }
}

test('a copied configuration finds the lists of languages that come with the package, unless it brings its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-copied-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'lingate.yaml');
  const listOf = (name: string) => {
    writeFileSync(file, `languages: ${name}\n`);
    return loadConfig({ file, env: {} }).languages.sources.length;
  };
  expect(listOf('languages.yaml')).toBe(36);
  expect(listOf('languages-all.yaml')).toBeGreaterThan(100);
  expect(() => listOf('mine.yaml')).toThrow(/mine\.yaml/);
  writeFileSync(join(folder, 'languages.yaml'), 'sources: [{ code: EN, name: English }]\ntargets: [{ code: DE, name: German }]\n');
  expect(listOf('languages.yaml')).toBe(1);
});
