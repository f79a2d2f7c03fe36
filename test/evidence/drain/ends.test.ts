// SIGTERM ends a process in time, whatever stays connected and whatever does not close; cleanly if possible, otherwise by force and with a log line.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, test, vi } from 'vitest';
import { makeCertificate } from '../../support/certificate.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { logged, openSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { LISTENERS } from '../../support/listeners.ts';

// At most this many at once, because each starts up to three processes.
vi.setConfig({ testTimeout: 120_000, maxConcurrency: 3 });

const DRAIN_SECONDS = 1;
/** drain_seconds and five more, and the time a loaded machine takes to end a process. */
const ENDED_WITHIN_MS = (DRAIN_SECONDS + 5 + 10) * 1000;

/** A plugin whose `close` does this once the process was asked to end. A primary closes earlier, after checking the configuration. */
const closing = (what: string): string => `import { definePlugin } from 'lingate';
import Type from 'typebox';
let asked = false;
process.once('SIGTERM', () => (asked = true));
export default definePlugin({
  name: 'hanging',
  options: Type.Object({}),
  setup: () => ({ close: () => (asked ? ${what} : undefined) }),
});
`;
const HANGING = closing('new Promise(() => setInterval(() => undefined, 1000))');
/** It closes, but something it started keeps the process running. */
const FORGOTTEN = closing('void setInterval(() => undefined, 1000)');

function silent(port: number, hello = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('connect', () => {
      if (hello !== '') socket.write(hello);
      resolve(socket);
    });
  });
}

/** The process's exit status or signal, and whether it ended in time. */
async function ending(gateway: GatewayProcess): Promise<unknown> {
  const delayed = delay(ENDED_WITHIN_MS, 'alive', { ref: false });
  const ended = await Promise.race([gateway.end('SIGTERM'), delayed]);
  if (ended === 'alive') gateway.process.kill('SIGKILL');
  return ended;
}

async function configured(site: Site, more: Readonly<Record<string, unknown>>): Promise<void> {
  await site.configure({ engine: { urls: [site.engine.url] }, limits: { drain_seconds: DRAIN_SECONDS }, ...more });
}

describe.concurrent.each([
  [LISTENERS[0], '1'],
  ['node', '1'],
  ['node', '2'],
])('%s with %s worker(s)', (listener, workers) => {
  test('connections that never start TLS, on the public side, and open ones of the ops listener delay nothing', async (context) => {
    const { expect } = context;
    const site = await openSite();
    context.onTestFinished(() => site.close());
    await makeCertificate(site.folder, 'lingate.test');
    await configured(site, { listener, tls: { cert_file: 'cert.pem', key_file: 'key.pem' } });
    const gateway = await site.serve('--workers', workers);
    const opsPort = Number(new URL(gateway.opsUrl).port);
    const half = '\u0016\u0003\u0001\u0001\u0000';
    const sockets = await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => silent(gateway.port, i % 2 === 0 ? '' : half)),
      silent(opsPort),
      silent(opsPort, 'POST /admin/v1/teams HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n'),
      silent(opsPort, 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
    ]);
    expect(await ending(gateway)).toBe(0);
    expect(logged(gateway, 'the process did not end in time and is ended')).toEqual([]);
    for (const socket of sockets) socket.destroy();
  });
});

describe.concurrent.each([
  ['never closes', '1', HANGING, 'plugins'],
  ['never closes', '2', HANGING, undefined],
  ['leaves something behind', '1', FORGOTTEN, undefined],
])('a plugin that %s, with %s worker(s)', (_what, workers, code, part) => {
  test('is ended by force, with a log line and status 1', async (context) => {
    const { expect } = context;
    const site = await openSite();
    context.onTestFinished(() => site.close());
    await writeFile(join(site.folder, 'hanging.mjs'), code);
    await configured(site, { plugins: [{ module: './hanging.mjs' }] });
    const gateway = await site.serve('--workers', workers);
    expect(await ending(gateway)).toBe(1);
    if (workers === '1') {
      const said = { level: 'error', after_ms: (DRAIN_SECONDS + 5) * 1000, ...(part === undefined ? {} : { closing: part }) };
      expect(logged(gateway, 'the process did not end in time and is ended')).toMatchObject([said]);
    } else {
      // The primary kills its workers half a second earlier, so that it can end cleanly itself.
      expect(logged(gateway, 'lingate has stopped')).toHaveLength(1);
    }
  });
});
