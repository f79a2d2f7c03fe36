// The translate step and a request's glossary: no promise if nothing waits, and the errors if its entries cannot be read.
import { describe, expect, test } from 'vitest';
import { json, LATER } from '../../../src/core/outcome.ts';
import type { StepResult } from '../../../src/core/outcome.ts';
import { chargeSlot } from '../../../src/domain/charge.ts';
import { dictionaryIdSlot, NO_STATS, translateRequestSlot } from '../../../src/domain/slots.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import type { EngineWork } from '../../../src/ports/engine.ts';
import type { GlossaryCache } from '../../../src/ports/glossary-store.ts';
import { translateStep } from '../../../src/steps/translate.ts';
import { offersOver } from '../../support/offers.ts';

import { exchange, REQUEST_ID as ID } from './exchange.ts';

const DICTIONARY = { id: 'D', entries: { gateway: 'Tor' } };

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
