// Engines with options, called by real callers: unsupported features are reported, secrets never appear, costs are counted.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { status } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { V1 } from '../../support/fronts.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { inProcess, lingate } from '../../support/lingate-command.ts';
import { request } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';
import { SECRET, SUBJECTS } from '../../unit/engines/protocols/subjects.ts';

const TOKEN = 'a-token-in-a-header';

/** The options that a configuration of each protocol needs, with all its secrets. */
const OPTIONS: Readonly<Record<string, object>> = {
  libretranslate: { api_key: SECRET },
  openai: { model: 'm', api_key: SECRET },
  deepl: { api_key: SECRET },
  mtranserver: { token: SECRET },
};

const started = startedUntil(afterAll);
const { folder } = started;

interface Asked {
  readonly engine: ScriptedEngine;
  readonly gateway: TestGateway;
  /** The status and the body of a translation into German. */
  ask(...text: readonly string[]): Promise<{ status: number; body: unknown }>;
  metrics(): Promise<string>;
}

/** A gateway in front of a scripted engine that speaks the protocol. */
async function start(protocol: string): Promise<Asked> {
  const engine = await started.engine({ right: SUBJECTS[protocol]!.right });
  const options = { ...OPTIONS[protocol], headers: { 'x-token': TOKEN } };
  const gateway = await started.gateway({ engineUrls: [engine.url], config: { engine: { protocol, timeout_ms: 5000, options } } });
  const { key } = await gateway.team();
  return {
    engine,
    gateway,
    ask: async (...text) => {
      const { status: code, body } = await request({ port: gateway.port, ...V1.translation(key, text) });
      return { status: code, body: JSON.parse(body) as unknown };
    },
    metrics: async () => (await request({ port: gateway.opsPort, path: '/metrics' })).body,
  };
}

describe.each(Object.keys(OPTIONS))('a gateway that speaks %s', (protocol) => {
  let site: Asked;

  beforeAll(async () => {
    site = await start(protocol);
  });
  afterEach(() => site.engine.forget());

  test('translates, and sends the operator’s field with every request', async () => {
    expect(await site.ask('Hello', 'Good night')).toMatchObject({
      status: 200,
      body: { translations: [{ text: '[DE] Hello' }, { text: '[DE] Good night' }], billed_characters: 15 },
    });
    for (const { headers } of site.engine.requests) expect(headers['x-token']).toBe(TOKEN);
  });

  test('reveals nothing of engine, key and token when the engine refuses', async () => {
    site.engine.always(status(403, `{"error":"key ${SECRET} and token ${TOKEN}"}`));
    const { status: code, body } = await site.ask('Hello');
    expect([code, (body as { code: string }).code]).toEqual([503, 'engine_unavailable']);
    for (const place of [JSON.stringify(body), site.gateway.logLines.join(''), await site.metrics()]) {
      for (const word of [SECRET, TOKEN]) expect(place).not.toContain(word);
    }
  });
});

describe('an operator learns', () => {
  test('that their own quota at the engine is used up: one line at level error, and a metric of its own', async () => {
    const site = await start('deepl');
    site.engine.always(status(456));
    for (let i = 0; i < 3; i++) expect((await site.ask('Hello')).status).toBe(503);
    const reported = (): string[] => site.gateway.logLines.filter((line) => line.includes('own quota at the engine'));
    await expect.poll(reported).toEqual([expect.stringContaining('"level":"error"')]);
    expect(await site.metrics()).toContain('lingate_engine_quota_exhausted_total{engine="default"} 6');
  });

  test('how many tokens a model has read and written', async () => {
    const site = await start('openai');
    await site.ask('Hello');
    await site.ask('Hello');
    expect(await site.metrics()).toContain('lingate_engine_tokens_total{engine="default",kind="prompt"} 22');
    expect(await site.metrics()).toContain('lingate_engine_tokens_total{engine="default",kind="completion"} 14');
  });
});

describe('a configuration', () => {
  const config = (options: object): string => {
    const file = join(folder, 'lingate.yaml');
    const own = { listen: '127.0.0.1:0', ops: '127.0.0.1:0', store: `sqlite:${folder}/c.db` };
    writeFileSync(file, JSON.stringify({ ...own, engine: { protocol: 'deepl', options } }));
    return file;
  };

  test.each(['config check', 'serve', 'serve --workers 2'])(
    'whose secret is missing is one clear line for `%s`, with status 1',
    async (words) => {
      const file = config({ api_key: { env: 'DEEPL_KEY' } });
      expect(await lingate([...words.split(' '), '--config', file], { cwd: folder })).toEqual({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^lingate\.yaml: engine\.options\.api_key: the environment variable DEEPL_KEY is not set\n$/,
        ) as string,
      });
    },
  );

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
