// The cache of one process: translations by their keys, bounded in bytes and in age.
import { LRUCache } from 'lru-cache';
import type { Translation } from 'lingate';
import type { TextKey } from './redis-memory.ts';

interface ProcessMemoryOptions {
  readonly bytesMax: number;
  readonly ageMaxMs: number;
}

interface Remembered {
  readonly teamId: string;
  readonly translation: Translation;
  readonly madeAtMs: number;
}

/** What an entry takes besides its translation: its key, two objects, and its links in the cache. */
const ENTRY_BYTES = 300;
/** Entries that are looked at in one turn. */
const DROPPED_AT_ONCE = 10_000;

export class ProcessMemory {
  readonly #ageMaxMs: number;
  readonly #cache: LRUCache<TextKey, Remembered>;

  constructor({ bytesMax, ageMaxMs }: ProcessMemoryOptions) {
    this.#ageMaxMs = ageMaxMs;
    // A unit of a string takes one byte or two.
    const sizeCalculation = ({ translation }: Remembered): number => ENTRY_BYTES + 2 * translation.text.length;
    this.#cache = new LRUCache({ maxSize: bytesMax, sizeCalculation });
  }

  /** Bytes of the entries. */
  get bytes(): number {
    return this.#cache.calculatedSize;
  }

  get texts(): number {
    return this.#cache.size;
  }

  get(key: TextKey, nowMs: number): Translation | undefined {
    const known = this.#cache.get(key);
    if (known === undefined || nowMs - known.madeAtMs < this.#ageMaxMs) return known?.translation;
    this.#cache.delete(key);
    return undefined;
  }

  /** A translation that is larger than the cache is not stored. */
  set(key: TextKey, remembered: Remembered): void {
    this.#cache.set(key, remembered);
  }

  /** Drops what was made at or before this time; awaits `pause` now and then. */
  dropUntil(ms: number, pause: () => Promise<void>): Promise<void> {
    return this.#drop(({ madeAtMs }) => madeAtMs <= ms, pause);
  }

  /** Drops a team's entries; awaits `pause` now and then. */
  dropTeam(teamId: string, pause: () => Promise<void>): Promise<void> {
    return this.#drop((one) => one.teamId === teamId, pause);
  }

  clear(): void {
    this.#cache.clear();
  }

  /** The keys are taken at once, because requests change the order of the cache meanwhile. */
  async #drop(goes: (remembered: Remembered) => boolean, pause: () => Promise<void>): Promise<void> {
    for (const [i, key] of [...this.#cache.keys()].entries()) {
      const one = this.#cache.peek(key);
      if (one !== undefined && goes(one)) this.#cache.delete(key);
      if (i % DROPPED_AT_ONCE === DROPPED_AT_ONCE - 1) await pause();
    }
  }
}
