// Entries in pieces are the same entries, whatever they contain and wherever the text is split.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  eachEntry,
  EntriesSplitter,
  ReadEntries,
  readPiece,
  wholeObject,
  wholeObjectBytes,
  writeEntries,
  writtenEntries,
} from '../../../src/domain/entries-text.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.array(fc.constantFrom('"', ',', '","', '\\', '\\"', '{', '}', ':', '€', '😀'), { maxLength: 12 }).map((parts) => parts.join('')),
);
const entries = fc.dictionary(text, text, { maxKeys: 20, noNullPrototype: true });
const NO_TURN = async (): Promise<void> => undefined;

/** Enough entries for several pieces. */
function large(mark = 'x'): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`term ${i}`, `${mark}",\\"`.repeat(100 + (i % 50))]));
}

function joined(pieces: Iterable<Uint8Array>): string {
  return Buffer.concat([...pieces]).toString();
}

describe('written', () => {
  test('they are the JSON of the object, and their bytes count terms and translations', () => {
    fc.assert(
      fc.property(entries, (some) => {
        const { pieces, entryCount, bytes } = writtenEntries(some);
        expect(joined(wholeObject(pieces))).toBe(JSON.stringify(some));
        expect(wholeObjectBytes(pieces)).toBe(Buffer.byteLength(JSON.stringify(some)));
        expect(entryCount).toBe(Object.keys(some).length);
        expect(bytes).toBe(Object.entries(some).reduce((sum, [a, b]) => sum + Buffer.byteLength(a) + Buffer.byteLength(b), 0));
      }),
      { numRuns: 500 },
    );
  });

  test('many fill several pieces, and other work gets a turn between them', async () => {
    let turns = 0;
    const { pieces } = await writeEntries(large(), async () => void turns++);
    expect(pieces.length).toBeGreaterThan(3);
    expect(turns).toBeGreaterThanOrEqual(pieces.length - 1);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(80_000);
    expect(joined(wholeObject(pieces))).toBe(JSON.stringify(large()));
  });
});

describe('split', () => {
  test('wherever the chunks end, pieces have whole entries, in their order', () => {
    const whole = Buffer.from(JSON.stringify(large('€')));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 30 }), (lengths) => {
        const splitter = new EntriesSplitter();
        for (let at = 0, i = 0; at < whole.length; i++) {
          const length = lengths[i % lengths.length]! + (i > 200 ? 70_000 : 0);
          splitter.push(whole.subarray(at, at + length));
          at += length;
        }
        const pieces = splitter.end();
        expect(pieces.length).toBeGreaterThan(3);
        expect(joined(wholeObject(pieces))).toBe(whole.toString());
        expect(Object.assign({}, ...pieces.map(readPiece))).toEqual(large('€'));
      }),
      { numRuns: 20 },
    );
  });

  test('a small dictionary is one piece, whatever it contains and however it arrives', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 9 }), (some, length) => {
        const whole = Buffer.from(JSON.stringify(some));
        const splitter = new EntriesSplitter();
        for (let at = 0; at < whole.length; at += length) splitter.push(whole.subarray(at, at + length));
        const pieces = splitter.end();
        expect(pieces.length).toBe(Object.keys(some).length === 0 ? 0 : 1);
        expect(new ReadEntries(pieces).entries).toEqual(some);
      }),
      { numRuns: 300 },
    );
  });
});

test('each entry is visited once, from pieces or from an object, with a turn before each piece of a large one', async () => {
  const { pieces } = writtenEntries(large());
  const given = new Map<string, string>();
  let turns = 0;
  await eachEntry(
    new ReadEntries(pieces),
    async () => void turns++,
    (term, translation) => given.set(term, translation),
  );
  expect(Object.fromEntries(given)).toEqual(large());
  expect(turns).toBe(pieces.length);
  const small: string[] = [];
  await eachEntry({ entries: { ['__proto__']: 'x', a: 'b' } }, NO_TURN, (term) => small.push(term));
  expect(small).toEqual(['__proto__', 'a']);
});
