// No body of the default length, whatever its content, blocks the event loop for 20 ms, measured by the CPU time of its longest turn.
import { createConnection } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FACADES } from '../support/fronts.ts';
import { request } from '../support/raw-http.ts';
import { ROOMY_PLAN, startLoadedGateway } from '../evidence/load/loaded-gateway.ts';
import type { LoadedGateway } from '../evidence/load/loaded-gateway.ts';
import { makeTeam } from '../support/gateway.ts';
import { COSTLY_BODIES } from './isolation/costly-bodies.ts';
import type { CostlyBody } from './isolation/costly-bodies.ts';
import { METER_SOCKET } from './isolation/turn-meter.ts';
import { LISTENERS } from '../support/listeners.ts';

/** Bytes, parser, rules, store and answer: everything one turn does for a request. */
const BOUND_MS = 20;
/** The meter's reference on the machine where the limit was set: a slower or shared machine gets proportionally more. */
const REFERENCE_MS = 5;
/** The best of this many counts: compilation and garbage collection are not the body's. */
const TRIES = 15;
const METER = fileURLToPath(new URL('isolation/turn-meter.ts', import.meta.url));

const AZURE = '/translator/text/v3.0/translate?api-version=3.0&to=de';
/** Where bodies of a type are accepted. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  'application/json': ['/v1/translate', '/v1/glossaries', '/v2/translate', '/v3/glossaries', '/translate', AZURE, '/language/translate/v2'],
  'application/x-www-form-urlencoded': ['/v2/translate', '/v2/glossaries', '/translate', '/language/translate/v2'],
  'multipart/form-data; boundary=B': ['/v2/translate', '/translate', '/language/translate/v2'],
};

describe.each(LISTENERS)('on %s', (listener) => {
  let gateway: LoadedGateway;
  let folder = '';
  let key = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lingate-turns-'));
    const config = { listener, plugins: FACADES, limits: { shed_loop_delay_ms: 0, glossary_bytes: 2 ** 30 } };
    const env = { [METER_SOCKET]: join(folder, 'meter') };
    gateway = await startLoadedGateway({ store: 'sqlite', config, nodeOptions: `--import ${METER}`, env });
    ({ key } = await makeTeam(gateway.store, { ...ROOMY_PLAN, max_glossaries: 10_000 }));
    // The first runs are interpreted.
    for (const body of COSTLY_BODIES) for (const path of PATHS[body.contentType]!) await sent(path, body);
  });

  afterAll(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true });
  });

  async function sent(path: string, { contentType, body }: CostlyBody): Promise<number> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': contentType };
    const { status } = await request({ port: gateway.port, method: 'POST', path, headers, body });
    return status;
  }

  /** CPU milliseconds: `t` of the longest turn since the last query, `r` of the reference. */
  async function metered(letter: 't' | 'r'): Promise<number> {
    const socket = createConnection(join(folder, 'meter'));
    socket.write(letter);
    return Number(await text(socket));
  }

  async function longestTurn(path: string, body: CostlyBody): Promise<number> {
    let least = Infinity;
    for (let i = 0; i < TRIES && (i === 0 || least > BOUND_MS / 2); i++) {
      await metered('t');
      expect(await sent(path, body)).toBeLessThan(500);
      least = Math.min(least, await metered('t'));
    }
    return least;
  }

  async function dearOnes(bodies: readonly CostlyBody[]): Promise<string[]> {
    const dear: string[] = [];
    for (const body of bodies) {
      for (const path of PATHS[body.contentType]!) {
        const ms = await longestTurn(path, body);
        if (ms <= BOUND_MS) continue;
        const slowness = Math.max(1, (await metered('r')) / REFERENCE_MS);
        if (ms > BOUND_MS * slowness)
          dear.push(`${body.name}, ${body.contentType}, to ${path}: ${ms.toFixed(1)} ms, ${slowness.toFixed(1)}`);
      }
    }
    return dear;
  }

  test('bodies that were the worst of their kind', async () => {
    expect(await dearOnes(COSTLY_BODIES)).toEqual([]);
  });
});
