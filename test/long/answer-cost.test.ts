// No answer of an engine, whatever its content, blocks the event loop for 20 ms, measured by the CPU time of the longest turn.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConnection } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTeam } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { ROOMY_PLAN, startLoadedGateway } from '../evidence/load/loaded-gateway.ts';
import type { LoadedGateway } from '../evidence/load/loaded-gateway.ts';
import { COSTLY_ANSWERS, SHAPES } from './isolation/costly-answers.ts';
import type { Answer } from './isolation/costly-answers.ts';
import { METER_SOCKET } from './isolation/turn-meter.ts';

const BOUND_MS = 20;
/** The meter's reference on the machine where the limit was set: a slower or shared machine gets proportionally more. */
const REFERENCE_MS = 5;
const TRIES = 7;
const METER = fileURLToPath(new URL('isolation/turn-meter.ts', import.meta.url));
/** As many characters as the default plans allow, so that answers may be as long as they ever may. */
const CHARACTERS = 50_000;

describe.each(SHAPES)('$protocol', (shape) => {
  let gateway: LoadedGateway;
  let server: Server;
  let folder = '';
  let key = '';
  let answer: Answer = () => Buffer.from('{}');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lingate-turns-'));
    server = createServer((asked, response) => {
      void text(asked).then(() => {
        const body = answer(shape.protocol === 'apertium' ? 1 : 2);
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { protocol, options = {} } = shape;
    const config = { engine: { protocol, options, urls: [url], pairs: 'any', timeout_ms: 20_000 }, limits: { shed_loop_delay_ms: 0 } };
    const env = { [METER_SOCKET]: join(folder, 'meter') };
    gateway = await startLoadedGateway({ store: 'sqlite', engineUrl: url, config, nodeOptions: `--import ${METER}`, env });
    ({ key } = await makeTeam(gateway.store, { ...ROOMY_PLAN, max_characters_per_request: CHARACTERS }));
    // The first runs are interpreted.
    for (const [, made] of COSTLY_ANSWERS) {
      answer = made(shape);
      await sent();
    }
  });

  afterAll(async () => {
    await gateway.stop();
    server.close();
    await rm(folder, { recursive: true });
  });

  function sent(): Promise<HttpResponse> {
    const texts = shape.protocol === 'apertium' ? ['Hello'] : ['ä'.repeat(CHARACTERS / 2), 'ö'.repeat(CHARACTERS / 2)];
    const body = JSON.stringify({ text: texts, source_lang: 'EN', target_lang: 'DE' });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return request({ port: gateway.port, method: 'POST', path: '/v1/translate', headers, body });
  }

  /** CPU milliseconds: `t` of the longest turn since the last query, `r` of the reference. */
  async function metered(letter: 't' | 'r'): Promise<number> {
    const socket = createConnection(join(folder, 'meter'));
    socket.write(letter);
    return Number(await json(socket));
  }

  async function longestTurn(): Promise<number> {
    let least = Infinity;
    for (let i = 0; i < TRIES && (i === 0 || least > BOUND_MS / 2); i++) {
      await metered('t');
      expect((await sent()).status).toBeOneOf([200, 503]);
      least = Math.min(least, await metered('t'));
    }
    return least;
  }

  test.each(COSTLY_ANSWERS)('%s', async (_name, made) => {
    answer = made(shape);
    const ms = await longestTurn();
    if (ms <= BOUND_MS) return;
    const slowness = Math.max(1, (await metered('r')) / REFERENCE_MS);
    expect(ms).toBeLessThanOrEqual(BOUND_MS * slowness);
  });
});
