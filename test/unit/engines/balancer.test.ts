// Two attempts across replicas: their order, new connections, and callers that leave.
import { afterEach, describe, expect, test } from 'vitest';
import type { EngineProtocol } from '../../../src/ports/engine.ts';
import { slow, startScriptedEngine, status } from '../../../src/testing/scripted-engine.ts';
import { asked, Caller, callsAtOnce, engineOf, Opened, work } from './engine-work.ts';

const opened = new Opened();
afterEach(() => opened.close());

/** The URL of a port that nobody listens on. */
async function deadUrl(): Promise<string> {
  const scripted = await startScriptedEngine();
  const { url } = scripted;
  await scripted.close();
  return url;
}

describe('replicas', () => {
  test('take turns', async () => {
    const replicas = [await opened.scripted(), await opened.scripted(), await opened.scripted()];
    const engine = opened.engine(replicas.map(({ url }) => url));
    for (let i = 0; i < 9; i++) await asked(engine, work(), new Caller());
    expect(replicas.map(({ requests }) => requests.length)).toEqual([3, 3, 3]);
  });

  test('the second attempt goes to another one', async () => {
    const bad = await opened.scripted();
    const good = await opened.scripted();
    bad.always(status(500));
    const engine = opened.engine([bad.url, good.url]);
    for (let i = 0; i < 4; i++) expect((await asked(engine, work(), new Caller())).kind).toBe('usable');
    // Each request that goes to it first fails there once, and then succeeds at the other.
    expect([good.requests.length, bad.requests.length]).toEqual([4, 2]);
  });

  test('one that refuses connections is set aside: it gets no attempt, first or second, until one request tries it', async () => {
    let nowMs = 0;
    const good = await opened.scripted();
    const dead = await deadUrl();
    const engine = opened.engine([dead, good.url], { nowMs: () => nowMs });
    const failures = async (): Promise<readonly string[]> => (await asked(engine, work(), new Caller())).failures;
    expect(await failures()).toEqual(['connect']);
    for (let i = 0; i < 4; i++) expect(await failures()).toEqual([]);
    good.behave(status(500));
    expect(await failures()).toEqual(['status']);
    expect(engine.health().map(({ asideMs }) => asideMs)).toEqual([1000, undefined]);
    nowMs = 1000;
    expect([await failures(), await failures(), await failures()]).toEqual([['connect'], [], []]);
    expect(engine.health()[0]!.asideMs).toBe(2000);
  });

  test('one that answers 503 is set aside for its Retry-After, and is back with the next usable answer', async () => {
    let nowMs = 0;
    const [first, second] = [await opened.scripted(), await opened.scripted()];
    const engine = opened.engine([first.url, second.url], { nowMs: () => nowMs });
    first.behave((_request, response) => response.writeHead(503, { 'retry-after': '7' }).end());
    for (let i = 0; i < 5; i++) expect((await asked(engine, work(), new Caller())).kind).toBe('usable');
    expect([first.requests.length, engine.health()[0]!.asideMs]).toEqual([1, 7000]);
    nowMs = 7000;
    for (let i = 0; i < 4; i++) expect((await asked(engine, work(), new Caller())).failures).toEqual([]);
    // The trial, and then its share.
    expect([first.requests.length, engine.health()[0]!.asideMs]).toEqual([4, undefined]);
  });

  test('three requests wait for one that hangs, and then none until a request tries it', async () => {
    let nowMs = 0;
    const [hanging, good] = [await opened.scripted(), await opened.scripted()];
    const engine = opened.engine([hanging.url, good.url], { nowMs: () => nowMs, timeoutMs: 500 });
    hanging.always('hang');
    for (let i = 0; i < 20; i++) await asked(engine, work(), new Caller());
    expect(hanging.requests).toHaveLength(3);
    for (const afterMs of [1000, 2000, 4000]) {
      nowMs += afterMs;
      for (let i = 0; i < 5; i++) await asked(engine, work(), new Caller());
    }
    expect(hanging.requests).toHaveLength(6);
  });

  test('timeouts with shorter deadlines count for less, because the engine may just be slow', async () => {
    const [slower, good] = [await opened.scripted(), await opened.scripted()];
    const engine = opened.engine([slower.url, good.url], { timeoutMs: 1000 });
    slower.always('hang');
    for (let i = 0; i < 8; i++) await asked(engine, { ...work(), attemptMs: 500 }, new Caller());
    // Six halves make three.
    expect([slower.requests.length, engine.health()[0]!.asideMs === undefined]).toEqual([4, true]);
    for (let i = 0; i < 8; i++) await asked(engine, { ...work(), attemptMs: 500 }, new Caller());
    expect([slower.requests.length, engine.health()[0]!.asideMs === undefined]).toEqual([6, false]);
  });

  test('the only replica is never set aside, nor is the last one', async () => {
    const [dead, good] = [await deadUrl(), await opened.scripted()];
    const engine = opened.engine([dead, good.url]);
    await asked(engine, work(), new Caller());
    expect(engine.health()[0]!.asideMs).toBeDefined();
    engine.setUrls([dead]);
    expect(engine.health().map(({ asideMs }) => asideMs)).toEqual([undefined]);
    for (let i = 0; i < 5; i++) expect((await asked(engine, work(), new Caller())).failures).toEqual(['connect', 'connect']);
    expect(engine.health()[0]!.asideMs).toBeUndefined();
  });

  test('a URL may have a path that all calls begin with', async () => {
    const scripted = await opened.scripted();
    scripted.always(status(500));
    const protocol: EngineProtocol = {
      pathPrefix: '/v1',
      async attempt(_work, wire) {
        await wire.call({ method: 'POST', path: '/v1/chat', headers: {}, body: '{}' });
        return { kind: 'unusable', failure: 'wrong_shape' };
      },
    };
    const { url } = scripted;
    const engine = opened.engine([`${url}/v1`, `${url}/`, `${url}/v1/`, `${url}/openai/v1`, `${url}/v10`], { protocol });
    // The same replica, however its URL is written, under the name that it had first.
    expect(engine.health().map((health) => health.url)).toEqual([`${url}/v1`, `${url}/openai/v1`, `${url}/v10`]);
    for (let i = 0; i < 3; i++) await asked(engine, work(), new Caller());
    expect([...new Set(scripted.requests.map(({ path }) => path))].toSorted()).toEqual(['/openai/v1/chat', '/v1/chat', '/v10/v1/chat']);
  });

  test('the health of each replica has its usable answers, its last failure and how long ago that was', async () => {
    const good = await opened.scripted();
    const dead = await deadUrl();
    let nowMs = 0;
    const engine = opened.engine([dead, good.url], { nowMs: () => nowMs });
    const health = () =>
      engine.health().map(({ usable, failed, usableAgoMs, lastFailure }) => ({ usable, failed, usableAgoMs, lastFailure }));
    expect(engine.health().map(({ url }) => new URL(url).origin)).toEqual([dead, good.url].map((url) => new URL(url).origin));
    const unused = { usable: 0, failed: 0, usableAgoMs: undefined, lastFailure: undefined };
    expect(health()).toEqual([unused, unused]);
    await asked(engine, work(), new Caller());
    nowMs = 400;
    expect(health()).toEqual([
      { usable: 0, failed: 1, usableAgoMs: undefined, lastFailure: { failure: 'connect', cause: 'refused', agoMs: 400 } },
      { usable: 1, failed: 0, usableAgoMs: 400, lastFailure: undefined },
    ]);
    good.behave(status(500));
    await asked(engine, work(), new Caller());
    // The second attempt goes to the same one, because the other is set aside.
    expect(health()[1]).toEqual({ usable: 2, failed: 1, usableAgoMs: 0, lastFailure: { failure: 'status', status: 500, agoMs: 0 } });
  });

  test('a caller who leaves does not count as a failure of the replica', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url]);
    scripted.always(slow(5000));
    const caller = new Caller();
    const result = asked(engine, work(), caller);
    await scripted.until(() => scripted.requests.length === 1);
    caller.leave();
    await result;
    expect(engine.health()[0]).toMatchObject({ usable: 0, failed: 0, lastFailure: undefined });
  });

  test('if all refuse connections there are still two attempts, without waiting', async () => {
    const engine = opened.engine([await deadUrl()]);
    for (let i = 0; i < 3; i++) {
      expect(await asked(engine, work(), new Caller())).toEqual({ kind: 'unavailable', failures: ['connect', 'connect'] });
    }
  });

  test('can be changed during calls, which run to their end', async () => {
    const before = await opened.scripted();
    const after = await opened.scripted();
    const engine = opened.engine([before.url]);
    before.always(slow(50));
    const underWay = asked(engine, work(), new Caller());
    await before.until(() => before.requests.length === 1);
    engine.setUrls([after.url]);
    expect(await asked(engine, work(), new Caller())).toMatchObject({ kind: 'usable', failures: [] });
    expect(await underWay).toMatchObject({ kind: 'usable', failures: [] });
    expect(after.requests).toHaveLength(1);
    await before.until(() => before.openConnections === 0);
  });

  test.each([
    ['ftp://127.0.0.1', 'engine URL "ftp://127.0.0.1": must be http(s)://HOST[:PORT][/PATH], without query or fragment'],
    ['127.0.0.1:7001', 'engine URL "127.0.0.1:7001": must be http(s)://HOST[:PORT][/PATH], without query or fragment'],
    ['http://h/?a=b', 'engine URL "http://h/?a=b": must be http(s)://HOST[:PORT][/PATH], without query or fragment'],
    ['http://me:secret@h:1/', 'engine URL for h:1: must not hold credentials; put them into a proxy in front of the engine'],
  ])('a wrong URL (%s) is refused in one line', (url, message) => {
    expect(() => engineOf([url])).toThrow(new Error(message));
  });

  test('there must be one', () => {
    expect(() => engineOf([])).toThrow('engine.urls: must name at least one engine URL');
  });
});

describe('an engine restart', () => {
  test('that leaves stale connections costs one attempt, never both', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 8 });
    scripted.always(slow(20));
    await callsAtOnce(engine, 8);
    scripted.always('ok');
    expect(scripted.openConnections).toBe(8);
    // All eight are stale, so a second attempt on a reused connection would fail as well.
    scripted.staleConnections();
    const results = await callsAtOnce(engine, 8);
    expect(results.map(({ kind, failures }) => [kind, ...failures])).toEqual(results.map(() => ['usable', 'reset']));
  });

  test('never makes a second attempt fail on a stale connection', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 8 });
    scripted.always(slow(20));
    await callsAtOnce(engine, 8);
    scripted.always('ok');
    scripted.staleConnections();
    expect(await asked(engine, work(), new Caller())).toMatchObject({ kind: 'usable', failures: ['reset'] });
  });

  test('that closes its connections costs the next call nothing', async () => {
    const scripted = await opened.scripted();
    const { port, url } = scripted;
    const engine = opened.engine([url]);
    await asked(engine, work(), new Caller());
    await scripted.close();
    const again = await opened.scripted({ port });
    expect((await asked(engine, work(), new Caller())).kind).toBe('usable');
    expect(again.requests).toHaveLength(1);
  });

  test('successive calls reuse their connections', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url]);
    for (let i = 0; i < 10; i++) await asked(engine, work(), new Caller());
    // A call in the same tick as an answer finds that connection not free yet.
    expect(scripted.connections).toBeLessThanOrEqual(2);
  });
});

describe('a caller that leaves', () => {
  test('ends the call at the engine, and there is no second attempt', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 1 });
    const caller = new Caller();
    scripted.behave('hang');
    const result = asked(engine, work(), caller);
    await scripted.until(() => scripted.requests.length === 1);
    caller.leave();
    expect(await result).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
    await scripted.until(() => scripted.requests[0]!.aborted);
    expect(await asked(engine, work(), new Caller())).toMatchObject({ kind: 'usable' });
    expect(scripted.requests).toHaveLength(2);
  });

  test('before the first attempt costs the engine nothing', async () => {
    const scripted = await opened.scripted();
    const caller = new Caller();
    caller.leave();
    expect(await asked(opened.engine([scripted.url]), work(), caller)).toEqual({ kind: 'unavailable', failures: [] });
    expect(scripted.connections).toBe(0);
  });

  test('while its connection is still opening sends the engine nothing', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 1 });
    const caller = new Caller();
    const result = asked(engine, work({ text: ['given up'] }), caller);
    caller.leave();
    expect(await result).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
    expect(await asked(engine, work({ text: ['wanted'] }), new Caller())).toMatchObject({ kind: 'usable', failures: [] });
    expect(scripted.requests.map(({ body }) => body)).toEqual([expect.stringContaining('wanted')]);
  });

  test('while it waits for a connection leaves the queue at once', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 1, queueMax: 1 });
    scripted.behave('hang');
    const busy = new Caller();
    const first = asked(engine, work(), busy);
    for (let i = 0; i < 3; i++) {
      const caller = new Caller();
      const waiting = asked(engine, work(), caller);
      caller.leave();
      expect(await waiting).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
    }
    const last = asked(engine, work(), new Caller());
    await scripted.until(() => scripted.requests.length === 1);
    busy.leave();
    await first;
    expect(await last).toMatchObject({ kind: 'usable', failures: [] });
  });
});
