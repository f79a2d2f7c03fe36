// Caches dictionaries, whose entries never change. Which dictionary serves a request is said by its admission.
import { LRUCache } from 'lru-cache';
import type { GlossaryReference } from '../domain/charge.ts';
import { dictionaryFor } from '../domain/dictionary-choice.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';
import type { GlossaryCache, GlossaryStore } from '../ports/glossary-store.ts';

export interface GlossaryCacheOptions {
  readonly store: Pick<GlossaryStore, 'entries' | 'find'>;
  /** About as many bytes of memory as all that is remembered may take. */
  readonly bytesMax: number;
}

type FoundGlossary = EngineGlossary | undefined | StoreUnavailable;

/** What an entry takes besides its characters, of two bytes each. */
const ENTRY_BYTES = 100;
/** After so many reads, between each of which the glossary was changed, it is given up. */
const LOOKS_MAX = 10;

export class LruGlossaryCache implements GlossaryCache {
  readonly #store: Pick<GlossaryStore, 'entries' | 'find'>;
  readonly #remembered: LRUCache<string, EngineGlossary>;
  /** One look-up per dictionary at a time; as many as there are requests in flight at most. */
  readonly #running = new Map<string, Promise<FoundGlossary>>();

  constructor({ store, bytesMax }: GlossaryCacheOptions) {
    this.#store = store;
    // A dictionary that is larger than `bytesMax` is not cached.
    this.#remembered = new LRUCache({ maxSize: bytesMax, sizeCalculation: bytesOf });
  }

  dictionary(teamId: string, reference: GlossaryReference, dictionaryId: string | undefined): FoundGlossary | Promise<FoundGlossary> {
    const remembered = dictionaryId === undefined ? undefined : this.#remembered.get(keyOf(teamId, dictionaryId));
    return remembered ?? this.#current(teamId, reference, dictionaryId);
  }

  /** The dictionary may be replaced after it was named and before it is read: then the new one is read. */
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
    const key = keyOf(teamId, dictionaryId);
    return this.#remembered.get(key) ?? this.#running.get(key) ?? this.#look(key, teamId, dictionaryId);
  }

  async #look(key: string, teamId: string, dictionaryId: string): Promise<FoundGlossary> {
    const lookup = this.#read(teamId, dictionaryId);
    this.#running.set(key, lookup);
    try {
      const found = await lookup;
      if (found !== undefined && !isUnavailable(found)) this.#remembered.set(key, found);
      return found;
    } finally {
      this.#running.delete(key);
    }
  }

  async #read(teamId: string, dictionaryId: string): Promise<FoundGlossary> {
    const found = await this.#store.entries(teamId, dictionaryId);
    return found === undefined || isUnavailable(found) ? found : { id: dictionaryId, entries: found.entries };
  }
}

function keyOf(teamId: string, dictionaryId: string): string {
  return `${teamId} ${dictionaryId}`;
}

function bytesOf({ entries }: EngineGlossary): number {
  let bytes = ENTRY_BYTES;
  for (const term in entries) bytes += ENTRY_BYTES + 2 * (term.length + entries[term]!.length);
  return bytes;
}
