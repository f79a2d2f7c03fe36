// Finds, creates and changes glossaries without losing a change: read, change, write back, and
// again if it was changed meanwhile.
import {
  dictionaryFor,
  eachEntry,
  GLOSSARY_MISMATCH,
  glossaryRefusal,
  isLarge,
  isUnavailable,
  keyOwnerSlot,
  nextTurn,
  refuse,
  STORE_UNAVAILABLE,
  writeEntries,
} from 'lingate';
import type {
  DictionaryRecord,
  EngineGlossary,
  Exchange,
  FoundEntries,
  GatewayServices,
  GlossaryChange,
  GlossaryEntries,
  GlossaryRecord,
  GlossaryStore,
  LanguagePair,
  Refusal,
  TranslationOptions,
  WrittenEntries,
} from 'lingate';
import { CHANGING, NOT_FOUND } from './glossary-answer.ts';
import { DICTIONARIES_MAX } from './glossary-body.ts';
import type { Additions, DictionaryDraft, NamedDictionaries } from './glossary-body.ts';
import { ENTRIES_MAX } from './glossary-entries.ts';

type Dictionaries = GlossaryChange['dictionaries'];
/** The glossary's new content, or a refusal; `undefined` if another request has just changed it. */
type Next = Pick<GlossaryChange, 'name' | 'dictionaries'> | Refusal | undefined;

/** If there is `written`, `entries` is not all of them. */
interface MergedEntries {
  readonly entries: GlossaryEntries;
  readonly written: WrittenEntries | undefined;
  readonly entryCount: number;
}

/** Despite changes by other processes; in one process, a glossary's changes queue. */
const TRIES_MAX = 20;

/** The dictionary of a pair, ignoring the regions of its codes. */
export function heldFor(dictionaries: Dictionaries, pair: LanguagePair): DictionaryRecord | undefined {
  return dictionaryFor(dictionaries as readonly DictionaryRecord[], { ...pair, byBase: true });
}

export class GlossaryChanges {
  readonly #glossaries: GlossaryStore;
  readonly #newId: () => string;
  /** The last change in progress of each glossary. */
  readonly #running = new Map<string, Promise<GlossaryRecord | Refusal>>();

  constructor(glossaries: GlossaryStore, newId: () => string) {
    this.#glossaries = glossaries;
    this.#newId = newId;
  }

  /** To the dictionaries of their pairs, missing ones too; an existing term is replaced. */
  merge(teamId: string, glossaryId: string, { name, dictionaries: drafts }: Additions): Promise<GlossaryRecord | Refusal> {
    return this.#change(teamId, glossaryId, async (record) => {
      let dictionaries: Dictionaries = record.dictionaries;
      for (const draft of drafts) {
        const held = heldFor(record.dictionaries, draft);
        const before = held === undefined ? { entries: {} } : await this.#glossaries.entries(teamId, held.dictionaryId);
        if (before === undefined) return undefined;
        if (isUnavailable(before)) return STORE_UNAVAILABLE;
        const merged = await mergedEntries(before, draft.entries);
        if (merged.entryCount > ENTRIES_MAX) {
          const detail = `'entries': with the existing ones these would be ${merged.entryCount}, which is more than ${ENTRIES_MAX}.`;
          return refuse('validation_error', detail);
        }
        dictionaries = this.#with(dictionaries, { ...draft, ...merged });
      }
      return next(name ?? record.name, dictionaries);
    });
  }

  /** Replaces the dictionary of its pair, or adds it. */
  replace(teamId: string, glossaryId: string, draft: DictionaryDraft): Promise<GlossaryRecord | Refusal> {
    return this.#change(teamId, glossaryId, async (glossary) => next(glossary.name, this.#with(glossary.dictionaries, draft)));
  }

  /** Answers `none` if the glossary has none of the pair. */
  drop(teamId: string, glossaryId: string, pair: LanguagePair, none: Refusal): Promise<GlossaryRecord | Refusal> {
    return this.#change(teamId, glossaryId, async ({ name, dictionaries }) => {
      const held = heldFor(dictionaries, pair);
      return held === undefined
        ? none
        : next(
            name,
            dictionaries.filter((one) => one !== held),
          );
    });
  }

  /** A replaced dictionary keeps its codes, because their regions matter in `/v1`. */
  #with(dictionaries: Dictionaries, { sourceLang, targetLang, entries, written }: DictionaryDraft & Partial<MergedEntries>): Dictionaries {
    const held = heldFor(dictionaries, { sourceLang, targetLang });
    const dictionary = { dictionaryId: this.#newId(), sourceLang, targetLang, entries, written };
    if (held === undefined) return [...dictionaries, dictionary];
    const replaced = { ...dictionary, sourceLang: held.sourceLang, targetLang: held.targetLang };
    return dictionaries.map((one) => (one === held ? replaced : one));
  }

  async #change(teamId: string, glossaryId: string, make: (record: GlossaryRecord) => Promise<Next>): Promise<GlossaryRecord | Refusal> {
    const key = `${teamId} ${glossaryId}`;
    const before = this.#running.get(key);
    const mine = before === undefined ? this.#try(teamId, glossaryId, make) : before.then(() => this.#try(teamId, glossaryId, make));
    this.#running.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#running.get(key) === mine) this.#running.delete(key);
    }
  }

  async #try(teamId: string, glossaryId: string, make: (record: GlossaryRecord) => Promise<Next>): Promise<GlossaryRecord | Refusal> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const record = await findGlossary(this.#glossaries, teamId, glossaryId);
      if ('problem' in record) return record;
      const made = await make(record);
      if (made === undefined) continue;
      if ('problem' in made) return made;
      const changed = await this.#glossaries.change({ teamId, glossaryId, revision: record.revision, ...made });
      if (changed.kind === 'changed') return changed.glossary;
      if (changed.kind === 'missing') return NOT_FOUND;
      if (changed.kind === 'bytes_reached' || changed.kind === 'unavailable') return glossaryRefusal(changed);
    }
    return CHANGING;
  }
}

/** Replace those with the same term. Large dictionaries are merged over several ticks. */
async function mergedEntries(before: FoundEntries, added: GlossaryEntries): Promise<MergedEntries> {
  const { pieces } = before;
  if (pieces === undefined || !isLarge(pieces)) {
    const entries = { ...before.entries, ...added };
    return { entries, written: undefined, entryCount: Object.keys(entries).length };
  }
  const merged = new Map<string, string>();
  await eachEntry(before, nextTurn, (term, translation) => merged.set(term, translation));
  for (const [term, translation] of Object.entries(added)) merged.set(term, translation);
  return { entries: added, written: await writeEntries(merged, nextTurn), entryCount: merged.size };
}

function next(name: string, dictionaries: Dictionaries): Next {
  if (dictionaries.length <= DICTIONARIES_MAX) return { name, dictionaries };
  return refuse('validation_error', `A glossary may have at most ${DICTIONARIES_MAX} dictionaries.`);
}

export async function createGlossary(
  services: GatewayServices,
  teamId: string,
  { name, dictionaries }: NamedDictionaries,
): Promise<GlossaryRecord | Refusal> {
  const glossaryId = services.newId();
  const isAlone = dictionaries.length === 1;
  const drafts = dictionaries.map((draft) => ({ dictionaryId: isAlone ? glossaryId : services.newId(), ...draft }));
  const creation = await services.glossaries.create({ glossaryId, teamId, name, dictionaries: drafts });
  return creation.kind === 'created' ? creation.glossary : glossaryRefusal(creation);
}

/** After this many reads, during each of which a dictionary was replaced, it gives up. */
const LOOKS_MAX = 10;

export interface FoundDictionary {
  readonly dictionary: DictionaryRecord;
  readonly found: FoundEntries;
}

export async function findGlossary(glossaries: GlossaryStore, teamId: string, glossaryId: string): Promise<GlossaryRecord | Refusal> {
  const found = await glossaries.find(teamId, glossaryId);
  if (isUnavailable(found)) return STORE_UNAVAILABLE;
  return found ?? NOT_FOUND;
}

/** `choose` returns the dictionary, or a refusal. */
export async function findEntries(
  glossaries: GlossaryStore,
  teamId: string,
  glossaryId: string,
  choose: (glossary: GlossaryRecord) => DictionaryRecord | Refusal,
): Promise<FoundDictionary | Refusal> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const glossary = await findGlossary(glossaries, teamId, glossaryId);
    if ('problem' in glossary) return glossary;
    const dictionary = choose(glossary);
    if ('problem' in dictionary) return dictionary;
    const found = await glossaries.entries(teamId, dictionary.dictionaryId);
    if (isUnavailable(found)) return STORE_UNAVAILABLE;
    // Otherwise another one has replaced it since it was found.
    if (found !== undefined) return { dictionary, found };
  }
  return CHANGING;
}

/** One glossary with all their terms, or the refusal. `options` has a source language. */
export async function oneOfSeveral(
  x: Exchange,
  services: GatewayServices,
  glossaryIds: readonly string[],
  { sourceLang, targetLang }: TranslationOptions,
): Promise<EngineGlossary | Refusal> {
  const { teamId } = x.need(keyOwnerSlot);
  const pair = { sourceLang: sourceLang!, targetLang, byBase: true };
  for (let look = 0; look < LOOKS_MAX; look++) {
    const dictionaryIds: string[] = [];
    for (const found of await Promise.all(glossaryIds.map((id) => findGlossary(services.glossaries, teamId, id)))) {
      if ('problem' in found) return found;
      const dictionary = dictionaryFor(found.dictionaries, pair);
      if (dictionary === undefined) return GLOSSARY_MISMATCH;
      dictionaryIds.push(dictionary.dictionaryId);
    }
    // A dictionary never changes under its id, so neither do the merged terms of several.
    const merged = await services.mergedGlossary(teamId, dictionaryIds);
    if (isUnavailable(merged)) return STORE_UNAVAILABLE;
    // Otherwise one was replaced after it was found.
    if (merged !== undefined) return merged;
  }
  return CHANGING;
}
