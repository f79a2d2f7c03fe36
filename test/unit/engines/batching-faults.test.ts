// No caller is affected by another in the same call, whether the call fails or the other leaves.
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CANARY, slow, startScriptedEngine, status } from '../../../src/testing/scripted-engine.ts';
import type { Behaviour, ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { answersOf, ask, BatchSite, callsOf, textsOf, together, translated } from './batch-site.ts';
import { Caller, work } from './engine-work.ts';

let site: BatchSite;
let scripted: ScriptedEngine;

beforeEach(async () => {
  site = new BatchSite(await startScriptedEngine());
  scripted = site.scripted;
});

afterEach(() => site.close());

/** Fails every call with this text. */
function allergicTo(text: string): Behaviour {
  return (request, response) => (request.body.includes(text) ? status(500) : slow(0))(request, response);
}

describe('a call that fails', () => {
  const faults: readonly (readonly [Behaviour, string])[] = [
    [status(500), 'status'],
    ['reset', 'reset'],
    ['hang', 'timeout'],
    ['not_json', 'not_json'],
    ['one_too_few', 'wrong_shape'],
    ['one_too_many', 'wrong_shape'],
    ['huge', 'too_large'],
  ];

  test.each(faults)('by %s was the first attempt of each, and each makes the second alone, on a new connection', async (fault, word) => {
    scripted.behave(fault);
    const engine = site.engine({}, { timeoutMs: fault === 'hang' ? 1000 : 20_000 });
    const results = await together(engine, [textsOf('a', 'b'), textsOf('c')]);
    expect(answersOf(results)).toEqual([translated('a', 'b'), translated('c')]);
    expect(results.map(({ failures }) => failures)).toEqual([[word], [word]]);
    expect(callsOf(scripted)[0]).toEqual('a b c');
    expect(callsOf(scripted).slice(1).toSorted()).toEqual(['a b', 'c']);
    expect(new Set(scripted.requests.map(({ connection }) => connection)).size).toBe(3);
  });

  test('is followed by second attempts at another replica', async () => {
    const other = await site.opened.scripted();
    scripted.always(status(503));
    const results = await together(site.engine({}, { urls: [scripted.url, other.url] }), [textsOf('a'), textsOf('b')]);
    expect(answersOf(results)).toEqual([translated('a'), translated('b')]);
    expect(callsOf(scripted)).toEqual(['a b']);
    expect(callsOf(other).toSorted()).toEqual(['a', 'b']);
  });

  test('because of one text fails only that caller', async () => {
    scripted.always(allergicTo('poison'));
    const results = await together(site.engine(), [textsOf('a'), textsOf('b', 'poison'), textsOf('c')]);
    expect(answersOf(results)).toEqual([translated('a'), 'unavailable', translated('c')]);
    expect(results.map(({ failures }) => failures)).toEqual([['status'], ['status', 'status'], ['status']]);
    expect(scripted.requests).toHaveLength(4);
  });

  test('and fails again gives each caller two attempts, no more, and shows nothing of the engine', async () => {
    scripted.always(status(500));
    const results = await together(site.engine(), [textsOf('a'), textsOf('b')]);
    expect(results).toEqual(Array.from({ length: 2 }, () => ({ kind: 'unavailable', failures: ['status', 'status'] })));
    expect(scripted.requests).toHaveLength(3);
    expect(JSON.stringify(results)).not.toContain(CANARY);
  });
});

describe('a caller that leaves', () => {
  test('before the call is not part of it', async () => {
    const engine = site.engine();
    const [leaving, staying] = [new Caller(), new Caller()];
    const left = ask(engine, work({ text: ['a'], requestId: '01JZZZZZZZZZZZZZZZZZZZZZZD' }), leaving);
    const stayed = ask(engine, work({ text: ['b'], requestId: '01JZZZZZZZZZZZZZZZZZZZZZZE' }), staying);
    leaving.leave();
    expect(await left).toEqual({ kind: 'unavailable', failures: [] });
    expect(answersOf([await stayed])).toEqual([translated('b')]);
    expect(callsOf(scripted)).toEqual(['b']);
    expect(scripted.requests[0]!.headers['x-request-id']).toBe('01JZZZZZZZZZZZZZZZZZZZZZZE');
    expect(staying.listener).toBeUndefined();
  });

  test('makes room for others', async () => {
    for (const limits of [{ textsMax: 4 }, { charactersMax: 6 }]) {
      const engine = site.engine(limits);
      const leaving = new Caller();
      const results = [ask(engine, textsOf('a')), ask(engine, textsOf('1', '2'), leaving)];
      leaving.leave();
      results.push(ask(engine, textsOf('bcde', 'f')));
      expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(['usable', 'unavailable', 'usable']);
    }
    expect(callsOf(scripted)).toEqual(['a bcde f', 'a bcde f']);
  });

  test('with all others costs the engine no call', async () => {
    const engine = site.engine();
    const callers = [new Caller(), new Caller()];
    const results = callers.map((caller) => ask(engine, work(), caller));
    for (const caller of callers) caller.leave();
    await Promise.all(results);
    await turn();
    await turn();
    expect(scripted.connections).toBe(0);
  });

  test('during the call gets its result at once, and does not affect the others', async () => {
    scripted.behave(slow(50));
    const engine = site.engine();
    const leaving = new Caller();
    const left = ask(engine, textsOf('a'), leaving);
    const stayed = ask(engine, textsOf('b'));
    await scripted.until(() => scripted.requests.length === 1);
    leaving.leave();
    expect(await left).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
    expect(answersOf([await stayed])).toEqual([translated('b')]);
    expect(callsOf(scripted)).toEqual(['a b']);
    expect(scripted.requests[0]!.aborted).toBe(false);
  });

  test('as the last one ends the call at the engine, and there is no second attempt', async () => {
    scripted.behave('hang');
    const engine = site.engine({}, { timeoutMs: 600_000 });
    const callers = [new Caller(), new Caller()];
    const results = callers.map((caller) => ask(engine, work(), caller));
    await scripted.until(() => scripted.requests.length === 1);
    for (const caller of callers) caller.leave();
    expect(await Promise.all(results)).toEqual(callers.map(() => ({ kind: 'unavailable', failures: ['cancelled'] })));
    await scripted.until(() => scripted.requests[0]!.aborted);
    await together(engine, [work()]);
    expect(scripted.requests).toHaveLength(2);
  });

  test('during a call that fails is not tried again, and one that leaves during its second attempt stops no other', async () => {
    const engine = site.engine();
    const callers = [new Caller(), new Caller(), new Caller()];
    scripted.behave(
      (request, response) => {
        callers[0]!.leave();
        status(500)(request, response);
      },
      'hang',
      slow(30),
    );
    const results = callers.map((caller, index) => ask(engine, textsOf(`${index}`), caller));
    await scripted.until(() => scripted.requests.length === 3);
    callers[callsOf(scripted)[1]![0] === '1' ? 1 : 2]!.leave();
    const settled = await Promise.all(results);
    expect(settled.map(({ kind }) => kind).toSorted()).toEqual(['unavailable', 'unavailable', 'usable']);
    expect(settled[0]).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
    expect(scripted.requests).toHaveLength(3);
  });

  test('or was answered is no longer watched', async () => {
    const callers = [new Caller(), new Caller()];
    const engine = site.engine();
    scripted.behave('ok', status(500));
    for (let i = 0; i < 2; i++) {
      await Promise.all(callers.map((caller) => ask(engine, work(), caller)));
      expect(callers.map(({ listener }) => listener)).toEqual([undefined, undefined]);
    }
  });
});
