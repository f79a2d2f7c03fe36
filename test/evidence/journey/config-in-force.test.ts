// What is in force, and what is probably a mistake: `config check` lists it, and `serve` warns of it.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { status } from '../../../src/testing.ts';
import { ConsoleVisitor } from '../../support/console-visitor.ts';
import { freePort } from '../../support/free-port.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { inProcess } from '../../support/lingate-command.ts';
import { request } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

const started = startedUntil(afterAll);
const { folder } = started;
const engine = await started.engine();

async function written(config: object): Promise<string> {
  const file = join(folder, `${randomBytes(6).toString('hex')}.yaml`);
  await writeFile(file, JSON.stringify({ engine: { urls: [engine.url] }, ...config }));
  return file;
}

interface Checked {
  readonly warnings: readonly string[];
  readonly [member: string]: unknown;
}

async function checked(file: string, ...flags: readonly string[]): Promise<Checked> {
  const { status: ended, stdout, stderr } = await inProcess(['config', 'check', '--config', file, '--json', ...flags]);
  expect([ended, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Checked;
}

/** A member of every kind that has secrets, each with a word that must not be shown. */
const TOKENS = ['hidden'.padEnd(40, 'a'), 'hidden'.padEnd(40, 'b')] as const;
const FULL = {
  service: { public_url: 'https://mt.example.org' },
  listen_trusted_proxies: ['10.0.0.0/8'],
  admin: { token: TOKENS[0], tokens: [{ name: 'eve', role: 'read', token: TOKENS[1] }] },
  events: { url: 'https://hooks.example.org/in?token=hidden', secret: `whsec_${Buffer.from('hidden'.repeat(6)).toString('base64')}` },
  documents: { secret: 'hidden'.padEnd(40, 'c') },
  forward: [{ path: '/v1/extra', methods: ['GET'], target: 'http://127.0.0.1:1', headers: { 'x-token': 'hidden' } }],
  otel: { endpoint: 'https://otel.example.org/base', headers: { 'x-token': 'hidden' } },
  plugins: [{ module: 'lingate/plugins/deepl-v2' }],
  limits: { concurrency: 77 },
  store: 'redis://user:hidden@127.0.0.1:1',
};

test('everything that is in force is listed, secrets by their places alone', async () => {
  const file = await written(FULL);
  const listed = await checked(file, '--offline');
  expect(listed).toMatchObject({
    public_url: 'https://mt.example.org',
    docs_url: 'https://mt.example.org/docs',
    trusted_proxies: ['10.0.0.0/8'],
    store: 'redis://***@127.0.0.1:1',
    operators: ['admin (manage)', 'eve (read)'],
    secrets_found: [
      'admin.token',
      'admin.tokens.0.token',
      'documents.secret',
      'events.secret',
      'otel.headers.x-token',
      'forward.0.headers.x-token',
    ],
    otel: 'on',
    otel_traces: 'https://otel.example.org/base/v1/traces',
    otel_sample: 0.01,
    otel_follow_callers: false,
    plugins: ['lingate/plugins/deepl-v2'],
    events: 'https://hooks.example.org/in',
    documents: 'in the store',
    limits: { concurrency: 77, tags: 1000 },
    warnings: [],
  });
  const { stdout: text } = await inProcess(['config', 'check', '--config', file, '--offline']);
  expect(text).toMatch(/^operators +admin \(manage\), eve \(read\)$/m);
  expect(`${JSON.stringify(listed)}${text}`).not.toContain('hidden');
});

test.each([
  ['0.0.0.0:8080', {}, true],
  ['127.0.0.1:8080', {}, false],
  ['0.0.0.0:8080', { public_url: 'https://mt.example.org' }, false],
  ['0.0.0.0:8080', { docs_url: 'https://docs.example.org' }, false],
  ['0.0.0.0:8080', { docs_url: 'http://[::1]:9090/docs' }, true],
])('a listener on %s with the service %j: a warning is %s', async (listen, service, warns) => {
  const { warnings } = await checked(await written({ listen, service }), '--offline');
  expect(warnings).toEqual(warns ? [expect.stringMatching(/^service\.public_url: is not set, but 0\.0\.0\.0:8080 can be reached/)] : []);
});

test.each([
  ['127.0.0.1:19090', 'http://127.0.0.1:19090/docs', 'which only this machine can open'],
  ['0.0.0.0:19090', 'http://127.0.0.1:19090/docs', 'which only this machine can open'],
  ['10.20.30.40:19090', 'http://10.20.30.40:19090/docs', 'which is the ops listener, not for callers'],
])('without public_url, "type" points to the documentation on the ops listener, here %s', async (ops, docsUrl, words) => {
  const listed = await checked(await written({ listen: '0.0.0.0:8080', ops }), '--offline');
  expect(listed).toMatchObject({ docs_url: docsUrl, warnings: [expect.stringContaining(`points to ${docsUrl}, ${words}`)] });
});

test('serve warns of a listener without public_url when it starts', async () => {
  const gateway = await started.gateway({ engineUrls: [engine.url], config: { listen: '0.0.0.0:0' } });
  expect(gateway.logLines.find((line) => line.includes('"level":"warn"') && line.includes('service.public_url: is not set'))).toBeDefined();
});

test('plans that teams in Redis have and the configuration lacks are warnings of config check and of serve, also after a reload', async () => {
  const place = await started.place('redis');
  const plans = { free: QUOTA_PLAN, gold: QUOTA_PLAN };
  const before = await written({ store: place.url, plans });
  for (const plan of ['free', 'gold', 'gold']) {
    const made = await inProcess(['team', 'create', '--config', before, '--name', 'A', '--plan', plan]);
    expect(made.status).toBe(0);
  }
  expect(await checked(before)).toMatchObject({ store_read: true, teams_checked: 3, plans_missing: [], warnings: [] });
  const after = await written({ store: place.url, plans: { free: QUOTA_PLAN, god: QUOTA_PLAN } });
  const words = 'plans: 2 teams have the plan "gold", which the configuration lacks';
  expect(await checked(after)).toMatchObject({
    plans_missing: [{ plan: 'gold', teams: 2 }],
    warnings: [expect.stringContaining(words)],
  });
  const gateway = await started.gateway({ store: place.url, engineUrls: [engine.url], config: { plans } });
  const warned = (): boolean => gateway.logLines.some((line) => line.includes('"plan":"gold"') && line.includes('"teams":2'));
  expect(warned()).toBe(false);
  const { config } = gateway.app;
  gateway.app.reload({ ...config, raw: { ...config.raw, plans: { free: QUOTA_PLAN } } });
  await expect.poll(warned).toBe(true);
});

test('a store and an engine that cannot be used are warnings that say what to do; the configuration is valid all the same', async () => {
  const port = await freePort();
  const file = await written({ store: `redis://:hidden@127.0.0.1:${port}`, engine: { urls: [`http://127.0.0.1:${port}`, engine.url] } });
  engine.behave(status(401));
  const listed = await checked(file);
  expect(listed).toMatchObject({
    valid: true,
    store_read: false,
    engines_working: [],
    warnings: [
      `store: the store redis://127.0.0.1:${port} cannot be used (ECONNREFUSED): start it or correct the store's URL`,
      expect.stringMatching(/^engine default: \S+ does not translate \(connect\): Start the engine/),
      expect.stringMatching(/^engine default: \S+ does not translate \(status, status 401\): Check the key/),
    ],
  });
  expect(JSON.stringify(listed)).not.toContain('hidden');
});

/** What is polled for is there within five seconds on an idle machine. */
const SEEN = { timeout: 60_000 };

test('a gateway whose engines cannot be used says what to do, in its log and on the console, and which they are in /readyz', async () => {
  const webPage = await started.engine();
  webPage.always(status(404));
  const token = randomBytes(24).toString('hex');
  const engines = {
    nobody: { urls: ['http://no-such-engine.invalid:7001'] },
    down: { urls: [`http://127.0.0.1:${await freePort()}`] },
    other: { urls: [webPage.url], protocol: 'libretranslate' },
  };
  const gateway = await started.gateway({ config: { engines, admin: { token } } });
  const visitor = await ConsoleVisitor.signedIn(gateway.opsPort, token);
  const answer = async (path: string): Promise<string> =>
    (await visitor.get(path)).body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  const ready = async (): Promise<string> =>
    (await request({ port: gateway.opsPort, path: '/readyz', headers: { host: 'localhost' } })).body;
  for (const [name, cause, advice] of [
    ['nobody', '"cause":"name_unknown"', 'Check the host name in engine.urls'],
    ['down', '"cause":"refused"', 'Start the engine, or check host and port in engine.urls'],
    ['other', '"status":404', 'Check the path in engine.urls and engine.protocol'],
  ] as const) {
    await expect.poll(() => gateway.logLines.join(''), SEEN).toMatch(new RegExp(`"engine":"${name}",.*${cause},"advice":"${advice}`));
    await expect.poll(ready, SEEN).toContain(`"${name}":{"ok":false`);
    await expect.poll(() => answer('/console'), SEEN).toContain(advice);
  }
  const { warnings } = await checked(await written({ listen: `127.0.0.1:${gateway.port}`, ops: `127.0.0.1:${gateway.opsPort}` }));
  expect(warnings.join('')).not.toContain('another program');
});

test('a database that is not there yet is made by none of this', async () => {
  const file = await written({ store: `sqlite:${folder}/none.db` });
  expect(await checked(file)).toMatchObject({
    store_read: false,
    store_reason: expect.stringContaining('no database there yet') as string,
    warnings: [],
  });
  expect(await checked(file)).toMatchObject({ store_read: false, engines_working: [engine.url] });
});
