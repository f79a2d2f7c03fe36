// A caller who leaves while the upstream works on a forwarded request is noticed at once: the call is aborted, and costs nothing.
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { onOneGateway } from '../support/every-gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const upstream = await startUpstream();
afterAll(() => upstream.close());

/** Its silence is tolerated for far longer than this test takes. */
const ROUTE = { path: '/v1/documents/*', methods: ['POST'], target: upstream.url, charge_characters: 10, timeout_ms: 60_000 };

onOneGateway({ config: { forward: [ROUTE] } }, (setting) => {
  test.each([1, 500, 100_000])('after a body of %i bytes', async (bytes) => {
    const team = await setting.gateway.team();
    const before = upstream.seen.length;
    const logged = (): number => setting.gateway.logLines.join('').split('"code":"client_closed"').length - 1;
    const leftBefore = logged();
    const socket = connect({ port: setting.gateway.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    const head = `Host: a\r\nAuthorization: Bearer ${team.key}\r\nContent-Length: ${bytes}\r\n`;
    socket.write(`POST /v1/documents/silent HTTP/1.1\r\n${head}\r\n${'d'.repeat(bytes)}`);
    await expect.poll(() => upstream.seen.slice(before).some(({ body }) => body?.bytes === bytes)).toBe(true);
    socket.destroy();
    await expect.poll(logged).toBe(leftBefore + 1);
    await expect
      .poll(() => setting.gateway.store.teams.standing(team.teamId))
      .toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
  });
});
