// SIGHUP: languages, engine replicas and plans are reloaded while requests continue; an invalid file changes nothing.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import { ConsoleVisitor } from '../../support/console-visitor.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { lingate } from '../../support/lingate-command.ts';
import { request } from '../../support/raw-http.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { logged, openSite, translate, workersOf } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';

const RELOADED = 'configuration reloaded';
const REFUSED = 'configuration refused: nothing has changed';
const WAITING = 'these members have changed and wait for a restart';
const german = { code: 'DE', name: 'German' };
const french = { code: 'FR', name: 'French' };

let site: Site;
let other: ScriptedEngine;
let served: GatewayProcess | undefined;

beforeEach(async () => {
  site = await openSite();
  other = await startScriptedEngine();
  await languages(german);
});

afterEach(async () => {
  const ended = await served?.end('SIGTERM');
  served = undefined;
  await other.close();
  await site.close();
  expect(ended ?? 0).toBe(0);
});

const serve = async (...more: readonly string[]): Promise<GatewayProcess> => (served = await site.serve(...more));

/** The languages file: sources and targets alike. */
const languages = (...list: readonly { code: string; name: string }[]): Promise<void> =>
  writeFile(join(site.folder, 'languages.yaml'), JSON.stringify({ sources: list, targets: list }));

const configure = (more: Readonly<Record<string, unknown>> = {}): Promise<void> =>
  site.configure({ languages: 'languages.yaml', engine: { urls: [site.engine.url] }, ...more });

/** The same answer from ten requests. */
const ten = <T>(one: T): T[] => Array.from({ length: 10 }, () => one);

async function hangup(gateway: GatewayProcess, message: string): Promise<void> {
  const before = logged(gateway, message).length;
  gateway.process.kill('SIGHUP');
  await expect.poll(() => logged(gateway, message).length).toBeGreaterThan(before);
}

async function targetsOf(port: number): Promise<string[]> {
  const headers = { Authorization: `Bearer ${site.team.key}` };
  const answer = await request({ port, path: '/v1/languages?type=target', headers });
  return (answer.json() as { language: string }[]).map(({ language }) => language);
}

test.each([
  ['another service', 'hello'],
  ['no numbers', '{}'],
  ['a group of processes', '{"pid":0,"space":"","count":1}'],
])('lingate reload signals nobody if %s answers at the address of the ops listener', async (_what, body) => {
  const server = createServer((_asked, answer) => void answer.end(body)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await expect.poll(() => server.listening).toBe(true);
  const ops = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await configure();
  const { status, stderr } = await lingate(['reload', '--config', join(site.folder, 'lingate.yaml'), '--ops', ops]);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/cannot reload: .*; give the gateway's address with --ops\n$/)]);
});

describe('a reload', () => {
  /** One request may reach only one worker. */
  const looks = (port: number): Promise<string[][]> => Promise.all(Array.from({ length: 10 }, () => targetsOf(port)));

  test('lingate reload prints what is in force and what waits; a refused configuration is status 1, and nothing changes', async () => {
    await configure();
    const { host, port } = new URL((await serve()).opsUrl);
    // Only this machine is answered, by a name that is the listener's: a page in a browser may lead another one here.
    expect((await request({ port: Number(port), path: '/reloads', headers: { Host: 'pages.test' } })).status).toBe(421);
    const words = ['reload', '--config', join(site.folder, 'lingate.yaml'), '--ops', host, '--json'];
    await languages(german, french);
    await configure({ history: { days: 9 } });
    const { status, stdout, stderr } = await lingate(words);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ sources: 2, targets: 2, waiting: ['history.days'] });
    // The command reads the file itself, without the secrets: what it cannot see, the gateway refuses.
    await configure({ otel: { headers: { a: { file: 'missing' } } } });
    expect(await lingate(words)).toMatchObject({ status: 1, stderr: expect.stringContaining('nothing has changed') as string });
    await site.configure({ plans: {} });
    expect(await lingate(words)).toMatchObject({ status: 1, stderr: expect.stringContaining('plans') as string });
  });

  test('operators are reloaded: a removed token no longer works and its session has ended; an invalid file changes nothing', async () => {
    const [ops, sales] = ['o'.repeat(32), 's'.repeat(32)];
    const tokenFile = join(site.folder, 'sales-token');
    const operators = (role: string) => [
      { name: 'ops', token: ops, role: 'manage' },
      { name: 'sales', token: { file: tokenFile }, role },
    ];
    await writeFile(tokenFile, sales);
    await configure({ admin: { tokens: operators('manage') } });
    const gateway = await serve();
    const port = Number(new URL(gateway.opsUrl).port);
    const statusOf = async (method: string, token: string): Promise<number> => {
      const headers = { Authorization: `Bearer ${token}`, Host: '127.0.0.1' };
      return (await request({ port, method, path: '/admin/v1/plans/none/apply', headers })).status;
    };
    const visitor = new ConsoleVisitor(port);
    expect((await visitor.signIn(sales)).status).toBe(303);
    expect([await statusOf('POST', sales), await statusOf('POST', ops)]).toEqual([404, 404]);
    await configure({ admin: { tokens: operators('read') } });
    await hangup(gateway, RELOADED);
    expect([await statusOf('POST', sales), await statusOf('POST', ops)]).toEqual([403, 404]);
    expect([(await visitor.get('/console/teams')).status, (await visitor.get('/console/teams/new')).status]).toEqual([200, 403]);
    await writeFile(tokenFile, 'short');
    await hangup(gateway, REFUSED);
    expect([await statusOf('POST', sales), (await visitor.get('/console/teams')).status]).toEqual([403, 200]);
    await writeFile(tokenFile, 'n'.repeat(32));
    await hangup(gateway, RELOADED);
    expect([await statusOf('POST', sales), await statusOf('POST', 'n'.repeat(32)), await statusOf('POST', ops)]).toEqual([401, 403, 404]);
    expect((await visitor.get('/console/teams')).header('location')).toBe('/console/sign-in');
    expect(logged(gateway, WAITING)).toEqual([]);
  });

  test('languages and engine replicas are reloaded while requests in flight continue', async () => {
    await configure();
    const gateway = await serve('--workers', '2');
    expect((await translate(gateway.port, site.team.key, { target: 'FR' })).json()).toMatchObject({ code: 'invalid_target_lang' });
    const release = Promise.withResolvers<void>();
    site.engine.behave((_request, response) => void release.promise.then(() => response.end('{"translations":[{"text":"old"}]}')));
    const underWay = translate(gateway.port, site.team.key);
    await site.engine.until(() => site.engine.requests.length === 1);
    await languages(german, french);
    await configure({ engine: { urls: [other.url] } });
    await hangup(gateway, RELOADED);
    await expect.poll(() => looks(gateway.port)).toEqual(ten(['DE', 'FR']));
    const answers = await Promise.all(Array.from({ length: 10 }, () => translate(gateway.port, site.team.key, { target: 'FR' })));
    expect(answers.map(({ status }) => status)).toEqual(ten(200));
    expect(other.requests).toHaveLength(10);
    expect(site.engine.requests).toHaveLength(1);
    release.resolve();
    expect((await underWay).json()).toMatchObject({ translations: [{ text: 'old' }] });
    expect(logged(gateway, RELOADED)).toMatchObject([{ sources: 2, targets: 2, engine_urls: other.url }]);
    expect(logged(gateway, WAITING)).toEqual([]);
  });

  test('an invalid file changes nothing, and every error is named', async () => {
    await configure();
    const gateway = await serve();
    await languages(german, french);
    await configure({ engine: { urls: [other.url], timeout_ms: 0 }, plans: { p: { ...QUOTA_PLAN, period: 'soon' } }, limit: 5 });
    await hangup(gateway, REFUSED);
    await expect.poll(() => logged(gateway, REFUSED)).toHaveLength(3);
    const faults = logged(gateway, REFUSED).map((line) => String(line['fault']));
    for (const path of ['engine.timeout_ms: ', 'plans.p.period: ', 'limit: ']) {
      expect(faults.filter((fault) => fault.includes(`lingate.yaml: ${path}`))).toHaveLength(1);
    }
    expect(await looks(gateway.port)).toEqual(ten(['DE']));
    expect((await translate(gateway.port, site.team.key)).status).toBe(200);
    expect([site.engine.requests.length, other.requests.length]).toEqual([1, 0]);
    await languages(german, german);
    for (const [file, fault] of [
      ['none.yaml', /none\.yaml: cannot be read: there is no such file$/],
      ['languages.yaml', /languages\.yaml: sources\.1\.code: "DE" is listed twice; leave one out$/],
    ] as const) {
      const before = logged(gateway, REFUSED).length;
      await configure({ languages: file });
      await hangup(gateway, REFUSED);
      expect(logged(gateway, REFUSED)[before]!['fault']).toMatch(fault);
      expect(await looks(gateway.port)).toEqual(ten(['DE']));
    }
    await languages(german, french);
    await configure();
    await hangup(gateway, RELOADED);
    await expect.poll(() => looks(gateway.port)).toEqual(ten(['DE', 'FR']));
  });
});

test('other changed members are named as waiting for a restart, and flags still take precedence', async () => {
  await configure();
  const gateway = await serve('--engine-url', site.engine.url);
  const engine = { urls: [other.url], timeout_ms: 5000 };
  await configure({ engine, service: { name: 'renamed' }, limits: { body_bytes: 2048 }, store: 'redis://user:hunter2@127.0.0.1:1' });
  await hangup(gateway, WAITING);
  // The store comes from a flag, which has not changed.
  const members = 'service.name limits.body_bytes engine.timeout_ms';
  expect(logged(gateway, WAITING)).toMatchObject([{ level: 'warn', members }]);
  expect(gateway.output()).not.toContain('hunter2');
  expect((await translate(gateway.port, site.team.key)).status).toBe(200);
  expect(other.requests).toEqual([]);
});

test('a replaced worker starts with the reloaded settings', async () => {
  await configure();
  const gateway = await serve('--workers', '2');
  await languages(german, french);
  await hangup(gateway, RELOADED);
  // Never applied: the new worker must not have it either.
  await languages(french);
  for (const pid of workersOf(gateway)) process.kill(pid, 'SIGKILL');
  await expect.poll(() => logged(gateway, 'a worker was replaced')).toHaveLength(2);
  const answers = await Promise.all(Array.from({ length: 10 }, () => targetsOf(gateway.port)));
  expect(answers).toEqual(ten(['DE', 'FR']));
});
