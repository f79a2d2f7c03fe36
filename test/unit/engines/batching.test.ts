// Requests that share a call to the engine: which may share, how much a call holds, and changes of the engine meanwhile.
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { slow, startScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { EngineProtocol } from '../../../src/ports/engine.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import { CHOSEN_OPTIONS } from '../../support/chosen-options.ts';
import { answersOf, ask, BatchSite, callsOf, textsOf, together, translated } from './batch-site.ts';
import { Caller, work } from './engine-work.ts';

const ENTRIES = { house: 'Haus' };
let site: BatchSite;
let scripted: ScriptedEngine;

beforeEach(async () => {
  site = new BatchSite(await startScriptedEngine());
  scripted = site.scripted;
});

afterEach(() => site.close());

describe('requests of one tick', () => {
  test('share one call, and each gets the translations of its own texts', async () => {
    const results = await together(site.engine(), [textsOf('a', 'b'), textsOf('c'), textsOf('d', 'e', 'f')]);
    expect(callsOf(scripted)).toEqual(['a b c d e f']);
    expect(answersOf(results)).toEqual([translated('a', 'b'), translated('c'), translated('d', 'e', 'f')]);
    expect(results.map(({ failures }) => failures)).toEqual([[], [], []]);
    expect(site.shared).toEqual([3]);
  });

  test('are separate calls without batches', async () => {
    await together(site.opened.engine([scripted.url]), [textsOf('a'), textsOf('b')]);
    expect(callsOf(scripted).toSorted()).toEqual(['a', 'b']);
  });

  test('get the detected language of each text', async () => {
    scripted.behave((_request, response) => {
      response.end(
        '{"translations":[{"text":"1","detected_source_language":"FR"},{"text":"2"},{"text":"3","detected_source_language":"IT"}]}',
      );
    });
    const results = await together(site.engine(), [textsOf('a'), textsOf('b', 'c')]);
    expect(results.map((result) => result.kind === 'usable' && result.translations)).toEqual([
      [{ text: '1', detectedSourceLanguage: 'FR' }],
      [
        { text: '2', detectedSourceLanguage: undefined },
        { text: '3', detectedSourceLanguage: 'IT' },
      ],
    ]);
  });

  test('share a call with the id and trace of the first', async () => {
    const first = work({ requestId: '01JZZZZZZZZZZZZZZZZZZZZZZA', traceparent: '00-a-b-01', glossary: { id: 'G', entries: ENTRIES } });
    await together(site.engine(), [first, { ...first, requestId: '01JZZZZZZZZZZZZZZZZZZZZZZB', traceparent: '00-c-d-01' }]);
    expect(scripted.requests).toHaveLength(1);
    expect(scripted.requests[0]!.headers).toMatchObject({ 'x-request-id': first.requestId, traceparent: '00-a-b-01' });
    expect(JSON.parse(scripted.requests[0]!.body)).toMatchObject({ target_lang: 'DE', glossary: { id: 'G', entries: ENTRIES } });
  });

  test('count for their team if all are from one, and for none if they are from several', async () => {
    const teams: (string | undefined)[] = [];
    const protocol: EngineProtocol = {
      attempt({ teamId, text }) {
        teams.push(teamId);
        return Promise.resolve({ kind: 'usable', translations: text.map((entry) => ({ text: entry, detectedSourceLanguage: undefined })) });
      },
    };
    const own = site.opened.engine([scripted.url], { protocol, batch: { textsMax: 50, charactersMax: 1000, waitMs: 0 } });
    await together(own, [
      { ...work(), teamId: 'a' },
      { ...work(), teamId: 'a' },
    ]);
    await together(own, [
      { ...work(), teamId: 'a' },
      { ...work(), teamId: 'b' },
    ]);
    expect(teams).toEqual(['a', undefined]);
  });

  test('that differ in anything but their texts never share a call', async () => {
    const base = { ...NOTHING_CHOSEN, targetLang: 'DE' };
    const { glossary } = CHOSEN_OPTIONS;
    const works = [
      base,
      ...Object.entries(CHOSEN_OPTIONS).map(([option, value]) => ({ ...base, [option]: value as never })),
      { ...base, formality: 'less' },
      { ...base, context: '' },
      { ...base, context: 'G|c' },
      { ...base, context: 'c', glossary },
      { ...base, glossary: { id: 'H', entries: ENTRIES } },
      // For a glossary that never changes the id would do; its entries are compared all the same.
      { ...base, glossary: { id: 'G', entries: { house: 'Heim' } } },
    ].map((options) => work(options));
    await together(site.engine(), works);
    expect(scripted.requests).toHaveLength(works.length);
    expect(site.shared).toEqual([]);
  });

  test('a request that stays alone is sent with its own id', async () => {
    await together(site.engine(), [work({ requestId: '01JZZZZZZZZZZZZZZZZZZZZZZC' })]);
    expect(scripted.requests[0]!.headers['x-request-id']).toBe('01JZZZZZZZZZZZZZZZZZZZZZZC');
    expect(site.shared).toEqual([]);
  });
});

describe('a call holds', () => {
  test('at most texts_max texts; what does not fit starts the next call', async () => {
    const results = await together(
      site.engine({ textsMax: 3 }),
      [['a', 'b'], ['c', 'd'], ['e'], ['f']].map((texts) => textsOf(...texts)),
    );
    expect(callsOf(scripted).toSorted()).toEqual(['a b', 'c d e', 'f']);
    expect(answersOf(results)).toEqual([translated('a', 'b'), translated('c', 'd'), translated('e'), translated('f')]);
  });

  test('at most characters_max characters', async () => {
    await together(
      site.engine({ charactersMax: 10 }),
      [['1234', '5678'], ['90'], ['a']].map((texts) => textsOf(...texts)),
    );
    expect(callsOf(scripted).toSorted()).toEqual(['1234 5678 90', 'a']);
  });

  test('characters counted as for charging: an emoji is one', async () => {
    await together(
      site.engine({ charactersMax: 10 }),
      [['👍👍👍👍', '👍👍👍👍'], ['👍👍'], ['a']].map((texts) => textsOf(...texts)),
    );
    expect(callsOf(scripted).toSorted()).toEqual(['a', '👍👍👍👍 👍👍👍👍 👍👍']);
  });

  test('more of either only for a single larger request, which is sent at once and alone', async () => {
    const engine = site.engine({ textsMax: 3, charactersMax: 10, waitMs: 600_000 });
    expect(answersOf([await ask(engine, textsOf('a', 'b', 'c', 'd'))])).toEqual([translated('a', 'b', 'c', 'd')]);
    expect(answersOf([await ask(engine, textsOf('a text of 22 characters'))])).toEqual([translated('a text of 22 characters')]);
    const waiting = ask(engine, textsOf('e'));
    expect(callsOf(scripted)).toHaveLength(2);
    await engine.close();
    expect(answersOf([await waiting])).toEqual(['unavailable']);
  });

  test('with wait_ms also requests of later ticks, and a full call does not wait', async () => {
    const engine = site.engine({ textsMax: 3, waitMs: 400 });
    const startedAtMs = performance.now();
    const early = ask(engine, textsOf('a'));
    await turn();
    const late = ask(engine, textsOf('b'));
    await Promise.all([early, late]);
    expect(callsOf(scripted)).toEqual(['a b']);
    expect(performance.now() - startedAtMs).toBeGreaterThan(390);
    await together(site.engine({ textsMax: 2, waitMs: 600_000 }), [textsOf('c'), textsOf('d')]);
    expect(callsOf(scripted)[1]).toEqual('c d');
  });

  test('requests of one tick, not of two', async () => {
    const engine = site.engine();
    const first = ask(engine, textsOf('a'));
    await turn();
    await Promise.all([first, ask(engine, textsOf('b'))]);
    expect(callsOf(scripted).toSorted()).toEqual(['a', 'b']);
  });
});

describe('the engine behind it', () => {
  test('can be changed while requests wait', async () => {
    const after = await site.opened.scripted();
    const engine = site.engine();
    const results = together(engine, [textsOf('a'), textsOf('b')]);
    engine.setUrls([after.url]);
    expect(answersOf(await results)).toEqual([translated('a'), translated('b')]);
    expect(callsOf(after)).toEqual(['a b']);
  });

  test('counts a shared call once', async () => {
    scripted.always(slow(20));
    const engine = site.engine({}, { connectionsMax: 1, queueMax: 0 });
    const results = await together(
      engine,
      Array.from({ length: 20 }, (_, index) => textsOf(`${index}`)),
    );
    expect(results.every(({ kind, failures }) => kind === 'usable' && failures.length === 0)).toBe(true);
  });

  test('is not called for requests that wait when it closes; they get a result', async () => {
    const engine = site.engine({ waitMs: 600_000 });
    const callers = [new Caller(), new Caller()];
    const results = callers.map((caller) => ask(engine, work(), caller));
    await engine.close();
    expect(await Promise.all(results)).toEqual(callers.map(() => ({ kind: 'unavailable', failures: [] })));
    expect(callers.map(({ listener }) => listener)).toEqual([undefined, undefined]);
    expect(scripted.connections).toBe(0);
  });

  test('closes during a shared call, and its callers get their results', async () => {
    scripted.always('hang');
    const engine = site.engine();
    const results = together(engine, [work(), work()]);
    await scripted.until(() => scripted.requests.length === 1);
    await engine.close();
    expect((await results).map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable']);
  });
});
