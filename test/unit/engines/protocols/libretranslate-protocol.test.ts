// The libretranslate adapter in detail: what is sent, its codes, and what is used of an answer.
import { describe, expect, test } from 'vitest';
import { codeOfLibreTranslate, libreTranslateCode } from '../../../../src/engines/protocols/libretranslate-protocol.ts';
import { answer } from '../../../../src/testing/scripted-engine.ts';
import { SECRET, speaking, SUBJECTS } from './subjects.ts';

const { scripted, translate, bodies } = await speaking('libretranslate', { codes: {} });

test('texts of one language are sent in one call, with the key if there is one', async () => {
  await translate({ text: ['a', 'b'], sourceLang: 'EN', targetLang: 'DE' }, { codes: {}, api_key: SECRET });
  await translate({ text: ['a'], sourceLang: 'EN', targetLang: 'DE', format: 'html' });
  expect(bodies()).toEqual([
    ['/translate', { q: ['a', 'b'], source: 'en', target: 'de', format: 'text', api_key: SECRET }],
    ['/translate', { q: ['a'], source: 'en', target: 'de', format: 'html' }],
  ]);
});

test('texts without a source language are sent one by one, because a list would be taken for one language', async () => {
  const result = await translate({ text: ['a', 'b', 'c'] });
  expect(bodies().length).toBe(3);
  for (const [, body] of bodies() as [string, { q: unknown; source: string }][]) {
    expect([typeof body.q, body.source]).toEqual(['string', 'auto']);
  }
  expect(result).toMatchObject({ translations: Array.from({ length: 3 }, () => ({ detectedSourceLanguage: 'EN' })) });
});

test('texts with only white space are not sent, and returned unchanged', async () => {
  const result = await translate({ text: [' \n', 'a', '\t'], sourceLang: 'EN' });
  expect(result).toMatchObject({ translations: [{ text: ' \n' }, { text: '[DE] a' }, { text: '\t' }] });
  expect(await translate({ text: ['  '] })).toMatchObject({ kind: 'usable', translations: [{ text: '  ' }] });
  expect(scripted.requests).toHaveLength(1);
});

test('an emoji as the answer means a wrong key, unless the text is an emoji', async () => {
  scripted.always(answer('{"translatedText":["🤡"]}'));
  expect(await translate({ text: ['Hello'], sourceLang: 'EN' })).toMatchObject({ failures: ['wrong_shape', 'wrong_shape'] });
  expect(await translate({ text: ['👍'], sourceLang: 'EN' })).toMatchObject({ kind: 'usable' });
});

test('calls that take too long together end at one deadline', async () => {
  scripted.always((request, response) => setTimeout(() => response.end(SUBJECTS['libretranslate']!.right(request)), 200));
  // Four at a time, five rounds of 200 ms, in a second.
  const result = await translate({ text: Array.from({ length: 20 }, (_, i) => `a ${i}`) }, { codes: {} }, { timeout_ms: 1000 });
  expect(result).toMatchObject({ failures: ['timeout', 'timeout'] });
});

describe('codes', () => {
  test.each([
    ['EN', 'en'],
    ['EN-GB', 'en'],
    ['PT-BR', 'pt'],
    ['ZH', 'zh'],
    ['NB', 'nb'],
  ])('%s is their %s', (ours, theirs) => {
    expect(libreTranslateCode(ours, {})).toBe(theirs);
  });

  test('the operator’s own take precedence, by variant and then by base code', async () => {
    expect(libreTranslateCode('PT-BR', { 'PT-BR': 'pb' })).toBe('pb');
    expect(libreTranslateCode('PT-PT', { 'PT-BR': 'pb' })).toBe('pt');
    expect(libreTranslateCode('ZH', { ZH: 'zt' })).toBe('zt');
    await translate({ text: ['a'], sourceLang: 'EN', targetLang: 'PT-BR' }, { codes: { 'PT-BR': 'pb' } });
    expect(bodies()).toMatchObject([['/translate', { target: 'pb' }]]);
  });

  test.each([
    ['en', {}, 'EN'],
    ['pt-BR', {}, 'PT'],
    ['pb', {}, 'PT'],
    ['zh-Hans', {}, 'ZH'],
    ['zt', {}, 'ZH'],
    ['xx', { DE: 'xx' }, 'DE'],
    ['XX', { 'PT-BR': 'xx' }, 'PT'],
  ])('%s with %j is our %s', (theirs, codes, ours) => {
    expect(codeOfLibreTranslate(theirs, codes)).toBe(ours);
  });
});
