// Engines with options, called by real callers: unsupported features are reported, secrets never appear, costs are counted.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startScriptedEngine, status } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { inProcess, lingate } from '../../support/lingate-command.ts';
import { SECRET, SUBJECTS } from '../../unit/engines/protocols/subjects.ts';

const TOKEN = 'a-token-in-a-header';

/** The options that a configuration of each protocol needs, with all its secrets. */
const OPTIONS: Readonly<Record<string, object>> = {
  libretranslate: { api_key: SECRET },
  openai: { model: 'm', api_key: SECRET },
  deepl: { api_key: SECRET },
  mtranserver: { token: SECRET },
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-protocols-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A gateway in front of a scripted engine that speaks the protocol. */
class Site {
  readonly engine: ScriptedEngine;
  readonly gateway: TestGateway;
  readonly #team: TestTeam;

  constructor(engine: ScriptedEngine, gateway: TestGateway, team: TestTeam) {
    this.engine = engine;
    this.gateway = gateway;
    this.#team = team;
  }

  static async start(protocol: string): Promise<Site> {
    const engine = await startScriptedEngine({ right: SUBJECTS[protocol]!.right });
    const config = { engine: { protocol, timeout_ms: 5000, options: { ...OPTIONS[protocol], headers: { 'x-token': TOKEN } } } };
    const store = `sqlite:${folder}/${protocol}.db`;
    const gateway = await startGateway({ store, engineUrls: [engine.url], config });
    return new Site(engine, gateway, await gateway.team());
  }

  async ask(body: unknown, path = '/v1/translate'): Promise<{ status: number; body: unknown }> {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.#team.key}` };
    const response = await fetch(`http://127.0.0.1:${this.gateway.port}${path}`, { ...init, headers });
    return { status: response.status, body: await response.json() };
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.gateway.opsPort}/metrics`)).text();
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.engine.close();
  }
}

describe.each(Object.keys(OPTIONS))('a gateway that speaks %s', (protocol) => {
  let site: Site;

  beforeAll(async () => {
    site = await Site.start(protocol);
  });
  afterEach(() => site.engine.forget());
  afterAll(() => site.stop());

  test('translates, and sends the operator’s field with every request', async () => {
    expect(await site.ask({ text: ['Hello', 'Good night'], source_lang: 'EN', target_lang: 'DE' })).toMatchObject({
      status: 200,
      body: { translations: [{ text: '[DE] Hello' }, { text: '[DE] Good night' }], billed_characters: 15 },
    });
    for (const { headers } of site.engine.requests) expect(headers['x-token']).toBe(TOKEN);
  });

  test('reveals nothing of engine, key and token when the engine refuses', async () => {
    site.engine.always(status(403, `{"error":"key ${SECRET} and token ${TOKEN}"}`));
    const { status: code, body } = await site.ask({ text: ['Hello'], target_lang: 'DE' });
    expect([code, (body as { code: string }).code]).toEqual([503, 'engine_unavailable']);
    for (const place of [JSON.stringify(body), site.gateway.logLines.join(''), await site.metrics()]) {
      for (const word of [SECRET, TOKEN]) expect(place).not.toContain(word);
    }
  });
});

describe('an operator learns', () => {
  let site: Site;
  afterEach(() => site.stop());

  test('that their own quota at the engine is used up: one line at level error, and a metric of its own', async () => {
    site = await Site.start('deepl');
    site.engine.always(status(456));
    for (let i = 0; i < 3; i++) expect((await site.ask({ text: ['Hello'], target_lang: 'DE' })).status).toBe(503);
    const told = (): string[] => site.gateway.logLines.filter((line) => line.includes('own quota at the engine'));
    await expect.poll(told).toEqual([expect.stringContaining('"level":"error"')]);
    expect(await site.metrics()).toContain('lingate_engine_quota_exhausted_total{engine="default"} 6');
  });

  test('how many tokens a model has read and written', async () => {
    site = await Site.start('openai');
    await site.ask({ text: ['Hello'], target_lang: 'DE' });
    await site.ask({ text: ['Hello'], target_lang: 'DE' });
    expect(await site.metrics()).toContain('lingate_engine_tokens_total{engine="default",kind="prompt"} 22');
    expect(await site.metrics()).toContain('lingate_engine_tokens_total{engine="default",kind="completion"} 14');
  });
});

describe('a configuration', () => {
  const config = (options: object): string => {
    const file = join(folder, 'lingate.yaml');
    writeFileSync(
      file,
      JSON.stringify({ listen: '127.0.0.1:0', ops: '127.0.0.1:0', store: `sqlite:${folder}/c.db`, engine: { protocol: 'deepl', options } }),
    );
    return file;
  };

  test.each([
    [['config', 'check'], {}],
    [['serve'], {}],
    [['serve', '--workers', '2'], {}],
  ])('whose secret is missing is one clear line for `%s`, with status 1', async (command) => {
    const file = config({ api_key: { env: 'DEEPL_KEY' } });
    expect(await lingate([...command, '--config', file], { cwd: folder })).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^lingate\.yaml: engine\.options\.api_key: the environment variable DEEPL_KEY is not set\n$/) as string,
    });
  });

  test('that is valid shows the names of its options and that secrets are set, never their values', async () => {
    writeFileSync(join(folder, 'key.txt'), `${SECRET}\n`);
    const file = config({ api_key: { file: 'key.txt' }, headers: { 'X-Token': { env: 'TOKEN' } } });
    for (const more of [[], ['--json']]) {
      const { status: code, stdout, stderr } = await inProcess(['config', 'check', '--config', file, ...more], { TOKEN: TOKEN });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('engine.options.api_key');
      expect(stdout).toContain('engine.options.headers.X-Token');
      expect(stdout).not.toContain(SECRET);
      expect(stdout).not.toContain(TOKEN);
    }
  });

  test('whose options change is reloaded without them; one whose secret is gone is refused, and nothing changes', async () => {
    writeFileSync(join(folder, 'key.txt'), SECRET);
    const file = config({ api_key: { file: 'key.txt' } });
    const gateway = await startGatewayProcess({ args: ['serve', '--config', file], cwd: folder });
    config({ api_key: { file: 'key.txt' }, headers: { 'x-a': 'b' } });
    gateway.process.kill('SIGHUP');
    await expect.poll(() => gateway.output()).toContain('"members":"engine.options"');
    rmSync(join(folder, 'key.txt'));
    gateway.process.kill('SIGHUP');
    await expect.poll(() => gateway.output()).toContain('nothing has changed');
    expect(gateway.output()).toMatch(/engine\.options\.api_key: the file .*key\.txt cannot be read/);
    expect(gateway.output()).not.toContain(SECRET);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    expect(await gateway.end('SIGTERM')).toBe(0);
  });
});
