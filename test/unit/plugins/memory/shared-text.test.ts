// A remembered translation as Redis has it: it is decoded as it was encoded, and anything else under its key is ignored.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeText, encodeText } from '../../../../src/plugins/memory/redis-memory.ts';
import { keyOfText } from '../../../../src/plugins/memory/text-memory.ts';

const KEY = keyOfText('beginning', 'text')!;
const OTHER_KEY = keyOfText('beginning', 'texts')!;
const shared = fc.record({
  translation: fc.record({
    text: fc.string({ unit: 'grapheme' }),
    detectedSourceLanguage: fc.option(fc.string({ unit: 'grapheme', maxLength: 10 }), { nil: undefined }),
  }),
  madeAtMs: fc.double({ min: 0, max: 1e15, noNaN: true }),
});

test('what was encoded is decoded, under its own key only', () => {
  fc.assert(
    fc.property(shared, (text) => {
      const bytes = encodeText(KEY, text)!;
      expect(decodeText(KEY, bytes)).toEqual(text);
      expect(decodeText(OTHER_KEY, bytes)).toBeUndefined();
    }),
  );
});

test('what is damaged, cut off or too long anywhere is not decoded', () => {
  const bytes = Buffer.from(encodeText(KEY, { translation: { text: 'Hällo', detectedSourceLanguage: 'EN' }, madeAtMs: 1 })!);
  for (let i = 0; i < bytes.length; i++) {
    for (const bit of [1, 128]) {
      const damaged = Buffer.from(bytes);
      damaged[i]! ^= bit;
      expect(decodeText(KEY, damaged.toString())).toBeUndefined();
    }
    expect(decodeText(KEY, bytes.subarray(0, i).toString())).toBeUndefined();
  }
  expect(decodeText(KEY, `${bytes.toString()}\0`)).toBeUndefined();
});

test('what another program has written is not decoded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(decodeText(KEY, Buffer.from(bytes).toString())).toBeUndefined();
    }),
  );
});

test('what UTF-8 cannot represent is not encoded', () => {
  const translation = { text: '\ud800', detectedSourceLanguage: undefined };
  expect(encodeText(KEY, { translation, madeAtMs: 1 })).toBeUndefined();
});
