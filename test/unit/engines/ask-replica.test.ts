// Replicas are asked for their pairs: each engine's own list is translated into our codes, and no answer can hang or throw.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { PairTest } from '../../../src/domain/languages.ts';
import { builtInProtocols } from '../../../src/engines/protocols/built-in.ts';
import type { EngineProtocol } from '../../../src/ports/engine.ts';
import { answer, status } from '../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { Opened } from './engine-work.ts';

const SOURCES = ['EN', 'ES', 'NB', 'PT', 'ZH'];
const TARGETS = ['EN-GB', 'ES', 'NB', 'PT-BR', 'PT-PT', 'ZH', 'ZH-HANT'];
const TOKEN = 'a-token';

const opened = new Opened();
let scripted: ScriptedEngine;

beforeAll(async () => {
  scripted = await opened.scripted();
});
afterEach(() => scripted.forget());
afterAll(() => opened.close());

function asking(protocol: EngineProtocol, options: unknown = { codes: {} }, timeoutMs = 5000, urls = [scripted.url]) {
  return opened.engine(urls, { protocol, options, timeoutMs }).askPairs!();
}

/** The replica's pairs in our codes, or the word for its failure. */
async function pairsOf(name: string, body: unknown, options?: unknown): Promise<string | string[]> {
  scripted.always(answer(typeof body === 'string' ? body : JSON.stringify(body)));
  const [replica] = await asking(builtInProtocols.get(name)!, options);
  const pairs = replica!.pairs;
  if (typeof pairs === 'string') return pairs;
  return SOURCES.flatMap((source) => TARGETS.filter((target) => pairs(source, target)).map((target) => `${source}-${target}`));
}

const libre = (...list: readonly (readonly [code: string, ...targets: string[]])[]): unknown =>
  list.map(([code, ...targets]) => ({ code, name: code, targets }));
const apertium = (...pairs: readonly (readonly [string, string])[]): unknown => ({
  responseData: pairs.map(([sourceLanguage, targetLanguage]) => ({ sourceLanguage, targetLanguage })),
  responseDetails: null,
  responseStatus: 200,
});

test.each([
  ['apertium', apertium(['eng', 'spa'], ['spa', 'eng'], ['spa', 'eng_US'], ['cat', 'spa']), ['EN-ES', 'ES-EN-GB']],
  // A pair is offered only with the code that would be sent, which is `por` and not a variant of it.
  ['apertium', apertium(['spa', 'por_BR']), []],
  ['libretranslate', libre(['en', 'es', 'en'], ['es', 'en']), ['EN-EN-GB', 'EN-ES', 'ES-EN-GB']],
  ['libretranslate', libre(['en', 'pt', 'zh']), ['EN-PT-BR', 'EN-PT-PT', 'EN-ZH', 'EN-ZH-HANT']],
  // Codes of version 1.7, which also accepts their old names.
  ['libretranslate', libre(['en', 'zh-Hans'], ['zh-Hans', 'en']), ['EN-ZH', 'EN-ZH-HANT', 'ZH-EN-GB']],
  [
    'mtranserver',
    { languages: ['en', 'zh-Hans', 'nb'] },
    ['EN-EN-GB', 'EN-NB', 'EN-ZH', 'EN-ZH-HANT', 'NB-EN-GB', 'NB-NB', 'NB-ZH', 'NB-ZH-HANT', 'ZH-EN-GB', 'ZH-NB', 'ZH-ZH', 'ZH-ZH-HANT'],
  ],
  ['mtranserver', { languages: ['en', 'zh'] }, ['EN-EN-GB', 'EN-ZH', 'EN-ZH-HANT', 'ZH-EN-GB', 'ZH-ZH', 'ZH-ZH-HANT']],
])('%s: %j becomes %j', async (name, body, pairs) => {
  expect(await pairsOf(name, body)).toEqual(pairs);
});

test('the operator’s codes for LibreTranslate apply to pairs as they do to texts', async () => {
  const options = { codes: { 'PT-BR': 'pb', 'ZH-HANT': 'zt' } };
  expect(await pairsOf('libretranslate', libre(['en', 'pb', 'pt', 'zt']), options)).toEqual(['EN-PT-BR', 'EN-PT-PT', 'EN-ZH-HANT']);
  expect(await pairsOf('libretranslate', libre(['en', 'pt-BR', 'zh-Hant']), options)).toEqual(['EN-PT-BR', 'EN-ZH-HANT']);
});

test('each is asked on its own route, MTranServer with its token', async () => {
  await pairsOf('apertium', apertium());
  await pairsOf('libretranslate', libre());
  await pairsOf('mtranserver', { languages: [] }, { token: TOKEN });
  expect(scripted.requests.map(({ method, path, headers }) => [method, path, headers['authorization']])).toEqual([
    ['GET', '/listPairs', undefined],
    ['GET', '/languages', undefined],
    ['GET', '/languages', `Bearer ${TOKEN}`],
  ]);
});

describe.each(['apertium', 'libretranslate', 'mtranserver'])('%s', (name) => {
  test.each([
    ['', 'not_json'],
    ['<html>', 'not_json'],
    ['null', 'wrong_shape'],
    ['7', 'wrong_shape'],
    ['"languages"', 'wrong_shape'],
    ['{}', 'wrong_shape'],
    ['{"responseData":[null],"languages":[null]}', 'wrong_shape'],
    ['{"responseData":[{"sourceLanguage":1,"targetLanguage":"spa"}],"languages":{"en":true}}', 'wrong_shape'],
    ['{"responseData":"eng|spa","languages":"en"}', 'wrong_shape'],
    ['[null]', 'wrong_shape'],
    ['[{"code":"en"}]', 'wrong_shape'],
    ['[{"code":"en","targets":[1]}]', 'wrong_shape'],
  ])('treats nonsense as a failure: %s', async (body, failure) => {
    expect(await pairsOf(name, body)).toBe(failure);
  });

  test('treats an error as a failure, whatever its body says', async () => {
    scripted.always(status(500, JSON.stringify(libre(['en', 'es']))));
    expect(await asking(builtInProtocols.get(name)!)).toEqual([
      { url: scripted.url, pairs: 'status', detail: { failure: 'status', status: 500, cause: undefined } },
    ]);
  });
});

test('each replica is asked, and one that hangs or is down delays nothing for longer than the deadline of an attempt', async () => {
  scripted.behave('hang');
  const gone = await opened.scripted();
  const { url } = gone;
  await gone.close();
  const answers = await asking(builtInProtocols.get('libretranslate')!, { codes: {} }, 200, [scripted.url, url]);
  expect(answers.map(({ pairs }) => pairs)).toEqual(['timeout', 'connect']);
  await scripted.until(() => scripted.openConnections === 0);
});

test('a protocol that throws, or never stops asking, is ended in time', async () => {
  const attempt = (): Promise<never> => Promise.reject(new Error('not called'));
  const throwing: EngineProtocol = {
    attempt,
    pairs() {
      throw new Error('a bug');
    },
  };
  expect(await asking(throwing)).toMatchObject([{ pairs: 'internal' }]);
  const idle: EngineProtocol = { attempt, pairs: () => new Promise<PairTest>(() => undefined) };
  expect(await asking(idle, {}, 50)).toMatchObject([{ pairs: 'timeout' }]);
});

test('only an engine that can report its pairs is asked', () => {
  const asked = [...builtInProtocols].filter(([, protocol]) => opened.engine([scripted.url], { protocol }).askPairs !== undefined);
  expect(asked.map(([name]) => name)).toEqual(['apertium', 'libretranslate', 'mtranserver']);
  const batching = opened.engine([scripted.url], {
    protocol: builtInProtocols.get('libretranslate')!,
    batch: { textsMax: 50, charactersMax: 1000, waitMs: 0 },
  });
  expect(batching.askPairs).toBeDefined();
});
