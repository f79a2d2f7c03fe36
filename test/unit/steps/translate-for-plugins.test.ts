// Translation and detection for plugins' steps: what is not offered is not sent, and several works of a request end together.
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../src/core/exchange.ts';
import type { Cancellation } from '../../../src/core/exchange.ts';
import { requestStatsSlot } from '../../../src/domain/slots.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import type { AskedWork, EngineWork } from '../../../src/ports/engine.ts';
import { detectBy, translateBy } from '../../../src/steps/translate-for-plugins.ts';
import { offersOver } from '../../support/offers.ts';

import { exchange, REQUEST_ID as ID } from './exchange.ts';

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
  test.each([
    ['one text', 1, 1000],
    ['a few', 4, 250],
    ['many', 50, 100],
  ])('of %s sends only their beginnings, in one call', async (_name, count, units) => {
    const works: EngineWork[] = [];
    const texts = Array.from({ length: count }, (_none, i) => (i === 0 ? 'H' : 'x').repeat(5000));
    const found = await detecting(works)(exchange(), texts);
    expect(found).toEqual({ kind: 'detected', languages: texts.map((_text, i) => (i === 0 ? 'EN' : undefined)) });
    expect(works).toHaveLength(1);
    expect(works[0]).toMatchObject({ detectionOnly: true, options: { targetLang: 'EN-GB' } });
    expect(works[0]!.text.map((text) => text.length)).toEqual(texts.map(() => units));
  });
});
