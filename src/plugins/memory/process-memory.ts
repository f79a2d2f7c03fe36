// The cache of one process: translations as bytes outside the JavaScript heap, with a limit on bytes and on age.
import type { Translation } from 'lingate';
import { EntryIndex, HASH, HEAD_BYTES, HEAD_WORDS, KEY_BYTES, LANGUAGE, MADE_AT, SIZE, TEXT_BYTES, UNIT } from './entry-index.ts';
import type { EntrySegment } from './entry-index.ts';
import { TEAM_AT, WORD } from './text-key.ts';
import type { KeyBytes } from './text-key.ts';

interface ProcessMemoryOptions {
  readonly bytesMax: number;
  readonly ageMaxMs: number;
}

/** Read since the segment's last turn. */
const USED = 1;
/** Removed: not in the index, and its bytes are zero. */
const GONE = 2;
const SIZE_BITS = ~(UNIT - 1);
const TIME_WORDS = 2;

/** Reusing a segment of this size takes one or two milliseconds. */
const SEGMENT_BYTES_MAX = 1_048_576;
const SEGMENTS_MIN = 16;
/** A reused segment keeps at most this share. */
const KEPT_SHARE_MAX = 0.75;
/** Translations with longer codes, or with too many different ones, are not cached. */
const LANGUAGE_UNITS_MAX = 12;
const LANGUAGES_MAX = 1000;

/**
 * Segments of equal size are filled in turn. When all are full, the oldest one is reused: it keeps the entries that were read since
 * its last turn and drops the others. A million entries as objects cost more garbage collection than the rest of a look-up, and ten
 * million do not fit in a heap.
 */
export class ProcessMemory {
  readonly #ageMaxMs: number;
  readonly #segmentBytes: number;
  readonly #segmentsMax: number;
  readonly #index: EntryIndex;
  #turn = -1;
  #bytes = 0;
  #texts = 0;
  readonly #languages: (string | undefined)[] = [undefined];

  constructor({ bytesMax, ageMaxMs }: ProcessMemoryOptions) {
    this.#ageMaxMs = ageMaxMs;
    this.#segmentBytes = Math.min(SEGMENT_BYTES_MAX, powerOfTwo(bytesMax / SEGMENTS_MIN));
    this.#index = new EntryIndex(powerOfTwo(bytesMax), this.#segmentBytes);
    this.#segmentsMax = Math.floor((bytesMax - this.#index.byteLength) / this.#segmentBytes);
  }

  /** Bytes of live entries. */
  get bytes(): number {
    return this.#bytes;
  }

  get texts(): number {
    return this.#texts;
  }

  get(key: KeyBytes, nowMs: number): Translation | undefined {
    const place = this.#index.find(key);
    if (place === 0) return undefined;
    const { bytes, words, times } = this.#index.segmentOf(place);
    const at = this.#index.offsetOf(place);
    const head = at / WORD;
    if (nowMs - times[(head + MADE_AT) / TIME_WORDS]! >= this.#ageMaxMs) {
      this.#remove(place);
      return undefined;
    }
    words[head + SIZE]! |= USED;
    const textAt = at + HEAD_BYTES + words[head + KEY_BYTES]!;
    const text = bytes.toString('utf8', textAt, textAt + words[head + TEXT_BYTES]!);
    return { text, detectedSourceLanguage: this.#languages[words[head + LANGUAGE]!] };
  }

  /** A translation that does not fit in a segment is not cached. */
  set(key: KeyBytes, { text, detectedSourceLanguage }: Translation, madeAtMs: number): void {
    const before = this.#index.find(key);
    if (before !== 0) this.#remove(before);
    const language = this.#indexOf(detectedSourceLanguage);
    if (language === -1 || !text.isWellFormed()) return;
    const fixed = HEAD_BYTES + key.length;
    let segment = this.#index.segments[this.#turn];
    // At most three bytes a unit: only what might not fit is measured.
    if (segment === undefined || segment.end + fixed + 3 * text.length > this.#segmentBytes) {
      const needed = fixed + Buffer.byteLength(text);
      if (needed > this.#segmentBytes) return;
      if (segment === undefined || segment.end + needed > this.#segmentBytes) segment = this.#nextSegment(needed);
    }
    this.#append(segment, key, text, language, madeAtMs);
  }

  /** Drops what was made at or before this time; awaits `pause` between segments. */
  async dropUntil(ms: number, pause: () => Promise<void>): Promise<void> {
    const { segments } = this.#index;
    for (let i = 0; i < segments.length; i++) {
      const { entries, oldestMs, times } = segments[i]!;
      if (entries === 0 || oldestMs > ms) continue;
      this.#dropWhere(i, (head) => times[(head + MADE_AT) / TIME_WORDS]! <= ms);
      await pause();
    }
  }

  /** Drops a team's entries; awaits `pause` between segments. */
  async dropTeam(team: string, pause: () => Promise<void>): Promise<void> {
    const { segments } = this.#index;
    const mark = Buffer.from(team);
    for (let i = 0; i < segments.length; i++) {
      const { bytes } = segments[i]!;
      this.#dropWhere(i, (head) => {
        const from = (head + HEAD_WORDS) * WORD + TEAM_AT;
        return bytes.subarray(from, from + mark.length).equals(mark);
      });
      await pause();
    }
  }

  clear(): void {
    this.#index.clear();
    this.#turn = -1;
    this.#bytes = 0;
    this.#texts = 0;
  }

  #indexOf(language: string | undefined): number {
    const known = this.#languages.indexOf(language);
    if (known !== -1 || language!.length > LANGUAGE_UNITS_MAX || this.#languages.length > LANGUAGES_MAX) return known;
    return this.#languages.push(language) - 1;
  }

  #append(segment: EntrySegment, key: KeyBytes, text: string, language: number, madeAtMs: number): void {
    const { bytes, words, times, end } = segment;
    const head = end / WORD;
    const keyWords = key.length / WORD;
    for (let i = 0; i < keyWords; i++) words[head + HEAD_WORDS + i] = key.words[i]!;
    const textBytes = bytes.write(text, end + HEAD_BYTES + key.length);
    const size = (HEAD_BYTES + key.length + textBytes + UNIT - 1) & SIZE_BITS;
    words[head + HASH] = key.hash;
    times[(head + MADE_AT) / TIME_WORDS] = madeAtMs;
    words[head + KEY_BYTES] = key.length;
    words[head + TEXT_BYTES] = textBytes;
    words[head + LANGUAGE] = language;
    words[head + SIZE] = size;
    segment.end = end + size;
    segment.entries++;
    if (madeAtMs < segment.oldestMs) segment.oldestMs = madeAtMs;
    this.#bytes += size;
    this.#texts++;
    const tooMany = this.#index.link(this.#index.placeOf(this.#turn, end));
    if (tooMany !== 0) this.#remove(tooMany);
  }

  /** Leaves only the size. */
  #remove(place: number): void {
    const segment = this.#index.segmentOf(place);
    const at = this.#index.offsetOf(place);
    const size = this.#unlink(segment, place, at);
    segment.words[at / WORD + SIZE] = size | GONE;
    segment.bytes.fill(0, at + HEAD_BYTES, at + size);
  }

  /** Returns the size; the bytes remain. */
  #unlink(segment: EntrySegment, place: number, at: number): number {
    this.#index.unlink(place);
    const size = segment.words[at / WORD + SIZE]! & SIZE_BITS;
    segment.entries--;
    this.#bytes -= size;
    this.#texts--;
    return size;
  }

  #dropWhere(index: number, goes: (head: number) => boolean): void {
    const segment = this.#index.segments[index]!;
    const { words, times } = segment;
    let oldestMs = Infinity;
    for (let at = 0; at < segment.end; at += words[at / WORD + SIZE]! & SIZE_BITS) {
      const head = at / WORD;
      if ((words[head + SIZE]! & GONE) !== 0) continue;
      if (goes(head)) this.#remove(this.#index.placeOf(index, at));
      else oldestMs = Math.min(oldestMs, times[(head + MADE_AT) / TIME_WORDS]!);
    }
    segment.oldestMs = oldestMs;
  }

  /** Moves on to the next segment, with room for this many bytes. */
  #nextSegment(needed: number): EntrySegment {
    this.#turn = (this.#turn + 1) % this.#segmentsMax;
    const used = this.#index.segments[this.#turn];
    if (used === undefined) return this.#index.addSegment();
    this.#keepUsed(used, Math.min(this.#segmentBytes * KEPT_SHARE_MAX, this.#segmentBytes - needed));
    return used;
  }

  /** Moves used entries to the start of the segment, up to this many bytes, and removes the rest. */
  #keepUsed(segment: EntrySegment, bytesMax: number): void {
    const { bytes, words, times } = segment;
    let end = 0;
    let oldestMs = Infinity;
    let size: number;
    for (let at = 0; at < segment.end; at += size) {
      const head = at / WORD;
      const flags = words[head + SIZE]!;
      size = flags & SIZE_BITS;
      if ((flags & GONE) !== 0) continue;
      const place = this.#index.placeOf(this.#turn, at);
      if ((flags & USED) === 0 || end + size > bytesMax) {
        this.#unlink(segment, place, at);
        continue;
      }
      words[head + SIZE] = size;
      oldestMs = Math.min(oldestMs, times[(head + MADE_AT) / TIME_WORDS]!);
      this.#index.move(place, this.#index.placeOf(this.#turn, end));
      bytes.copyWithin(end, at, at + size);
      end += size;
    }
    bytes.fill(0, end, segment.end);
    segment.end = end;
    segment.oldestMs = oldestMs;
  }
}

/** The largest power of two that is not above `most`. */
function powerOfTwo(most: number): number {
  return 2 ** Math.floor(Math.log2(most));
}
