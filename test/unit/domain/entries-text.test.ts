// Entries in pieces are the same entries, whatever they contain.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  eachEntry,
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

test('pieces that are read are the entries, whatever they contain', () => {
  fc.assert(
    fc.property(entries, (some) => {
      expect(new ReadEntries(writtenEntries(some).pieces).entries).toEqual(some);
    }),
    { numRuns: 300 },
  );
  const { pieces } = writtenEntries(large('€'));
  expect(pieces.length).toBeGreaterThan(3);
  expect(Object.assign({}, ...pieces.map(readPiece))).toEqual(large('€'));
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
