// The native protocol in detail: what is sent, and what is used of an answer.
import { expect, test } from 'vitest';
import { TRANSLATION_OPTIONS } from '../../../../src/domain/translation-options.ts';
import { answer } from '../../../../src/testing/scripted-engine.ts';
import type { WorkParts } from '../engine-work.ts';
import { speaking } from './subjects.ts';

const { scripted, translate, sent } = await speaking('native');

const SENT: Readonly<Record<string, readonly [value: unknown, json: string]>> = {
  sourceLang: ['EN', '"source_lang":"EN"'],
  context: ['a "context"', '"context":"a \\"context\\""'],
  glossary: [{ id: '01J', entries: { cat: 'Katze' } }, '"glossary":{"id":"01J","entries":{"cat":"Katze"}}'],
  format: ['xml', '"format":"xml"'],
  ignoreTags: [['x', 'y'], '"ignore_tags":["x","y"]'],
};
/** Every option but style, which this protocol does not take; those without a row are words. */
const OPTIONS = TRANSLATION_OPTIONS.filter((name) => name !== 'targetLang' && name !== 'style').map((name) => {
  const [value, json] = SENT[name] ?? ['more', `"${name}":"more"`];
  return [name, value, json] as const;
});

test('the body is exactly as documented, for every combination of options', async () => {
  for (let bits = 0; bits < 2 ** OPTIONS.length; bits++) {
    const chosen = OPTIONS.filter((_, i) => (bits & (1 << i)) !== 0);
    const request = await sent({ text: ['Hello'], ...(Object.fromEntries(chosen) as WorkParts) });
    const members = chosen.map(([, , json]) => json);
    const source = members.filter((json) => json.startsWith('"source_lang"'));
    const others = members.filter((json) => !source.includes(json));
    expect(request.body).toBe(`{${['"text":["Hello"]', ...source, '"target_lang":"DE"', ...others].join(',')}}`);
  }
});

test('the head is built only from constants and ids', async () => {
  const { method, path, headers, body } = await sent({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' });
  expect([method, path]).toEqual(['POST', '/translate']);
  expect(headers).toEqual({
    host: `127.0.0.1:${scripted.port}`,
    connection: 'keep-alive',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': '01JZZZZZZZZZZZZZZZZZZZZZZZ',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
  expect((await sent({})).headers).not.toHaveProperty('traceparent');
});

test.each([
  ['/base', '/base/translate'],
  ['/base/', '/base/translate'],
  ['/a/b%20c', '/a/b%20c/translate'],
  ['/', '/translate'],
])('a replica under the path %s is called at %s', async (base, path) => {
  await translate({}, {}, { urls: [scripted.url + base] });
  expect(scripted.requests.map((request) => request.path)).toEqual([path]);
});

test('the format text is not sent, and no other value is mistaken for it', async () => {
  expect((await sent({ text: ['a'], format: 'text', context: 'text' })).body).toBe('{"text":["a"],"target_lang":"DE","context":"text"}');
  expect((await sent({ text: ['a'], format: 'html' })).body).toBe('{"text":["a"],"target_lang":"DE","format":"html"}');
});

test.each(['👨‍👩‍👧‍👦é e\u0301 \u{10ffff} \u2028 \u0000 "\\ \r\n\t', '日本語 עברית ไทย', 'ﬀ\u202eabc', ' leading and trailing ', '\ufeff'])(
  'text is sent and returned byte for byte: %j',
  async (text) => {
    const request = await sent({ text: [text] });
    expect(JSON.parse(request.body)).toMatchObject({ text: [text] });
    expect(await translate({ text: [text] })).toMatchObject({ translations: [{ text: `[DE] ${text}` }] });
  },
);

test('the detected language is passed on as reported, and absent if none was', async () => {
  scripted.behave(answer('{"more":1,"translations":[{"text":"a","detected_source_language":"tlh","x":1},{"text":"b"}]}'));
  expect(await translate()).toEqual({
    kind: 'usable',
    translations: [
      { text: 'a', detectedSourceLanguage: 'tlh' },
      { text: 'b', detectedSourceLanguage: undefined },
    ],
    engine: 'default',
    failures: [],
  });
});

test('an answer of exactly the limit is accepted, one byte more is not', async () => {
  const body = '{"translations":[{"text":"a"}]}';
  scripted.behave(answer(body), answer(`${body} `), answer(body));
  for (const failures of [[], ['too_large']])
    expect(await translate({ text: ['x'] }, {}, { response_bytes_max: body.length })).toMatchObject({ kind: 'usable', failures });
});

const UNSEEN = ['\u200b', '\ufeff', '\u2060\u200d', '\u0007', '\u{e0041}\u{e007f}', '\u3164', '\u202e \u2069', '\u3000', '\u0378'];

test.each(['', ' ', '\n\t', '\u00a0', ...UNSEEN, UNSEEN.join('')])(
  'an empty translation (%j) is unusable for a text with letters, and accepted for one without',
  async (empty) => {
    const body = JSON.stringify({ translations: [{ text: empty }] });
    scripted.behave(answer(body), answer(body));
    expect(await translate({ text: ['é'] })).toEqual({
      kind: 'unavailable',
      failures: ['wrong_shape', 'wrong_shape'],
    });
    scripted.behave(answer(body));
    expect(await translate({ text: ['— 1 😀'] })).toMatchObject({ kind: 'usable', failures: [] });
  },
);

test.each(['Hall\\ud800o', '\\udc00', 'a\\ude00\\ud83d'])('a lone surrogate (%s) is unusable, whatever the text', async (escaped) => {
  for (const text of ['Hello', '1']) {
    scripted.behave(answer(`{"translations":[{"text":"${escaped}"}]}`), answer('{"translations":[{"text":"\\ud83d\\ude00"}]}'));
    expect(await translate({ text: [text] })).toMatchObject({ kind: 'usable', failures: ['wrong_shape'] });
  }
});
