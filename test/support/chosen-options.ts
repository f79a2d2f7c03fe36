// Values of each option for tests; a new option is a word.
import * as fc from 'fast-check';
import { NOTHING_CHOSEN } from '../../src/index.ts';
import { TRANSLATION_OPTIONS } from './door/terms.ts';
import type { TranslationOptions } from '../../src/domain/translation-options.ts';

function ofEach<T>(value: T) {
  return Object.fromEntries(TRANSLATION_OPTIONS.map((name) => [name, value])) as Record<keyof TranslationOptions, T>;
}

/** Different from those of `NOTHING_CHOSEN`, and from German as the target. */
export const CHOSEN_OPTIONS: TranslationOptions = {
  ...ofEach('FR'),
  glossary: { id: 'G', entries: { house: 'Haus' } },
  format: 'html',
  ignoreTags: ['x'],
  style: { instructions: ['Be brief.'], styleId: undefined, memoryId: undefined, memoryThreshold: undefined },
};

/** Few, so that requests coincide; some would be equal if parts were joined without their lengths. */
export const fewWords = fc.constantFrom('a', 'b', 'ab', '', '1:a', '|', '😀', 'ä', 'a|', '"a"', '["a"]');
const word = fc.option(fewWords, { nil: undefined });
const words = fc.option(fc.array(fewWords, { maxLength: 2 }), { nil: undefined });

type Values = { readonly [Option in keyof TranslationOptions]: fc.Arbitrary<TranslationOptions[Option]> };

const VALUES: Omit<Values, 'glossary'> = {
  ...ofEach(word),
  targetLang: fewWords,
  format: fc.constantFrom('text', 'html', 'xml'),
  ignoreTags: words,
  style: fc.option(fc.record({ instructions: words, styleId: word, memoryId: word, memoryThreshold: fc.constantFrom(undefined, 0, 1) }), {
    nil: undefined,
  }),
};

/** Options that differ in at most two members from nothing chosen for German. */
export function alikeOptions(glossary: Values['glossary']): fc.Arbitrary<TranslationOptions> {
  return fc.tuple(fc.record({ ...VALUES, glossary }), fc.subarray(TRANSLATION_OPTIONS.slice(), { maxLength: 2 })).map(([drawn, names]) => {
    const changed = Object.fromEntries(names.map((name) => [name, drawn[name]]));
    return { ...NOTHING_CHOSEN, targetLang: 'DE', ...changed };
  });
}
