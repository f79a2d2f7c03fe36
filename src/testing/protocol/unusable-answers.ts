// Cases with wrong answers: each is an unusable attempt, the second attempt compensates, and nothing from the engine is passed
// on.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import { answer, CANARY, scriptedTranslation, status } from '../scripted-engine.ts';
import type { Behaviour, ScriptedEngine } from '../scripted-engine.ts';
import { workOf } from './bench.ts';
import type { Bench } from './bench.ts';

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

export function unusableAnswers(it: AddCase, bench: Bench): void {
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
