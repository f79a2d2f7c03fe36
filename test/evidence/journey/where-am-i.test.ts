// "Where am I?": what a gateway reports about itself when it is ready, and what it warns of.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { versionOf } from '../../support/door/tables.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { startRedis } from '../../support/redis.ts';
import { startedUntil } from '../../support/started.ts';

const started = startedUntil(afterEach);

async function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> {
  const listen = ['--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'];
  const gateway = await startGatewayProcess({ args: ['serve', ...listen, ...args], cwd: started.folder, env });
  started.closes(() => gateway.end('SIGTERM'));
  return gateway;
}

type Line = Readonly<Record<string, unknown>>;

/** The log's lines; those on standard error are not JSON. */
function logOf(output: string): Line[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

const readyLine = (output: string): Line => logOf(output).find(({ msg }) => String(msg).startsWith('lingate is ready'))!;

test('without a file and an engine, the ready line says which file is in force and that the engine is the default', async () => {
  const { folder } = started;
  const gateway = await serve(['--store', `sqlite:${folder}/a.db`]);
  expect(readyLine(gateway.output())).toMatchObject({
    version: versionOf(),
    store: `sqlite:${folder}/a.db`,
    store_from: '--store',
    config: expect.stringMatching(/\/config\/lingate\.yaml$/) as string,
    engines: ['http://127.0.0.1:7001'],
    engines_from: 'the default',
    listener: expect.stringMatching(LISTENERS[0] === 'uws' ? /^uWebSockets\.js / : /^node:http/) as string,
    workers: 1,
  });
  await expect.poll(() => gateway.output()).toContain(`lingate serve: made a new database, sqlite:${folder}/a.db\n`);
});

test('with workers, a file named by LINGATE_CONFIG and a mistyped variable: one ready line, one new database, one warning', async () => {
  const { folder } = started;
  const file = join(folder, 'mine.yaml');
  await writeFile(file, 'engine: { urls: ["http://127.0.0.1:7101", "http://127.0.0.1:7102"] }\nlistener: node\nstore: sqlite:data/b.db\n');
  const env = { LINGATE_CONFIG: file, LINGATE_STROE: 'sqlite:c.db', LINGATE_SERVICE_HOST: '10.0.0.1' };
  const gateway = await serve(['--workers', '2'], env);
  const lines = logOf(gateway.output());
  expect(readyLine(gateway.output())).toMatchObject({
    store: 'sqlite:data/b.db',
    store_from: 'mine.yaml',
    config: file,
    engines: ['http://127.0.0.1:7101', 'http://127.0.0.1:7102'],
    engines_from: 'mine.yaml',
    listener: expect.stringMatching(/^node:http/) as string,
    workers: 2,
  });
  const warnings = lines.filter(({ msg }) => msg === 'the environment has variables that mean nothing');
  expect(warnings).toEqual([
    expect.objectContaining({
      level: 'warn',
      reason: expect.stringMatching(/^nothing reads LINGATE_STROE \(did you mean LINGATE_STORE\?\);/) as string,
    }),
  ]);
  expect(lines.filter(({ msg }) => msg === 'a new database was made')).toHaveLength(1);
  await expect
    .poll(() => gateway.output())
    .toContain(`lingate serve: made a new database, sqlite:data/b.db (${join(folder, 'data/b.db')})`);
  expect(gateway.output().match(/made a new database/g)).toHaveLength(1);
});

test('no line contains a store’s password', async () => {
  const redis = await startRedis(['--requirepass', 'geheim']);
  started.closes(() => redis.stop());
  const url = redis.url.replace('//', '//:geheim@');
  const gateway = await serve(['--store', url]);
  expect(readyLine(gateway.output())['store']).toBe(redis.url.replace('//', '//***@'));
  await expect.poll(() => gateway.output()).toContain('lingate serve: made a new database, redis://');
  expect(gateway.output()).not.toContain('geheim');
});
