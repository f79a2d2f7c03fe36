// Translations that one process remembers: bounded by bytes, the longest unused go first, and none is older than it may be.
import { LRUCache } from 'lru-cache';
import type { Translation } from 'lingate';
import type { TextKey } from './text-key.ts';

export interface ProcessMemoryOptions {
  readonly bytesMax: number;
  readonly ageMaxMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

interface Remembered {
  readonly teamId: string;
  readonly translation: Translation;
  readonly madeAtMs: number;
  /** Where it stands beside the cache. */
  readonly among: Keys;
}

type Keys = Map<TextKey, Remembered>;

/** What an entry takes beside its text: its key, its object, and its places in the cache and in the order of age. */
const ENTRY_BYTES = 450;
/** Entries that are looked at in one go where all of them have to be. */
const SLICE = 5000;
/** Into so many spans the longest age is cut for what was made elsewhere: all of a span goes when its oldest could have to. */
const SPANS = 100;

export class ProcessMemory {
  readonly #options: ProcessMemoryOptions;
  readonly #entries: LRUCache<TextKey, Remembered>;
  /** What was made here, the oldest first: all may grow equally old, so these are the first that have to go. */
  readonly #byAge: Keys = new Map();
  /** What came older than that, by the span in which it was made. */
  readonly #older = new Map<number, Keys>();

  constructor(options: ProcessMemoryOptions) {
    this.#options = options;
    this.#entries = new LRUCache({
      maxSize: options.bytesMax,
      // Two bytes a character is what the longest take.
      sizeCalculation: ({ translation }) => ENTRY_BYTES + 2 * translation.text.length,
      dispose: ({ among }, key) => void among.delete(key),
    });
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  get texts(): number {
    return this.#entries.size;
  }

  get(key: TextKey): Translation | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#options.now() - entry.madeAtMs < this.#options.ageMaxMs) return entry.translation;
    this.#entries.delete(key);
    return undefined;
  }

  /** `ageMs` for one that was made elsewhere before. */
  set(key: TextKey, teamId: string, translation: Translation, ageMs = 0): void {
    const madeAtMs = this.#options.now() - ageMs;
    const among = ageMs === 0 ? this.#byAge : this.#madeAbout(madeAtMs);
    const entry: Remembered = { teamId, translation, madeAtMs, among };
    this.#entries.set(key, entry);
    if (this.#entries.has(key)) among.set(key, entry);
  }

  #madeAbout(atMs: number): Keys {
    const span = Math.floor(atMs / this.#spanMs);
    let among = this.#older.get(span);
    if (among === undefined) this.#older.set(span, (among = new Map()));
    return among;
  }

  get #spanMs(): number {
    return this.#options.ageMaxMs / SPANS;
  }

  /** Drops what is too old; to be called now and then. What was made elsewhere goes up to a span before that. */
  dropOld(): void {
    const beforeMs = this.#options.now() - this.#options.ageMaxMs;
    for (const [span, among] of this.#older) {
      if (span * this.#spanMs > beforeMs) continue;
      for (const key of among.keys()) this.#entries.delete(key);
      this.#older.delete(span);
    }
    for (const [key, { madeAtMs }] of this.#byAge) {
      if (madeAtMs > beforeMs) return;
      this.#entries.delete(key);
    }
  }

  /** Drops what is remembered of a team, or of all; `pause` is waited for between slices. */
  async forget(teamId: string | undefined, pause: () => Promise<void>): Promise<void> {
    if (teamId === undefined) return this.#entries.clear();
    let looked = 0;
    for (const among of [this.#byAge, ...this.#older.values()]) {
      for (const [key, entry] of among) {
        if (entry.teamId === teamId) this.#entries.delete(key);
        if (++looked % SLICE === 0) await pause();
      }
    }
  }
}
