// Remembers glossaries' entries in front of a store: they never change, and whether one still exists is the admission's to say.
import { LRUCache } from 'lru-cache';
import type { GlossaryEntries, GlossaryCache, GlossaryStore } from '../ports/glossary-store.ts';

export interface GlossaryCacheOptions {
  readonly store: Pick<GlossaryStore, 'entries'>;
  /** About as many bytes of memory as all that is remembered may take. */
  readonly bytesMax: number;
}

type Found = GlossaryEntries | undefined;

/** What an entry takes besides its characters, of two bytes each. */
const ENTRY_BYTES = 100;

export class LruGlossaryCache implements GlossaryCache {
  readonly #store: Pick<GlossaryStore, 'entries'>;
  readonly #remembered: LRUCache<string, GlossaryEntries>;
  /** One look-up per glossary at a time; as many as there are requests in flight at most. */
  readonly #running = new Map<string, Promise<Found>>();

  constructor({ store, bytesMax }: GlossaryCacheOptions) {
    this.#store = store;
    // A glossary that is larger than all of the memory is not remembered.
    this.#remembered = new LRUCache({ maxSize: bytesMax, sizeCalculation: bytesOf });
  }

  entries(teamId: string, glossaryId: string): Found | Promise<Found> {
    const key = `${teamId} ${glossaryId}`;
    return this.#remembered.get(key) ?? this.#running.get(key) ?? this.#look(key, teamId, glossaryId);
  }

  async #look(key: string, teamId: string, glossaryId: string): Promise<Found> {
    const lookup = this.#store.entries(teamId, glossaryId);
    this.#running.set(key, lookup);
    try {
      const found = await lookup;
      if (found !== undefined) this.#remembered.set(key, found);
      return found;
    } finally {
      this.#running.delete(key);
    }
  }
}

function bytesOf(entries: GlossaryEntries): number {
  let bytes = ENTRY_BYTES;
  for (const term in entries) bytes += ENTRY_BYTES + 2 * (term.length + entries[term]!.length);
  return bytes;
}
