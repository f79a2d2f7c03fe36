// The limits of an attempt: connections, queue, deadline, adapters that fail, and closing the engine.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type {
  Attempt,
  AttemptFailure,
  EngineCall,
  EngineProtocol,
  EngineWire,
  EngineWork,
  JudgeResponse,
} from '../../../src/ports/engine.ts';
import { LATER } from '../../../src/core/outcome.ts';
import type { ReplicaWatch } from '../../../src/engines/replica.ts';
import { nativeProtocol } from '../../../src/engines/protocols/native-protocol.ts';
import { slow, status } from '../../../src/testing/scripted-engine.ts';
import { startProgram } from '../../support/start-program.ts';
import { asked, Caller, callsAtOnce, Opened, work } from './engine-work.ts';

const CALL: EngineCall = { method: 'POST', path: '/translate', headers: {}, body: '{"text":[],"target_lang":"DE"}' };

const opened = new Opened();
afterEach(() => opened.close());

function broken(): never {
  throw new Error('a bug');
}

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

  test('a call that waits in the queue until its deadline fails because the replica is busy', async () => {
    const scripted = await opened.scripted();
    const engine = opened.engine([scripted.url], { connectionsMax: 1, timeoutMs: 500 });
    scripted.always('hang');
    const results = await callsAtOnce(engine, 2);
    expect(results.map(({ failures }) => failures[0])).toEqual(['timeout', 'busy']);
  });

  test('a replica that accepts no connection ends an attempt at its deadline as a failure to connect', async () => {
    const replica = await unaccepting();
    opened.add(replica);
    const engine = opened.engine([replica.url], { timeoutMs: 100 });
    expect((await asked(engine, work(), new Caller())).failures).toEqual(['connect', 'connect']);
  });

  test('the deadline covers all calls of an attempt together', async () => {
    const scripted = await opened.scripted();
    scripted.always(slow(160));
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
    const result = await asked(opened.engine([scripted.url], { protocol, timeoutMs: 600 }), work(), new Caller());
    expect(result.failures).toEqual(['timeout', 'timeout']);
    expect(calls).toBeLessThan(8);
  });
});

const translation = { text: 'Hallo', detectedSourceLanguage: undefined };
/** What an adapter may promise against its type. */
const MALFORMED: readonly (readonly [name: string, given: unknown])[] = [
  ['answers with null', null],
  ['answers with a text', 'Hallo'],
  ['answers with an empty object', {}],
  ['forgets the kind', { translations: [translation, translation] }],
  ['has a kind of its own', { kind: 'good', translations: [translation, translation] }],
  ['forgets the failure', { kind: 'unusable' }],
  ['has a failure of its own', { kind: 'unusable', failure: 'tired' }],
  ['names a failure after a method', { kind: 'unusable', failure: 'toString' }],
  ['forgets the translations', { kind: 'usable' }],
  ['gives an object of translations', { kind: 'usable', translations: { 0: translation, 1: translation, length: 2 } }],
  ['gives texts as translations', { kind: 'usable', translations: ['Hallo', 'Welt'] }],
  ['gives no translation for a text', { kind: 'usable', translations: [translation, null] }],
  // oxlint-disable-next-line no-sparse-arrays
  ['leaves a translation out', { kind: 'usable', translations: [, translation] }],
  ['gives a number as a text', { kind: 'usable', translations: [translation, { text: 5 }] }],
  ['counts tokens in words', { kind: 'unusable', failure: 'status', tokens: { prompt: 'many', completion: 1 } }],
  ['counts no tokens', { kind: 'usable', translations: [translation, translation], tokens: null }],
];

describe('an adapter that', () => {
  const usable: Attempt = { kind: 'usable', translations: [{ text: 'Hallo', detectedSourceLanguage: undefined }] };
  const adapters: readonly (readonly [name: string, attempt: EngineProtocol['attempt'], failure: AttemptFailure, bugs: number])[] = [
    ['rejects', () => Promise.reject(new Error('a bug')), 'internal', 2],
    ['throws', broken, 'internal', 2],
    ['throws when it judges an answer', (_work, wire) => wire.send(CALL, broken), 'internal', 2],
    ['answers with nonsense', () => Promise.resolve(undefined as unknown as Attempt), 'internal', 2],
    ...MALFORMED.map(([name, given]) => [name, () => Promise.resolve(given as Attempt), 'internal', 2] as const),
    ['returns no promise', () => usable as unknown as Promise<Attempt>, 'internal', 2],
    ['returns nothing', () => undefined as unknown as Promise<Attempt>, 'internal', 2],
    ['says LATER without a last call', () => LATER, 'internal', 2],
    ['promises LATER without a last call', () => Promise.resolve<typeof LATER>(LATER), 'internal', 2],
    ['judges an answer to be nothing', (_work, wire) => wire.send(CALL, () => undefined as unknown as Attempt), 'internal', 2],
    ['gives fewer translations than texts', () => Promise.resolve(usable), 'wrong_shape', 0],
    ['never ends', () => new Promise<Attempt>(() => undefined), 'timeout', 0],
    [
      'sends a header that cannot be sent',
      async (_work, wire) => {
        const response = await wire.call({ method: 'GET', path: '/', headers: { 'x-a': 'b\r\nc: d' }, body: undefined });
        return { kind: 'unusable', failure: typeof response === 'string' ? response : 'status' };
      },
      'internal',
      0,
    ],
  ];

  test.each(adapters)('%s is a failed attempt, not a failed process, and its bugs are reported', async (_name, attempt, failure, count) => {
    const scripted = await opened.scripted();
    const [caller, thrown]: [Caller, unknown[]] = [new Caller(), []];
    const watch: ReplicaWatch = {
      attempted: () => undefined,
      failed: (_work, detail) => void (detail.thrown !== undefined && thrown.push(detail.thrown)),
      setAside: () => undefined,
      back: () => undefined,
    };
    const timeoutMs = failure === 'timeout' ? 100 : 20_000;
    const engine = opened.engine([scripted.url], { protocol: { attempt }, timeoutMs, watch: () => watch });
    expect(await asked(engine, work(), caller)).toEqual({ kind: 'unavailable', failures: [failure, failure] });
    expect(caller.listener).toBeUndefined();
    expect(thrown).toHaveLength(count);
  });

  test('waits for its call treats an answer like one that does not', async () => {
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
            native(
              what,
              { replica: wire.replica, attempt: wire.attempt, call: (call) => wire.call(call), send: judged(what, wire) },
              options,
            ),
        },
      }),
    ];
    for (const behave of [undefined, status(200), status(503)]) {
      if (behave !== undefined) scripted.always(behave);
      const [first, ...others] = await Promise.all(engines.map((engine) => asked(engine)));
      for (const other of others) expect(other).toEqual(first);
    }
  });

  test('leaves a call open has it aborted with the attempt', async () => {
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
  test('aborts running calls, and their callers still get a result', async () => {
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

/** Like a host behind a silent firewall: a stopped process with a full backlog, whose connection requests the kernel drops. */
async function unaccepting(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const listen = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    process.stdout.write(String(this.address().port), () => process.kill(process.pid, 'SIGSTOP'));
  });`;
  const program = await startProgram('node', ['-e', listen], { ready: /^\d+$/ });
  const port = Number(program.output);
  // The kernel accepts one more than the backlog.
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
