// Trials of engines without a caller: what is logged, what health and readiness learn, and when an engine is tried again.
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { EngineTrials } from '../../../src/app/engine-trials.ts';
import type { TriedEngine } from '../../../src/app/engine-trials.ts';
import { deepLProtocol } from '../../../src/engines/protocols/deepl-protocol.ts';
import { nativeProtocol } from '../../../src/engines/protocols/native-protocol.ts';
import { openAiProtocol } from '../../../src/engines/protocols/openai-protocol.ts';
import type { LogFields } from '../../../src/ports/log.ts';
import type { FailureDetail } from '../../../src/ports/engine.ts';
import { startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { asked, Caller, Opened, work } from '../engines/engine-work.ts';

const opened = new Opened();
let lines: [message: string, fields: LogFields | undefined][] = [];
let timers: { readonly run: () => void; readonly ms: number }[] = [];
const log = {
  info: (message: string, fields?: LogFields) => void lines.push([message, fields]),
  warn: (message: string, fields?: LogFields) => void lines.push([message, fields]),
  error: (message: string, fields?: LogFields) => void lines.push([message, fields]),
};
const later = (run: () => void, ms: number): (() => void) => {
  const timer = { run, ms };
  timers.push(timer);
  return () => (timers = timers.filter((one) => one !== timer));
};

afterEach(() => {
  lines = [];
  timers = [];
});
afterAll(() => opened.close());

const begin = (engine: TriedEngine): EngineTrials => new EngineTrials({ engines: [engine], log, later });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** An engine whose replicas' trials end as listed, one entry for each trial. */
function scriptedTrials(...trials: readonly (FailureDetail | undefined)[][]): TriedEngine {
  let reached = false;
  let next = 0;
  return {
    name: 'default',
    async tryAll() {
      const results = trials[Math.min(next++, trials.length - 1)]!;
      reached = results.some((failure) => failure === undefined);
      return results.map((failure, index) => ({ url: `http://r${index}`, failure }));
    },
    works: () => reached,
  };
}

const REFUSED: FailureDetail = { failure: 'connect', cause: 'refused' };
const UNKNOWN: FailureDetail = { failure: 'connect', cause: 'name_unknown' };

test('an engine that works is tried once, and nothing is said', async () => {
  begin(scriptedTrials([undefined]));
  await settled();
  expect([lines, timers]).toEqual([[], []]);
});

test('each replica that cannot be reached is one line with cause and advice; with another one that works it is not tried again', async () => {
  begin(scriptedTrials([REFUSED, undefined]));
  await settled();
  expect(lines).toEqual([
    [
      'an engine replica cannot be reached: requests to it will fail',
      {
        engine: 'default',
        replica: 'http://r0',
        failure: 'connect',
        cause: 'refused',
        advice: 'Start the engine, or check host and port in engine.urls: nobody listens there.',
      },
    ],
  ]);
  expect(timers).toEqual([]);
});

test('while none works the engine is tried every minute; the line is repeated only for another cause, and the end is told', async () => {
  begin(scriptedTrials([REFUSED], [REFUSED], [UNKNOWN], [undefined]));
  for (let minute = 0; minute < 3; minute++) {
    await settled();
    expect(timers.map(({ ms }) => ms)).toEqual([60_000]);
    timers.pop()!.run();
  }
  await settled();
  expect(lines.map(([message, fields]) => [message, fields?.['cause']])).toEqual([
    ['an engine replica cannot be reached: requests to it will fail', 'refused'],
    ['an engine replica cannot be reached: requests to it will fail', 'name_unknown'],
    ['an engine replica can be reached again', undefined],
  ]);
  expect(timers).toEqual([]);
});

test('a closed one tries no more', async () => {
  const trials = begin(scriptedTrials([REFUSED]));
  trials.close();
  await settled();
  expect([lines, timers]).toEqual([[], []]);
});

test('a real replica is tried, and health has the result', async () => {
  const scripted = await startScriptedEngine();
  const engine = opened.engine([scripted.url, `http://127.0.0.1:${await freePort()}`]);
  expect(engine.health().map(({ reached }) => reached)).toEqual([undefined, undefined]);
  const trials = await engine.tryAll();
  expect(trials.map(({ failure }) => failure)).toEqual([undefined, REFUSED]);
  expect(engine.health()).toMatchObject([
    { reached: true, lastFailure: undefined, failed: 0 },
    { reached: false, lastFailure: { failure: 'connect' }, failed: 0 },
  ]);
  await scripted.close();
});

test.each([
  ['native', nativeProtocol, undefined, '/translate', 'POST'],
  ['openai', openAiProtocol, { model: 'm', schema: 'json_schema', max_tokens_per_character: 4 }, '/v1/models', 'GET'],
  ['deepl', deepLProtocol, { api_key: 'k', files: false }, '/v2/usage', 'GET'],
] as const)(
  '%s is asked for what it does not bill; JSON passes, and a page or a refused key does not',
  async (_name, protocol, options, path, method) => {
    const calls: string[] = [];
    let answer: readonly [status: number, body: string] = [200, '{}'];
    const server = createHttpServer((message, response) => {
      calls.push(`${message.method} ${message.url}`);
      response.writeHead(answer[0]).end(answer[1]);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const engine = opened.engine([`http://127.0.0.1:${(server.address() as AddressInfo).port}`], { protocol, options });
    const tried = async (status: number, body: string) => {
      answer = [status, body];
      return (await engine.tryAll())[0]!.failure;
    };
    expect(await tried(200, '{"data":[]}')).toBeUndefined();
    expect(await tried(404, '{"error":"no such path"}')).toBeUndefined();
    expect(engine.health()).toMatchObject([{ reached: true, failed: 0 }]);
    expect(await tried(404, '<!doctype html>')).toMatchObject({ failure: 'status', status: 404 });
    expect(engine.health()).toMatchObject([{ reached: false, failed: 0, lastFailure: { failure: 'status', status: 404 } }]);
    expect(await tried(200, '<!doctype html>')).toMatchObject({ failure: 'wrong_shape' });
    expect(await tried(401, '{"error":"bad key"}')).toMatchObject({ failure: 'status', status: 401 });
    expect(new Set(calls)).toEqual(new Set([`${method} ${path}`]));
    server.close();
  },
);

test('a usable answer says more than an earlier trial', async () => {
  const port = await freePort();
  const engine = opened.engine([`http://127.0.0.1:${port}`]);
  await engine.tryAll();
  expect(engine.health()).toMatchObject([{ reached: false }]);
  const scripted = await startScriptedEngine({ port });
  await asked(engine, work(), new Caller());
  expect(engine.health()).toMatchObject([{ reached: true }]);
  await scripted.close();
});

test('a server that accepts and closes at once, as one that speaks no TLS does, is told by its cause', async () => {
  const server = createServer((socket) => socket.end('not TLS'));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const engine = opened.engine([`https://127.0.0.1:${(server.address() as AddressInfo).port}`]);
  expect(await engine.tryAll()).toMatchObject([{ failure: { failure: 'connect', cause: 'tls_handshake' } }]);
  server.close();
});
