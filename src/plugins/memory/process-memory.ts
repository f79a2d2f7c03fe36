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
}

/** What an entry takes beside its text: its key, its object, and its places in the cache and in the order of age. */
const ENTRY_BYTES = 450;
/** Entries that are looked at in one go where all of them have to be. */
const SLICE = 5000;

export class ProcessMemory {
  readonly #options: ProcessMemoryOptions;
  readonly #entries: LRUCache<TextKey, Remembered>;
  /** The same, the oldest first: all may grow equally old, so these are the first that have to go. */
  readonly #byAge = new Map<TextKey, Remembered>();

  constructor(options: ProcessMemoryOptions) {
    this.#options = options;
    this.#entries = new LRUCache({
      maxSize: options.bytesMax,
      // Two bytes a character is what the longest take.
      sizeCalculation: ({ translation }) => ENTRY_BYTES + 2 * translation.text.length,
      dispose: (_entry, key, why) => void (why === 'set' || this.#byAge.delete(key)),
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
    const entry: Remembered = { teamId, translation, madeAtMs: this.#options.now() - ageMs };
    this.#entries.set(key, entry);
    this.#byAge.delete(key);
    if (this.#entries.has(key)) this.#byAge.set(key, entry);
  }

  /** Drops what is too old; to be called now and then. What came older than it was made here goes a little later than it could. */
  dropOld(): void {
    const beforeMs = this.#options.now() - this.#options.ageMaxMs;
    for (const [key, { madeAtMs }] of this.#byAge) {
      if (madeAtMs > beforeMs) return;
      this.#entries.delete(key);
    }
  }

  /** Drops what is remembered of a team, or of all; `pause` is waited for between slices. */
  async forget(teamId: string | undefined, pause: () => Promise<void>): Promise<void> {
    if (teamId === undefined) return this.#entries.clear();
    let looked = 0;
    for (const [key, entry] of this.#byAge) {
      if (entry.teamId === teamId) this.#entries.delete(key);
      if (++looked % SLICE === 0) await pause();
    }
  }
}
