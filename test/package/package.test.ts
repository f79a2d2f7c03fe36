// The package as a user gets it: what it contains, what it says on another Node, and that it translates once installed.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { describe, expect, inject, test } from 'vitest';
import { codeBlocks, manualPage } from '../support/manual.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { outputOf, runProgram, startProgram } from '../support/start-program.ts';
import { emptyFolder, npmEnv, ROOT } from './installed.ts';

const FREE = ['--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0'];
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string };

const project = inject('project');

describe('the tarball', () => {
  test('contains JavaScript and declarations, what they read, configuration with the chart, README and licences, and nothing else', () => {
    const strange = project.packed.filter(
      (path) =>
        !/^(?:dist\/(?:.+\.(?:js|d\.ts|lua|css)|Apache-2\.0\.txt)|config\/(?:(?:manual|examples)\/|helm\/lingate\/(?:files\/|templates\/)?)?[\w.-]+|(?:README|CHANGELOG)\.md|LICENSE|package\.json|src\/(?:lingate|supported-node)\.js)$/.test(
          path,
        ),
    );
    expect(strange).toEqual([]);
    expect(project.packed).toEqual(
      expect.arrayContaining(['LICENSE', 'CHANGELOG.md', 'config/THIRD-PARTY.md', 'config/lingate.yaml', 'README.md']),
    );
    const licence = readFileSync(join(project.folder, 'node_modules/lingate/dist/Apache-2.0.txt'), 'utf8');
    expect(licence).toMatch(/^\s+Apache License\s+Version 2\.0,[^]+\n {3}9\. Accepting Warranty[^]+END OF TERMS AND CONDITIONS\s*$/);
  });

  test('has a declaration for every module', () => {
    const packed = new Set(project.packed);
    const modules = project.packed.filter((path) => path.startsWith('dist/') && path.endsWith('.js'));
    // Scripts of pages run in browsers: nothing imports them.
    const scripts = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'));
    const bare = modules.filter((path) => !packed.has(path.replace(/\.js$/, '.d.ts')));
    expect(modules.length).toBeGreaterThan(200);
    expect(bare.map((path) => path.replace('dist/', '')).filter((path) => !scripts.includes(path))).toEqual([]);
  });
});

describe('installed in an empty project', () => {
  test('npx lingate prints its version', async () => {
    expect((await outputOf('npx', ['lingate', '--version'], { cwd: project.folder, env: npmEnv() })).split('\n', 1)).toEqual([
      manifest.version,
    ]);
  });

  test('npx lingate demo translates, and SIGINT ends it cleanly', async () => {
    const ready = /^curl .*?(http:\S+) -H 'Authorization: Bearer (\w+)'.*\n/m;
    const npx = await startProgram('npx', ['lingate', 'demo', ...FREE], { cwd: project.folder, env: npmEnv(), ready, readyMsMax: 30_000 });
    const [, url = '', key = ''] = ready.exec(npx.output)!;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: '{"text":["Hello, world!"],"target_lang":"DE"}' });
    expect(await answer.json()).toEqual({
      translations: [{ detected_source_language: 'EN', text: 'Hallo, Welt!' }],
      billed_characters: 13,
    });
    // As from a terminal: to the whole process group.
    process.kill(-npx.pid, 'SIGINT');
    await npx.ended;
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('it serves with several workers', async () => {
    const args = ['serve', '--workers', '2', ...FREE, '--store', 'sqlite:workers.db'];
    const gateway = await startGatewayProcess({ args, cwd: project.folder, main: project.lingate });
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    expect((await fetch(`${gateway.opsUrl}/docs`)).headers.get('content-type')).toContain('text/html');
    expect(await gateway.end('SIGTERM')).toBe(0);
  });

  test('its console includes everything that the browser loads', async () => {
    const token = 'a'.repeat(32);
    writeFileSync(join(project.folder, 'console.yaml'), JSON.stringify({ admin: { token } }));
    const args = ['serve', '--config', 'console.yaml', ...FREE, '--store', 'sqlite:console.db'];
    const gateway = await startGatewayProcess({ args, cwd: project.folder, main: project.lingate });
    const operator = new ConsoleVisitor(Number(new URL(gateway.opsUrl).port));
    expect((await operator.signIn(token)).status).toBe(303);
    const page = await operator.get('/console');
    const links = [...page.body.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path!);
    expect(links.map((path) => path.slice(path.lastIndexOf('/') + 1))).toEqual(['console.css', 'overview.js']);
    for (const path of links) {
      const { status, body } = await operator.get(path);
      expect([path, status, body.length > 500]).toEqual([path, 200, true]);
    }
    expect(await gateway.end('SIGTERM')).toBe(0);
  });

  test.each(['20.20.2', '12.22.12', '22.9.0'])(
    'on Node %s it says in one line which versions it needs, and how to get one',
    async (release) => {
      const code = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${release}'}})`;
      const claim = ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
      const { status, stderr } = await runProgram('node', [...claim, project.lingate, 'demo'], { cwd: project.folder });
      expect(status).toBe(1);
      expect(stderr).toBe(
        `lingate: needs Node 22 (from 22.22.2), 24 (from 24.15.0), or 26 and newer, and this is ${release}; install one of these, for example with "npm install --global node@24".\n`,
      );
    },
  );
});

test('the line of the manual installs it for the whole machine, with a Node of its own', async () => {
  const [line] = codeBlocks(manualPage('first-invoice'), 'sh').flatMap((block) =>
    block.split('\n').filter((each) => each.startsWith('npm ')),
  );
  const prefix = emptyFolder();
  const env: NodeJS.ProcessEnv = { ...npmEnv(), npm_config_prefix: prefix };
  await outputOf('sh', ['-c', line!], { cwd: dirname(inject('tarball')), env, uses: ['npm'], msMax: 170_000 });
  // As a new shell would find them.
  const path = { ...env, PATH: `${join(prefix, 'bin')}${delimiter}${env['PATH'] ?? ''}` };
  const printed = await outputOf('sh', ['-c', 'lingate --version'], { cwd: project.folder, env: path, uses: ['lingate'] });
  expect(printed).toMatch(new RegExp(`^${manifest.version.replaceAll('.', '\\.')}\n[\\s\\S]*^Node 24\\.`, 'm'));
  rmSync(prefix, { recursive: true, force: true });
});
