// Entries of the process's cache in memory outside the JavaScript heap: where each one is, and how a key leads to it.
import { WORD } from './text-key.ts';
import type { KeyBytes } from './text-key.ts';

/** Words of an entry's head, which its key and its translation follow. Entries of a bucket are a linked list of places; 0 ends it. */
const NEXT = 0;
export const HASH = 1;
/** A double: two words. */
export const MADE_AT = 2;
export const KEY_BYTES = 4;
export const TEXT_BYTES = 5;
/** Index in the list of languages. */
export const LANGUAGE = 6;
/** Size of the entry in bytes, a multiple of `UNIT`; the low bits are flags. */
export const SIZE = 7;
export const HEAD_WORDS = 8;
export const HEAD_BYTES = HEAD_WORDS * WORD;
export const UNIT = 16;

/** Entries are appended to it, one after the other. */
export interface EntrySegment {
  readonly bytes: Buffer;
  readonly words: Uint32Array;
  readonly times: Float64Array;
  /** Offset of the next entry. */
  end: number;
  /** Number of live entries. */
  entries: number;
  /** No live entry is older. */
  oldestMs: number;
}

/** Less than a typical entry, so that lists are short. */
const BYTES_PER_BUCKET = 128;
/** Entries per bucket; then the oldest is dropped. Bounds the cost of texts with equal hashes. */
const BUCKET_ENTRIES_MAX = 16;

export class EntryIndex {
  readonly segments: EntrySegment[] = [];
  readonly #segmentBytes: number;
  /** A place is 1 + the segment's index, shifted by this, + the unit within the segment. */
  readonly #unitBits: number;
  #buckets: Uint32Array;
  /** A byte per bucket with a bit for each hash in it, and possibly for removed ones: rules out most texts without another read. */
  #hints: Uint8Array;

  /** For so many bytes of entries. Both numbers are powers of two. */
  constructor(bytes: number, segmentBytes: number) {
    this.#segmentBytes = segmentBytes;
    this.#unitBits = Math.log2(segmentBytes / UNIT);
    this.#buckets = new Uint32Array(bytes / BYTES_PER_BUCKET);
    this.#hints = new Uint8Array(this.#buckets.length);
  }

  /** What it takes itself. */
  get byteLength(): number {
    return this.#buckets.byteLength + this.#hints.byteLength;
  }

  clear(): void {
    this.segments.length = 0;
    this.#buckets = new Uint32Array(this.#buckets.length);
    this.#hints = new Uint8Array(this.#hints.length);
  }

  addSegment(): EntrySegment {
    const buffer = new ArrayBuffer(this.#segmentBytes);
    const [words, times] = [new Uint32Array(buffer), new Float64Array(buffer)];
    const segment = { bytes: Buffer.from(buffer), words, times, end: 0, entries: 0, oldestMs: Infinity };
    this.segments.push(segment);
    return segment;
  }

  segmentOf(place: number): EntrySegment {
    return this.segments[(place - 1) >>> this.#unitBits]!;
  }

  offsetOf(place: number): number {
    return ((place - 1) & ((1 << this.#unitBits) - 1)) * UNIT;
  }

  placeOf(segment: number, offset: number): number {
    // No shift: a place may need 32 bits.
    return segment * (this.#segmentBytes / UNIT) + offset / UNIT + 1;
  }

  /** 0 if there is none. */
  find(key: KeyBytes): number {
    const { hash, length } = key;
    const bucket = hash & (this.#buckets.length - 1);
    if ((this.#hints[bucket]! & hintOf(hash)) === 0) return 0;
    const keyWords = length / WORD;
    let place = this.#buckets[bucket]!;
    while (place !== 0) {
      const { words } = this.segmentOf(place);
      const head = this.offsetOf(place) / WORD;
      if (words[head + HASH] === hash && words[head + KEY_BYTES] === length) {
        let i = 0;
        while (i < keyWords && words[head + HEAD_WORDS + i] === key.words[i]) i++;
        if (i === keyWords) return place;
      }
      place = words[head + NEXT]!;
    }
    return 0;
  }

  /** Puts an entry in the index. Returns the place of one that has to be removed for it, or 0. */
  link(place: number): number {
    const { words } = this.segmentOf(place);
    const head = this.offsetOf(place) / WORD;
    const hash = words[head + HASH]!;
    const bucket = hash & (this.#buckets.length - 1);
    const hint = hintOf(hash);
    const isShort = (this.#hints[bucket]! & hint) === 0;
    this.#hints[bucket]! |= hint;
    let last = this.#buckets[bucket]!;
    words[head + NEXT] = last;
    this.#buckets[bucket] = place;
    if (isShort) return 0;
    for (let entries = 1; last !== 0 && entries < BUCKET_ENTRIES_MAX; entries++) last = this.#after(last);
    return last;
  }

  #after(place: number): number {
    return this.segmentOf(place).words[this.offsetOf(place) / WORD + NEXT]!;
  }

  unlink(place: number): void {
    this.#replace(place, this.#after(place));
  }

  /** To be called before its bytes are moved. */
  move(place: number, to: number): void {
    if (place !== to) this.#replace(place, to);
  }

  #replace(place: number, by: number): void {
    const hash = this.segmentOf(place).words[this.offsetOf(place) / WORD + HASH]!;
    const bucket = hash & (this.#buckets.length - 1);
    let at = this.#buckets[bucket]!;
    if (at === place) {
      this.#buckets[bucket] = by;
      if (by === 0) this.#hints[bucket] = 0;
      return;
    }
    while (at !== 0) {
      const { words } = this.segmentOf(at);
      const next = this.offsetOf(at) / WORD + NEXT;
      at = words[next]!;
      if (at === place) {
        words[next] = by;
        return;
      }
    }
  }
}

/** Uses bits that do not select the bucket. */
function hintOf(hash: number): number {
  return 1 << (hash >>> 29);
}
