// The image, as far as it can be tested without Docker: what the Dockerfile copies, installs, prunes and runs.
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { outputOf, runProgram } from '../../support/start-program.ts';
import { expectKnown, imageConfig, imageEnv, ofImage, read, root, version } from './image.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-image-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The packages that `npm ci --omit=dev` installs, by the lock file. */
function productionPackages(): { name: string; path: string }[] {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: boolean }> };
  const kept = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  return kept.map(([path]) => ({ path, name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length) }));
}

describe('the Dockerfile', () => {
  test('copies files that exist and that .dockerignore does not exclude', () => {
    const passed = read('.dockerignore').split('\n');
    const sources = ofImage('COPY')
      .filter((rest) => !rest.startsWith('--from='))
      .flatMap((rest) => rest.split(' ').slice(0, -1));
    expect(sources).toEqual(
      // The packages, what is compiled, and what runs.
      [
        ['package.json', 'package-lock.json'],
        ['package.json', 'package-lock.json', 'tsconfig.json', 'src'],
        ['package.json', 'config', 'src/lingate.js', 'src/supported-node.js'],
      ].flat(),
    );
    for (const source of sources) {
      expect(existsSync(join(root, source))).toBe(true);
      expect(passed).toContain(`!${source.split('/', 1)[0]}`);
    }
    for (const line of passed.filter((entry) => /^\w/.test(entry))) expect(existsSync(join(root, line))).toBe(true);
  });

  test('runs as a numeric user, on addresses that are reachable from outside the container, and stops on SIGTERM', () => {
    expect(ofImage('USER')).toEqual(['65532:65532']);
    expect(ofImage('STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(imageConfig.listen.host).toBe('0.0.0.0');
    expect(ofImage('EXPOSE')).toEqual([`${imageConfig.listen.port} ${imageConfig.ops.port}`]);
    expect(imageConfig.store).toBe(`sqlite:${ofImage('VOLUME')[0]}/lingate.db`);
    expect(ofImage('RUN').at(-1)).toContain(`install -d -o 65532 -g 65532 -m 0700 ${ofImage('VOLUME')[0]}`);
    for (const name of Object.keys(imageEnv).filter((variable) => variable !== 'NODE_ENV')) expectKnown(name);
  });

  test('installs without development dependencies and without install scripts', () => {
    expect(ofImage('RUN')[0]).toMatch(/^npm ci --omit=dev --ignore-scripts /);
    const needed = productionPackages().map(({ name }) => name);
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
    expect(needed.filter((name) => devDependencies[name] !== undefined)).toEqual([]);
  });

  test('keeps only the native binary for its platform, and fails if there is none', async () => {
    const prune = ofImage('RUN')[0]!.slice(ofImage('RUN')[0]!.indexOf('&&') + 2);
    const modules = join(folder, 'prune/node_modules');
    const kept = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
    const [newer, older] = ['@btc-vision/uwebsockets.js', 'uWebSockets.js/dist/bin'] as const;
    for (const build of [newer, older]) {
      mkdirSync(join(modules, build), { recursive: true });
      const names = readdirSync(join(root, 'node_modules', build)).filter((name) => name.endsWith('.node'));
      expect(names.length).toBeGreaterThan(5);
      // Not every Node that these tests run on has a build of each.
      for (const name of [...names, kept]) writeFileSync(join(modules, build, name), '');
    }
    const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
    const options = { cwd: join(folder, 'prune'), env: { PATH: path }, uses: ['node', 'find'] } as const;
    const shell = () => runProgram('sh', ['-e', '-c', prune], options);
    const left = () => [...readdirSync(join(modules, newer)), ...readdirSync(join(modules, older))];
    writeFileSync(join(modules, older, 'README'), '');
    expect((await shell()).status).toBe(0);
    expect(left()).toEqual([kept, 'README']);
    rmSync(join(modules, newer, kept));
    expect((await shell()).status).toBe(1);
    // A platform for which only the older one has a binary.
    writeFileSync(join(modules, older, kept), '');
    expect((await shell()).status).toBe(0);
    expect(left()).toEqual(['README', kept]);
  });

  test('copies everything that is needed to serve, by the name on the PATH', async () => {
    const app = join(folder, 'app');
    for (const name of ['package.json', 'config', 'dist', 'src/lingate.js', 'src/supported-node.js']) {
      cpSync(join(root, name), join(app, name), { recursive: true });
    }
    const foreign = new RegExp(`uws_(?!linux_(?:x64|arm64)_${process.versions.modules})[^/]*\\.node$`);
    for (const { path } of productionPackages()) {
      // The list has nested packages as entries of their own. A copy without a filter is native, and many times faster.
      const filter = /uws|uwebsockets/i.test(path) ? { filter: (file: string) => !foreign.test(file) } : {};
      cpSync(join(root, path), join(app, path), { recursive: true, ...filter });
    }
    expect(ofImage('RUN').at(-1)).toContain('ln -s /app/src/lingate.js /usr/local/bin/lingate');
    chmodSync(join(app, 'src/lingate.js'), 0o755);
    symlinkSync(join(app, 'src/lingate.js'), join(folder, 'lingate'));
    const env = { PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin` };
    expect(await outputOf('sh', ['-c', 'exec "$0" --version', 'lingate'], { env, uses: ['node'] })).toMatch(new RegExp(`^${version}\n`));
    const args = ['serve', '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', `sqlite:${folder}/image.db`];
    const gateway = await startGatewayProcess({ args, cwd: folder, main: join(folder, 'lingate') });
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    // The health check as written, except for the port.
    const [, , code = ''] = JSON.parse(/CMD (\[.*\])/.exec(ofImage('HEALTHCHECK')[0]!)![1]!) as string[];
    expect(code).toContain(`:${imageConfig.ops.port}/livez`);
    const check = (port: string) => runProgram('node', ['-e', code.replace(`:${imageConfig.ops.port}`, `:${port}`)]);
    expect((await check(new URL(gateway.opsUrl).port)).status).toBe(0);
    expect(await gateway.end('SIGTERM')).toBe(0);
    expect((await check(new URL(gateway.opsUrl).port)).status).toBe(1);
  });
});
