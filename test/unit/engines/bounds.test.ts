// What bounds an attempt: connections, queue, deadline, adapters that fail, and the engine's end.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Attempt, AttemptFailure, EngineProtocol } from '../../../src/ports/engine.ts';
import { slow } from '../../../src/testing/scripted-engine.ts';
import { startProgram } from '../../support/start-program.ts';
import { asked, Caller, callsAtOnce, Opened, work } from './engine-work.ts';

const opened = new Opened();
afterEach(() => opened.close());

describe('bounds', () => {
  test('calls beyond connectionsMax wait; those beyond queueMax are busy at once', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 2, queueMax: 3 });
    scripted.always(slow(30));
    const results = await callsAtOnce(engine, 8);
    expect(results.map(({ kind, failures }) => [kind, ...failures])).toEqual([
      ...Array.from({ length: 5 }, () => ['usable']),
      ...Array.from({ length: 3 }, () => ['unavailable', 'busy', 'busy']),
    ]);
    expect(scripted.requests).toHaveLength(5);
    expect(scripted.connections).toBeLessThanOrEqual(2);
  });

  test('a call that waits for its turn until its deadline was kept out by a busy replica', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 1, timeoutMs: 100 });
    scripted.always('hang');
    const results = await callsAtOnce(engine, 2);
    expect(results.map(({ failures }) => failures[0])).toEqual(['timeout', 'busy']);
  });

  test('a replica that takes no connection ends an attempt by its deadline, as one that cannot be connected to', async () => {
    const replica = await unaccepting();
    opened.add(replica);
    const engine = opened.engine([replica.url], { timeoutMs: 100 });
    expect((await asked(engine, work(), new Caller())).failures).toEqual(['connect', 'connect']);
  });

  test('the deadline is for all calls of an attempt together', async () => {
    const scripted = await opened.scripted();
    scripted.always(slow(40));
    const call = { method: 'POST', path: '/', headers: {}, body: '{"text":[],"target_lang":"DE"}' } as const;
    let calls = 0;
    const protocol: EngineProtocol = {
      async attempt(_work, wire) {
        for (;;) {
          const response = await wire.call(call);
          if (typeof response === 'string') return { kind: 'unusable', failure: response };
          calls++;
        }
      },
    };
    const result = await asked(opened.engine([scripted.url], { protocol, timeoutMs: 150 }), work(), new Caller());
    expect(result.failures).toEqual(['timeout', 'timeout']);
    expect(calls).toBeLessThan(8);
  });
});

describe('an adapter that', () => {
  const usable: Attempt = { kind: 'usable', translations: [{ text: 'Hallo', detectedSourceLanguage: undefined }] };
  const adapters: readonly (readonly [name: string, attempt: EngineProtocol['attempt'], failure: AttemptFailure])[] = [
    ['rejects', () => Promise.reject(new Error('a bug')), 'internal'],
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
      'internal',
    ],
    ['answers with nonsense', () => Promise.resolve(undefined as unknown as Attempt), 'internal'],
    ['gives fewer translations than texts', () => Promise.resolve(usable), 'wrong_shape'],
    ['never ends', () => new Promise<Attempt>(() => undefined), 'timeout'],
    [
      'sends a header that cannot be sent',
      async (_work, wire) => {
        const response = await wire.call({ method: 'GET', path: '/', headers: { 'x-a': 'b\r\nc: d' }, body: undefined });
        return { kind: 'unusable', failure: typeof response === 'string' ? response : 'status' };
      },
      'internal',
    ],
  ];

  test.each(adapters)('%s is a failed attempt, not a failed process', async (_name, attempt, failure) => {
    const scripted = await opened.scripted();
    const caller = new Caller();
    const engine = opened.engine([scripted.url], { protocol: { attempt }, timeoutMs: 100 });
    expect(await asked(engine, work(), caller)).toEqual({ kind: 'unavailable', failures: [failure, failure] });
    expect(caller.listener).toBeUndefined();
  });

  test('throws is told to who wired it', async () => {
    const told: unknown[] = [];
    const bug = new Error('a bug');
    const engine = opened.engine(['http://127.0.0.1:1'], {
      protocol: { attempt: () => Promise.reject(bug) },
      onAdapterError: (error) => told.push(error),
    });
    await asked(engine, work(), new Caller());
    expect(told).toEqual([bug, bug]);
  });

  test('leaves a call open loses it with the attempt', async () => {
    const scripted = await opened.scripted();
    scripted.always('hang');
    const protocol: EngineProtocol = {
      async attempt(_work, wire) {
        void wire.call({ method: 'GET', path: '/', headers: {}, body: undefined });
        await scripted.until(() => scripted.requests.length === 1);
        return { kind: 'usable', translations: [...usable.translations, ...usable.translations] };
      },
    };
    expect((await asked(opened.engine([scripted.url], { protocol }), work(), new Caller())).kind).toBe('usable');
    await scripted.until(() => scripted.requests[0]!.aborted);
  });
});

describe('closing', () => {
  test('breaks off what is under way, whose caller still gets a result', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 1, queueMax: 4 });
    scripted.always('hang');
    const results = callsAtOnce(engine, 3);
    await scripted.until(() => scripted.requests.length === 1);
    await engine.close();
    expect((await results).map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    await scripted.until(() => scripted.openConnections === 0);
    expect((await asked(engine, work(), new Caller())).kind).toBe('unavailable');
  });
});

/** A host behind a silent firewall: a stopped process with a full backlog, for which the kernel drops connection requests. */
async function unaccepting(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const listen = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    process.stdout.write(String(this.address().port), () => process.kill(process.pid, 'SIGSTOP'));
  });`;
  const program = await startProgram('node', ['-e', listen], { ready: /^\d+$/ });
  const port = Number(program.output);
  // The kernel takes one more than the backlog says.
  const fillers = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await Promise.all(fillers.slice(0, 2).map((filler) => once(filler, 'connect')));
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const filler of fillers) filler.destroy();
      await program.end();
    },
  };
}
