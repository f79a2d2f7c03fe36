// A remembered translation as bytes: it is decoded as it was encoded, and any other bytes under its key are ignored.
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
  madeAtMs: fc.double({ noNaN: true }),
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

test('bytes that are damaged, cut off or too long anywhere are not decoded', () => {
  const bytes = encodeText(KEY, { translation: { text: 'Hällo', detectedSourceLanguage: 'EN' }, madeAtMs: 1 })!;
  for (let i = 0; i < bytes.length; i++) {
    for (const bit of [1, 128]) {
      const damaged = Buffer.from(bytes);
      damaged[i]! ^= bit;
      expect(decodeText(KEY, damaged)).toBeUndefined();
    }
    expect(decodeText(KEY, bytes.subarray(0, i))).toBeUndefined();
  }
  expect(decodeText(KEY, Buffer.concat([bytes, Buffer.of(0)]))).toBeUndefined();
});

test('bytes of another program are not decoded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(decodeText(KEY, Buffer.from(bytes))).toBeUndefined();
    }),
  );
});

test('what UTF-8 cannot represent, or does not fit, is not encoded', () => {
  const translation = { text: 'x', detectedSourceLanguage: undefined };
  expect(encodeText(KEY, { translation: { ...translation, text: '\ud800' }, madeAtMs: 1 })).toBeUndefined();
  expect(encodeText(KEY, { translation: { ...translation, detectedSourceLanguage: 'x'.repeat(255) }, madeAtMs: 1 })).toBeUndefined();
  expect(encodeText('short', { translation, madeAtMs: 1 })).toBeUndefined();
});
