// Mistakes in a configuration or around it, and what a person then sees: the log or standard error, /readyz, config check, the console.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { ConsoleVisitor } from '../../support/console-visitor.ts';
import { freePort } from '../../support/free-port.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { inProcess, MAIN, parsed } from '../../support/lingate-command.ts';
import { request } from '../../support/raw-http.ts';
import { launch, OWN_NODE } from '../../support/start-program.ts';

/** What is polled for is there within five seconds on an idle machine. */
const SEEN = { timeout: 60_000 };
const TOKEN = randomBytes(24).toString('hex');
const READY = /lingate is ready on http:\/\/[^ ]+:(\d+), ops on http:\/\/[^ ",]+:(\d+)/;

let folder: string;
let engine: ScriptedEngine;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-mistakes-'));
  engine = await startScriptedEngine();
});
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

/** A sound configuration but for `mistake`. */
async function written(mistake: object): Promise<string> {
  const file = join(folder, `${randomBytes(6).toString('hex')}.yaml`);
  const sound = {
    listen: '127.0.0.1:0',
    ops: '127.0.0.1:0',
    store: `sqlite:${folder}/${randomBytes(6).toString('hex')}.db`,
    engine: { urls: [engine.url] },
    admin: { token: TOKEN },
    plans: { free: QUOTA_PLAN },
  };
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify({ ...sound, ...mistake }));
  return file;
}

/** A gateway that runs all the same, as someone sees it who did not start it. */
interface Seen {
  readonly port: number;
  readonly log: () => string;
  readonly ready: () => Promise<{ readonly status: number; readonly body: string }>;
  /** The text of the console's page. */
  readonly console: (page?: string) => Promise<string>;
}

async function serving(file: string): Promise<Seen> {
  const program = launch(OWN_NODE, [MAIN, 'serve', '--config', file], { env: bareEnvironment() });
  onTestFinished(() => program.end().then(() => undefined));
  let output = '';
  for (const stream of [program.child.stdout, program.child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await program.until(READY);
  const [, port, opsPort] = READY.exec(output)!;
  const visitor = new ConsoleVisitor(Number(opsPort));
  await visitor.signIn(TOKEN);
  return {
    port: Number(port),
    log: () => output,
    ready: () => request({ port: Number(opsPort), path: '/readyz', headers: { host: 'localhost' } }),
    console: async (page = '') => (await visitor.get(`/console${page}`)).body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
  };
}

/** Everything that `config check` prints, on either stream. */
async function checked(file: string): Promise<string> {
  const { stdout, stderr } = await inProcess(['config', 'check', '--config', file]);
  return stdout + stderr;
}

async function newKey(file: string): Promise<string> {
  const run = async (...args: readonly string[]) =>
    parsed(await inProcess([...args, '--config', file, '--json'])) as Readonly<Record<string, string>>;
  const { team_id } = await run('team', 'create', '--name', 'A', '--plan', 'free');
  return (await run('key', 'create', '--team', team_id!, '--mode', 'live'))['key']!;
}

function translate(port: number, key: string) {
  return request({
    port,
    method: 'POST',
    path: '/v1/translate',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"text":["Hello"],"target_lang":"DE"}',
  });
}

describe('the engine', () => {
  /** Each mistake at an engine of its own, so that one gateway shows them all. */
  test('nobody of that name, down at the start, and two that speak another protocol', async () => {
    const webPage = await startScriptedEngine();
    onTestFinished(() => webPage.close());
    webPage.always((asked, response) => void response.writeHead(asked.path === '/languages' ? 404 : 200).end('<html>a start page</html>'));
    const file = await written({
      engine: undefined,
      engines: {
        nobody: { urls: ['http://no-such-engine.invalid:7001'] },
        down: { urls: [`http://127.0.0.1:${await freePort()}`] },
        other: { urls: [webPage.url], protocol: 'libretranslate' },
        page: { urls: [webPage.url] },
      },
      routing: [{ pairs: ['*-DE'], engines: ['page'] }, { engines: ['nobody', 'down', 'other'] }],
    });
    const advice = {
      nobody: 'Check the host name in engine.urls',
      down: 'Start the engine, or check host and port in engine.urls',
      other: 'Check the path in engine.urls and engine.protocol',
      page: 'Check the path in engine.urls, and that the engine there speaks engine.protocol',
    };
    const told = await checked(file);
    expect(told).toMatch(new RegExp(`- engine nobody: \\S+ does not translate \\(connect\\): ${advice.nobody}`));
    expect(told).toMatch(new RegExp(`- engine down: \\S+ does not translate \\(connect\\): ${advice.down}`));
    expect(told).toMatch(/- engine other: \S+ does not translate /);
    expect(told).toMatch(new RegExp(`- engine page: \\S+ does not translate \\(not_json, status 200\\): ${advice.page}`));

    const key = await newKey(file);
    const seen = await serving(file);
    for (const [name, cause] of [
      ['nobody', '"cause":"name_unknown"'],
      ['down', '"cause":"refused"'],
      ['other', '"status":404'],
    ] as const) {
      await expect.poll(seen.log, SEEN).toMatch(new RegExp(`"engine":"${name}",.*${cause},"advice":"${advice[name]}`));
      await expect.poll(async () => (await seen.ready()).body, SEEN).toContain(`"${name}":{"ok":false`);
    }
    // Without a list of its languages, the protocol shows at the first request.
    expect((await translate(seen.port, key)).status).toBe(503);
    await expect.poll(seen.log, SEEN).toMatch(/"engine":"page",.*"failure":"not_json".*"msg":"engine attempt failed"/);
    await expect.poll(() => seen.console('/requests'), SEEN).toContain('not_json, then not_json at page');
    for (const words of Object.values(advice)) await expect.poll(() => seen.console(), SEEN).toContain(words);
  });
});

describe('the configuration', () => {
  test('a gateway that already runs is no other program', async () => {
    const [port, opsPort] = [await freePort(), await freePort()];
    const file = await written({ listen: `127.0.0.1:${port}`, ops: `127.0.0.1:${opsPort}` });
    await serving(file);
    expect(await checked(file)).not.toContain('another program');
  });
});
