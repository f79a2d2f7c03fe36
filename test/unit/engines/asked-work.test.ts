// Work gets its result once, and never before the engine has returned: `asked` rejects otherwise.
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Attempt, EngineCall, EngineProtocol, EngineWire, EngineWork, JudgeResponse } from '../../../src/ports/engine.ts';
import { nativeProtocol } from '../../../src/engines/protocols/native-protocol.ts';
import { scriptedTranslation, slow, status } from '../../../src/testing/scripted-engine.ts';
import { asked, Caller, Opened, work } from './engine-work.ts';

const opened = new Opened();
afterEach(() => opened.close());

test('a usable answer, one made good by the second attempt, and none', async () => {
  const scripted = await opened.scripted();
  const engine = opened.engine([scripted.url]);
  expect(await asked(engine)).toMatchObject({ kind: 'usable', failures: [] });
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
  const held = asked(engine, work(), first);
  expect(await asked(engine, work(), second)).toEqual({ kind: 'unavailable', failures: ['busy', 'busy'] });
  first.leave();
  expect(await held).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
});

test('a caller who has left before is asked nothing for', async () => {
  const scripted = await opened.scripted();
  const caller = new Caller();
  caller.leave();
  expect(await asked(opened.engine([scripted.url]), work(), caller)).toEqual({ kind: 'unavailable', failures: [] });
  expect(scripted.requests).toEqual([]);
});

const CALL: EngineCall = { method: 'POST', path: '/translate', headers: {}, body: '{"text":[],"target_lang":"DE"}' };

function broken(): never {
  throw new Error('a bug');
}

test.each<[string, EngineProtocol['attempt']]>([
  ['throws', broken],
  ['throws when it judges', (_work, wire) => wire.send(CALL, broken)],
  ['rejects', () => Promise.reject(new Error('a bug'))],
])('an adapter that %s is a failed attempt and told of', async (_what, attempt) => {
  const scripted = await opened.scripted();
  const thrown: unknown[] = [];
  const engine = opened.engine([scripted.url], { protocol: { attempt }, onAdapterError: (error) => thrown.push(error) });
  expect(await asked(engine)).toEqual({ kind: 'unavailable', failures: ['internal', 'internal'] });
  expect(thrown).toHaveLength(2);
});

test('an adapter that waits for its call makes the same of an answer as one that does not', async () => {
  const scripted = await opened.scripted();
  const native: EngineProtocol['attempt'] = (what, wire, options) => nativeProtocol.attempt(what, wire, options);
  const judged = (what: EngineWork, wire: EngineWire): EngineWire['send'] => {
    const send = async (call: EngineCall, judge: JudgeResponse): Promise<Attempt> => {
      const response = await wire.call(call);
      return typeof response === 'string' ? { kind: 'unusable', failure: response } : judge(response, what);
    };
    return send as unknown as EngineWire['send'];
  };
  const engines = [
    opened.engine([scripted.url]),
    opened.engine([scripted.url], { protocol: { attempt: async (what, wire, options) => native(what, wire, options) } }),
    opened.engine([scripted.url], {
      protocol: {
        attempt: (what, wire, options) =>
          native(what, { attempt: wire.attempt, call: (call) => wire.call(call), send: judged(what, wire) }, options),
      },
    }),
  ];
  for (const behave of [undefined, status(200), status(503)]) {
    if (behave !== undefined) scripted.always(behave);
    const [first, ...others] = await Promise.all(engines.map((engine) => asked(engine)));
    for (const other of others) expect(other).toEqual(first);
  }
});

describe('in batches', () => {
  const batch = { textsMax: 50, charactersMax: 1000, waitMs: 0 };

  test('one alone, several that share a call, and one too long to share', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { batch });
    const alone = work({ text: ['alone'] });
    expect(await asked(engine, alone)).toMatchObject({ kind: 'usable', translations: [{ text: scriptedTranslation('alone', 'DE') }] });
    const works = [work({ text: ['a', 'b'] }), work({ text: ['c'] }), work({ text: ['d'.repeat(1000)] })];
    const calls = scripted.requests.length;
    const results = await Promise.all(works.map((one) => asked(engine, one)));
    expect(scripted.requests).toHaveLength(calls + 2);
    expect(results).toMatchObject(
      works.map(({ text }) => ({ translations: text.map((each) => ({ text: scriptedTranslation(each, 'DE') })) })),
    );
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
    const [left, stayed] = [asked(engine, work(), leaver), asked(engine)];
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
    const results = [asked(engine, work(), leaver), asked(engine)];
    await engine.close();
    expect(await Promise.all(results)).toEqual(Array.from({ length: 2 }, () => ({ kind: 'unavailable', failures: [] })));
    expect(scripted.requests).toEqual([]);
  });
});
