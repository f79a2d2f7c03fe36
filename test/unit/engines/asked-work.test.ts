// Work that is told its result itself: the same results as by a promise, once, and never before the asking has returned.
import { afterEach, expect, test } from 'vitest';
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
