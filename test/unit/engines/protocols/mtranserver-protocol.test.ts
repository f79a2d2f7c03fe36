// The mtranserver adapter in detail: single texts, batches and detection, its codes, and what is used of an answer.
import { expect, test } from 'vitest';
import { codeOfMtranServer, mtranServerCode } from '../../../../src/engines/protocols/mtranserver-protocol.ts';
import { answer } from '../../../../src/testing/scripted-engine.ts';
import { SECRET, speaking, SUBJECTS } from './subjects.ts';

const { scripted, translate, bodies } = await speaking('mtranserver', { token: SECRET });

test('one text is sent alone, several as a batch, with the token', async () => {
  await translate({ text: ['a'], sourceLang: 'EN', format: 'html' });
  await translate({ text: ['a', 'b'], sourceLang: 'EN', targetLang: 'ZH' });
  expect(bodies()).toEqual([
    ['/translate', { from: 'en', to: 'de', text: 'a', html: true }],
    ['/translate/batch', { from: 'en', to: 'zh-Hans', texts: ['a', 'b'], html: false }],
  ]);
  for (const { headers } of scripted.requests) expect(headers['authorization']).toBe(`Bearer ${SECRET}`);
});

test('without a token none is sent', async () => {
  await translate({ text: ['a'], sourceLang: 'EN' }, {});
  expect(scripted.requests[0]!.headers).not.toHaveProperty('authorization');
});

test('the language of each text is detected first if none is given', async () => {
  const result = await translate({ text: ['a', 'b'] });
  expect(result).toMatchObject({ kind: 'usable', translations: [{ text: '[DE] a', detectedSourceLanguage: 'EN' }, { text: '[DE] b' }] });
  expect(scripted.requests.map(({ path }) => path).toSorted()).toEqual(['/detect', '/detect', '/translate', '/translate']);
});

test('detection and translation share one deadline', async () => {
  scripted.always((request, response) => setTimeout(() => response.end(SUBJECTS['mtranserver']!.right(request)), 600));
  expect(await translate({ text: ['a'] }, {}, { timeout_ms: 1000 })).toEqual({ kind: 'unavailable', failures: ['timeout', 'timeout'] });
});

test.each([
  ['{"language":""}', 'unsupported_pair'],
  ['{"language":"und"}', 'unsupported_pair'],
  ['{"language":1}', 'wrong_shape'],
  ['{}', 'wrong_shape'],
  ['no', 'not_json'],
])('a language detected as %s gives %s', async (body, failure) => {
  scripted.always(answer(body));
  expect(await translate({ text: ['a'] })).toEqual({ kind: 'unavailable', failures: [failure, failure] });
  expect(scripted.requests.map(({ path }) => path)).toEqual(['/detect', '/detect']);
});

test('codes are those of its models', () => {
  expect(['EN-GB', 'PT-BR', 'ZH', 'NB'].map(mtranServerCode)).toEqual(['en', 'pt', 'zh-Hans', 'nb']);
  expect(['en', 'zh-Hans', 'zh_TW', 'pt'].map(codeOfMtranServer)).toEqual(['EN', 'ZH', 'ZH', 'PT']);
});
