// Google's language codes: which code an answer has for ours, and that it means the same in a request.
import { expect, test } from 'vitest';
import { Languages } from '../../../../src/domain/languages.ts';
import { sourceNamed, targetNamed } from '../../../../src/plugins/facades/code-names.ts';
import { theirCode } from '../../../../src/plugins/google/google-api.ts';

const VARIANTS = { EN: 'EN-GB', PT: 'PT-PT' };
const SOURCES = ['EN', 'DE', 'HE', 'NB', 'PT', 'ZH', 'FIL', 'JV'];
const TARGETS = ['EN-GB', 'EN-US', 'DE', 'HE', 'NB', 'PT-BR', 'PT-PT', 'ZH', 'FIL', 'JV'];
const named = (code: string) => ({ code, name: code, formality: false });

test('the code of a language in an answer means the same language in a request', () => {
  const all = new Languages({ sources: SOURCES.map(named), targets: [...TARGETS, 'ZH-TW', 'ZH-HANT'].map(named) });
  expect(['ZH', 'NB', 'HE', 'PT-BR', 'DE', 'FIL', 'ZH-HANT'].map(theirCode)).toEqual(['zh-CN', 'no', 'he', 'pt-BR', 'de', 'fil', 'zh-TW']);
  for (const code of TARGETS) expect(targetNamed(theirCode(code), all, VARIANTS)?.code).toBe(code);
  for (const code of SOURCES) expect(sourceNamed(theirCode(code), all)).toBe(code);
});
