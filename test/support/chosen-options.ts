// A value of each option that differs from the one of `NOTHING_CHOSEN`, and from German as the target: a new option has one here.
import type { TranslationOptions } from '../../src/domain/translation-options.ts';

export const CHOSEN_OPTIONS: TranslationOptions = {
  sourceLang: 'EN',
  targetLang: 'FR',
  formality: 'more',
  context: 'c',
  glossary: { id: 'G', entries: { house: 'Haus' } },
  format: 'html',
  ignoreTags: ['x'],
  style: { instructions: ['Be brief.'], styleId: undefined, memoryId: undefined, memoryThreshold: undefined },
};
