// What a request holds while its engine is slow: with routing rules by plan, which check it twice, no more than with one engine.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { makeTeam, QUOTA_PLAN } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { RawConnection, requestBytes } from '../../support/raw-http.ts';
import { FACADES } from '../../support/fronts.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import { INSPECTABLE, inspect } from '../../evidence/load/inspected.ts';

const REQUESTS = 10;
const PLAN = { ...QUOTA_PLAN, max_characters_per_request: 2_000_000, characters: 1_000_000_000 };
/** Content that is not needed once the request has been read, and that every front accepts. */
const NEEDLESS = 'x'.repeat(500_000);
/** Of every request: buffers, sockets, promises. */
const BYTES_MAX = 150_000;

const ENGINES = {
  'one engine': (url: string) => ({ engine: { urls: [url], timeout_ms: 100_000 } }),
  'rules by plan': (url: string) => ({
    engines: { small: { urls: [url], timeout_ms: 100_000 }, large: { urls: ['http://127.0.0.1:1'], timeout_ms: 100_000 } },
    routing: [{ plans: ['free'], engines: ['small'] }, { engines: ['small', 'large'] }],
  }),
};

/** By front: path, fields and body. */
const WAYS: Readonly<Record<string, (key: string) => { path: string; headers: Record<string, string>; body: string }>> = {
  "DeepL's": (key) => ({
    path: '/v2/translate',
    headers: { authorization: `DeepL-Auth-Key ${key}` },
    body: JSON.stringify({ text: ['Hello'], target_lang: 'DE', unknown: NEEDLESS }),
  }),
  "LibreTranslate's, with the key in the body": (key) => ({
    path: '/translate',
    headers: {},
    body: JSON.stringify({ q: 'Hello', source: 'en', target: 'de', api_key: key, unknown: NEEDLESS }),
  }),
  "Google's": (key) => ({
    path: `/language/translate/v2?key=${key}`,
    headers: {},
    body: JSON.stringify({ q: ['Hello'], source: 'en', target: 'de', format: 'text', quotaUser: NEEDLESS }),
  }),
  // White space between texts, because /v1 refuses unknown members.
  '/v1': (key) => ({
    path: '/v1/translate',
    headers: { authorization: `Bearer ${key}` },
    body: `{"text":["Hello"],${NEEDLESS.replaceAll('x', ' ')}"target_lang":"DE"}`,
  }),
};

let place: StorePlace;
let folder: string;
let engine: ScriptedEngine;
beforeAll(async () => {
  place = await storePlace('sqlite');
  folder = await mkdtemp(join(tmpdir(), 'lingate-waiting-'));
  engine = await startScriptedEngine();
});
afterAll(async () => {
  await engine.close();
  await place.remove();
  await rm(folder, { recursive: true, force: true });
});

let gateway: GatewayProcess | undefined;
beforeEach(() => {
  engine.forget();
  engine.always('hang');
});
afterEach(async () => {
  await gateway?.end('SIGKILL');
  gateway = undefined;
});

test.each(Object.entries(ENGINES))(
  '%s: bodies are not kept while the engine is waited for',
  { timeout: 120_000 },
  async (name, engines) => {
    const file = join(folder, `${name.replaceAll(' ', '-')}.json`);
    const rest = { listen: '127.0.0.1:0', ops: '127.0.0.1:0', store: place.url, plugins: FACADES, limits: { reservation_seconds: 300 } };
    await writeFile(file, JSON.stringify({ ...rest, ...engines(engine.url) }));
    const store = await openBeside(place.url);
    const { key } = await makeTeam(store, PLAN);
    gateway = await startGatewayProcess({ args: ['serve', '--config', file], env: { NODE_OPTIONS: INSPECTABLE } });
    const inside = await inspect(gateway);
    const heldBytes: Record<string, number> = {};
    for (const [front, way] of Object.entries(WAYS)) {
      const callers: RawConnection[] = [];
      const send = async (count: number): Promise<void> => {
        const { path, headers, body } = way(key);
        const sent = engine.requests.length + count;
        for (let i = 0; i < count; i++) {
          const caller = await RawConnection.open({ port: gateway!.port });
          caller.send(requestBytes({ method: 'POST', path, headers: { 'content-type': 'application/json', ...headers }, body }));
          callers.push(caller);
        }
        await engine.until(() => engine.requests.length >= sent);
      };
      // The first ones compile code and open connections.
      await send(2);
      const before = (await inside.look()).heapBytes;
      await send(REQUESTS);
      heldBytes[front] = Math.round(((await inside.look()).heapBytes - before) / REQUESTS);
      for (const caller of callers) caller.destroy();
    }
    inside.close();
    await store.close();
    expect(Object.entries(heldBytes).filter(([, bytes]) => bytes > BYTES_MAX)).toEqual([]);
  },
);
