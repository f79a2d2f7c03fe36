// The ops listener: how much of a body it reads before a sign-in, and streamed answers.
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOpsListener } from '../../../src/ops/ops-listener.ts';
import type { OpsListener } from '../../../src/ops/ops-listener.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';

const BYTES_MAX = 1000;
let listener: OpsListener;
const answer = (body: string) => ({ status: 200, contentType: 'text/plain', body });

beforeAll(async () => {
  const app = {
    prefix: '/app',
    bodyBytesMax: BYTES_MAX,
    handle: ({ body }: { readonly body: Buffer }) => Promise.resolve(answer(String(body.length))),
    tooLarge: () => answer('too large'),
  };
  listener = await startOpsListener({ host: '127.0.0.1', port: 0, pages: {}, names: ['test'], apps: [app] });
});

afterAll(() => listener.close());

test.each([
  [BYTES_MAX, String(BYTES_MAX)],
  [BYTES_MAX + 1, 'too large'],
  [8 * BYTES_MAX, 'too large'],
])('a body of %i bytes is read to its end', async (bytes, answered) => {
  const response = await request({ port: listener.address.port, method: 'POST', path: '/app', body: 'x'.repeat(bytes) });
  expect(response.body).toBe(answered);
});

test('a body beyond eight times the limit ends the connection', async () => {
  const connection = await RawConnection.open({ port: listener.address.port });
  connection.send(requestBytes({ method: 'POST', path: '/app', headers: { 'content-length': '1000000' } }));
  connection.send(Buffer.alloc(8 * BYTES_MAX + 1, 0x78));
  expect((await connection.response()).body).toBe('too large');
  connection.send(Buffer.alloc(1_000_000 - 8 * BYTES_MAX - 1, 0x78));
  connection.send(requestBytes({ path: '/app' }));
  await expect(connection.response()).rejects.toThrow('the connection ended');
  connection.destroy();
});

describe('a streamed answer', () => {
  const PIECE = 'x'.repeat(64 * 1024);
  let read = 0;
  let ended = false;
  async function* pieces(count: number, failsAt = Infinity): AsyncGenerator<string, void, void> {
    ended = false;
    try {
      for (read = 0; read < count; read++) {
        if (read === failsAt) throw new Error('a word of the store');
        yield PIECE;
        await nextTurn();
      }
    } finally {
      ended = true;
    }
  }
  const bodies: Readonly<Record<string, () => AsyncIterable<string>>> = {
    '/file/short': () => pieces(3),
    '/file/long': () => pieces(2000),
    '/file/broken': () => pieces(3, 2),
  };
  let files: OpsListener;

  beforeAll(async () => {
    const handle = ({ path }: { readonly path: string }) =>
      Promise.resolve({
        status: 200,
        contentType: 'text/csv',
        body: '',
        pieces: bodies[path]!(),
        headers: { 'Content-Disposition': 'attachment' },
      });
    const app = { prefix: '/file', bodyBytesMax: BYTES_MAX, handle, tooLarge: () => answer('too large') };
    files = await startOpsListener({ host: '127.0.0.1', port: 0, pages: {}, apps: [app] });
  });
  afterAll(() => files.close());

  test('arrives complete, with the headers of every answer', async () => {
    const response = await request({ port: files.address.port, path: '/file/short' });
    expect([response.status, response.body]).toEqual([200, PIECE.repeat(3)]);
    expect(['content-type', 'content-disposition', 'cache-control', 'x-content-type-options'].map((name) => response.header(name))).toEqual(
      ['text/csv', 'attachment', 'no-store', 'nosniff'],
    );
  });

  test('is not read for a HEAD request', async () => {
    read = 0;
    expect((await fetch(`http://127.0.0.1:${files.address.port}/file/long`, { method: 'HEAD' })).headers.get('content-type')).toBe(
      'text/csv',
    );
    expect(read).toBe(0);
  });

  test('ends the connection if it fails, so that a part is not taken for the whole', async () => {
    const response = await fetch(`http://127.0.0.1:${files.address.port}/file/broken`);
    await expect(response.text()).rejects.toThrow('terminated');
    expect(ended).toBe(true);
  });

  test('is read only as fast as the caller reads, and no more after the caller has left', async () => {
    // Without a reader the client accepts no data.
    const connection = connect({ port: files.address.port, host: '127.0.0.1' });
    connection.on('error', () => undefined);
    connection.write(requestBytes({ path: '/file/long' }));
    await expect.poll(() => read).toBeGreaterThan(0);
    let last = -1;
    // The buffers of both ends fill up; then it stands still.
    await expect.poll(() => read === last || ((last = read), false), { interval: 200 }).toBe(true);
    expect(read).toBeLessThan(400);
    connection.destroy();
    await expect.poll(() => ended).toBe(true);
  });
});
