// Caches immutable dictionaries, and coalesces reads. The admission says which one is needed.
import { LRUCache } from 'lru-cache';
import { nextTurn } from '../core/turns.ts';
import type { GlossaryReference } from '../domain/slots.ts';
import { dictionaryFor } from '../domain/glossary.ts';
import { eachEntry, ReadEntries, writeEntries } from '../domain/entries-text.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';
import { IDLE_ENTRIES, purgeIdle } from './key-cache.ts';
import type { FoundEntries, GlossaryCache, GlossaryStore } from '../ports/glossary-store.ts';

interface GlossaryCacheOptions {
  readonly store: Pick<GlossaryStore, 'entries' | 'find'>;
  /** Approximate limit on the memory of all cached dictionaries. */
  readonly bytesMax: number;
}

type FoundGlossary = EngineGlossary | undefined | StoreUnavailable;

/** Overhead of an entry besides its characters, at two bytes each. */
const ENTRY_BYTES = 100;
/** Gives up after this many reads, if the glossary was changed between each of them. */
const LOOKS_MAX = 10;

class CachedDictionary extends ReadEntries implements EngineGlossary {
  readonly id: string;

  constructor(id: string, pieces: EntryPieces) {
    super(pieces);
    this.id = id;
  }
}

export class LruGlossaryCache implements GlossaryCache {
  readonly #store: Pick<GlossaryStore, 'entries' | 'find'>;
  readonly #remembered: LRUCache<string, EngineGlossary>;
  /** Shared by all requests for a dictionary; bounded by the requests in flight. */
  readonly #running = new Map<string, Promise<FoundGlossary>>();

  constructor({ store, bytesMax }: GlossaryCacheOptions) {
    this.#store = store;
    // Dictionaries larger than `bytesMax` are not cached.
    this.#remembered = new LRUCache({ maxSize: bytesMax, sizeCalculation: bytesOf, ...IDLE_ENTRIES });
    purgeIdle(this.#remembered);
  }

  dictionary(teamId: string, reference: GlossaryReference, dictionaryId: string | undefined): FoundGlossary | Promise<FoundGlossary> {
    const remembered = dictionaryId === undefined ? undefined : this.#remembered.get(keyOf(teamId, dictionaryId));
    return remembered ?? this.#current(teamId, reference, dictionaryId);
  }

  /** As the store's `entries`, for a dictionary that a glossary of the team held just now. */
  async entries(teamId: string, dictionaryId: string): Promise<FoundEntries | undefined | StoreUnavailable> {
    return this.#byId(teamId, dictionaryId);
  }

  /** Several dictionaries as one: the first with a term wins. `undefined` if one is gone. */
  async merged(teamId: string, dictionaryIds: readonly string[]): Promise<FoundGlossary> {
    const id = dictionaryIds.join('+');
    return this.#once(keyOf(teamId, id), () => this.#merge(teamId, id, dictionaryIds));
  }

  /** If the dictionary was replaced after the admission and before the read, reads the new one. */
  async #current(teamId: string, reference: GlossaryReference, admittedId: string | undefined): Promise<FoundGlossary> {
    let dictionaryId = admittedId;
    for (let look = 0; look < LOOKS_MAX; look++) {
      const found = dictionaryId === undefined ? undefined : await this.#byId(teamId, dictionaryId);
      if (found !== undefined) return found;
      const glossary = await this.#store.find(teamId, reference.glossaryId);
      if (isUnavailable(glossary)) return glossary;
      const serving = glossary && dictionaryFor(glossary.dictionaries, reference);
      if (serving === undefined) return undefined;
      ({ dictionaryId } = serving);
    }
    return undefined;
  }

  #byId(teamId: string, dictionaryId: string): FoundGlossary | Promise<FoundGlossary> {
    return this.#once(keyOf(teamId, dictionaryId), () => this.#read(teamId, dictionaryId));
  }

  #once(key: string, make: () => Promise<FoundGlossary>): FoundGlossary | Promise<FoundGlossary> {
    const known = this.#remembered.get(key) ?? this.#running.get(key);
    if (known !== undefined) return known;
    const making = make().finally(() => this.#running.delete(key));
    this.#running.set(key, making);
    return making.then((found) => {
      if (found !== undefined && !isUnavailable(found)) this.#remembered.set(key, found);
      return found;
    });
  }

  async #read(teamId: string, dictionaryId: string): Promise<FoundGlossary> {
    const found = await this.#store.entries(teamId, dictionaryId);
    if (found === undefined || isUnavailable(found)) return found;
    return found.pieces === undefined ? { id: dictionaryId, entries: found.entries } : new CachedDictionary(dictionaryId, found.pieces);
  }

  async #merge(teamId: string, id: string, dictionaryIds: readonly string[]): Promise<FoundGlossary> {
    const merged = new Map<string, string>();
    for (const dictionaryId of dictionaryIds) {
      const found = await this.#byId(teamId, dictionaryId);
      if (found === undefined || isUnavailable(found)) return found;
      await eachEntry(found, nextTurn, (term, translation) => {
        if (!merged.has(term)) merged.set(term, translation);
      });
    }
    const { pieces } = await writeEntries(merged, nextTurn);
    return new CachedDictionary(id, pieces);
  }
}

/** As routes use them: entries are read once, and a team's are limited. */
export function boundedGlossaries(store: GlossaryStore, cache: LruGlossaryCache, teamBytesMax: number): GlossaryStore {
  return {
    create: (glossary) => store.create(glossary, teamBytesMax),
    change: (change) => store.change(change, teamBytesMax),
    list: (teamId) => store.list(teamId),
    find: (teamId, glossaryId) => store.find(teamId, glossaryId),
    entries: (teamId, dictionaryId) => cache.entries(teamId, dictionaryId),
    ownerOf: (glossaryId) => store.ownerOf(glossaryId),
    remove: (teamId, glossaryId) => store.remove(teamId, glossaryId),
  };
}

function keyOf(teamId: string, dictionaryId: string): string {
  return `${teamId} ${dictionaryId}`;
}

/** With pieces, an object with all entries may exist as well. */
function bytesOf(glossary: EngineGlossary): number {
  if (glossary.pieces !== undefined) return glossary.pieces.reduce((sum, { length }) => sum + ENTRY_BYTES + 2 * length, ENTRY_BYTES);
  let bytes = ENTRY_BYTES;
  for (const term in glossary.entries) bytes += ENTRY_BYTES + 2 * (term.length + glossary.entries[term]!.length);
  return bytes;
}
