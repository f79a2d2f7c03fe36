// Finds, creates and changes glossaries without losing a change: read, change, write back, and
// again if it was changed meanwhile.
import {
  dictionaryFor,
  eachEntry,
  GLOSSARY_MISMATCH,
  glossaryRefusal,
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
  GlossaryRecord,
  GlossaryStore,
  LanguagePair,
  NewDictionary,
  Refusal,
  TranslationOptions,
} from 'lingate';
import { ENTRIES_MAX } from './glossary-entries.ts';
import { DICTIONARIES_MAX, NOT_FOUND } from './glossary-model.ts';
import type { DictionaryDraft, SentGlossary } from './glossary-model.ts';

export const NO_DICTIONARY = refuse('glossary_not_found', 'No dictionary found for language pair.');
/** For a glossary that was changed again during each of several reads. */
export const CHANGING = refuse('service_unavailable', 'The glossary is being changed by others; try again in a few seconds.');

/** Despite changes by other processes; in one process, a glossary's changes queue. */
const TRIES_MAX = 20;

/** What `look` finds, which is `undefined` if others have changed it meanwhile: then it looks again. */
async function settled<Found>(look: () => Promise<Found | undefined>): Promise<Found | Refusal> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const found = await look();
    if (found !== undefined) return found;
  }
  return CHANGING;
}

type Dictionaries = GlossaryChange['dictionaries'];

/** The dictionary of a pair, ignoring the regions of its codes. */
export function heldFor(dictionaries: Dictionaries, pair: LanguagePair): DictionaryRecord | undefined {
  return dictionaryFor(dictionaries as readonly DictionaryRecord[], { ...pair, byBase: true });
}

export async function findGlossary(glossaries: GlossaryStore, teamId: string, glossaryId: string): Promise<GlossaryRecord | Refusal> {
  const found = await glossaries.find(teamId, glossaryId);
  if (isUnavailable(found)) return STORE_UNAVAILABLE;
  return found ?? NOT_FOUND;
}

export interface FoundDictionary {
  readonly dictionary: DictionaryRecord;
  readonly found: FoundEntries;
}

/** `choose` returns the dictionary, or a refusal. */
export function findEntries(
  { glossaries, teamId, glossaryId }: Pick<GlossaryPlace, 'glossaries' | 'teamId' | 'glossaryId'>,
  choose: (glossary: GlossaryRecord) => DictionaryRecord | Refusal,
): Promise<FoundDictionary | Refusal> {
  return settled<FoundDictionary | Refusal>(async () => {
    const glossary = await findGlossary(glossaries, teamId, glossaryId);
    const dictionary = 'problem' in glossary ? glossary : choose(glossary);
    if ('problem' in dictionary) return dictionary;
    const found = await glossaries.entries(teamId, dictionary.dictionaryId);
    return isUnavailable(found) ? STORE_UNAVAILABLE : found && { dictionary, found };
  });
}

/** One glossary with the terms of all, or the refusal. `options` has a source language. */
export function mergedGlossary(
  x: Exchange,
  services: GatewayServices,
  glossaryIds: readonly string[],
  { sourceLang, targetLang }: TranslationOptions,
): Promise<EngineGlossary | Refusal> {
  const { teamId } = x.need(keyOwnerSlot);
  return settled<EngineGlossary | Refusal>(async () => {
    const dictionaryIds: string[] = [];
    for (const found of await Promise.all(glossaryIds.map((id) => findGlossary(services.glossaries, teamId, id)))) {
      if ('problem' in found) return found;
      const dictionary = heldFor(found.dictionaries, { sourceLang: sourceLang!, targetLang });
      if (dictionary === undefined) return GLOSSARY_MISMATCH;
      dictionaryIds.push(dictionary.dictionaryId);
    }
    // A dictionary never changes under its id, so neither do the merged terms of several.
    const merged = await services.mergedGlossary(teamId, dictionaryIds);
    return isUnavailable(merged) ? STORE_UNAVAILABLE : merged;
  });
}

/** The glossary of a request, and what changing it needs. */
export interface GlossaryPlace {
  readonly glossaries: GlossaryStore;
  readonly newId: () => string;
  readonly teamId: string;
  readonly glossaryId: string;
  /** The last change in progress of each glossary, in this process. */
  readonly running: Map<string, Promise<GlossaryRecord | Refusal>>;
}

export async function createGlossary(
  { glossaries, newId, teamId }: GlossaryPlace,
  name: string,
  drafts: readonly DictionaryDraft[],
): Promise<GlossaryRecord | Refusal> {
  const glossaryId = newId();
  const dictionaries = drafts.map(({ sourceLang, targetLang, entries }) => {
    return { dictionaryId: drafts.length === 1 ? glossaryId : newId(), sourceLang, targetLang, entries };
  });
  const creation = await glossaries.create({ glossaryId, teamId, name, dictionaries });
  return creation.kind === 'created' ? creation.glossary : glossaryRefusal(creation);
}

/** Adds entries to the dictionaries of their pairs, missing ones too; an existing term is replaced. */
export function addEntries(place: GlossaryPlace, { name, dictionaries: drafts }: Pick<SentGlossary, 'name' | 'dictionaries'>) {
  const { glossaries, teamId } = place;
  return changed(place, async (glossary) => {
    let dictionaries: Dictionaries = glossary.dictionaries;
    for (const draft of drafts) {
      const held = heldFor(glossary.dictionaries, draft);
      const before = held === undefined ? { entries: {} } : await glossaries.entries(teamId, held.dictionaryId);
      if (before === undefined) return undefined;
      if (isUnavailable(before)) return STORE_UNAVAILABLE;
      const merged = new Map<string, string>();
      await eachEntry(before, nextTurn, (term, translation) => merged.set(term, translation));
      for (const [term, translation] of Object.entries(draft.entries)) merged.set(term, translation);
      if (merged.size > ENTRIES_MAX) {
        const detail = `'entries': with the existing ones these would be ${merged.size}, which is more than ${ENTRIES_MAX}.`;
        return refuse('validation_error', detail);
      }
      dictionaries = replaced(place, dictionaries, { ...draft, written: await writeEntries(merged, nextTurn) });
    }
    return next(name ?? glossary.name, dictionaries);
  });
}

/** Replaces the dictionary of its pair, or adds it. */
export function putDictionary(place: GlossaryPlace, draft: DictionaryDraft) {
  return changed(place, async ({ name, dictionaries }) => next(name, replaced(place, dictionaries, draft)));
}

export function dropDictionary(place: GlossaryPlace, pair: LanguagePair) {
  return changed(place, async ({ name, dictionaries }) => {
    const held = heldFor(dictionaries, pair);
    const left = dictionaries.filter((one) => one !== held);
    return held === undefined ? NO_DICTIONARY : { name, dictionaries: left };
  });
}

/** With a new dictionary in place of that of its pair, whose codes it keeps: their regions matter in `/v1`. */
function replaced({ newId }: GlossaryPlace, dictionaries: Dictionaries, draft: Omit<NewDictionary, 'dictionaryId'>): Dictionaries {
  const held = heldFor(dictionaries, draft);
  const { sourceLang, targetLang } = held ?? draft;
  const dictionary = { dictionaryId: newId(), sourceLang, targetLang, entries: draft.entries, written: draft.written };
  return held === undefined ? [...dictionaries, dictionary] : dictionaries.map((one) => (one === held ? dictionary : one));
}

/** The glossary's new content, or a refusal; `undefined` if another request has just changed it. */
type Next = Pick<GlossaryChange, 'name' | 'dictionaries'> | Refusal | undefined;

function next(name: string, dictionaries: Dictionaries): Next {
  if (dictionaries.length <= DICTIONARIES_MAX) return { name, dictionaries };
  return refuse('validation_error', `A glossary may have at most ${DICTIONARIES_MAX} dictionaries.`);
}

async function changed(place: GlossaryPlace, make: (glossary: GlossaryRecord) => Promise<Next>): Promise<GlossaryRecord | Refusal> {
  const { running, teamId, glossaryId } = place;
  const key = `${teamId} ${glossaryId}`;
  const change = (): Promise<GlossaryRecord | Refusal> => settled(() => changedOnce(place, make));
  const before = running.get(key);
  const mine = before === undefined ? change() : before.then(change);
  running.set(key, mine);
  try {
    return await mine;
  } finally {
    if (running.get(key) === mine) running.delete(key);
  }
}

async function changedOnce({ glossaries, teamId, glossaryId }: GlossaryPlace, make: (glossary: GlossaryRecord) => Promise<Next>) {
  const glossary = await findGlossary(glossaries, teamId, glossaryId);
  const made = 'problem' in glossary ? glossary : await make(glossary);
  if (made === undefined || 'problem' in made) return made;
  const { revision } = glossary as GlossaryRecord;
  const change = await glossaries.change({ teamId, glossaryId, revision, ...made });
  if (change.kind === 'changed') return change.glossary;
  if (change.kind === 'outdated') return undefined;
  return change.kind === 'missing' ? NOT_FOUND : glossaryRefusal(change);
}
