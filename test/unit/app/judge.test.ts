// All faults of a configuration are reported together, of whatever kind, by config check and by serve; nothing is opened or left behind.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { secretsOf, sourcesOf } from '../../../src/config/secrets.ts';
import { inProcess, temporaryFolder } from '../../support/lingate-command.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

let count = 0;
/** A plugin that writes a line to a file each time it is set up or closed. */
function plugin(parts = '{}', options = 'Type.Object({})'): string {
  const name = `p${++count}`;
  const life = `{ ...(${parts}), close: () => appendFileSync('${folder.path}/life', 'closed ${name}\\n') }`;
  const setup = `() => { appendFileSync('${folder.path}/life', 'set up ${name}\\n'); return ${life}; }`;
  const text = `import { appendFileSync } from 'node:fs';\nimport Type from 'typebox';\nexport default { name: '${name}', options: ${options}, setup: ${setup} };\n`;
  writeFileSync(join(folder.path, `${name}.mjs`), text);
  return `${name}.mjs`;
}

function write(config: unknown): string {
  const file = join(folder.path, `c${++count}.yaml`);
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** The lines without the configuration file's name, with which each begins. */
async function faults(config: unknown, env = {}): Promise<readonly string[]> {
  const file = write(config);
  const { status, stdout, stderr } = await inProcess(['config', 'check', '--config', file], env);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  const lines = stderr.trimEnd().split('\n');
  expect(lines.filter((line) => !line.startsWith(`${folder.path}/`))).toEqual([]);
  return lines.map((line) => line.replace(`${file}: `, ''));
}

const ROUTE = (path: string): string => `{ routes: [{ method: 'GET', path: '${path}', takesBody: false, steps: ['access-log'] }] }`;
const FORWARD = { path: '/v1/voices', methods: ['GET'], target: 'http://127.0.0.1:1' };

test('one fault of each kind gives one line each', async () => {
  const lines = await faults({
    listen: 'x',
    engine: { timeout_ms: 0, protocol: 'nativ' },
    languages: 'none.yaml',
    tls: { cert_file: 'c.pem', key_file: 'k.pem' },
    admin: { token: { env: 'NO_TOKEN' } },
    store: 'mine:x',
    forward: [
      { path: 'no path', methods: ['GET'], target: 'http://127.0.0.1:1' },
      { ...FORWARD, headers: { 'x-token': { env: 'NO_HEADER' } } },
      { ...FORWARD, path: '/v1/usage' },
    ],
    plugins: [{ module: plugin(ROUTE('/v1/translate')) }],
  });
  expect(lines).toEqual([
    expect.stringMatching(/^listen: "x" is not HOST:PORT/),
    expect.stringMatching(/^engine\.timeout_ms: 0 is too small/),
    expect.stringMatching(/^forward\.0\.path: "no path" is not a path/),
    `${folder.path}/none.yaml: cannot be read: there is no such file`,
    `tls.cert_file: ${folder.path}/c.pem cannot be read: there is no such file`,
    `tls.key_file: ${folder.path}/k.pem cannot be read: there is no such file`,
    expect.stringMatching(/^plugins: route "GET \/v1\/translate" of plugin "p\d+": "POST \/v1\/translate" is the gateway's own/),
    expect.stringMatching(/^engine\.protocol: there is no "nativ"; did you mean native\? /),
    'admin.token: the environment variable NO_TOKEN is not set',
    'forward.1.headers.x-token: the environment variable NO_HEADER is not set',
    expect.stringMatching(/^forward\.2\.path: "\/v1\/usage" would hide \/v1\/usage/),
    expect.stringMatching(/^store: "mine:x" is not one of sqlite:PATH/),
  ]);
});

test('each plugin that cannot be loaded is named, without complaints that its protocols and stores are missing', async () => {
  const config = {
    engine: { protocol: 'of-the-second' },
    store: 'of-the-second:x',
    plugins: [
      { module: 'none.mjs' },
      { module: plugin('{}', 'Type.Object({ word: Type.String() })') },
      { module: plugin(), options: 5 },
      { module: plugin() },
      { modul: 'x' },
      { module: 'lingate/plugins/nowhere' },
    ],
  };
  expect(await faults(config)).toEqual([
    expect.stringMatching(/^plugins\.4\.module: is missing/),
    expect.stringMatching(/^plugins\.4\.modul: is not known; did you mean module\?/),
    `plugins.0.module: ${folder.path}/none.mjs cannot be read: there is no such file`,
    expect.stringMatching(/^plugins\.1\.options\.word: is missing/),
    expect.stringMatching(/^plugins\.2\.options: 5 is not a mapping of names to values/),
    'plugins.5.module: lingate/plugins/nowhere is not one of the plugins that come with the gateway; they are lingate/plugins/azure-v3, lingate/plugins/deepl-v2, lingate/plugins/google-v2, lingate/plugins/google-v3, lingate/plugins/libretranslate, lingate/plugins/memory',
  ]);
});

test('wrong or shared names, roles and tokens of operators are reported together with all other faults', async () => {
  const token = 'x'.repeat(32);
  const tokens = [
    { name: 'Admin', token: 'a'.repeat(32), role: 'manage' },
    { name: 'ops', token: { env: 'NO_OPS_TOKEN' }, role: 'manage' },
    { name: 'OPS', token, role: 'read' },
    { name: 'weak', token: 'short', role: 'read' },
  ];
  expect(await faults({ listen: 'x', admin: { token, tokens } })).toEqual([
    expect.stringMatching(/^listen: "x" is not HOST:PORT/),
    'admin.tokens.1.token: the environment variable NO_OPS_TOKEN is not set',
    'admin.tokens.0.name: "Admin" is also the name of admin; give each operator a different one',
    'admin.tokens.2.name: "OPS" is also the name of admin.tokens.1; give each operator a different one',
    'admin.tokens.2.token: is also the token of admin; give each operator a different one',
    expect.stringMatching(/^admin\.tokens\.3\.token: is too weak; it must be at least 32 characters/),
  ]);
  const others = [
    { name: 'two words', token, role: 'write' },
    { token, role: 'read' },
    { name: 'weak', token: 'short', role: 'read' },
    { name: 'Weak', token: 'y'.repeat(32), role: 'read' },
  ];
  expect((await faults({ admin: { tokens: others } })).toSorted()).toEqual([
    expect.stringMatching(/^admin\.tokens\.0\.name: "two words" is not a name of 1 to 40 letters/),
    expect.stringMatching(/^admin\.tokens\.0\.role: "write" is not one of manage, read/),
    expect.stringMatching(/^admin\.tokens\.1\.name: is missing/),
    expect.stringMatching(/^admin\.tokens\.2\.token: is too weak/),
    'admin.tokens.3.name: "Weak" is also the name of admin.tokens.2; give each operator a different one',
  ]);
  expect(await faults({ admin: {} })).toEqual(['admin: has no token; give it a token, or tokens, or oidc, or leave it out']);
});

test('serve prints the same lines, and creates no database; plugins that were set up are closed', async () => {
  const store = join(folder.path, 'never.db');
  const config = {
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    store: `sqlite:${store}`,
    admin: { token: 'x' },
    plugins: [{ module: plugin() }],
  };
  const file = write({ ...config, forward: [{ ...FORWARD, headers: { a: { file: 'none' } } }] });
  for (const command of [['serve'], ['serve', '--workers', '2'], ['config', 'check']]) {
    const { status, stdout, stderr } = await inProcess([...command, '--config', file]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe(
      `${file}: forward.0.headers.a: the file ${folder.path}/none cannot be read: there is no such file\n` +
        `${file}: admin.token: is too weak; it must be at least 32 characters without spaces, for example from "openssl rand -hex 32"\n`,
    );
  }
  expect(existsSync(store)).toBe(false);
});

const SIGNING = 'it must be whsec_ and the base64 of 24 to 64 bytes, for example from: echo "whsec_$(openssl rand -base64 32)"';
const base64 = (bytes: number): string => Buffer.alloc(bytes, 0xfb).toString('base64');

test.each([
  ['short', `is not a signing secret; ${SIGNING}`],
  [base64(32), `is not a signing secret; ${SIGNING}`],
  [`whsec_${base64(23)}`, `is not a signing secret; ${SIGNING}`],
  [`whsec_${base64(65)}`, `is not a signing secret; ${SIGNING}`],
  [`whsec_${base64(32).replaceAll('+', '-')}`, `is not a signing secret; ${SIGNING}`],
  [`whsec_A${base64(30)}`, `is not a signing secret; ${SIGNING}`],
  ['', 'is empty'],
  [{ env: 'NO_EVENTS' }, 'the environment variable NO_EVENTS is not set'],
  [7, 'is not a secret; it must be a string, { env: NAME } or { file: PATH }'],
])('events.secret: %j is refused', async (secret, fault) => {
  expect(await faults({ events: { url: 'http://127.0.0.1:1/', secret } })).toEqual([`events.secret: ${fault}`]);
});

test('config check shows where events are sent and their thresholds, without a token in the URL and without the secret', async () => {
  const secret = `whsec_${base64(24)}`;
  const file = write({
    events: { url: 'https://h.example/in?token=hidden', secret: { env: 'E' }, thresholds: [100, 50], credit_minor: [0, 10] },
  });
  const { status, stdout } = await inProcess(['config', 'check', '--config', file, '--json'], { E: secret });
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ events: 'https://h.example/in', event_thresholds: [50, 100], event_credit_minor: [10, 0] });
  expect(stdout).not.toMatch(/hidden|whsec/);
  const config = loadConfig({ file, env: {} });
  expect(secretsOf(config, sourcesOf(config, { E: secret })).events).toEqual(Buffer.alloc(24, 0xfb));
});

test('headers of traces are read only where traces are sent: not if a standard variable turns them off', async () => {
  const otel = { headers: { 'x-token': { env: 'NO_OTEL' } } };
  expect(await faults({ otel })).toEqual(['otel.headers.x-token: the environment variable NO_OTEL is not set']);
  for (const [name, off] of [
    ['OTEL_SDK_DISABLED', 'true'],
    ['OTEL_TRACES_EXPORTER', 'none'],
  ] as const) {
    const { status, stdout } = await inProcess(['config', 'check', '--offline', '--json', '--config', write({ otel })], { [name]: off });
    expect({ status, ...(JSON.parse(stdout) as object) }).toMatchObject({ status: 0, otel: 'off, by a variable', secrets_found: [] });
  }
});

test('every plugin that was set up for the checks above was closed', async () => {
  const { readFileSync } = await import('node:fs');
  const life = readFileSync(join(folder.path, 'life'), 'utf8').trimEnd().split('\n');
  const names = (word: string): string[] => life.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length));
  expect(names('set up ').length).toBe(5);
  expect(names('closed ').toSorted()).toEqual(names('set up ').toSorted());
});
