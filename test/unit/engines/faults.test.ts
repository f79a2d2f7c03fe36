// Whatever an engine does, there are two attempts, a fixed word for each, no blocked connection, and none of its words in the result.
import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AttemptFailure, EngineResult } from '../../../src/ports/engine.ts';
import type { ReplicatedEngine } from '../../../src/engines/balancer.ts';
import { answer, CANARY, scriptedTranslation, startScriptedEngine, status } from '../../../src/testing/scripted-engine.ts';
import type { Behaviour, ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { asked, Caller, engineOf, work } from './engine-work.ts';

const FAULTS: readonly (readonly [name: string, behaviour: Behaviour, failure: AttemptFailure])[] = [
  ['never answers', 'hang', 'timeout'],
  ['stops after its headers', 'hang_after_headers', 'timeout'],
  ['drips its answer', 'drip', 'timeout'],
  ['resets the connection', 'reset', 'reset'],
  ['resets the connection after its headers', 'reset_after_headers', 'reset'],
  ['closes without an answer', 'close', 'reset'],
  ['sends less than it announced', 'truncate', 'reset'],
  ['ends in the middle of unframed JSON', 'partial_eof', 'not_json'],
  ['does not speak HTTP', 'garbage', 'reset'],
  ['answers in HTML', 'not_json', 'not_json'],
  ['answers in bad UTF-8', 'bad_utf8', 'not_json'],
  ['answers with nothing', 'empty', 'not_json'],
  ['answers with an array', 'not_an_object', 'wrong_shape'],
  ['answers without translations', 'no_translations', 'wrong_shape'],
  ['leaves a text out', 'one_too_few', 'wrong_shape'],
  ['invents a text', 'one_too_many', 'wrong_shape'],
  ['answers with numbers as texts', 'text_not_string', 'wrong_shape'],
  ['answers with bare strings', 'entry_not_object', 'wrong_shape'],
  ['reports a language that is not a string', 'detected_not_string', 'wrong_shape'],
  ['reports null as a language', answer('{"translations":[{"text":"a","detected_source_language":null},{"text":"b"}]}'), 'wrong_shape'],
  ['answers with null', answer('null'), 'wrong_shape'],
  ['answers with more than the limit', 'huge', 'too_large'],
  ['sends endless headers', 'huge_headers', 'too_large'],
  ['redirects', 'redirect', 'status'],
  [
    'switches protocols without a request',
    (_request, response) => void response.socket?.write(`HTTP/1.1 101 ${CANARY}\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n`),
    'reset',
  ],
  ...[201, 204, 400, 401, 404, 413, 429, 500, 502, 503].map((code) => [`answers ${code}`, status(code), 'status'] as const),
];

const texts = work().text.map((text) => scriptedTranslation(text, 'DE'));
/** On a virtual clock, so that an answer is never late, however busy the machine is. */
const DEADLINE_MS = 20_000;
let scripted: ScriptedEngine;
let engine: ReplicatedEngine;
/** The virtual clock, if the test has one. */
let nowMs = 0;

/** With one connection, a fault that blocked it would starve the next call. */
const narrow = (timeoutMs: number) => engineOf([scripted.url], { timeoutMs, connectionsMax: 1, queueMax: 1 });

beforeEach(async () => {
  scripted = await startScriptedEngine();
  engine = narrow(DEADLINE_MS);
});

afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await engine.close();
  await scripted.close();
});

/** From now on, deadlines pass only by `pass`. Sockets and the intervals of a dripping engine stay real. */
function freeze(): void {
  nowMs = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
}

function pass(ms: number): void {
  nowMs += ms;
  vi.advanceTimersByTime(ms);
}

/** Lets the deadline of attempt `number` pass, in two parts between which the engine goes on: what it sends must not postpone it. */
async function passDeadline(number: number): Promise<void> {
  await scripted.until(() => scripted.requests.length === number);
  await moreOfIt();
  pass(DEADLINE_MS * 0.75);
  await moreOfIt();
  expect(scripted.requests).toHaveLength(number);
  pass(DEADLINE_MS * 0.5);
}

/** Waits for a few more pieces of a dripping engine, which runs in this process, and until the other end has read them. */
async function moreOfIt(): Promise<void> {
  const dripped = new Promise<void>((resolve) => {
    let pieces = 0;
    const timer = setInterval(() => {
      if (++pieces < 3) return;
      clearInterval(timer);
      resolve();
    }, 50);
  });
  await dripped;
  for (let turns = 0; turns < 5; turns++) await turn();
}

describe.each(FAULTS)('an engine that %s', (_name, behaviour, failure) => {
  beforeEach(() => {
    if (failure === 'timeout') freeze();
  });

  /** The result of work whose first `faulty` attempts meet the fault. */
  async function resultOf(faulty: number, caller: Caller): Promise<EngineResult> {
    scripted.behave(...Array.from({ length: faulty }, () => behaviour));
    const result = asked(engine, work(), caller);
    if (failure === 'timeout') for (let number = 1; number <= faulty; number++) await passDeadline(number);
    return result;
  }

  test('once: the second attempt succeeds', async () => {
    expect(await resultOf(1, new Caller())).toMatchObject({
      kind: 'usable',
      translations: texts.map((text) => ({ text })),
      failures: [failure],
    });
    expect(scripted.requests).toHaveLength(2);
  });

  test('twice: there are exactly two attempts, none of its words in the result, and its connection is free for the next call', async () => {
    const caller = new Caller();
    const result = await resultOf(2, caller);
    expect(result).toEqual({ kind: 'unavailable', failures: [failure, failure] });
    expect(JSON.stringify(result)).not.toContain(CANARY);
    expect(scripted.requests.map(({ path }) => path)).toEqual(['/translate', '/translate']);
    expect(caller.listener).toBeUndefined();

    expect(await asked(engine, work(), new Caller())).toMatchObject({ kind: 'usable', failures: [] });
    expect(scripted.requests).toHaveLength(3);
  });
});

test('no fault leaves a connection open once the engine is closed', async () => {
  await engine.close();
  engine = narrow(200);
  scripted.behave(...FAULTS.flatMap(([, behaviour]) => (behaviour === 'drip' || behaviour === 'hang' ? [] : [behaviour])));
  for (let i = 0; i < FAULTS.length / 2; i++) await asked(engine, work(), new Caller());
  await engine.close();
  await scripted.until(() => scripted.openConnections === 0);
  expect(scripted.connections).toBeGreaterThan(FAULTS.length / 2);
});

test('an engine that closes after each answer costs no failed attempt', async () => {
  scripted.always('ok_then_close');
  for (let i = 0; i < 5; i++) expect(await asked(engine, work(), new Caller())).toMatchObject({ kind: 'usable', failures: [] });
});

test('an interim response is not taken for the answer', async () => {
  scripted.behave((request, response) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    answer(JSON.stringify({ translations: texts.map((text) => ({ text })) }))(request, response);
  });
  expect(await asked(engine, work(), new Caller())).toMatchObject({ kind: 'usable', failures: [] });
});

test('a second answer on a connection is never taken for the answer of the next call', async () => {
  const poison = JSON.stringify({ translations: [{ text: CANARY }, { text: CANARY }] });
  scripted.behave((_request, response) => {
    const right = JSON.stringify({ translations: texts.map((text) => ({ text })) });
    const framed = [right, poison].map((body) => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    response.socket?.write(framed.join(''));
  });
  for (let i = 0; i < 3; i++) {
    const result = await asked(engine, work(), new Caller());
    expect(result).toMatchObject({ kind: 'usable', translations: texts.map((text) => ({ text })) });
    expect(JSON.stringify(result)).not.toContain(CANARY);
  }
});
