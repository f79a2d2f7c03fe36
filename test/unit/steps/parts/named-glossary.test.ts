// The glossary that an order names: found by the reference that was charged, and what an order without it, or a store that is away, gets.
import { expect, test } from 'vitest';
import { chargeSlot, refusedCharge } from '../../../../src/domain/charge.ts';
import { NO_SUCH_GLOSSARY, STORE_UNAVAILABLE } from '../../../../src/domain/refusals.ts';
import { dictionaryIdSlot, requestStatsSlot } from '../../../../src/domain/slots.ts';
import { NOTHING_CHOSEN } from '../../../../src/domain/translation-options.ts';
import type { GlossaryCache } from '../../../../src/ports/glossary-store.ts';
import { glossaryOf } from '../../../../src/steps/parts/named-glossary.ts';
import { exchange } from '../exchange.ts';

const DICTIONARY = { id: 'D', entries: { gateway: 'Tor' } };
const CHARGED = { glossaryId: 'G', sourceLang: 'EN', targetLang: 'DE', byBase: true };
const AWAY = { kind: 'unavailable', cause: 'away' } as const;
const order = { text: ['Hello'], options: { ...NOTHING_CHOSEN, targetLang: 'FR' }, glossaryId: 'G' };

function finding(dictionary: GlossaryCache['dictionary']) {
  const x = exchange();
  x.set(chargeSlot, { ...refusedCharge(NO_SUCH_GLOSSARY), glossary: CHARGED });
  x.set(dictionaryIdSlot, 'D');
  let nowMs = 0;
  const glossaries = { dictionary, merged: async () => undefined };
  return { x, find: (glossaryId: string) => glossaryOf(x, order, glossaryId, { glossaries, now: () => nowMs++ }) };
}

test('by the reference that was charged; another one by the languages of the order', () => {
  const asked: unknown[] = [];
  const { find } = finding((...what) => {
    asked.push(what);
    return DICTIONARY;
  });
  expect([find('G'), find('H')]).toEqual([DICTIONARY, DICTIONARY]);
  expect(asked).toEqual([
    ['T', CHARGED, 'D'],
    ['T', { glossaryId: 'H', sourceLang: '', targetLang: 'FR' }, 'D'],
  ]);
});

test('one that has to be fetched counts as time of the store', async () => {
  const { x, find } = finding(async () => DICTIONARY);
  expect(await find('G')).toBe(DICTIONARY);
  expect(x.need(requestStatsSlot).storeMs).toBe(1);
});

test.each([
  [undefined, NO_SUCH_GLOSSARY],
  [AWAY, STORE_UNAVAILABLE],
])('%j is a refusal, at once and later', async (found, refusal) => {
  expect(finding(() => found).find('G')).toBe(refusal);
  expect(await finding(async () => found).find('G')).toBe(refusal);
});
