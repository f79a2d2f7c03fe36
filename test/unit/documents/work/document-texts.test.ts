// The texts of a document in parts: each translated once and in its place, with markup or around it.
import { expect, test } from 'vitest';
import { refuse } from '../../../../src/core/problem.ts';
import { spareCharacters } from '../../../../src/domain/slots.ts';
import type { DocumentText } from '../../../../src/documents/formats.ts';
import type { DocumentRecord } from '../../../../src/ports/documents.ts';
import type { TranslationOrder } from '../../../../src/ports/gateway-services.ts';
import { countTexts, partOf, translateTexts } from '../../../../src/documents/work/document-texts.ts';

const DOCUMENT = { targetLang: 'DE', sourceLang: 'EN', formality: 'more', glossaryId: undefined } as unknown as DocumentRecord;
const NO = refuse('validation_error', 'no.');
const plain = (text: string): DocumentText => ({ text, format: 'text' });
const xml = (text: string): DocumentText => ({ text, format: 'xml' });

/** By an engine that writes in capital letters, and a plugin that spares a character of each part. */
async function translated(texts: readonly DocumentText[], takesXml = true) {
  const orders: TranslationOrder[] = [];
  const services: Parameters<typeof translateTexts>[2] = {
    refusalFor: (_x, options) => (options.format === 'xml' && !takesXml ? NO : undefined),
    translate(x, order) {
      orders.push(order);
      spareCharacters(x, 1);
      return Promise.resolve({
        kind: 'translated',
        translations: order.text.map((text) => ({ text: text.toUpperCase(), detectedSourceLanguage: 'EN' })),
      });
    },
  };
  const result = await translateTexts(texts, DOCUMENT, services, async () => partOf(DOCUMENT, 'pro', { id: 'a part', nowMs: 0 }));
  return { result, orders };
}

test('each text is sent once, at most 50 at a time, with the options of the document, and comes back in its place', async () => {
  const texts = Array.from({ length: 120 }, (_, i) => plain(`text ${i}`));
  const { result, orders } = await translated(texts);
  expect(orders.map(({ text }) => text.length)).toEqual([50, 50, 20]);
  expect(orders.flatMap(({ text }) => text)).toEqual(texts.map(({ text }) => text));
  expect(orders[0]!.options).toMatchObject({ targetLang: 'DE', sourceLang: 'EN', formality: 'more', format: 'text' });
  expect(result).toEqual({ kind: 'texts', texts: texts.map(({ text }) => text.toUpperCase()), spared: 3 });
});

test('long texts are sent in parts of at most 8,000 characters, or alone', async () => {
  const { orders } = await translated([5000, 3000, 1, 9000, 1].map((length) => plain('x'.repeat(length))));
  expect(orders.map(({ text }) => text.map(({ length }) => length))).toEqual([[5000, 3000], [1], [9000], [1]]);
});

test('markup goes to engines that take it, and stays around what is translated by others', async () => {
  const texts = [plain('one'), xml('two <x1>three &amp; four</x1> <x2/>'), plain('a < b')];
  const taken = await translated(texts);
  expect(taken.orders.map(({ options, text }) => [options.format, text])).toEqual([
    ['text', ['one', 'a < b']],
    ['xml', ['two <x1>three &amp; four</x1> <x2/>']],
  ]);
  const { result, orders } = await translated(texts, false);
  expect(orders.flatMap(({ text }) => text)).toEqual(['one', 'two ', 'three & four', 'a < b']);
  expect(result).toMatchObject({ texts: ['ONE', 'TWO <x1>THREE &amp; FOUR</x1> <x2/>', 'A < B'] });
});

test('markup and how characters are written are not counted', async () => {
  expect(await countTexts([plain('a < b'), xml('two <x1>&amp;</x1>'), plain('👍')])).toBe(5 + 5 + 1);
});
