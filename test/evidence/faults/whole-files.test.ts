// Files that mean nothing or lack a section are not taken; and what a worker that starts later reads.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../support/certificate.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { inProcess, MAIN } from '../../support/lingate-command.ts';
import { outputOf } from '../../support/start-program.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { request } from '../../support/raw-http.ts';
import { logged, openSite, translate, workersOf } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';

const RELOADED = 'configuration reloaded';
const REFUSED = 'configuration refused: nothing has changed';
const EMPTY = 'is empty: there is nothing in it but blank lines, comments or null; was it still being written?';
/** All files that mean nothing. */
const NOTHING = ['', '# only a comment\n', '\n \n', '~', 'null\n', '---\n', '---\n...\n'];

let site: Site;
let file: string;

beforeEach(async () => {
  site = await openSite();
  file = join(site.folder, 'lingate.yaml');
});

afterEach(() => site.close());

/** One member a line, as people write it. */
const yaml = (config: Readonly<Record<string, unknown>>): string =>
  Object.entries(config)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('');

const lines = (gateway: GatewayProcess): number => logged(gateway, RELOADED).length + logged(gateway, REFUSED).length;

const sections = (): Record<string, unknown> => ({
  engine: { urls: [site.engine.url] },
  plans: { small: QUOTA_PLAN, large: QUOTA_PLAN },
  store: site.storeUrl,
  admin: { token: 'a'.repeat(32) },
  plugins: [{ module: 'lingate/plugins/deepl-v2' }],
});

/** The log line of the outcome; there must be one. */
async function hangUp(gateway: GatewayProcess): Promise<Record<string, unknown>> {
  const before = lines(gateway);
  const refused = logged(gateway, REFUSED).length;
  gateway.process.kill('SIGHUP');
  await expect.poll(() => lines(gateway)).toBe(before + 1);
  return logged(gateway, REFUSED)[refused] ?? logged(gateway, RELOADED).at(-1)!;
}

async function killWorkers(gateway: GatewayProcess): Promise<void> {
  const replaced = logged(gateway, 'a worker was replaced').length;
  const killed = workersOf(gateway);
  for (const pid of killed) process.kill(pid, 'SIGKILL');
  await expect.poll(() => logged(gateway, 'a worker was replaced').length).toBe(replaced + killed.length);
}

test('a file that means nothing is refused at the start and by config check, in one line; {} is all defaults', async () => {
  for (const text of NOTHING) {
    writeFileSync(file, text);
    for (const args of [site.args(), ['config', 'check', '--config', file]]) {
      const { status, stdout, stderr } = await inProcess(args);
      expect([status, stdout, stderr]).toEqual([1, '', `${file}: ${EMPTY}\n`]);
    }
  }
  writeFileSync(file, '{}');
  expect(await inProcess(['config', 'check', '--config', file])).toMatchObject({ status: 0, stderr: '' });
});

test('a configuration from a pipe is read once, whatever a command does with it', async () => {
  const script = 'printf %s "$1" | exec "$2" "$3" config check --config /dev/stdin --json';
  const checked = await outputOf('sh', ['-c', script, 'sh', readFileSync(file, 'utf8'), process.execPath, MAIN]);
  expect(JSON.parse(checked)).toMatchObject({ valid: true, engine_urls: [site.engine.url] });
});

describe('on SIGHUP', () => {
  test('an empty file, and one that takes a whole section away, changes nothing and is one line', async () => {
    writeFileSync(file, yaml(sections()));
    const gateway = await site.serve();
    const refusals: [text: string, fault: string][] = [
      ...['', '# only a comment\n', '~', '---\n'].map((text): [string, string] => [text, 'empty']),
      ['{}', ': engine, plans, store, admin, plugins: are gone, and a reload does not take them away; restart the gateway to run without'],
    ];
    for (const name of Object.keys(sections())) {
      const { [name]: _gone, ...rest } = sections();
      refusals.push([yaml(rest), `: ${name}: is gone, and a reload does not take it away; restart the gateway to run without`]);
    }
    refusals.push([
      yaml({ ...sections(), engine: { protocol: 'native' } }),
      ': engine.urls: is gone, and a reload does not take it away; restart the gateway to run without',
    ]);
    for (const [text, fault] of refusals) {
      writeFileSync(file, text);
      expect(await hangUp(gateway), text).toMatchObject({ level: 'error', msg: REFUSED, fault: expect.stringContaining(fault) as string });
      expect((await translate(gateway.port, site.team.key)).status).toBe(200);
    }
    expect(site.engine.requests).toHaveLength(refusals.length);
    writeFileSync(file, yaml({ ...sections(), plans: { small: QUOTA_PLAN } }));
    expect(await hangUp(gateway)).toMatchObject({ msg: RELOADED, plans: 'small' });
    expect(await gateway.end('SIGTERM')).toBe(0);
  });
});

describe('workers that start later', () => {
  const listener = LISTENERS[0];
  test('have the certificate, the secrets and the languages in force, whatever has become of the files', async () => {
    const [key, header] = [join(site.folder, 'engine-key'), join(site.folder, 'header')];
    const { certFile, keyFile } = await makeCertificate(site.folder, 'lingate.test', 'IP:127.0.0.1');
    writeFileSync(key, 'engine-secret\n');
    writeFileSync(header, 'Bearer upstream\n');
    writeFileSync(join(site.folder, 'codes.yaml'), 'targets: [{ code: DE, name: German }]\nsources: [{ code: DE, name: German }]\n');
    await site.configure({
      listener,
      languages: 'codes.yaml',
      engine: { urls: [site.engine.url], options: { headers: { 'x-token': { file: key } } } },
      // What is streamed is node:http's.
      forward:
        listener === 'uws'
          ? []
          : [{ path: '/v1/voices', methods: ['GET'], target: site.engine.url, headers: { authorization: { file: header } } }],
      tls: { cert_file: certFile, key_file: keyFile },
      admin: { tokens: [{ name: 'ops', role: 'manage', token: { file: join(site.folder, 'token') } }] },
      events: { url: 'http://127.0.0.1:1/', secret: { file: join(site.folder, 'signing') } },
    });
    writeFileSync(join(site.folder, 'token'), 'o'.repeat(32));
    writeFileSync(join(site.folder, 'signing'), `whsec_${Buffer.alloc(32, 7).toString('base64')}`);
    const gateway = await site.serve('--workers', '2');
    copyFileSync(certFile, join(site.folder, 'ca.pem'));
    const spoiled = [certFile, keyFile, key, header, 'codes.yaml', 'token', 'signing', 'lingate.yaml'];
    for (const [index, name] of spoiled.entries()) {
      if (index % 2 === 0) rmSync(join(site.folder, name.replace(`${site.folder}/`, '')));
      else writeFileSync(join(site.folder, name.replace(`${site.folder}/`, '')), 'half a f');
    }
    await killWorkers(gateway);
    // After a reload that is refused as well.
    await hangUp(gateway).then(({ msg }) => expect(msg).toBe(REFUSED));
    await killWorkers(gateway);
    for (let i = 0; i < 10; i++) {
      const answer = await translate(gateway.port, site.team.key, { tls: true });
      expect(answer.status).toBe(200);
      expect(site.engine.requests.at(-1)!.headers).toMatchObject({ 'x-token': 'engine-secret' });
    }
    if (listener === 'node') {
      const headers = { Authorization: `Bearer ${site.team.key}` };
      await request({ port: gateway.port, tls: true, path: '/v1/voices', headers });
      expect(site.engine.requests.at(-1)!.headers).toMatchObject({ authorization: 'Bearer upstream' });
    }
    const ops = { port: Number(new URL(gateway.opsUrl).port), headers: { Host: '127.0.0.1' } };
    expect((await request({ ...ops, path: '/readyz' })).status).toBe(200);
    expect(await gateway.end('SIGTERM')).toBe(0);
  });

  test('have the certificate of the last reload that could use one', async () => {
    const { certFile, keyFile } = await makeCertificate(site.folder, 'first.test', 'IP:127.0.0.1');
    await site.configure({ listener, engine: { urls: [site.engine.url] }, tls: { cert_file: certFile, key_file: keyFile } });
    const gateway = await site.serve('--workers', '2');
    const renewed = await makeCertificate(join(site.folder, 'renewed'), 'second.test', 'IP:127.0.0.1');
    // The certificate is new and its key is not, as in the middle of a renewal.
    copyFileSync(renewed.certFile, certFile);
    await hangUp(gateway);
    expect(logged(gateway, 'TLS: the certificate stays as it was')).toHaveLength(1);
    await killWorkers(gateway);
    expect((await translate(gateway.port, site.team.key, { tls: true })).status).toBe(200);
    copyFileSync(renewed.keyFile, keyFile);
    await hangUp(gateway);
    await expect.poll(() => logged(gateway, 'TLS: new connections get the renewed certificate')).toHaveLength(2);
    writeFileSync(keyFile, readFileSync(keyFile).subarray(0, 60));
    await killWorkers(gateway);
    expect((await translate(gateway.port, site.team.key, { tls: true })).status).toBe(200);
    expect(await gateway.end('SIGTERM')).toBe(0);
  });
});

test('a worker whose plugin was spoilt is tried again and again, which is said, and starts when it is mended', async () => {
  const module = join(site.folder, 'plugin.mjs');
  const intact =
    "import { definePlugin } from 'lingate';\nimport { Type } from 'typebox';\nexport default definePlugin({ name: 'p', options: Type.Object({}), setup: () => ({}) });\n";
  writeFileSync(module, intact);
  await site.configure({ engine: { urls: [site.engine.url] }, plugins: [{ module }] });
  const gateway = await site.serve('--workers', '2');
  const [victim] = workersOf(gateway) as [number, number];
  writeFileSync(module, intact.slice(0, 55));
  process.kill(victim, 'SIGKILL');
  const unstarted = (): Record<string, unknown>[] => logged(gateway, 'a worker did not start');
  await expect.poll(() => unstarted().length).toBeGreaterThan(1);
  expect(unstarted()[0]!['reason']).toMatch(/plugins\.0\.module: \S+plugin\.mjs cannot be loaded/);
  expect((await translate(gateway.port, site.team.key)).status).toBe(200);
  writeFileSync(module, intact);
  await expect.poll(() => logged(gateway, 'a worker was replaced')).toHaveLength(1);
  expect(workersOf(gateway)).toHaveLength(2);
  expect(await gateway.end('SIGTERM')).toBe(0);
});
