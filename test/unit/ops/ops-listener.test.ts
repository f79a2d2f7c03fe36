// The ops listener: what it reads of a body before anyone has signed in.
import { afterAll, beforeAll, expect, test } from 'vitest';
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
])('a body of %i bytes is read to its end', async (bytes, told) => {
  const response = await request({ port: listener.address.port, method: 'POST', path: '/app', body: 'x'.repeat(bytes) });
  expect(response.body).toBe(told);
});

test('one that goes on behind eight times the limit ends the connection', async () => {
  const connection = await RawConnection.open({ port: listener.address.port });
  connection.send(requestBytes({ method: 'POST', path: '/app', headers: { 'content-length': '1000000' } }));
  connection.send(Buffer.alloc(8 * BYTES_MAX + 1, 0x78));
  expect((await connection.response()).body).toBe('too large');
  connection.send(Buffer.alloc(1_000_000 - 8 * BYTES_MAX - 1, 0x78));
  connection.send(requestBytes({ path: '/app' }));
  await expect(connection.response()).rejects.toThrow('the connection ended');
  connection.destroy();
});
