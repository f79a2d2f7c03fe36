// The Apertium adapter with answers that a real APY does not give; a journey has it in front of one.
import { describe, expect, test } from 'vitest';
import { alpha3Of, baseCodeOf, cutText, joinText } from '../../../../src/engines/protocols/apertium-protocol.ts';
import { answer, status } from '../../../../src/testing/scripted-engine.ts';
import { speaking } from './subjects.ts';

const { scripted, translate } = await speaking('apertium', {}, { text: ['Hello'], targetLang: 'ES' });

describe('detection', () => {
  test.each([
    ['{}', 'no_detection'],
    ['{"cat":0.9}', 'unsupported_pair'],
    ['{"eng":"0.9"}', 'wrong_shape'],
    ['[]', 'wrong_shape'],
  ])('languages identified as %s give %s', async (scores, failure) => {
    scripted.always(answer(scores));
    expect(await translate()).toEqual({ kind: 'unavailable', failures: [failure, failure] });
  });

  test('a text without a guess is no proof that the engine detects nothing: the check sentence decides', async () => {
    scripted.always((request, response) => void response.end(request.body.includes('house') ? '{"eng":0.9}' : '{}'));
    expect(await translate({ text: ['1234'] })).toMatchObject({ failures: ['unsupported_pair', 'unsupported_pair'] });
  });

  test.each([
    ['lists its pairs', '{"responseData":[],"responseStatus":200}', 'no_detection'],
    ['has no such list, so that the URL is wrong', '{"eng":0.9}', 'status'],
  ])('without /identifyLang, a server that %s: %s is %s', async (_what, list, failure) => {
    scripted.always((request, response) => {
      response.statusCode = request.path === '/identifyLang' ? 404 : 200;
      response.end(request.path === '/identifyLang' ? '{}' : list);
    });
    expect(await translate()).toEqual({ kind: 'unavailable', failures: [failure, failure] });
  });

  test('the best-scoring language of ours is used, and the call has the right parameters', async () => {
    const right = '{"responseData":{"translatedText":"Hola"},"responseDetails":null,"responseStatus":200}';
    scripted.behave(answer('{"cat":99,"spa":-0.2,"eng_US":0.4,"fra":0.1}'), answer(right));
    expect(await translate({ text: [' Hi & bye\u00e9 '], targetLang: 'PT-BR' })).toMatchObject({
      translations: [{ text: ' Hola ', detectedSourceLanguage: 'EN' }],
    });
    expect(scripted.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/identifyLang', 'q=Hi+%26+bye%C3%A9'],
      ['POST', '/translate', 'q=Hi+%26+bye%C3%A9&langpair=eng%7Cpor&markUnknown=no&format=txt'],
    ]);
  });
});

test('one failing text makes the attempt unusable, and no further text is sent', async () => {
  scripted.always(status(503));
  const text = Array.from({ length: 50 }, (_, i) => `Hello ${i}`);
  expect(await translate({ text, sourceLang: 'EN' })).toEqual({ kind: 'unavailable', failures: ['status', 'status'] });
  expect(scripted.requests.length).toBeLessThanOrEqual(2 * 4);
});

describe('cutting', () => {
  const samples = [
    '',
    ' ',
    'a',
    ' a ',
    'x'.repeat(5000),
    '👩'.repeat(3001),
    'One two. '.repeat(900),
    'línea\n'.repeat(700),
    ' '.repeat(4000),
    `${'a b'.repeat(600)}\n`,
  ];

  test.each(samples)('gives bounded pieces without surrounding white space, which join to the same text (sample %#)', (text) => {
    const { pieces, around } = cutText(text);
    expect(joinText(pieces, around)).toBe(text);
    for (const piece of pieces) {
      expect(piece.length).toBeGreaterThan(0);
      expect(piece.length).toBeLessThanOrEqual(1000);
      expect(piece).toBe(piece.trim());
      expect(piece.isWellFormed()).toBe(true);
    }
  });

  test('is done between sentences if possible, and between words otherwise', () => {
    expect(cutText('Eleven char. '.repeat(100)).pieces.every((piece) => piece.endsWith('char.'))).toBe(true);
    expect(cutText('word '.repeat(500)).pieces.every((piece) => /^(?:word ?)+$/.test(piece))).toBe(true);
  });

  test('takes linear time', () => {
    const startedAt = process.cpuUsage();
    for (const text of ['a'.repeat(1 << 20), ' '.repeat(1 << 20), 'a '.repeat(1 << 19), `a${' '.repeat(1 << 20)}b`]) cutText(text);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(2_000_000);
  });
});

test('all 38 target codes have an ISO 639-3 code, and the 36 base codes are found by theirs', () => {
  const sources = 'AR BG CS DA DE EL EN ES ET FI FR GA HE HR HU ID IT JA KO LT LV MT NB NL PL PT RO RU SK SL SV TH TR UK VI ZH'.split(' ');
  expect(sources.map((code) => baseCodeOf(alpha3Of(code) ?? ''))).toEqual(sources);
  expect(['EN-GB', 'EN-US', 'PT-BR', 'PT-PT', 'NB', 'ZH'].map(alpha3Of)).toEqual(['eng', 'eng', 'por', 'por', 'nob', 'zho']);
  expect(new Set(sources.map(alpha3Of)).size).toBe(36);
  expect([alpha3Of('XX'), baseCodeOf('cat')]).toEqual([undefined, undefined]);
});
