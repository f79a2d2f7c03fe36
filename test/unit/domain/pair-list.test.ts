// Lists of pairs in a configuration.
import { expect, test } from 'vitest';
import type { LanguageTable } from '../../../src/domain/languages.ts';
import { faultOfPair, pairsOfList } from '../../../src/domain/engine-routing.ts';

const TABLE: LanguageTable = {
  sources: ['EN', 'ES', 'ZH', 'ZH-HANT'].map((code) => ({ code, name: code })),
  targets: ['EN-GB', 'EN-US', 'ES', 'ES-419', 'ZH', 'PT-BR'].map((code) => ({ code, name: code, formality: false })),
};

/** Every pair of the table that a list offers. */
function pairs(...entries: readonly string[]): string[] {
  const offers = pairsOfList(entries, TABLE);
  return TABLE.sources.flatMap((source) =>
    TABLE.targets.filter((target) => offers(source.code, target.code)).map(({ code }) => `${source.code}-${code}`),
  );
}

test.each([
  [['EN-ZH'], ['EN-ZH']],
  [['en-zh'], ['EN-ZH']],
  // A base code stands for all its variants, and for itself if it is a target.
  [['ES-EN'], ['ES-EN-GB', 'ES-EN-US']],
  [['EN-ES'], ['EN-ES', 'EN-ES-419']],
  [['ES-EN-US'], ['ES-EN-US']],
  [['EN-PT'], ['EN-PT-BR']],
  // A source code may contain a dash, too.
  [['ZH-HANT-EN-GB'], ['ZH-HANT-EN-GB']],
  [
    ['EN-ES-419', 'ES-ZH', 'ES-ZH'],
    ['EN-ES-419', 'ES-ZH'],
  ],
])('%j offers %j', (entries, offered) => {
  expect(pairs(...entries)).toEqual(offered);
  for (const entry of entries) expect(faultOfPair(entry, TABLE)).toBeUndefined();
});

const NO_SOURCE = 'does not begin with a source code of the list of languages; write SOURCE-TARGET, such as EN-ES';
const notTarget = (target: string): string => `${target} is neither a target code of the list of languages nor the base of one`;

test.each([
  ['', NO_SOURCE],
  ['EN', NO_SOURCE],
  ['XX-ES', NO_SOURCE],
  ['EN_ES', NO_SOURCE],
  ['EN-GB-ES', notTarget('GB-ES')],
  ['EN-', notTarget('nothing')],
  ['EN-XX', notTarget('XX')],
  // The beginning of a code is not a base code.
  ['EN-E', notTarget('E')],
])('%j is refused, and offers nothing', (entry, fault) => {
  expect(faultOfPair(entry, TABLE)).toBe(fault);
  expect(pairs(entry)).toEqual([]);
});
