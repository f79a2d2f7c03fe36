// Several engines as one, each with or without batches: which engine a request goes to, which requests share a call, what a failure costs.
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { countCharacters } from '../../../src/domain/characters.ts';
import type { BatchLimits } from '../../../src/engines/batch.ts';
import { Engines } from '../../../src/engines/balancer.ts';
import type { NamedEngineOptions } from '../../../src/engines/balancer.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import type { Attempt, EngineCapabilities, EngineProtocol, EngineResult, EngineWork, Translation } from '../../../src/ports/engine.ts';
import { nativeProtocol } from '../../../src/engines/protocols/native-protocol.ts';
import { status } from '../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { alikeOptions } from '../../support/chosen-options.ts';
import { ABLE } from '../../support/offers.ts';
import { asked, Caller, Opened, work } from './engine-work.ts';
import type { WorkParts } from './engine-work.ts';

const RUNS = 150;
const TIMEOUT_MS = 60;
const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];

const CAN: EngineCapabilities = { ...ABLE, textsMax: 50 };
const BATCH: BatchLimits = { texts_max: 50, characters_max: 10_000, wait_ms: 0 };
const WIRE = { protocol: nativeProtocol, can: CAN, timeout_ms: 20_000, response_bytes_max: 1 << 20, connections_max: 8, queue_max: 8 };

const opened = new Opened();
afterEach(() => opened.close());

function engineOf(name: Name, protocol: EngineProtocol, more: Partial<NamedEngineOptions> = {}): NamedEngineOptions {
  const wire = { urls: ['http://127.0.0.1:1'], timeout_ms: TIMEOUT_MS, response_bytes_max: 1 << 20, connections_max: 1, queue_max: 0 };
  return { ...wire, name, protocol, can: CAN, ...more };
}

/** The numbers of the requests with texts in a call. */
function membersOf(call: EngineWork): number[] {
  return [...new Set(call.text.map((text) => Number.parseInt(text, 10)))];
}

/** The engine fails every call with a text that ends with this. */
const POISON = 'poison';

interface Request {
  readonly work: EngineWork;
  /** Turns of the event loop before it arrives. */
  readonly comesAfter: number;
  /** Turns after which its caller leaves; if `undefined`, it stays. */
  readonly leavesAfter: number | undefined;
}

interface Scene {
  readonly requests: readonly Request[];
  readonly limits: BatchLimits;
}

/** The fault of each call, by its number; calls beyond the list succeed. */
type CallFault = 'none' | 'status' | 'one_too_few' | 'one_too_many' | 'throws' | 'never';

const GLOSSARIES = [undefined, { id: 'G', entries: { a: 'b' } }, { id: 'H', entries: { a: 'b' } }, { id: 'G', entries: { a: 'c' } }];

const options = alikeOptions(fc.constantFrom(...GLOSSARIES));

/** Few different values, so that requests can share calls. */
const request = fc.record({
  options: fc.oneof({ weight: 3, arbitrary: fc.constant({ ...NOTHING_CHOSEN, targetLang: 'DE' }) }, { weight: 2, arbitrary: options }),
  texts: fc.array(fc.oneof({ weight: 9, arbitrary: fc.string({ maxLength: 8, unit: 'grapheme' }) }, fc.constant(POISON)), {
    minLength: 1,
    maxLength: 5,
  }),
  comesAfter: fc.nat({ max: 2 }),
  leavesAfter: fc.option(fc.nat({ max: 5 }), { nil: undefined, freq: 4 }),
});

const limitsOfBatches = fc.record({
  texts_max: fc.integer({ min: 2, max: 12 }),
  characters_max: fc.constantFrom(10, 40, 10_000),
  wait_ms: fc.constantFrom(0, 0, 0, 2),
});

const scene: fc.Arbitrary<Scene> = fc
  .record({ drawn: fc.array(request, { minLength: 4, maxLength: 20 }), limits: limitsOfBatches })
  .map(({ drawn, limits: chosen }) => ({
    limits: chosen,
    requests: drawn.map(({ options: chosenOptions, texts, comesAfter, leavesAfter }, index) => ({
      comesAfter,
      leavesAfter,
      work: {
        options: chosenOptions,
        requestId: `request-${index}`,
        traceparent: undefined,
        // All texts are different and have their request's number.
        text: texts.map((text, place) => `${index}.${place} ${text}`),
      },
    })),
  }));

const faults = fc.array(fc.constantFrom<CallFault[]>('none', 'none', 'none', 'status', 'one_too_few', 'one_too_many', 'throws', 'never'), {
  maxLength: 30,
});

/** Has everything that may affect a translation, sorted by name, because equal options may be in another order. */
function translationOf(text: string, { options: chosen }: EngineWork): string {
  const byName = Object.entries(chosen).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([text, Object.fromEntries(byName)]);
}

/** The answer of an engine without faults. */
function translationsOf(what: EngineWork): Translation[] {
  return what.text.map((text) => ({
    text: translationOf(text, what),
    // Not the same for all texts, as with a real engine.
    detectedSourceLanguage: text.length % 2 === 0 ? 'EN' : undefined,
  }));
}

class PlannedAdapter implements EngineProtocol {
  readonly calls: EngineWork[] = [];
  readonly #faults: readonly CallFault[];

  constructor(planned: readonly CallFault[]) {
    this.#faults = planned;
  }

  async attempt(what: EngineWork): Promise<Attempt> {
    const number = this.calls.push(what) - 1;
    const fault = what.text.some((text) => text.endsWith(` ${POISON}`)) ? 'status' : (this.#faults[number] ?? 'none');
    for (let turns = number % 3; turns > 0; turns--) await turn();
    const translations = translationsOf(what);
    switch (fault) {
      case 'none':
        return { kind: 'usable', translations };
      case 'status':
        return { kind: 'unusable', failure: 'status' };
      case 'one_too_few':
        return { kind: 'usable', translations: translations.slice(1) };
      case 'one_too_many':
        return { kind: 'usable', translations: [...translations, { text: 'one too many', detectedSourceLanguage: undefined }] };
      case 'throws':
        throw new Error('a bug');
      case 'never':
        return new Promise(() => undefined);
    }
  }
}

describe('equal requests with different engines after the first', () => {
  const NAMED = ['0.0 a', '1.0 b', '2.0 c'];
  const LISTS = [['a'], ['a', 'b'], ['a', 'c', 'b']];

  /** Sends the three in one tick. */
  async function ask(adapters: Readonly<Record<Name, PlannedAdapter>>, batched: readonly Name[]): Promise<readonly EngineResult[]> {
    const engine = new Engines(NAMES.map((name) => engineOf(name, adapters[name], batched.includes(name) ? { batch: BATCH } : {})));
    const results = await Promise.all(LISTS.map((engines, i) => asked(engine, { ...work({ text: [NAMED[i]!] }), engines }, new Caller())));
    await engine.close();
    return results;
  }
  const callsOf = (adapters: Readonly<Record<Name, PlannedAdapter>>): object =>
    Object.fromEntries(NAMES.map((name) => [name, adapters[name].calls.map(({ text }) => text.join(' '))]));
  const adaptersOf = (): Record<Name, PlannedAdapter> => ({
    a: new PlannedAdapter(['status']),
    b: new PlannedAdapter([]),
    c: new PlannedAdapter([]),
  });

  test('share the first attempt, and each makes the second alone at its own next engine', async () => {
    const adapters = adaptersOf();
    const results = await ask(adapters, ['a', 'b', 'c']);
    expect(callsOf(adapters)).toEqual({ a: ['0.0 a 1.0 b 2.0 c', '0.0 a'], b: ['1.0 b'], c: ['2.0 c'] });
    expect(results).toMatchObject(['a', 'b', 'c'].map((engine) => ({ kind: 'usable', failures: ['status'], engine })));
  });

  test('share nothing if the first engine has no batches, whatever the next ones have', async () => {
    const adapters = adaptersOf();
    await ask(adapters, ['b', 'c']);
    expect(callsOf(adapters)).toEqual({ a: ['0.0 a', '1.0 b', '2.0 c', '0.0 a'], b: [], c: [] });
  });
});

test('make second attempts alone even at a next engine with batches, so that none fails because of another’s text', async () => {
  const [first, second] = [new PlannedAdapter(['status']), new PlannedAdapter([])];
  const engine = new Engines([engineOf('a', first, { batch: BATCH }), engineOf('b', second, { batch: BATCH })]);
  const results = await Promise.all(
    ['0.0 x', '1.0 poison', '2.0 y'].map((text) => asked(engine, { ...work({ text: [text] }), engines: ['a', 'b'] })),
  );
  expect(second.calls.map(({ text }) => text)).toEqual([['0.0 x'], ['1.0 poison'], ['2.0 y']]);
  expect(results).toMatchObject([{ kind: 'usable', engine: 'b' }, { failures: ['status', 'status'] }, { kind: 'usable', engine: 'b' }]);
  await engine.close();
});

/** The engine `b`, which is used because `a` is down. */
async function behindOneThatIsDown(urls: readonly string[], more: Partial<NamedEngineOptions> = {}) {
  const down = await opened.scripted();
  down.always(status(500));
  const engine = new Engines([
    { ...WIRE, name: 'a', urls: [down.url] },
    { ...WIRE, name: 'b', urls, ...more },
  ]);
  opened.add(engine);
  const ask = (parts: WorkParts = {}) => asked(engine, { ...work(parts), engines: ['a', 'b'] });
  return { down, engine, ask, health: () => engine.byName.get('b')!.health() };
}

describe('an engine that is used only after another has failed', () => {
  test('spends no last attempt on a replica that is set aside while another is good, and still finds out when it is back', async () => {
    let nowMs = 0;
    const [good, bad] = [await opened.scripted(), await opened.scripted()];
    const { down, ask: asking, health } = await behindOneThatIsDown([good.url, bad.url], { nowMs: () => nowMs });
    bad.always(status(503));
    const ask = async (text: string): Promise<string> => {
      const result = await asking({ text: [text], sourceLang: 'FR' });
      return result.kind === 'usable' ? result.engine : result.kind;
    };
    const textsAt = ({ requests }: ScriptedEngine): string[] =>
      requests.flatMap(({ body }) => (JSON.parse(body) as { text: string[] }).text);
    const asideMs = (): number | undefined => health()[1]!.asideMs;
    expect([await ask('1'), await ask('2'), await ask('3')]).toEqual(['b', 'unavailable', 'b']);
    expect([textsAt(good), textsAt(bad), asideMs()]).toEqual([['1', '3'], ['2'], 1000]);
    // It could be tried, but there may still be a first attempt.
    nowMs = 1999;
    expect([await ask('4'), textsAt(bad)]).toEqual(['b', ['2']]);
    nowMs = 2000;
    expect(await ask('5')).toBe('b');
    await bad.until(() => bad.requests.length === 2);
    await expect.poll(asideMs).toBe(2000);
    bad.always('ok');
    nowMs = 5000;
    expect(await ask('6')).toBe('b');
    await expect.poll(asideMs).toBeUndefined();
    expect([await ask('7'), await ask('8')]).toEqual(['b', 'b']);
    expect([textsAt(good), textsAt(bad)]).toEqual([
      ['1', '3', '4', '5', '6', '8'],
      ['2', 'La maison est grande.', 'La maison est grande.', '7'],
    ]);
    // With ids of their own, so that they are not taken for a caller's.
    expect(new Set(bad.requests.map(({ headers }) => headers['x-request-id'])).size).toBe(3);
    expect(down.requests).toHaveLength(8);
  });

  test('closes during a trial of its own without a failure of the engine', async () => {
    let nowMs = 0;
    const failed: string[] = [];
    const outcomes: string[] = [];
    const [good, bad] = [await opened.scripted(), await opened.scripted()];
    const { engine, ask, health } = await behindOneThatIsDown([bad.url, good.url], {
      nowMs: () => nowMs,
      watch: () => ({
        attempted: (outcome) => void outcomes.push(outcome),
        failed: (_work, { failure }) => void failed.push(failure),
        setAside: () => undefined,
        back: () => undefined,
      }),
    });
    bad.always(status(503));
    expect((await ask()).kind).toBe('unavailable');
    bad.always('hang');
    nowMs = 2000;
    expect((await ask()).kind).toBe('usable');
    await bad.until(() => bad.requests.length === 2);
    await engine.close();
    expect([failed, outcomes]).toEqual([['status'], ['status', 'usable', 'cancelled']]);
    expect(health()[0]).toMatchObject({ failed: 1, lastFailure: { failure: 'status' } });
  });

  test('spends a last attempt on a replica that is set aside if no other is good', async () => {
    const lone = await opened.scripted();
    const { ask } = await behindOneThatIsDown(['http://127.0.0.1:1', lone.url]);
    lone.behave(status(503));
    expect([(await ask()).failures, (await ask()).failures]).toEqual([
      ['status', 'connect'],
      ['status', 'status'],
    ]);
    const kinds: string[] = [];
    for (let i = 0; i < 2; i++) kinds.push((await ask()).kind);
    expect(kinds.toSorted((one, other) => one.localeCompare(other))).toEqual(['unavailable', 'usable']);
  });
});

describe('an engine with another behind it', () => {
  test.each([
    ['an only replica', 1],
    ['two replicas', 2],
  ])('is failing from the time at which %s would be set aside until its trial', async (_what, count) => {
    let nowMs = 0;
    const replicas = await Promise.all(Array.from({ length: count }, () => opened.scripted()));
    const engine = new Engines([
      { ...WIRE, name: 'a', urls: replicas.map(({ url }) => url), nowMs: () => nowMs },
      { ...WIRE, name: 'b', urls: [(await opened.scripted()).url] },
    ]);
    opened.add(engine);
    const isFailing = (): boolean => engine.of('a').isFailing();
    const ask = () => asked(engine, { ...work(), engines: ['a', 'b'] });
    for (const replica of replicas) replica.always(status(500));
    // The third failure of each in a row.
    for (let i = 0; i < 3 * count; i++) {
      expect(isFailing()).toBe(false);
      expect(await ask()).toMatchObject({ kind: 'usable', engine: 'b', failures: ['status'] });
    }
    expect([isFailing(), engine.of('b').isFailing()]).toEqual([true, false]);
    const asides = engine.byName.get('a')!.health();
    expect(asides.map(({ asideMs }) => asideMs)).toEqual(count === 1 ? [undefined] : [1000, 1000]);
    nowMs = 999;
    expect(isFailing()).toBe(true);
    nowMs = 1000;
    expect(isFailing()).toBe(false);
    // While one request tries each replica, no other has to wait for that.
    for (const replica of replicas) replica.always('hang');
    const callers = replicas.map(() => new Caller());
    const trials = callers.map((caller) => asked(engine, { ...work(), engines: ['a', 'b'] }, caller));
    expect(isFailing()).toBe(true);
    await Promise.all(replicas.map((replica) => replica.until(() => replica.requests.length === 4)));
    for (const caller of callers) caller.leave();
    await Promise.all(trials);
    expect(isFailing()).toBe(true);
    for (const replica of replicas) replica.always('ok');
    nowMs = 100_000;
    for (let i = 0; i < count; i++) expect(await ask()).toMatchObject({ engine: 'a' });
    expect(isFailing()).toBe(false);
  });
});

test('a replica whose engine gets or loses others by a reload is not set aside then, and only what was shown of it is taken back', async () => {
  const shown: string[] = [];
  const [one, other] = [await opened.scripted(), await opened.scripted()];
  const watch = (url: string) => ({
    attempted: () => undefined,
    failed: () => undefined,
    setAside: () => void shown.push(`aside ${url}`),
    back: () => void shown.push(`back ${url}`),
  });
  const engine = new Engines([
    { ...WIRE, name: 'a', urls: [one.url], watch },
    { ...WIRE, name: 'b', urls: [other.url] },
  ]);
  opened.add(engine);
  const a = engine.byName.get('a')!;
  one.always(status(503));
  await asked(engine, { ...work(), engines: ['a', 'b'] });
  expect([engine.of('a').isFailing(), shown]).toEqual([true, []]);
  a.setUrls([one.url, other.url]);
  const asides = (): unknown[] => a.health().map(({ asideMs }) => asideMs !== undefined);
  expect([engine.of('a').isFailing(), asides(), shown]).toEqual([false, [false, false], []]);
  await asked(engine, { ...work(), engines: ['a', 'b'] });
  expect([asides(), shown]).toEqual([[true, false], [`aside ${one.url}`]]);
  a.setUrls([one.url]);
  expect([engine.of('a').isFailing(), asides(), shown]).toEqual([false, [false], [`aside ${one.url}`, `back ${one.url}`]]);
});

describe('each of several engines has its own', () => {
  test('capabilities: a preferred formality is sent only to those that support it', async () => {
    const [plain, polite] = [await opened.scripted(), await opened.scripted()];
    const engine = new Engines([
      { ...WIRE, name: 'plain', can: { ...CAN, formality: false }, urls: [plain.url] },
      { ...WIRE, name: 'polite', urls: [polite.url] },
    ]);
    opened.add(engine);
    plain.always(status(500));
    expect(await asked(engine, { ...work({ formality: 'prefer_more' }), engines: ['plain', 'polite'] })).toMatchObject({
      engine: 'polite',
    });
    const formality = ({ requests }: ScriptedEngine): unknown => (JSON.parse(requests[0]!.body) as { formality?: string }).formality;
    expect([formality(plain), formality(polite)]).toEqual([undefined, 'prefer_more']);
  });
});

describe('for random requests, engines, lists and faults', () => {
  const settings = fc.record({
    drawn: scene,
    planned: fc.tuple(faults, faults, faults),
    batches: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
    lists: fc.array(fc.shuffledSubarray([...NAMES], { minLength: 1 }), { minLength: 20, maxLength: 20 }),
  });

  test('each gets its own texts or none, from its first engine or its second, after at most two attempts', async () => {
    const seen = { shared: 0, elsewhere: 0, again: 0, failed: 0 };
    await fc.assert(
      fc.asyncProperty(settings, async ({ drawn: { requests, limits }, planned, batches, lists }) => {
        const adapters = planned.map((faultsOfOne) => new PlannedAdapter(faultsOfOne));
        const engine = new Engines(
          NAMES.map((name, i) => engineOf(name, adapters[i]!, { batch: batches[i] === true ? limits : undefined })),
        );
        const results = await Promise.all(
          requests.map(async ({ work: what, comesAfter, leavesAfter }, index) => {
            for (let turns = comesAfter; turns > 0; turns--) await turn();
            const caller = new Caller();
            const result = asked(engine, { ...what, engines: lists[index]! }, caller);
            for (let turns = leavesAfter ?? 0; turns > 0; turns--) await turn();
            if (leavesAfter !== undefined) caller.leave();
            return result;
          }),
        );
        await engine.close();
        for (const [index, { work: what, leavesAfter }] of requests.entries()) {
          const result = results[index]!;
          const [first, next = first] = lists[index]!;
          const calls = NAMES.flatMap((name, i) =>
            adapters[i]!.calls.filter((call) => membersOf(call).includes(index)).map((call) => ({ name, call })),
          );
          const attempts = result.failures.length + Number(result.kind === 'usable');
          expect(calls.length).toBe(attempts);
          expect(attempts).toBeLessThanOrEqual(2);
          // In the order of the engines, because each has a list of its own calls.
          const expected = [first, next].slice(0, attempts);
          expect(calls.map(({ name }) => name)).toEqual(NAMES.flatMap((name) => expected.filter((one) => one === name)));
          if (result.kind === 'usable') {
            expect([result.engine, result.translations]).toEqual([attempts === 1 ? first : next, translationsOf(what)]);
            if (attempts === 2) seen[next === first ? 'again' : 'elsewhere']++;
          } else if (leavesAfter === undefined) {
            expect(result.failures).toHaveLength(2);
            seen.failed++;
          }
          // Only the first attempt is ever shared: of two calls, one is the request's own.
          if (attempts === 2) expect(calls.filter(({ call }) => membersOf(call).length === 1)).not.toHaveLength(0);
          if (next !== first) {
            for (const { name, call } of calls) if (name === next) expect(call.text).toEqual(what.text);
          }
        }
        for (const [i, { calls }] of adapters.entries()) {
          for (const call of calls) {
            const members = membersOf(call);
            for (const member of members) {
              expect(call.options).toEqual(requests[member]!.work.options);
              if (members.length > 1) expect(lists[member]![0]).toBe(NAMES[i]);
            }
            if (members.length === 1) continue;
            seen.shared++;
            expect([batches[i], call.text.length <= limits.texts_max]).toEqual([true, true]);
            expect(countCharacters(call.text.join(''))).toBeLessThanOrEqual(limits.characters_max);
          }
        }
      }),
      { numRuns: RUNS },
    );
    // The runs have covered the cases.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 30);
  });
});
