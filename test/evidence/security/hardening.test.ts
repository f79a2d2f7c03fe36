// The image's hardening, as far as it can be tested without an image: no root, no capability, no new privileges, a read-only file system.
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { launch, runProgram } from '../../support/start-program.ts';
import type { Startable } from '../../support/start-program.ts';
import { openBeside } from '../../support/store-place.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
/** As in the Dockerfile. */
const UID = 65_532;
const READY = /ready on http:\/\/[^ ]+:(\d+), ops/;

const works = async (name: Startable, args: readonly string[], uses: readonly Startable[]): Promise<boolean> =>
  (await runProgram(name, args, { uses })).status === 0;
/** What this machine allows its tests; with less, the rest is still tested. */
const CAN_BECOME = await works('setpriv', ['--reuid', String(UID), '--regid', String(UID), '--clear-groups', 'true'], ['true']);
const CAN_MOUNT = CAN_BECOME && (await works('unshare', ['--mount', 'mount', '--make-rprivate', '/'], ['mount']));

/** Only `data` is writable, not even /tmp; the program is visible where any user can read it. */
const READ_ONLY = `
set -e
mount --make-rprivate /
mount --bind "$FOLDER" "$FOLDER"
mount --bind "$FOLDER/data" "$FOLDER/data"
mount --bind "$ROOT" "$FOLDER/app"
mount -o remount,bind,ro "$FOLDER/app"
mount -o remount,bind,ro "$FOLDER"
mount -o remount,bind,ro /
if touch "$FOLDER/written" 2>/dev/null; then exit 3; fi
exec "$@"`;

let folder: string;
let engine: ScriptedEngine;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-hardened-'));
  engine = await startScriptedEngine();
  await Promise.all(['data', 'app'].map((name) => mkdir(join(folder, name))));
  await chmod(folder, 0o755);
  if (CAN_BECOME) await chown(join(folder, 'data'), UID, UID);
});

afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

function start() {
  const program = CAN_MOUNT ? join(folder, 'app') : ROOT;
  const node = process.execPath.replace(ROOT, program);
  const store = `sqlite:${join(folder, 'data', 'lingate.db')}`;
  const serve = ['serve', '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--store', store, '--engine-url', engine.url];
  const drop = CAN_BECOME
    ? ['--reuid', String(UID), '--regid', String(UID), '--clear-groups', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all']
    : [];
  const confined = ['--no-new-privs', ...drop, node, join(program, 'src/lingate.js'), ...serve];
  const env = { PATH: process.env['PATH'] ?? '', FOLDER: folder, ROOT };
  const gateway = CAN_MOUNT
    ? launch('unshare', ['--mount', 'sh', '-c', READ_ONLY, 'sh', 'setpriv', ...confined], {
        env,
        uses: ['sh', 'mount', 'touch', 'setpriv'],
      })
    : launch('setpriv', confined, { env });
  return { gateway, store };
}

test('a gateway needs no root, no capability and nothing writable but its data, and ends cleanly', async () => {
  const { gateway, store: url } = start();
  try {
    await gateway.until(READY);
    const port = Number(READY.exec(gateway.output)![1]);

    const status = await readFile(`/proc/${gateway.pid}/status`, 'utf8');
    const own = process.getuid!();
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
    expect(status).toMatch(new RegExp(`^Uid:\\t${(CAN_BECOME ? [UID, UID, UID, UID] : [own, own, own, own]).join('\\t')}$`, 'm'));
    if (CAN_BECOME) for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assertNone(status, set);

    const store = await openBeside(url);
    const { key } = await makeTeam(store);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const body = '{"text":["Hello"],"target_lang":"DE"}';
    const response = await request({ port, method: 'POST', path: '/v1/translate', headers, body });
    expect([response.status, response.body]).toEqual([200, expect.stringContaining('[DE] Hello')]);
    await store.close();

    const files = await readdir(join(folder, 'data'));
    expect(files).toContain('lingate.db');
    expect((await stat(join(folder, 'data', 'lingate.db'))).uid).toBe(CAN_BECOME ? UID : own);
    expect(await readdir(folder)).toEqual(expect.arrayContaining(['app', 'data']));
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toEqual({ status: 0, signal: null });
  } finally {
    await gateway.end();
  }
});

test('the image runs as this user, on glibc, and is stopped by a signal like any process', async () => {
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  expect(dockerfile).toMatch(new RegExp(`^USER ${UID}:${UID}$`, 'm'));
  expect(dockerfile).toMatch(/^FROM node:24\.21\.0-trixie-slim@sha256:[0-9a-f]{64}$/m);
  expect(dockerfile).toMatch(/^STOPSIGNAL SIGTERM$/m);
  expect(dockerfile).not.toMatch(/--privileged|chmod 777|ADD http/);
});

function assertNone(status: string, set: string): void {
  const value = new RegExp(`^${set}:\\t([0-9a-f]+)$`, 'm').exec(status)?.[1];
  if (value === undefined || Number.parseInt(value, 16) !== 0) throw new Error(`the gateway has capabilities: ${set} ${value}`);
}
