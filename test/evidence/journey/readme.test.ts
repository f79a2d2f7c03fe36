// The commands of the README run in a shell: only ids, the key and ports are filled in.
import { readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { needsOf } from '../../support/programs.ts';
import { outputOf, startProgram } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]!.trimEnd());
const [START, CURL, SERVER, CALLER] = BLOCKS as [string, string, string, string];
const ID = /\b[0-9A-HJKMNP-TV-Z]{26}\b/;
const KEY = /\bla_(?:live|test)_\w+/;

test('the README has these four blocks of commands; npm run task -- test:bare runs the first', () => {
  expect(BLOCKS).toHaveLength(4);
  expect(START).toBe('npm ci && npm start');
});

test('the line to paste is the one that the demo prints, and its answer is the documented one', async () => {
  const { folder } = startedUntil(onTestFinished);
  const demo = await startGatewayProcess({ args: ['demo', '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'], cwd: folder });
  await expect.poll(() => KEY.exec(demo.output())).not.toBeNull();
  const line = CURL.replace('la_test_…', KEY.exec(demo.output())![0]).replace(':8080', `:${demo.port}`);
  expect(demo.output().split('\n')).toContain(line);
  const answer = await outputOf('sh', ['-c', line], { uses: ['curl'] });
  expect(README).toContain(`\`\`\`json\n${answer.trimEnd()}\n\`\`\``);
  expect(await demo.end('SIGTERM')).toBe(0);
});

test('the line of the bench for loading one’s own gateway, for a second: every answer is a translation', async () => {
  const own = startedUntil(onTestFinished);
  const engine = await own.engine();
  const gateway = await own.gateway({ engineUrls: [engine.url] });
  const { key } = await gateway.team({ ...QUOTA_PLAN, requests_per_second: 100_000, characters: 1_000_000_000 });
  const [, line] = /^```sh\n(npm exec -- autocannon [\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, 'bench/README.md'), 'utf8'))!;
  const short = line!.trimEnd().replace('--duration 30', '--duration 1').replace(':8080', `:${gateway.port}`);
  const report = await outputOf('sh', ['-c', `${short} 2>&1`], { cwd: ROOT, env: { ...process.env, KEY: key }, uses: ['npm'] });
  expect(report).toMatch(/requests in /);
  expect(report).not.toMatch(/non 2xx|errors/);
});

test('in front of Apertium and on Redis, in two shells: a team, a key and a sentence in Spanish', async () => {
  const { folder } = startedUntil(onTestFinished);
  const [engine, redis, listen, ops] = await freePorts();
  const onOurPorts = (text: string): string => text.replaceAll('2737', engine).replaceAll('6379', redis).replaceAll('8080', listen);
  const [install, ...commands] = onOurPorts(SERVER).split('\n');
  const installed = new Set(needsOf('test:evidence').map((need) => need.package));
  const packages = /^apt-get install --no-install-recommends ([\w -]+)$/.exec(install!)![1]!.split(' ');
  expect(packages.filter((name) => !installed.has(name))).toEqual([]);

  // What the programs write must not end up in the checkout.
  for (const name of ['package.json', 'node_modules', 'src', 'dist', 'config']) await symlink(join(ROOT, name), join(folder, name));
  // Apertium ends at once without a UTF-8 locale, which a fresh machine or a container lacks: the README sets one.
  const { LANG: _lang, LC_ALL: _all, ...machine } = process.env;
  const env = { ...machine, LINGATE_LISTEN: `127.0.0.1:${listen}`, LINGATE_OPS: `127.0.0.1:${ops}` };
  const server = await startProgram('sh', ['-c', commands.join('\n')], {
    cwd: folder,
    env,
    uses: ['apertium-apy', 'redis-server', 'npm'],
    ready: new RegExp(`http://127\\.0\\.0\\.1:${listen}, ops on `),
    // A busy machine needs time to start all of that.
    readyMsMax: 60_000,
  });
  try {
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${engine}/listPairs`).then(
            ({ ok }) => ok,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true);
    const [createTeam, createKey, ...curl] = onOurPorts(CALLER).split('\n');
    const type = (line: string): Promise<string> =>
      outputOf('sh', ['-c', line], { cwd: folder, env: { ...env, LINGATE_STORE: `redis://127.0.0.1:${redis}` }, uses: ['npm', 'curl'] });
    const team = ID.exec(await type(createTeam!))![0];
    const key = KEY.exec(await type(createKey!.replace('TEAM_ID', team)))![0];
    expect(JSON.parse(await type(curl.join('\n').replace('KEY', key)))).toEqual({
      translations: [{ detected_source_language: 'EN', text: 'La casa es grande.' }],
      billed_characters: 17,
    });
  } finally {
    await server.end();
  }
}, 120_000);

async function freePorts(): Promise<[string, string, string, string]> {
  const ports = new Set<string>();
  while (ports.size < 4) ports.add(String(await freePort()));
  return [...ports] as [string, string, string, string];
}
