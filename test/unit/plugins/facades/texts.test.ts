// Many texts are sent to the engine in pieces, answered in their order, and fail together.
import { expect, test } from 'vitest';
import type { Exchange, Refusal } from '../../../../src/index.ts';
import { NOTHING_CHOSEN, refuse } from '../../../../src/index.ts';
import { detectAll, translateAll } from '../../../../src/plugins/facades/texts.ts';

const x = {} as Exchange;
const options = { ...NOTHING_CHOSEN, targetLang: 'DE' };
const FAILED = refuse('engine_unavailable', 'away');

/** Answers the later pieces first. */
function services(pieces: (readonly string[])[], failing = Infinity) {
  const answer = async <T>(texts: readonly string[], result: T): Promise<T | Refusal> => {
    const number = pieces.push(texts);
    for (let i = 0; i < 10 - number; i++) await Promise.resolve();
    return number === failing ? FAILED : result;
  };
  return {
    translate: (_x: Exchange, { text }: { text: readonly string[] }) =>
      answer(text, {
        kind: 'translated' as const,
        translations: text.map((one) => ({ text: `[${one}]`, detectedSourceLanguage: undefined })),
      }),
    detect: (_x: Exchange, texts: readonly string[]) =>
      answer(texts, { kind: 'detected' as const, languages: texts.map((one) => one.toUpperCase()) }),
  };
}

const textsOf = (count: number): readonly string[] => Array.from({ length: count }, (_none, i) => `t${i}`);

test.each([
  [1, [1]],
  [50, [50]],
  [51, [26, 25]],
  [100, [50, 50]],
  [101, [34, 34, 33]],
  [128, [43, 43, 42]],
])('%i texts are sent in pieces of %j', async (count, lengths) => {
  const [translated, detected]: (readonly string[])[][] = [[], []];
  const text = textsOf(count);
  expect(await translateAll(services(translated!), x, { text, options, glossaryId: undefined })).toEqual({
    kind: 'translated',
    translations: text.map((one) => ({ text: `[${one}]`, detectedSourceLanguage: undefined })),
  });
  expect(await detectAll(services(detected!), x, text)).toEqual({ kind: 'detected', languages: text.map((one) => one.toUpperCase()) });
  for (const pieces of [translated!, detected!]) expect([pieces.map(({ length }) => length), pieces.flat()]).toEqual([lengths, text]);
});

test('without texts, nothing is translated', async () => {
  const pieces: (readonly string[])[] = [];
  expect(await translateAll(services(pieces), x, { text: [], options, glossaryId: undefined })).toEqual({
    kind: 'translated',
    translations: [],
  });
  expect(pieces).toEqual([]);
});

test.each([1, 2, 3])('the failure of piece %i is the answer for all', async (failing) => {
  expect(await translateAll(services([], failing), x, { text: textsOf(128), options, glossaryId: undefined })).toBe(FAILED);
  expect(await detectAll(services([], failing), x, textsOf(128))).toBe(FAILED);
});

test('an exception is rethrown only after all pieces have ended', async () => {
  const bug = new Error('bug');
  const [first, second, third] = [0, 1, 2].map(() => Promise.withResolvers<Refusal>());
  const answers = [first!, second!, third!].map(({ promise }) => promise);
  let reply: unknown = 'nothing';
  const translate = () => answers.shift()!;
  const translating = translateAll({ translate }, x, { text: textsOf(128), options, glossaryId: undefined });
  const telling = translating.catch((error: unknown) => (reply = error));
  second!.reject(bug);
  third!.reject(new Error('another'));
  await new Promise(setImmediate);
  expect(reply).toBe('nothing');
  first!.resolve(FAILED);
  await telling;
  expect(reply).toBe(bug);
});
