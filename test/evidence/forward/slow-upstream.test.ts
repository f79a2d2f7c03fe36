// An upstream may take longer than any timer of the listeners, however the request's body was sent: only its silence is limited.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { request } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

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
  const forward = [{ path: '/v1/documents', methods: ['POST'], target, timeout_ms: 30_000, charge_characters: 7 }];
  const started = startedUntil(onTestFinished);
  started.closes(() => upstream.close());
  const limits = { request_seconds: 60, body_bytes: 8_000_000 };
  const gateway = await started.gateway({ engineUrls: [target], config: { forward, limits } });
  const team = await gateway.team();
  const headers = { authorization: `Bearer ${team.key}` };
  const answers = await Promise.all(
    BODIES.map((bytes) => request({ port: gateway.port, method: 'POST', path: '/v1/documents', headers, body: 'd'.repeat(bytes) })),
  );
  expect(answers.map(({ status, body }) => [status, body])).toEqual(BODIES.map(() => [200, 'late']));
  await expect.poll(() => gateway.charged(team)).toBe(7 * BODIES.length);
});
