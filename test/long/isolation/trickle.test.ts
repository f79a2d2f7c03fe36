// Bodies that trickle in, a byte at a time: on every route the request ends, and nothing is charged.
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { answered } from '../../../src/index.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { startUpstream } from '../../support/upstream.ts';
import { LISTENERS } from '../../support/listeners.ts';

// All only wait for a listener's timers, so all at once: by default five would, in five rounds of ten seconds.
vi.setConfig({ maxConcurrency: 50 });

const upstream = await startUpstream();
afterAll(() => upstream.close());

const REQUEST_SECONDS = 2;
/** Far above the limit, but not for ever. */
const OPEN_MS_MAX = 25_000;
/** Often enough to stay below every limit on silence. */
const EVERY_MS = 400;

const ROUTES = ['POST /v1/translate', 'POST /v1/glossaries', 'GET /v1/languages', 'GET /health', 'GET /none'];
const FORWARD = { path: '/v1/documents/*', methods: ['POST'], target: upstream.url, charge_characters: 10, timeout_ms: 30_000 };

describe.concurrent.each(LISTENERS)('on %s', (listener) => {
  let gateway: TestGateway;
  let team: TestTeam;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lingate-trickle-'));
    gateway = await startGateway({
      listener,
      store: `sqlite:${folder}/lingate.db`,
      engineUrls: [upstream.url],
      config: {
        ...(listener === 'node' ? { forward: [FORWARD] } : {}),
        // Both attempts must fit into the request's time.
        engine: { timeout_ms: 500 },
        limits: { request_seconds: REQUEST_SECONDS },
      },
    });
    team = await gateway.team();
  });

  afterAll(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test.concurrent.each(
    [...ROUTES, ...(listener === 'node' ? ['POST /v1/documents/sink'] : [])].flatMap((route) =>
      ['Content-Length: 100000', 'Transfer-Encoding: chunked'].map((field) => [route, field] as const),
    ),
  )('%s with %s ends', async (route, field) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    const fields = `Host: a\r\nAuthorization: Bearer ${team.key}\r\nContent-Type: application/json\r\n${field}\r\n\r\n`;
    socket.write(`${route} HTTP/1.1\r\n${fields}`);
    const startedAtMs = performance.now();
    const drip = setInterval(() => socket.write(field.startsWith('T') ? '1\r\n \r\n' : ' '), EVERY_MS);
    const openMs = await new Promise<number>((resolve) => {
      const limit = setTimeout(() => resolve(Infinity), OPEN_MS_MAX);
      const ended = (): void => {
        clearTimeout(limit);
        resolve(performance.now() - startedAtMs);
      };
      socket.on('data', () => undefined);
      socket.on('error', ended).on('end', ended).on('close', ended);
    });
    clearInterval(drip);
    socket.destroy();
    expect(openMs).toBeLessThan(OPEN_MS_MAX);
    expect(answered(await gateway.store.teams.standing(team.teamId))?.usedCharacters).toBe(0);
  });
});
