// The guarantees of every engine protocol, as cases for any test runner: run them against your own protocol.
import { collector } from './cases.ts';
import type { AddCase, ContractCase } from './cases.ts';
import { Canceller } from '../core/exchange.ts';
import { Bench, TRACEPARENT, workOf } from './protocol-bench.ts';
import type { ProtocolSubject } from './protocol-bench.ts';
import { expect } from './expect.ts';
import { answer, CANARY, scriptedTranslation, status } from './scripted-engine.ts';
import type { Behaviour, ScriptedEngine } from './scripted-engine.ts';

export type { ProtocolSubject } from './protocol-bench.ts';

export interface ProtocolContract {
  /** Run them one after another: they share two scripted engines. */
  readonly cases: readonly ContractCase[];
  /** Closes everything that the cases opened. */
  close(): Promise<void>;
}

/**
 * Tests a protocol through the gateway's own engine client, against two replicas that speak it and misbehave. Nothing is
 * opened before the first case runs.
 *
 * @example
 * const contract = protocolContract({
 *   protocol: myProtocol,
 *   options: { api_key: 'k' },
 *   right: ({ body }) => JSON.stringify({ out: JSON.parse(body).in.map((text) => scriptedTranslation(text, 'DE')) }),
 *   wrong: { 'one too few': ({ body }) => JSON.stringify({ out: JSON.parse(body).in.slice(1) }) },
 * });
 * for (const { name, run } of contract.cases) test(name, run);
 * after(() => contract.close());
 */
export function protocolContract(subject: ProtocolSubject): ProtocolContract {
  const bench = new Bench(subject);
  const cases: ContractCase[] = [];
  rightAnswers(collector(cases, 'right answers', bench), bench);
  unusableAnswers(collector(cases, 'unusable answers', bench), bench);
  conduct(collector(cases, 'conduct', bench), bench);
  return { cases, close: () => bench.close() };
}

/** Without white space at the ends, which some engines do not preserve. */
const TEXTS = [
  'Hello',
  '"quotes", \\backslashes\\ and {braces: "t0"}',
  '日本語 עברית ไทย é e\u0301',
  '👨‍👩‍👧‍👦 \u{10ffff}',
  '</script><b>a</b> & c; ${d} %s %00',
  '{"translations":[{"text":"no"}]}',
  'Two\nlines',
];

/** With a well-behaved engine: every text is translated, in order, and only what was requested is sent. */
function rightAnswers(it: AddCase, bench: Bench): void {
  const { protocol } = bench.subject;

  it.each([1, 2, 7, 50])('%i texts have as many translations, in order, in one attempt', async (count) => {
    const replicas = await bench.replicas();
    const text = Array.from({ length: count }, (_, index) => `${index}. ${TEXTS[index % TEXTS.length]!}`);
    const result = await bench.translate(replicas, workOf(text));
    expect(result).toMatchObject({ kind: 'usable', failures: [] });
    expect(textsOf(result)).toEqual(text.map((entry) => scriptedTranslation(entry, 'DE')));
  });

  it('equal texts are not merged', async () => {
    const result = await bench.translate(await bench.replicas(), workOf(['Hello', 'Hello', 'Hello']));
    expect(textsOf(result)).toEqual(Array.from({ length: 3 }, () => scriptedTranslation('Hello', 'DE')));
  });

  it('it also translates without a source language', async () => {
    const result = await bench.translate(await bench.replicas(), workOf(['Hello', 'Good night'], { sourceLang: undefined }));
    expect(textsOf(result)).toEqual(['Hello', 'Good night'].map((entry) => scriptedTranslation(entry, 'DE')));
  });

  it('a text of only white space does not affect the others', async () => {
    const result = await bench.translate(await bench.replicas(), workOf([' \n', 'Hello']));
    expect(textsOf(result)[1]).toBe(scriptedTranslation('Hello', 'DE'));
  });

  it('every call carries the request id, numbered from the second call on, and the trace', async () => {
    const replicas = await bench.replicas();
    const work = workOf(['Hello', 'Good night'], { sourceLang: undefined });
    await bench.translate(replicas, work);
    const requests = replicas.flatMap((replica) => replica.requests);
    expect(requests.length).toBeAtLeast(1);
    const ids = requests.map(({ headers }) => String(headers['x-request-id']));
    expect(ids.toSorted()).toEqual(ids.map((_, i) => (i === 0 ? work.requestId : `${work.requestId}-1-${i + 1}`)).toSorted());
    for (const { headers } of requests) expect(headers).toMatchObject({ traceparent: TRACEPARENT });
  });

  it('no path contains a secret', async () => {
    const replicas = await bench.replicas();
    await bench.translate(replicas, workOf(['Hello'], { sourceLang: undefined }));
    for (const secret of bench.secrets()) {
      for (const { path } of replicas.flatMap((replica) => replica.requests)) expect(path).notToContain(secret);
    }
  });

  if (protocol.can?.formats?.includes('html') === true) {
    it('markup is preserved', async () => {
      const result = await bench.translate(await bench.replicas(), workOf(['<p>Hello <b>you</b></p>'], { format: 'html' }));
      expect(textsOf(result)).toEqual([scriptedTranslation('<p>Hello <b>you</b></p>', 'DE')]);
    });
  }
}

function textsOf(result: Awaited<ReturnType<Bench['translate']>>): readonly string[] {
  return result.kind === 'usable' ? result.translations.map(({ text }) => text) : result.failures;
}

const TEXT = ['Hello', 'Good night'];
const STATUSES = [201, 204, 302, 400, 401, 403, 404, 413, 429, 456, 500, 502, 503];
/** Bodies that are wrong in every protocol. */
const WRONG: Readonly<Record<string, string | Uint8Array>> = {
  nothing: '',
  'no JSON': `<html>${CANARY}</html>`,
  'broken UTF-8': Buffer.concat([Buffer.from(`{"error":"${CANARY}`), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
  'an empty object': '{}',
  'a list': `["${CANARY}"]`,
  null: 'null',
  'a string': `"${CANARY}"`,
  'a number': '1',
  'an error with status 200': `{"error":"${CANARY}","message":"${CANARY}"}`,
};

/** Transport faults, each of which costs an attempt. */
const WIRE_FAULTS = [
  'reset',
  'reset_after_headers',
  'close',
  'truncate',
  'partial_eof',
  'garbage',
  'huge',
  'huge_headers',
  'redirect',
] as const;
/** Attempts that never end on their own. */
const DELAYS = ['hang', 'hang_after_headers', 'drip'] as const;
const IMPATIENT_MS = 400;

/** Each wrong answer is an unusable attempt, the second attempt compensates, and nothing from the engine is passed on. */
function unusableAnswers(it: AddCase, bench: Bench): void {
  const { wrong, right } = bench.subject;
  const act =
    (name: string): Behaviour =>
    (request, response) =>
      answer(wrong[name]!(request))(request, response);

  it.each(Object.keys(wrong))('status 200 with %s is unusable', (name) => costsAnAttempt(bench, act(name)));

  it.each(Object.keys(WRONG))('status 200 with %s for a body is unusable', (name) => costsAnAttempt(bench, answer(WRONG[name]!)));

  it.each(STATUSES)('status %i is unusable, whatever its body contains', async (code) => {
    await costsAnAttempt(bench, (request, response) => status(code, right(request))(request, response));
  });

  it.each(WIRE_FAULTS)('%s is unusable', (behaviour) => costsAnAttempt(bench, behaviour));

  it.each(DELAYS)('%s ends at the attempt’s deadline', (behaviour) => costsAnAttempt(bench, behaviour, IMPATIENT_MS));

  it('an error that quotes secrets is not passed on', async () => {
    const replicas = await bench.replicas();
    for (const replica of replicas)
      replica.always(status(401, JSON.stringify({ error: `${CANARY}: bad key ${bench.secrets().join(' ')}` })));
    const result = JSON.stringify(await bench.translate(replicas, workOf(TEXT)));
    for (const word of [CANARY, ...bench.secrets()]) expect(result).notToContain(word);
  });
}

/** If only the first attempt fails this way, the second compensates; if both do, there is no translation. */
async function costsAnAttempt(bench: Bench, behaviour: Behaviour, timeoutMs?: number): Promise<void> {
  const replicas = await bench.replicas();
  // The first attempt is always made at the first replica.
  replicas[0].always(behaviour);
  const once = await bench.translate(replicas, workOf(TEXT), timeoutMs);
  expect(once).toMatchObject({ kind: 'usable', translations: TEXT.map((text) => ({ text: scriptedTranslation(text, 'DE') })) });
  expect(once.failures).toHaveLength(1);
  replicas[1].always(behaviour);
  const twice = await bench.translate(replicas, workOf(TEXT), timeoutMs);
  expect(twice.kind).toBe('unavailable');
  expect(twice.failures).toHaveLength(2);
  expect(JSON.stringify([once.failures, twice])).notToContain(CANARY);
  await allClosed(replicas);
}

async function allClosed(replicas: readonly ScriptedEngine[]): Promise<void> {
  for (const replica of replicas) await replica.until(() => replica.openConnections === 0);
}

/** How a protocol makes attempts: once each, the second on another replica, and none after the caller has disconnected. */
function conduct(it: AddCase, bench: Bench): void {
  it('with a single replica, the second attempt uses a new connection', async () => {
    const [replica] = await bench.replicas();
    const before = replica.connections;
    replica.behave('reset');
    expect(await bench.translate([replica], workOf(['Hello']))).toMatchObject({ kind: 'usable' });
    expect(replica.connections - before).toBeAtLeast(2);
  });

  it('an attempt tries once: refused requests are not repeated', async () => {
    const [replica] = await bench.replicas();
    replica.always(status(503));
    expect(await bench.translate([replica], workOf(['Hello']))).toMatchObject({ kind: 'unavailable' });
    const bodies = replica.requests.map(({ body }) => body);
    expect(bodies).toHaveLength(2);
  });

  it('a disconnecting caller ends the call, and there is no second attempt', async () => {
    const replicas = await bench.replicas();
    for (const replica of replicas) replica.always('hang');
    const caller = new Canceller();
    const result = bench.translate(replicas, workOf(['Hello']), undefined, caller);
    await replicas[0].until(() => replicas[0].requests.length > 0);
    caller.cancel();
    expect(await result).toEqual({ kind: 'unavailable', failures: ['cancelled'] });
    await replicas[0].until(() => replicas[0].requests.every(({ aborted }) => aborted));
    expect(replicas[1].requests).toHaveLength(0);
  });

  it('a caller that has already disconnected costs the engine nothing', async () => {
    const replicas = await bench.replicas();
    const caller = new Canceller();
    caller.cancel();
    expect(await bench.translate(replicas, workOf(['Hello']), undefined, caller)).toEqual({ kind: 'unavailable', failures: [] });
    for (const replica of replicas) expect(replica.requests).toHaveLength(0);
  });
}
