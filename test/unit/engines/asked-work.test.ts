// Work that is told its result itself: the same results as by a promise, once, and never before the asking has returned.
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ReplicatedEngine } from '../../../src/engines/balancer.ts';
import { nativeProtocol } from '../../../src/engines/protocols/native-protocol.ts';
import type { EngineResult, EngineWork } from '../../../src/ports/engine.ts';
import { slow, status } from '../../../src/testing/scripted-engine.ts';
import { Caller, Opened, work } from './engine-work.ts';

const opened = new Opened();
afterEach(() => opened.close());

/** Rejects when the result is told at once, or twice. */
function asked(engine: ReplicatedEngine, caller = new Caller(), what: EngineWork = work()): Promise<EngineResult> {
  return new Promise((resolve, reject) => {
    let returned = false;
    let told = 0;
    const answered = (result: EngineResult): void => {
      told++;
      if (!returned || told > 1) reject(new Error(returned ? 'told twice' : 'told before the asking had returned'));
      else setImmediate(() => resolve(result));
    };
    engine.translateFor!({ ...what, answered }, caller);
    returned = true;
  });
}

test('a usable answer, one made good by the second attempt, and none', async () => {
  const scripted = await opened.scripted();
  const engine = opened.engine([scripted.url]);
  expect(await asked(engine)).toEqual(await engine.translate(work(), new Caller()));
  scripted.behave(status(500));
  expect(await asked(engine)).toMatchObject({ kind: 'usable', failures: ['status'] });
  scripted.always(status(500));
  expect(await asked(engine)).toEqual({ kind: 'unavailable', failures: ['status', 'status'] });
});

test('what no connection is free for is refused in a later turn, twice', async () => {
  const scripted = await opened.scripted();
  scripted.always(slow(60_000));
  const engine = opened.engine([scripted.url], { connectionsMax: 1, queueMax: 0 });
  const [first, second] = [new Caller(), new Caller()];
  const held = asked(engine, first);
  expect(await asked(engine, second)).toEqual({ kind: 'unavailable', failures: ['busy', 'busy'] });
  first.leave();
  expect(await held).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
});

test('a caller who has left before is asked nothing for', async () => {
  const scripted = await opened.scripted();
  const caller = new Caller();
  caller.leave();
  expect(await asked(opened.engine([scripted.url]), caller)).toEqual({ kind: 'unavailable', failures: [] });
  expect(scripted.requests).toEqual([]);
});

test.each(['call', 'judge'] as const)('an adapter whose %s throws is a failed attempt and told of', async (half) => {
  const scripted = await opened.scripted();
  const thrown: unknown[] = [];
  const { oneCall } = nativeProtocol;
  const broken = () => {
    throw new Error('a bug');
  };
  const protocol = { ...nativeProtocol, oneCall: { ...oneCall!, [half]: broken } };
  const engine = opened.engine([scripted.url], { protocol, onAdapterError: (error) => thrown.push(error) });
  expect(await asked(engine)).toEqual({ kind: 'unavailable', failures: ['internal', 'internal'] });
  expect(thrown).toHaveLength(2);
});

test('native makes the same of an answer whichever way it is run', async () => {
  const scripted = await opened.scripted();
  const { oneCall: _left, ...freely } = nativeProtocol;
  const engine = opened.engine([scripted.url]);
  const other = opened.engine([scripted.url], { protocol: freely });
  for (const behave of [undefined, status(200), status(503)]) {
    if (behave !== undefined) scripted.always(behave);
    expect(await asked(engine)).toEqual(await asked(other));
  }
});

describe('in batches', () => {
  const batch = { textsMax: 50, charactersMax: 1000, waitMs: 0 };

  test('one alone, several that share a call, and one too long to share', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { batch });
    const alone = work({ text: ['alone'] });
    expect(await asked(engine, new Caller(), alone)).toEqual(await engine.translate(alone, new Caller()));
    const works = [work({ text: ['a', 'b'] }), work({ text: ['c'] }), work({ text: ['d'.repeat(1000)] })];
    const calls = scripted.requests.length;
    const results = await Promise.all(works.map((one) => asked(engine, new Caller(), one)));
    expect(scripted.requests).toHaveLength(calls + 2);
    expect(results).toEqual(await Promise.all(works.map(async (one) => engine.translate(one, new Caller()))));
  });

  test('a shared call that fails is made good by each alone', async () => {
    const scripted = await opened.scripted();
    scripted.behave(status(500), status(500));
    const engine = opened.engine([scripted.url], { batch });
    const results = await Promise.all([asked(engine), asked(engine)]);
    const failures = results.map((result) => result.failures).toSorted((one, other) => one.length - other.length);
    expect(failures).toEqual([['status'], ['status', 'status']]);
  });

  test('who leaves a shared call is told so once, and the others are served', async () => {
    const scripted = await opened.scripted();
    scripted.behave(slow(50));
    const engine = opened.engine([scripted.url], { batch });
    const leaver = new Caller();
    const [left, stayed] = [asked(engine, leaver), asked(engine)];
    await vi.waitUntil(() => scripted.requests.length === 1);
    leaver.leave();
    expect(await left).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
    expect(await stayed).toMatchObject({ kind: 'usable', failures: [] });
  });

  test('who has left before, and who still waits for others when the engine is closed, were never tried', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { batch: { ...batch, waitMs: 60_000 } });
    const leaver = new Caller();
    leaver.leave();
    const results = [asked(engine, leaver), asked(engine)];
    await engine.close();
    expect(await Promise.all(results)).toEqual(Array.from({ length: 2 }, () => ({ kind: 'unavailable', failures: [] })));
    expect(scripted.requests).toEqual([]);
  });
});
