// `listener: auto` if uWebSockets.js is not installed or not the pinned build: node:http serves, and one line says why.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { OLDER } from '../../support/door/tables.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { runProgram } from '../../support/start-program.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

let folder: string;
let main: string;

/** A built checkout after `npm ci --omit=dev --omit=optional`. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-auto-'));
  for (const path of ['package.json', 'config', 'src', 'dist']) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  main = join(folder, 'src/lingate.js');
});

afterAll(() => rmSync(folder, { recursive: true }));

afterEach(() => rmSync(join(folder, 'node_modules', OLDER.installedAs), { recursive: true, force: true }));

const words = (listener: string): string[] => {
  const file = join(folder, `${listener}.yaml`);
  writeFileSync(file, JSON.stringify({ listener }));
  return ['serve', '--config', file, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', 'sqlite::memory:'];
};

test.each(['1', '2'])('with %s worker(s): nothing is installed, one line says so, and node:http serves', async (workers) => {
  const store = `sqlite:${folder}/workers-${workers}.db`;
  const gateway = await startGatewayProcess({ args: [...words('auto').slice(0, -1), store, '--workers', workers], cwd: folder, main });
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  const lines = gateway.output().split('\n');
  expect(lines.filter((line) => line.includes('listener: auto'))).toEqual([
    expect.stringMatching(
      /^\{"level":"info",.*"reason":"uWebSockets\.js has no binary for this platform and Node \(it is not installed\)","msg":"listener: auto is node:http, because uWebSockets\.js cannot be loaded"\}$/,
    ),
  ]);
  expect(lines.find((line) => line.includes('lingate is ready'))).toContain(`"listener":"node:http ${process.versions.node}"`);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('another file in place of a pinned binary is not loaded, and the line is a warning', async () => {
  const { installedAs, name, version } = OLDER;
  const home = join(folder, 'node_modules', installedAs);
  mkdirSync(join(home, OLDER.folder), { recursive: true });
  writeFileSync(join(home, 'package.json'), JSON.stringify({ name, version }));
  writeFileSync(join(home, OLDER.folder, BINARY), 'not a library');
  const gateway = await startGatewayProcess({ args: words('auto'), cwd: folder, main });
  expect(gateway.output()).toMatch(
    new RegExp(`"level":"warn",.*"reason":"${name} ${version}: ${BINARY}.*"listener: auto is node:http, because`),
  );
  expect(await gateway.end('SIGTERM')).toBe(0);
});

test('listener: uws does not fall back, and exits with one line', async () => {
  expect(await runProgram('node', [main, ...words('uws')], { cwd: folder })).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^lingate serve: uWebSockets\.js has no binary for this platform and Node \(it is not installed\): use "listener: auto", which is node:http here\n$/,
    ) as string,
  });
});
