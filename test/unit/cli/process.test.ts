// The process around the commands: its Node version, warnings, pipes and exit status; and the commands that need no store.
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { describeUwsBuild } from '../../../src/app/http-library.ts';
import { inProcess, lingate, temporaryFolder } from '../../support/lingate-command.ts';
import type { Folder } from '../../support/lingate-command.ts';
import { outputOf } from '../../support/start-program.ts';

/** In the syntax of 2020, without types. */
const SUPPORTED_NODE = new URL('../../../src/supported-node.js', import.meta.url).href;

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

  test('refuses an old Node in one line, before anything else', async () => {
    expect(await lingate(['team', 'list'], { nodeArgs: claiming('22.22.1'), cwd: folder.path })).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'lingate: needs Node 22 (from 22.22.2), 24 (from 24.15.0), or 26 and newer, and this is 22.22.1; run "npm ci" here, which brings one, and then "npm run -s lingate --" in place of "node src/lingate.js".\n',
    });
  });

  test('supports the releases that the manifest names', async () => {
    const { isSupported } = (await import(SUPPORTED_NODE)) as { isSupported: (release: string) => boolean };
    const asked = '20.20.2 22.9.0 22.22.1 22.22.2 22.23.0 23.11.1 24.14.1 24.15.0 25.9.0 26.0.0 28.1.0'.split(' ');
    expect(asked.filter(isSupported)).toEqual(['22.22.2', '22.23.0', '24.15.0', '26.0.0', '28.1.0']);
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
});

describe('config check', () => {
  test('says that forward routes need node:http', async () => {
    const file = join(folder.path, 'long.yaml');
    const routes = [{ path: '/v1/voices', methods: ['GET'], target: 'http://a' }];
    // No build supports that idle time without settings; node:http does.
    writeFileSync(file, JSON.stringify({ forward: routes, limits: { idle_seconds: 60 } }));
    const { stdout } = await lingate(['config', 'check', '--config', file, '--json'], { env: { LINGATE_UWS_BUILD: 'uws-pack' } });
    expect(JSON.parse(stdout)).toMatchObject({
      listener: 'node:http',
      listener_reason: 'forward: what these routes pass on is streamed',
    });
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
