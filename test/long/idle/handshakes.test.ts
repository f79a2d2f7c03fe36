// An unfinished TLS handshake is cut after ten seconds, whether its caller is silent or drips.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { makeCertificate } from '../../support/certificate.ts';
import type { CertificateFiles } from '../../support/certificate.ts';
import { LISTENERS, startTestServer } from '../../unit/server/test-gateway.ts';

/** Ten seconds, by timers in steps of four on uWebSockets.js, on a machine that may be busy. */
const CUT_WITHIN_MS = 20_000;
/** The head of a TLS record that announces 512 bytes of a handshake, and how they begin. */
const HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);

let folder: string;
let tls: CertificateFiles;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-tls-'));
  tls = await makeCertificate(folder, 'localhost');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** How long the connection lasted. */
function lasting(socket: Socket): Promise<number> {
  const startedAtMs = performance.now();
  socket.on('error', () => undefined);
  socket.resume();
  return new Promise((resolve) => {
    const limit = setTimeout(() => socket.destroy(), CUT_WITHIN_MS);
    socket.once('close', () => {
      clearTimeout(limit);
      resolve(performance.now() - startedAtMs);
    });
  });
}

/** Sends a byte a second, for as long as possible. */
function dripping(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  let sent = 0;
  const timer = setInterval(() => {
    if (socket.writable) socket.write(HELLO.subarray(sent % HELLO.length, (sent++ % HELLO.length) + 1));
  }, 1000);
  socket.once('close', () => clearInterval(timer));
  return socket;
}

describe.concurrent.each(LISTENERS)('the %s listener', (_name, start) => {
  test('cuts those that are silent, that stop within their first message, and that drip', async ({ expect }) => {
    const server = await startTestServer(start, { tls });
    const silent = connect({ port: server.port, host: '127.0.0.1' });
    const stopped = connect({ port: server.port, host: '127.0.0.1' });
    stopped.write(HELLO);
    const lasted = await Promise.all([silent, stopped, dripping(server.port)].map((socket) => lasting(socket)));
    for (const ms of lasted) {
      expect(ms).toBeGreaterThan(7_000);
      expect(ms).toBeLessThan(CUT_WITHIN_MS - 500);
    }
    await expect.poll(() => server.listener.connections).toBe(0);
    server.close();
  });
});
