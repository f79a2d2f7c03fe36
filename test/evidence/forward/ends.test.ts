// Forwarded answers that end early: the upstream dies at any byte, is silent, or the caller leaves. Nothing is charged, nothing stays open.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEveryGateway } from '../../support/every-gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { readResponse } from '../../support/raw-response.ts';
import { downloadPiece, startUpstream } from '../../support/upstream.ts';

const upstream = await startUpstream();
afterAll(() => upstream.close());

const PATHS = { methods: ['GET', 'POST'], target: upstream.url, charge_characters: 10, timeout_ms: 200 };
const DEATHS = [0, 1, 2, 100, 1000, 1023, 1024, 2048, 3998, 3999];
const ABORTS = 100;
/** More than the system buffers for a caller who does not read. */
const DOWNLOAD_BYTES = 33_554_432;

const FORWARD = [
  { path: '/v1/documents/*', ...PATHS },
  { path: '/v1/patient/*', ...PATHS, timeout_ms: 60_000 },
];

onEveryGateway({ config: { forward: FORWARD } }, (setting) => {
  let team: TestTeam;

  beforeAll(async () => {
    team = await setting.gateway.team();
  });

  const standing = () => setting.gateway.store.teams.standing(team.teamId);
  const open = (line: string, more = ''): Socket => {
    const socket = connect({ port: setting.gateway.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.write(`${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${team.key}\r\n${more}\r\n`);
    return socket;
  };
  /** A write to the log may be several lines. */
  const logged = (code: string): number => setting.gateway.logLines.join('').split(`"code":"${code}"`).length - 1;

  test.each(['dies', 'dies-chunked', 'stalls'])(
    'an upstream that %s in the middle, at ten bytes: a broken answer, no charge',
    async (verb) => {
      const before = logged('engine_unavailable');
      for (const at of DEATHS) {
        const { bytes, ended } = await everything(open(`GET /v1/documents/${verb}/${at}`));
        expect(ended).toBe(true);
        if (bytes.byteLength === 0) continue;
        // What arrived is the beginning of an answer, and no client could take it for all of it.
        expect(bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /);
        expect(complete(bytes)).toBe(false);
        if (verb === 'dies-chunked') continue;
        expect(bodyOf(bytes).byteLength).toBeLessThanOrEqual(at);
        expect(bodyOf(bytes).equals(downloadPiece(0, bodyOf(bytes).byteLength))).toBe(true);
      }
      await expect.poll(() => logged('engine_unavailable')).toBe(before + DEATHS.length);
      await expect.poll(standing).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
    },
  );

  test('callers who leave in the middle of downloads and uploads leave nothing behind', { timeout: 120_000 }, async () => {
    // node:http distinguishes a truncated body from a closed connection: the former is a refusal that nobody reads.
    const ended = (): number => logged('client_closed') + logged('validation_error');
    const before = ended();
    const downloads = Array.from({ length: ABORTS }, () => open(`GET /v1/patient/bytes/${DOWNLOAD_BYTES}`));
    await Promise.all(downloads.map((socket) => firstBytes(socket)));
    // After the downloads, and never silent: on a busy machine these take longer than a listener waits for the rest of a body.
    const send = (socket: Socket, i: number, bytes: number): void => {
      const data = 'x'.repeat(bytes);
      socket.write(i % 2 === 0 ? data : `${bytes.toString(16)}\r\n${data}\r\n`);
    };
    const uploads = Array.from({ length: ABORTS }, (_, i) => {
      const framing = i % 2 === 0 ? 'Content-Length: 1000000' : 'Transfer-Encoding: chunked';
      const socket = open('POST /v1/patient/sink', `${framing}\r\n`);
      send(socket, i, 1000);
      return socket;
    });
    const sending = setInterval(() => uploads.forEach((socket, i) => send(socket, i, 1)), 1000);
    // Each upload has reached the upstream.
    await expect.poll(() => upstream.connections).toBeGreaterThanOrEqual(2 * ABORTS);
    clearInterval(sending);
    for (const [i, socket] of [...downloads, ...uploads].entries()) {
      if (i % 3 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    await expect.poll(ended).toBe(before + 2 * ABORTS);
    await expect.poll(standing).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
    await expect.poll(() => upstream.connections).toBeLessThanOrEqual(2);
  });

  test('a whole answer after all that is charged once, and no bug was logged', async () => {
    const socket = open('GET /v1/documents/bytes/100000', 'Connection: close\r\n');
    const { bytes } = await everything(socket);
    expect(bodyOf(bytes).equals(downloadPiece(0, 100_000))).toBe(true);
    await expect.poll(standing).toMatchObject({ usedCharacters: 10, heldCharacters: 0, openReservations: 0 });
    expect(setting.gateway.logLines.filter((line) => line.includes('"a bug"'))).toEqual([]);
  });
});

/** Reads no more than those. */
function firstBytes(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('data', () => {
      socket.pause();
      resolve();
    });
  });
}

/** Everything until the connection ends. */
function everything(socket: Socket): Promise<{ readonly bytes: Buffer; readonly ended: boolean }> {
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(false), 10_000);
    const end = (ended: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ bytes: Buffer.concat(pieces), ended });
    };
    socket.on('data', (chunk: Buffer) => pieces.push(chunk));
    socket.on('close', () => end(true));
  });
}

function complete(bytes: Buffer): boolean {
  return readResponse(bytes, false, false) !== undefined;
}

function bodyOf(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf('\r\n\r\n') + 4);
}
