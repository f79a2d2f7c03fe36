// Uploads longer than any other body: each arrives whole on whatever `listener: auto` then is, in little memory, and one that ends early costs nothing.
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Duplex } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { makeCertificate } from '../../support/certificate.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { logged, openSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { startUpstream } from '../../support/upstream.ts';
import { memoryOf, sendAll, startNginx, uploadsOf, writeUploadFiles } from './upload-run.ts';
import type { UploadFile } from './upload-run.ts';

const MB = 1_000_000;
const SIZES = [1, 10, 40, 100].map((mb) => mb * MB);
const COUNT = 8;
const AT_ONCE = 3;
const EXTRA_BYTES_MAX = 67_108_864;
const CHARGE = 7;
const BODY_BYTES_MAX = 2000 * MB;

const upstream = await startUpstream();
afterAll(() => upstream.close());

let site: Site;
let gateway: GatewayProcess;
let files: readonly UploadFile[];

const FORWARD = { path: '/v1/files/*', methods: ['POST'], target: upstream.url, charge_characters: CHARGE, timeout_ms: 60_000 };
const IMPATIENT = { ...FORWARD, path: '/v1/impatient/*', timeout_ms: 300 };
const standing = async () => answered(await site.store.teams.standing(site.team.teamId));
/** The log lines of this gateway's forwarded requests. */
const requestLines = () => logged(gateway, 'request').filter(({ route }) => route !== 'GET /health');

async function start(config: Readonly<Record<string, unknown>>): Promise<void> {
  await site.configure({ engine: { urls: [site.engine.url] }, ...config });
  gateway = await site.serve();
}

beforeAll(async () => {
  site = await openSite();
  files = await writeUploadFiles(site.folder, SIZES);
});

afterEach(async () => {
  await gateway.end('SIGTERM');
});

afterAll(() => site.close());

describe('with `listener: auto`', () => {
  let usedBefore = 0;

  const charged = async (uploads: number): Promise<void> => {
    usedBefore += CHARGE * uploads;
    await expect.poll(standing).toMatchObject({ usedCharacters: usedBefore, heldCharacters: 0, openReservations: 0 });
  };

  test('directly and behind nginx, three at once, on node:http, as one line says', async () => {
    await start({ forward: [{ ...FORWARD, body_bytes: BODY_BYTES_MAX }] });
    const [line] = logged(gateway, 'listener: auto is node:http, because uWebSockets.js does not stream');
    expect(line).toMatchObject({ level: 'info', reason: 'forward: what these routes pass on is streamed' });
    expect(gateway.output()).toContain(`"listener":"node:http ${process.versions.node}"`);
    const { key } = site.team;
    const nginx = await startNginx(gateway.port);
    const warmUp = uploadsOf(files.slice(0, 1), AT_ONCE);
    expect(await sendAll({ origin: gateway.url, key, uploads: warmUp, atOnce: AT_ONCE })).toEqual([]);
    const before = memoryOf(gateway.process.pid!).residentBytes;
    for (const origin of [gateway.url, `http://127.0.0.1:${nginx.port}`]) {
      expect(await sendAll({ origin, key, uploads: uploadsOf(files, COUNT), atOnce: AT_ONCE })).toEqual([]);
    }
    expect(memoryOf(gateway.process.pid!).peakBytes - before).toBeLessThan(EXTRA_BYTES_MAX);
    await nginx.stop();
    await charged(AT_ONCE + 2 * COUNT);
  });

  test('over TLS', async () => {
    const { certFile, keyFile } = await makeCertificate(site.folder, 'localhost', 'IP:127.0.0.1');
    await start({ forward: [{ ...FORWARD, body_bytes: BODY_BYTES_MAX }], tls: { cert_file: certFile, key_file: keyFile } });
    const uploads = uploadsOf(files.slice(1, 3), AT_ONCE);
    const run = { origin: gateway.url, key: site.team.key, uploads, atOnce: AT_ONCE, more: ['--cacert', certFile] };
    expect(await sendAll(run)).toEqual([]);
    const socket = connectTls({ port: gateway.port, host: '127.0.0.1', ca: undefined, rejectUnauthorized: false });
    await leavesInTheMiddle(socket);
    await charged(AT_ONCE);
  });

  test('that end early: nothing is charged, and answer and log say why', async () => {
    await start({
      forward: [
        { ...FORWARD, body_bytes: 20 * MB, statuses: { 422: 'validation_error' } },
        { ...IMPATIENT, body_bytes: 20 * MB },
      ],
    });
    const [, small, long] = files;
    const post = (path: string, file: UploadFile, chunked: boolean) =>
      sendAll({ origin: gateway.url, key: site.team.key, uploads: [{ file, chunked, slow: false, path }], atOnce: 1 });
    const lines = async (count: number) => {
      await expect.poll(() => requestLines().length).toBe(count);
      return requestLines().at(-1);
    };
    expect((await post('/v1/files/sink', long!, true))[0]).toMatch(/"body: may be at most 20000000 bytes long\.".* 400$/);
    expect(await lines(1)).toMatchObject({ status: 400, code: 'validation_error' });
    // A server that closes its connection with unread bytes resets it, and the reset may overtake its answer.
    const [early] = await post('/v1/files/early/422', small!, false);
    const code = /"code":"(validation_error|engine_unavailable)".* (?:400|503)$/.exec(early!)?.[1];
    expect(await lines(2)).toMatchObject({ code });
    expect((await post('/v1/files/hangs-up', small!, false))[0]).toMatch(/"code":"engine_unavailable".* 503$/);
    expect(await lines(3)).toMatchObject({ status: 503, code: 'engine_unavailable' });
    expect((await post('/v1/impatient/reads-nothing', small!, false))[0]).toMatch(/"code":"engine_unavailable".* 503$/);
    expect(await lines(4)).toMatchObject({ status: 503, code: 'engine_unavailable' });
    const failed = logged(gateway, 'forward attempts failed').map(({ causes }) => causes);
    expect(failed.slice(-2)).toEqual(['reset', 'timeout']);
    await leavesInTheMiddle(connect({ port: gateway.port, host: '127.0.0.1' }));
    expect((await lines(5))?.['code']).toMatch(/^(?:client_closed|validation_error)$/);
    await charged(0);
  });
});

/** Sends a part of a body, until the upstream has the request, and resets the connection. */
async function leavesInTheMiddle(socket: Duplex & { destroy(): void }): Promise<void> {
  const seenBefore = upstream.seen.length;
  socket.on('error', () => undefined);
  socket.write(`POST /v1/files/sink HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${site.team.key}\r\nContent-Length: ${10 * MB}\r\n\r\n`);
  socket.write('x'.repeat(MB));
  await expect.poll(() => upstream.seen.length).toBe(seenBefore + 1);
  socket.destroy();
}
