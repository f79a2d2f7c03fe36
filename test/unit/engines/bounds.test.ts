// The limits of an attempt: connections, queue, deadline, adapters that fail, and closing the engine.
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
import { status } from '../../../src/testing/scripted-engine.ts';
import { asked, Caller, Opened, work } from './engine-work.ts';

const CALL: EngineCall = { method: 'POST', path: '/translate', headers: {}, body: '{"text":[],"target_lang":"DE"}' };

const opened = new Opened();
afterEach(() => opened.close());

function broken(): never {
  throw new Error('a bug');
}

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
    const engine = opened.engine([scripted.url], { protocol: { attempt }, timeout_ms: timeoutMs, watch: () => watch });
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
