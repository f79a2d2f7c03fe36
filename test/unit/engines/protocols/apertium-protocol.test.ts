// The Apertium adapter with answers that a real APY does not give; a journey has it in front of one.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alpha3Of, apertiumProtocol, baseCodeOf, cutText, joinText } from '../../../../src/engines/protocols/apertium-protocol.ts';
import type { Balancer } from '../../../../src/engines/balancer.ts';
import { answer, startScriptedEngine, status } from '../../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine } from '../../../../src/testing/scripted-engine.ts';
import { asked, Caller, engineOf, work } from '../engine-work.ts';

describe('unusable answers', () => {
  let scripted: ScriptedEngine;
  let engine: Balancer;

  beforeAll(async () => {
    scripted = await startScriptedEngine();
    engine = engineOf([scripted.url], { protocol: apertiumProtocol, timeout_ms: 1500 });
  });

  afterAll(async () => {
    await engine.close();
    await scripted.close();
  });

  const right = '{"responseData":{"translatedText":"Hola"},"responseDetails":null,"responseStatus":200}';

  test.each([
    [answer('{"responseData":{"translatedText":"Hola"},"responseStatus":500}'), 'wrong_shape'],
    [answer('{"responseData":{"translatedText":"Hola"}}'), 'wrong_shape'],
    [answer('{"responseData":{"translatedText":1},"responseStatus":200}'), 'wrong_shape'],
    [answer('{"responseData":null,"responseStatus":200}'), 'wrong_shape'],
    [answer('[]'), 'wrong_shape'],
    [answer('not json'), 'not_json'],
    [status(503), 'status'],
    [status(400), 'unsupported_pair'],
    [status(500, right), 'status'],
    ['reset', 'reset'],
    ['hang', 'timeout'],
  ] as const)('%o is %s', async (behaviour, failure) => {
    scripted.forget();
    scripted.always(answer(right));
    scripted.behave(behaviour);
    const result = await asked(engine, work({ text: ['Hello'], sourceLang: 'EN', targetLang: 'ES' }), new Caller());
    expect(result).toMatchObject({ kind: 'usable', translations: [{ text: 'Hola' }], failures: [failure] });
  });

  test.each([
    ['{}', 'no_detection'],
    ['{"cat":0.9}', 'unsupported_pair'],
    ['{"eng":"0.9"}', 'wrong_shape'],
    ['[]', 'wrong_shape'],
  ])('languages identified as %s give %s', async (scores, failure) => {
    scripted.forget();
    scripted.always(answer(scores));
    const result = await asked(engine, work({ text: ['Hello'], targetLang: 'ES' }), new Caller());
    expect(result).toEqual({ kind: 'unavailable', failures: [failure, failure] });
  });

  test('a text without a guess is no proof that the engine detects nothing: the check sentence decides', async () => {
    scripted.forget();
    scripted.always((request, response) => void response.end(request.body.includes('house') ? '{"eng":0.9}' : '{}'));
    const result = await asked(engine, work({ text: ['1234'], targetLang: 'ES' }), new Caller());
    expect(result).toMatchObject({ failures: ['unsupported_pair', 'unsupported_pair'] });
  });

  test.each([
    ['lists its pairs', '{"responseData":[],"responseStatus":200}', 'no_detection'],
    ['has no such list, so that the URL is wrong', '{"eng":0.9}', 'status'],
  ])('without /identifyLang, a server that %s: %s is %s', async (_what, list, failure) => {
    scripted.forget();
    scripted.always((request, response) => {
      response.statusCode = request.path === '/identifyLang' ? 404 : 200;
      response.end(request.path === '/identifyLang' ? '{}' : list);
    });
    const result = await asked(engine, work({ text: ['Hello'], targetLang: 'ES' }), new Caller());
    expect(result).toEqual({ kind: 'unavailable', failures: [failure, failure] });
  });

  test('the best-scoring language of ours is used, and the call has the right parameters', async () => {
    scripted.forget();
    scripted.behave(answer('{"cat":99,"spa":-0.2,"eng_US":0.4,"fra":0.1}'), answer(right));
    const result = await asked(engine, work({ text: [' Hi & bye\u00e9 '], targetLang: 'PT-BR' }), new Caller());
    expect(result).toMatchObject({ translations: [{ text: ' Hola ', detectedSourceLanguage: 'EN' }] });
    expect(scripted.requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/identifyLang', 'q=Hi+%26+bye%C3%A9'],
      ['POST', '/translate', 'q=Hi+%26+bye%C3%A9&langpair=eng%7Cpor&markUnknown=no&format=txt'],
    ]);
  });

  test('one failing text makes the attempt unusable, and no further text is sent', async () => {
    scripted.forget();
    scripted.always(status(503));
    const text = Array.from({ length: 50 }, (_, i) => `Hello ${i}`);
    const result = await asked(engine, work({ text, sourceLang: 'EN', targetLang: 'ES' }), new Caller());
    expect(result).toEqual({ kind: 'unavailable', failures: ['status', 'status'] });
    expect(scripted.requests.length).toBeLessThanOrEqual(2 * 4);
  });
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
