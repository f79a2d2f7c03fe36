// An upstream may take longer than any timer of the listeners, however the request's body was sent: only its silence is limited.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { startGateway } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';

/** Longer than the timers of a listener. */
const ANSWERS_AFTER_MS = 12_000;
/** With its head in one read; in a few; more than a socket buffers. */
const BODIES = [65, 300_000, 4_000_000];

test('is waited for', async () => {
  const upstream = createServer((req, res) => {
    req.resume();
    req.on('end', () => setTimeout(() => res.end('late'), ANSWERS_AFTER_MS));
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const target = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const folder = await mkdtemp(join(tmpdir(), 'lingate-slow-'));
  const forward = [{ path: '/v1/documents', methods: ['POST'], target, timeout_ms: 30_000, charge_characters: 7 }];
  const gateway = await startGateway({
    store: `sqlite:${folder}/lingate.db`,
    engineUrls: [target],
    config: { forward, limits: { request_seconds: 60, body_bytes: 8_000_000 } },
  });
  const team = await gateway.team();
  const headers = { authorization: `Bearer ${team.key}` };
  const answers = await Promise.all(
    BODIES.map((bytes) => request({ port: gateway.port, method: 'POST', path: '/v1/documents', headers, body: 'd'.repeat(bytes) })),
  );
  expect(answers.map(({ status, body }) => [status, body])).toEqual(BODIES.map(() => [200, 'late']));
  await expect.poll(async () => answered(await gateway.store.teams.standing(team.teamId))?.usedCharacters).toBe(7 * BODIES.length);
  await gateway.stop();
  upstream.close();
  await rm(folder, { recursive: true, force: true });
});
