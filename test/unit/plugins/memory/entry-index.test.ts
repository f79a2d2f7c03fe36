// The index of entries, with few buckets: every entry of a bucket is found, also after it has moved, and no other.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EntryIndex, HASH, HEAD_BYTES, HEAD_WORDS, KEY_BYTES, UNIT } from '../../../../src/plugins/memory/entry-index.ts';
import { KeyBytes, WORD } from '../../../../src/plugins/memory/text-key.ts';

const SEGMENT_BYTES = 4096;
const ENTRIES_MAX = 16;
const HINTS = 8;
const ENTRY_BYTES = 8 * UNIT;
const key = new KeyBytes();

function keyOf(n: number): KeyBytes {
  expect([key.begin('T', 'o|'), key.add(`number ${n}`)]).toEqual([true, true]);
  return key;
}

/** Two buckets. */
const openIndex = (): EntryIndex => new EntryIndex(256, SEGMENT_BYTES);

/** Writes an entry at its place and returns the result of `link`. */
function put(index: EntryIndex, place: number, n: number, hash = keyOf(n).hash): number {
  const { length, words: from } = keyOf(n);
  const { words } = index.segmentOf(place);
  const head = index.offsetOf(place) / WORD;
  expect(HEAD_BYTES + length).toBeLessThanOrEqual(ENTRY_BYTES);
  words[head + HASH] = hash;
  words[head + KEY_BYTES] = length;
  for (let i = 0; i < length / WORD; i++) words[head + HEAD_WORDS + i] = from[i]!;
  return index.link(place);
}

const action = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), n: fc.nat(15) }),
  fc.record({ kind: fc.constant('remove' as const), n: fc.nat(15) }),
  fc.record({ kind: fc.constant('move' as const), n: fc.nat(15) }),
);

test('entries that were added and not removed are found, also after they have moved', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200, size: 'max' }), (actions) => {
      const index = openIndex();
      const places = new Map<number, number>();
      let used = 0;
      const newPlace = (): number => {
        const perSegment = SEGMENT_BYTES / ENTRY_BYTES;
        if (used % perSegment === 0) index.addSegment();
        return index.placeOf(Math.floor(used / perSegment), (used++ % perSegment) * ENTRY_BYTES);
      };
      for (const { kind, n } of actions) {
        const place = places.get(n);
        if (kind === 'add' && place === undefined) {
          const added = newPlace();
          expect(put(index, added, n)).toBe(0);
          places.set(n, added);
        } else if (kind === 'remove' && place !== undefined) {
          index.unlink(place);
          places.delete(n);
        } else if (kind === 'move' && place !== undefined) {
          const to = newPlace();
          index.move(place, to);
          const [from, at] = [index.offsetOf(place), index.offsetOf(to)];
          index.segmentOf(to).bytes.set(index.segmentOf(place).bytes.subarray(from, from + ENTRY_BYTES), at);
          places.set(n, to);
        }
        for (let other = 0; other < 16; other++) expect(index.find(keyOf(other))).toBe(places.get(other) ?? 0);
      }
      index.clear();
      expect(index.find(keyOf(0))).toBe(0);
    }),
    { numRuns: 30 },
  );
});

test('keys with equal hashes are distinguished by their bytes', () => {
  const index = openIndex();
  index.addSegment();
  const sameHash = (n: number): KeyBytes => Object.assign(keyOf(n), { hash: 7 });
  for (const n of [1, 2]) {
    const place = index.placeOf(0, n * ENTRY_BYTES);
    put(index, place, n, 7);
    expect(index.find(sameHash(n))).toBe(place);
  }
  expect(index.find(sameHash(1))).toBe(index.placeOf(0, ENTRY_BYTES));
  expect(index.find(sameHash(3))).toBe(0);
});

test('a full bucket evicts its oldest entries', () => {
  const index = new EntryIndex(128, SEGMENT_BYTES * 4);
  index.addSegment();
  const left: number[] = [];
  for (let n = 0; n < 100; n++) {
    const place = index.placeOf(0, n * ENTRY_BYTES);
    const tooMany = put(index, place, n);
    left.push(place);
    if (tooMany === 0) continue;
    expect(tooMany).toBe(left[left.length - 1 - ENTRIES_MAX]);
    index.unlink(tooMany);
    left.splice(left.indexOf(tooMany), 1);
  }
  // Only the first entry with each hint is added without comparing it with others.
  expect(left.length).toBeLessThan(ENTRIES_MAX + HINTS);
  for (const [i, place] of left.entries()) if (i > 0) expect(place).toBeGreaterThan(left[i - 1]!);
});
