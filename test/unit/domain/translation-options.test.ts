// The key of a request's options: only requests with equal options share an engine call or a remembered translation.
import { expect, test } from 'vitest';
import { keyOfOptions, NOTHING_CHOSEN, sameOptions, TRANSLATION_OPTIONS } from '../../../src/domain/translation-options.ts';
import type { TranslationOptions } from '../../../src/domain/translation-options.ts';
import { CHOSEN_OPTIONS } from '../../support/chosen-options.ts';

const OPTIONS: TranslationOptions = { ...NOTHING_CHOSEN, targetLang: 'DE' };

/** All strings of up to two characters that could be taken for separators. */
const SIGNS = ['a', '1', ':', '|', '"', ''];
const STRINGS = [...new Set(SIGNS.flatMap((one) => SIGNS.map((other) => one + other)))];

test('different options have different keys, whatever they contain', () => {
  const values: readonly (string | undefined)[] = [...STRINGS, undefined];
  const pairs = values.flatMap((formality) => values.map((context) => ({ ...OPTIONS, formality, context })));
  const glossaries = STRINGS.map((id) => ({ ...OPTIONS, glossary: { id, entries: {} } }));
  const lists = [[], ...STRINGS.flatMap((one) => [[one], [one, one], [`${one},${one}`], [`${one}","${one}`]])];
  const styles = values.flatMap((styleId) =>
    values.flatMap((memoryId) => [undefined, []].map((instructions) => ({ styleId, memoryId, memoryThreshold: undefined, instructions }))),
  );
  const instructed = lists.map((instructions) => ({ styleId: undefined, memoryId: undefined, memoryThreshold: 5, instructions }));
  const all = [
    ...pairs,
    ...glossaries,
    ...lists.map((ignoreTags) => ({ ...OPTIONS, ignoreTags })),
    ...[...styles, ...instructed].map((style) => ({ ...OPTIONS, style })),
  ];
  const expected = new Set(all.map((options) => JSON.stringify(options, (_name, value: unknown) => value ?? null)));
  expect(new Set(all.map(keyOfOptions)).size).toBe(expected.size);
});

test('each option is in the key, and is compared', () => {
  for (const name of TRANSLATION_OPTIONS) {
    const changed = { ...OPTIONS, [name]: CHOSEN_OPTIONS[name] };
    expect([keyOfOptions(changed) === keyOfOptions(OPTIONS), sameOptions(changed, OPTIONS)]).toEqual([false, false]);
    expect([keyOfOptions(changed) === keyOfOptions({ ...changed }), sameOptions(changed, { ...changed })]).toEqual([true, true]);
  }
});
