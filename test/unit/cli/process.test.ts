// The process around the commands: its Node version, warnings, pipes and exit status; and the commands that need no store.
import { chmodSync, closeSync, cpSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { describeUwsBuild } from '../../../src/app/http-library.ts';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { MAIN, inProcess, lingate, parsed, start, temporaryFolder } from '../../support/lingate-command.ts';
import type { Folder } from '../../support/lingate-command.ts';
import { outputOf, OWN_NODE, runProgram } from '../../support/start-program.ts';

/** The older build of uWebSockets.js was made for Node 22 and older ones. */
const OLDER_LOADS = process.versions.modules === '127';

let folder: Folder;

beforeAll(() => {
  folder = temporaryFolder();
});

afterAll(() => folder.remove());

/** The flag that makes Node claim to be another release. */
function claiming(release: string): string[] {
  const code = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${release}'}})`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

describe('the process', () => {
  test('prints its version', async () => {
    const { status, stdout, stderr } = await lingate(['--version']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([manifest.version, await describeUwsBuild(), `Node ${process.versions.node}`, '']);
  });

  test.each(['22.22.1', '22.9.0', '20.20.2', '24.14.1', '23.11.1', '25.9.0'])(
    'refuses Node %s in one line, before anything else',
    async (release) => {
      expect(await lingate(['team', 'list'], { nodeArgs: claiming(release), cwd: folder.path })).toEqual({
        status: 1,
        stdout: '',
        stderr: `lingate: needs Node 22 (from 22.22.2), 24 (from 24.15.0), or 26 and newer, and this is ${release}; run "npm ci" here, which brings one, and then "npm run -s lingate --" in place of "node src/lingate.js".\n`,
      });
    },
  );

  test.each(['22.22.2', '22.23.0', '24.15.0', '26.0.0', '28.1.0'])('runs on Node %s', async (release) => {
    expect(await lingate(['--version'], { nodeArgs: claiming(release) })).toMatchObject({ status: 0, stderr: '' });
  });

  test.each([
    ['24.15.0', "this machine's own"],
    ['20.20.2', 'what npm ci has installed'],
  ])('is started by npm scripts on the machine\u2019s own Node if that is supported: for %s on %s', async (release, chosen) => {
    const checkout = join(folder.path, `scripts-${release}`);
    for (const path of ['package.json', 'src/with-node.sh', 'src/supported-node.js']) {
      cpSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), join(checkout, path), { recursive: true });
    }
    const own = join(folder.path, `node-${release}`);
    const installed = join(checkout, 'node_modules/node/bin/node');
    mkdirSync(dirname(installed), { recursive: true });
    writeFileSync(own, `#!/bin/sh\nexec '${process.execPath}' --import "${claiming(release)[1]}" "$@"\n`);
    writeFileSync(installed, '#!/bin/sh\necho what npm ci has installed; echo "$PATH"\n');
    for (const file of [own, installed]) chmodSync(file, 0o755);
    const env = { PATH: '/usr/bin:/bin', npm_node_execpath: own };
    const script = ['-c', 'exec sh src/with-node.sh "$@"', 'npm', '-p', "`this machine's own\n${process.env.PATH}`"];
    const printed = await outputOf('sh', script, { cwd: checkout, env, uses: ['sh', 'node'] });
    const path = chosen.startsWith('this') ? dirname(process.execPath) : dirname(installed);
    expect(printed).toBe(`${chosen}\n${path}:/usr/bin:/bin\n`);
  });

  test('suppresses the warning about node:sqlite, and no other', async () => {
    const warn = `process.nextTick(()=>process.emitWarning('a feature','ExperimentalWarning'))`;
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(warn)}`];
    const words = ['team', 'create', '--name', 'Quiet', '--plan', 'free', '--store', 'sqlite:quiet.db'];
    const { status, stderr } = await lingate(words, { cwd: folder.path, nodeArgs });
    expect(status).toBe(0);
    expect(stderr).toContain('a feature');
    expect(stderr).not.toContain('SQLite');
  });

  test('a reader that closes the pipe early is no failure', async () => {
    const started = start(['--help']);
    started.stdout.destroy();
    expect(await started.ended).toEqual({ status: 0, signal: null });
    expect(started.output).toBe('');
  });

  test('a full disk under its output fails a command, in one line', async () => {
    const disk = openSync('/dev/full', 'w');
    const { status, stderr } = await runProgram(OWN_NODE, [MAIN, '--help'], { env: bareEnvironment(), stdio: ['ignore', disk, 'pipe'] });
    closeSync(disk);
    const said = 'lingate: standard output cannot be written: ENOSPC: no space left on device, write\n';
    expect({ status, stderr }).toEqual({ status: 1, stderr: said });
  });
});

describe('config check', () => {
  test('shows the values of a valid configuration', async () => {
    const file = join(folder.path, 'sound.yaml');
    writeFileSync(file, 'store: redis://user:geheim@db:6379\n');
    const shape = {
      valid: true,
      file,
      listen: '[::1]:1',
      ops: '127.0.0.1:9090',
      store: 'redis://***@db:6379',
      engine_protocol: 'native',
      engine_urls: ['http://127.0.0.1:7001'],
      plans: ['free', 'pro', 'prepaid'],
      docs_url: 'http://127.0.0.1:9090/docs',
      trusted_proxies: [],
      source_languages: 36,
      target_languages: 38,
      store_read: false,
      store_reason: 'not asked, because of --offline',
      plans_missing: [],
      engine_options: [],
      plugins: [],
      admin: 'off',
      events: 'off',
      otel: 'off',
      secrets_found: [],
      limits: {
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
      },
      warnings: [],
    };
    const args = ['config', 'check', '--offline', '--config', file];
    expect(parsed(await lingate([...args, '--json'], { env: { LINGATE_LISTEN: '[::1]:1' } }))).toEqual(shape);
    const people = await inProcess(args);
    expect(people).toMatchObject({ status: 0, stderr: '' });
    expect(people.stdout).toContain('The configuration is valid.');
    expect(people.stdout).not.toContain('geheim');
  });

  test('says that long bodies of forward routes need node:http', async () => {
    const file = join(folder.path, 'long.yaml');
    const routes = [10, 20].map((bytes) => ({ path: `/v1/${bytes}`, methods: ['PUT'], target: 'http://a', body_bytes: bytes * 1_048_576 }));
    // No build supports that idle time without settings; node:http does.
    writeFileSync(file, JSON.stringify({ forward: routes, limits: { idle_seconds: 60 } }));
    const { stdout } = await lingate(['config', 'check', '--config', file, '--json'], { env: { LINGATE_UWS_BUILD: 'uws-pack' } });
    expect(JSON.parse(stdout)).toMatchObject({
      listener: 'node:http',
      listener_reason: 'forward: /v1/20 takes bodies of 20971520 bytes, more than limits.body_bytes (1048576), and 1 more',
    });
  });

  test('refuses an idle time that the loaded HTTP library does not support', async () => {
    const file = join(folder.path, 'idle.yaml');
    writeFileSync(file, 'limits: { idle_seconds: 60 }\n');
    const env = { LINGATE_UWS_BUILD: 'uws-pack' };
    const { status, stderr } = await lingate(['config', 'check', '--config', file], { env });
    // Only Node 22 loads that build; elsewhere `auto` is node:http, which supports any time.
    expect(status).toBe(OLDER_LOADS ? 1 : 0);
    expect(stderr).toBe(
      !OLDER_LOADS
        ? ''
        : `${file}: limits.idle_seconds: uWebSockets.js 20.0.8 (uws-pack) keeps idle connections for 8 seconds and cannot keep them for 60; ` +
            'lower it, use "listener: node", or a system with glibc 2.38 (Debian 13, Ubuntu 24.04)\n',
    );
    writeFileSync(file, 'listener: node\nlimits: { idle_seconds: 60 }\n');
    expect((await inProcess(['config', 'check', '--config', file], env)).status).toBe(0);
  });

  test('lists every fault with the file’s path as it was given, with status 1', async () => {
    writeFileSync(join(folder.path, 'wrong.yaml'), 'listen: x\nplans: { free: { billing: quota } }\n');
    const { status, stdout, stderr } = await lingate(['config', 'check', '--config', 'wrong.yaml'], { cwd: folder.path });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^wrong\.yaml: listen: "x" is not HOST:PORT/);
    expect(lines.slice(1)).toEqual([
      'wrong.yaml: plans.free.requests_per_second: is missing; it must be a whole number from 1 to 100000',
      'wrong.yaml: plans.free.max_characters_per_request: is missing; it must be a whole number from 1 to 10000000',
      'wrong.yaml: plans.free.max_glossaries: is missing; it must be a whole number from 0 to 10000',
      'wrong.yaml: plans.free.currency: is missing; it must be an ISO 4217 code of three capital letters, for example EUR',
      'wrong.yaml: plans.free.characters: is missing; it must be a whole number from 0 to 1000000000000',
    ]);
  });

  test('finds plugins with wrong options, and those with routes that conflict', async () => {
    const routes = "routes: [{ method: 'GET', path: '/v1/usage', takesBody: false, steps: ['access-log'] }]";
    const options = 'Type.Object({ word: Type.String() })';
    const plugin = `import Type from 'typebox';\nexport default { name: 'shadow', options: ${options}, setup: () => ({ ${routes} }) };\n`;
    writeFileSync(join(folder.path, 'shadow.mjs'), plugin);
    const checked = async (given: string) => {
      writeFileSync(join(folder.path, 'plugins.yaml'), `plugins: [{ module: shadow.mjs, options: ${given} }]\n`);
      return lingate(['config', 'check', '--config', 'plugins.yaml'], { cwd: folder.path });
    };
    expect(await checked('{}')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^plugins\.yaml: plugins\.0\.options\.word: is missing/) as string,
    });
    const { status, stderr } = await checked('{ word: a }');
    expect(status).toBe(1);
    expect(stderr).toBe(
      'plugins.yaml: plugins: route "GET /v1/usage" of plugin "shadow": "GET /v1/usage" is the gateway\'s own and cannot be replaced; choose another path\n',
    );
  });

  test('finds missing files that a gateway would need', async () => {
    const file = join(folder.path, 'files.yaml');
    writeFileSync(file, 'tls: { cert_file: c.pem, key_file: k.pem }\nplugins: [{ module: ./p.ts }]\n');
    const { status, stderr } = await inProcess(['config', 'check', '--config', file]);
    expect(status).toBe(1);
    expect(stderr).toBe(
      [
        `${file}: tls.cert_file: ${folder.path}/c.pem cannot be read: there is no such file\n`,
        `${file}: tls.key_file: ${folder.path}/k.pem cannot be read: there is no such file\n`,
        `${file}: plugins.0.module: ${folder.path}/p.ts cannot be read: there is no such file\n`,
      ].join(''),
    );
  });
});

describe('routes', () => {
  test('shows the steps of each route in their order', async () => {
    const { routes } = parsed(await lingate(['routes', '--json'])) as { routes: { route: string; steps: string[] }[] };
    const translate = routes.find(({ route }) => route === 'POST /v1/translate');
    expect(translate?.steps).toEqual(['access-log', 'shed', 'identify', 'authenticate', 'team-shed', 'read', 'admit', 'translate']);
    const people = await inProcess(['routes']);
    expect(people.stdout).toMatch(
      /^POST \/v1\/translate +access-log > shed > identify > authenticate > team-shed > read > admit > translate$/m,
    );
  });
});
