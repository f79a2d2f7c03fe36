// The translate step and a request's glossary: no promise if nothing waits, and the errors if its entries cannot be read.
import { describe, expect, test } from 'vitest';
import { Exchange } from '../../../src/core/exchange.ts';
import type { Cancellation } from '../../../src/core/exchange.ts';
import { json, LATER } from '../../../src/core/outcome.ts';
import type { StepResult } from '../../../src/core/outcome.ts';
import { compileRoute } from '../../../src/core/route.ts';
import { chargedCharacters, chargeSlot } from '../../../src/domain/charge.ts';
import { dictionaryIdSlot, keyOwnerSlot, NO_STATS, requestStatsSlot, translateRequestSlot } from '../../../src/domain/slots.ts';
import { Languages } from '../../../src/domain/languages.ts';
import type { TextStage } from '../../../src/domain/text-stages.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import type { AskedWork, EngineWork } from '../../../src/ports/engine.ts';
import type { GlossaryCache } from '../../../src/ports/glossary-store.ts';
import { detectBy, translateBy, translateStep } from '../../../src/steps/translate.ts';
import { offersOver } from '../../support/offers.ts';

const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const DICTIONARY = { id: 'D', entries: { gateway: 'Tor' } };
const route = compileRoute({ method: 'POST', path: '/x', takesBody: true, steps: [] });

function exchange(stats = { ...NO_STATS }): Exchange {
  const x = new Exchange(
    ID,
    { method: 'POST', path: '/x', query: '', headers: {} },
    { send: () => 'written', stream() {}, incoming: () => undefined, remoteAddress: () => '' },
    route,
    0,
  );
  x.set(keyOwnerSlot, { keyId: 'K', teamId: 'T', mode: 'live' });
  x.set(requestStatsSlot, stats);
  return x;
}

/** A chain's translate step, and its result; the engine answers in the next microtask. */
function translating(glossaryId: string | undefined, dictionary: GlossaryCache['dictionary'], stats = { ...NO_STATS, characters: 5 }) {
  const works: EngineWork[] = [];
  const step = translateStep({
    engine: {
      translate(asked) {
        works.push(asked);
        const translations = [{ text: 'Hallo', detectedSourceLanguage: undefined }];
        queueMicrotask(() => asked.answered({ kind: 'usable', translations, failures: [], engine: 'default' }));
      },
      close: () => Promise.resolve(),
    },
    glossaries: { merged: async () => undefined, dictionary },
    offers: { current: offersOver(new Languages({ sources: [{ code: 'EN', name: 'English' }], targets: [] })) },
    stages: [],
    takesGlossary: () => true,
    now: () => 0,
    onFailures: () => undefined,
  });
  const x = exchange(stats);
  x.set(chargeSlot, {
    characters: 5,
    reserve: true,
    glossary: { glossaryId: 'G', sourceLang: 'EN', targetLang: 'DE', byBase: true },
    refusal: undefined,
  });
  x.set(dictionaryIdSlot, 'D');
  const options = { ...NOTHING_CHOSEN, targetLang: 'DE', sourceLang: 'EN' };
  x.set(translateRequestSlot, { text: ['Hello'], characters: 5, options, glossaryId });
  const resumed = Promise.withResolvers<StepResult>();
  x.driver = { resume: (_x, conclude, value) => resumed.resolve(conclude(x, value)) };
  const returned = step.run(x);
  const ends = async (): Promise<StepResult> => ((await returned) === LATER ? resumed.promise : returned);
  return { returned, ended: ends(), works };
}

const DELIVERED = json('{"translations":[{"detected_source_language":"EN","text":"Hallo"}],"billed_characters":5}');

test('a pair that is not offered is not sent to the engine, even if a plugin’s route has not refused it', async () => {
  const table = { sources: [{ code: 'EN', name: 'English' }], targets: [{ code: 'DE', name: 'German', formality: false }] };
  const translate = translateBy({
    engine: {
      translate: () => {
        throw new Error('the engine was called');
      },
      close: () => Promise.resolve(),
    },
    glossaries: { dictionary: () => undefined, merged: async () => undefined },
    offers: { current: offersOver(new Languages(table, () => false)) },
    stages: [],
    takesGlossary: () => true,
    now: () => 0,
    onFailures: () => undefined,
  });
  const options = { ...NOTHING_CHOSEN, targetLang: 'DE', sourceLang: 'EN' };
  expect(await translate({} as Exchange, { text: ['Hello'], options, glossaryId: undefined })).toMatchObject({
    problem: { code: 'validation_error', detail: 'target_lang: DE is not offered for texts in EN; no target is.' },
  });
});

test('of several pieces of work for one request a caller who leaves cancels each, and the attempts of all are counted', async () => {
  const asked: { readonly work: AskedWork; readonly cancellation: Cancellation }[] = [];
  const translate = translateBy({
    engine: { translate: (work, cancellation) => void asked.push({ work, cancellation }), close: () => Promise.resolve() },
    glossaries: { dictionary: () => undefined, merged: async () => undefined },
    offers: { current: offersOver(new Languages({ sources: [{ code: 'EN', name: 'English' }], targets: [] })) },
    stages: [],
    takesGlossary: () => true,
    now: () => 0,
    onFailures: () => undefined,
  });
  const x = exchange();
  const results = ['DE', 'FR', 'IT'].map((targetLang) =>
    translate(x, { text: ['Hello'], options: { ...NOTHING_CHOSEN, targetLang }, glossaryId: undefined }),
  );
  await Promise.resolve();
  expect(asked.map(({ work }) => work.requestId)).toEqual([ID, `${ID}-2`, `${ID}-3`]);
  const calledOff: number[] = [];
  for (const [index, { cancellation }] of asked.entries()) cancellation.onCancel(() => calledOff.push(index));
  asked[1]!.cancellation.onCancel(undefined);
  asked[1]!.work.answered({
    kind: 'usable',
    translations: [{ text: 'Salut', detectedSourceLanguage: 'EN' }],
    failures: ['reset'],
    engine: 'default',
  });
  expect(await results[1]).toMatchObject({ kind: 'translated', translations: [{ text: 'Salut' }] });
  x.cancel();
  expect(calledOff).toEqual([0, 2]);
  for (const { work } of [asked[0]!, asked[2]!]) work.answered({ kind: 'unavailable', failures: ['cancelled'] });
  expect(await results[2]).toMatchObject({ problem: { code: 'engine_unavailable' } });
  await results[0];
  expect(x.need(requestStatsSlot)).toMatchObject({ works: 3, attempts: 4 });
});

function codeOf(outcome: StepResult): string | undefined {
  return typeof outcome === 'object' && outcome.kind === 'problem' ? outcome.problem.code : undefined;
}

describe('the translate step', () => {
  test('without a glossary waits without a promise, and reads none', async () => {
    const asked: string[] = [];
    const { returned, ended, works } = translating(undefined, (_team, { glossaryId }) => {
      asked.push(glossaryId);
      return undefined;
    });
    expect(returned).toBe(LATER);
    expect(await ended).toEqual(DELIVERED);
    expect([asked, works[0]?.options.glossary]).toEqual([[], undefined]);
  });

  test('waits without a promise if the dictionary that the admission found is cached', async () => {
    const asked: unknown[] = [];
    const { returned, ended, works } = translating('G', (...what) => {
      asked.push(what);
      return DICTIONARY;
    });
    expect(asked).toEqual([['T', { glossaryId: 'G', sourceLang: 'EN', targetLang: 'DE', byBase: true }, 'D']]);
    expect(returned).toBe(LATER);
    expect(await ended).toEqual(DELIVERED);
    expect(works[0]?.options.glossary).toBe(DICTIONARY);
  });

  test('gives each piece of work an id of its own, the first that of the request, and its team', () => {
    const { works } = translating(undefined, () => undefined);
    const { works: again } = translating(undefined, () => undefined, { ...NO_STATS, works: 1 });
    expect(works[0]).toMatchObject({ requestId: ID, teamId: 'T' });
    expect(again[0]).toMatchObject({ requestId: `${ID}-2`, teamId: 'T' });
  });

  test('reports the charged characters as billed, not the sent ones', async () => {
    const { ended } = translating(undefined, () => undefined, { ...NO_STATS, characters: 2 });
    expect(await ended).toMatchObject({ body: expect.stringMatching(/"billed_characters":2}$/) as string });
  });

  test('waits for entries that have to be fetched', async () => {
    const { returned, ended, works } = translating('G', async () => DICTIONARY);
    expect(returned).toBeInstanceOf(Promise);
    expect(await ended).toEqual(DELIVERED);
    expect(works[0]?.options.glossary).toBe(DICTIONARY);
  });

  test.each([
    ['at once', () => undefined],
    ['later', () => Promise.resolve(undefined)],
  ])('a glossary that is gone %s after the admission is a validation_error, without a call of the engine', async (_when, dictionary) => {
    const { ended, works } = translating('G', dictionary);
    const outcome = await ended;
    expect(codeOf(outcome)).toBe('validation_error');
    expect(outcome).toMatchObject({ problem: { detail: expect.stringMatching(/^glossary_id: /) as string } });
    expect(works).toEqual([]);
  });

  test('an unreachable store is service_unavailable, any other failure a bug', async () => {
    const away = { kind: 'unavailable', cause: 'away' } as const;
    expect(codeOf(await translating('G', () => away).ended)).toBe('service_unavailable');
    expect(codeOf(await translating('G', () => Promise.resolve(away)).ended)).toBe('service_unavailable');
    await expect(translating('G', () => Promise.reject(new Error('a bug'))).ended).rejects.toThrow('a bug');
  });
});

describe('a detection', () => {
  const detecting = (works: EngineWork[]) =>
    detectBy({
      engine: {
        translate(asked) {
          works.push(asked);
          const translations = asked.text.map((text) => ({ text, detectedSourceLanguage: text.startsWith('H') ? 'en' : 'xx' }));
          queueMicrotask(() => asked.answered({ kind: 'usable', translations, failures: [], engine: 'default' }));
        },
        close: () => Promise.resolve(),
      },
      glossaries: { dictionary: () => undefined, merged: async () => undefined },
      offers: {
        current: offersOver(
          new Languages({ sources: [{ code: 'EN', name: 'English' }], targets: [{ code: 'EN-GB', name: 'English', formality: false }] }),
        ),
      },
      stages: [],
      takesGlossary: () => true,
      now: () => 0,
      onFailures: () => undefined,
    });
  const freshExchange = (): Exchange => {
    const head = { method: 'POST', path: '/x', query: '', headers: {} };
    const x = new Exchange(ID, head, { send: () => 'written', stream() {}, incoming: () => undefined, remoteAddress: () => '' }, route, 0);
    x.set(requestStatsSlot, { ...NO_STATS });
    return x;
  };

  test.each([
    ['one text', 1, 1000],
    ['a few', 4, 250],
    ['many', 50, 100],
  ])('of %s sends only their beginnings, in one call', async (_name, count, units) => {
    const works: EngineWork[] = [];
    const texts = Array.from({ length: count }, (_none, i) => (i === 0 ? 'H' : 'x').repeat(5000));
    const found = await detecting(works)(freshExchange(), texts);
    expect(found).toEqual({ kind: 'detected', languages: texts.map((_text, i) => (i === 0 ? 'EN' : undefined)) });
    expect(works).toHaveLength(1);
    expect(works[0]).toMatchObject({ detectionOnly: true, options: { targetLang: 'EN-GB' } });
    expect(works[0]!.text.map((text) => text.length)).toEqual(texts.map(() => units));
  });
});

describe('texts that a stage knows and spares', () => {
  const known = { text: 'Welt', detectedSourceLanguage: undefined };
  const options = { ...NOTHING_CHOSEN, targetLang: 'DE', sourceLang: 'EN' };
  const table = { sources: [{ code: 'EN', name: 'English' }], targets: [{ code: 'DE', name: 'German', formality: false }] };

  async function knowing(canSpare: boolean, failing = false) {
    const x = exchange({ ...NO_STATS, characters: 15, canSpare });
    const spare: TextStage = { kind: 'answer', plugin: 't', run: () => ({ translations: [undefined, known, known], spared: true }) };
    const translate = translateBy({
      engine: {
        translate: (asked) =>
          asked.answered(
            failing
              ? { kind: 'unavailable', failures: ['connect', 'connect'] }
              : { kind: 'usable', translations: [{ text: 'Hallo', detectedSourceLanguage: undefined }], failures: [], engine: 'default' },
          ),
        close: () => Promise.resolve(),
      },
      glossaries: { dictionary: () => undefined, merged: async () => undefined },
      offers: { current: offersOver(new Languages(table)) },
      stages: [spare],
      takesGlossary: () => true,
      now: () => 0,
      onFailures: () => undefined,
    });
    // A character outside the basic plane counts once.
    return { told: await translate(x, { text: ['Hello', 'World', '\u{1f30d}'], options, glossaryId: undefined }), x };
  }

  test('are marked, and their characters are subtracted from the charge', async () => {
    const { told, x } = await knowing(true);
    expect(told).toMatchObject({ kind: 'translated', translations: [{ text: 'Hallo' }, { isSpared: true }, { isSpared: true }] });
    expect(told).not.toMatchObject({ translations: [{ isSpared: true }, {}, {}] });
    expect(chargedCharacters(x)).toBe(9);
  });

  test('are not spared if the store can only charge all', async () => {
    const { told, x } = await knowing(false);
    expect(JSON.stringify(told)).not.toContain('isSpared');
    expect(chargedCharacters(x)).toBe(15);
  });

  test('do not help if the rest fails', async () => {
    expect((await knowing(true, true)).told).toMatchObject({ problem: { code: 'engine_unavailable' } });
  });
});
