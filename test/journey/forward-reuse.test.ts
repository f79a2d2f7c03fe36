// A connection stays usable after a forwarded answer: the next request on it is answered at once, however the body was sent.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { onOneGateway } from '../support/every-gateway.ts';
import { readResponse } from '../support/raw-response.ts';
import { startUpstream } from '../support/upstream.ts';

const upstream = await startUpstream();
afterAll(() => upstream.close());

const ROUTE = { path: '/v1/documents/*', methods: ['GET', 'POST'], target: upstream.url };
/** Far below the ten seconds after which a library closes a stalled connection. */
const SOON_MS = 3000;

onOneGateway({ config: { forward: [ROUTE] } }, (setting) => {
  test.each(['sink', 'bytes/1000', 'chunked/1000', 'empty/0', 'status/500'])('after POST …/%s', async (words) => {
    const team = await setting.gateway.team();
    const socket = connect({ port: setting.gateway.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    const answerTo = async (request: string): Promise<Buffer> => {
      let bytes = Buffer.alloc(0);
      socket.write(request);
      while (readResponse(bytes, false, false) === undefined) {
        const [piece] = (await once(socket, 'data', { signal: AbortSignal.timeout(SOON_MS) })) as [Buffer];
        bytes = Buffer.concat([bytes, piece]);
      }
      return bytes;
    };
    const head = `Host: a\r\nAuthorization: Bearer ${team.key}\r\n`;
    for (let round = 0; round < 5; round++) {
      const posted = await answerTo(`POST /v1/documents/${words} HTTP/1.1\r\n${head}Content-Length: 500\r\n\r\n${'d'.repeat(500)}`);
      if (/\r\nconnection: close\r\n/i.test(posted.toString('latin1'))) break;
      expect((await answerTo(`GET /v1/languages?type=source HTTP/1.1\r\n${head}\r\n`)).toString()).toMatch(/^HTTP\/1\.1 200 /);
    }
    socket.destroy();
  });
});
