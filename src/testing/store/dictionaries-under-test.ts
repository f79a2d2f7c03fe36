// Helpers for glossaries and dictionaries in the store under test.
import type { GlossaryReference } from '../../domain/slots.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type {
  GlossaryChange,
  GlossaryEntries,
  GlossaryRecord,
  GlossaryStore,
  NewDictionary,
  NewGlossary,
} from '../../ports/glossary-store.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import { newId } from './team-under-test.ts';
import type { TeamUnderTest } from './team-under-test.ts';

type Pair = readonly [sourceLang: string, targetLang: string];

export function dictionary([sourceLang, targetLang]: Pair, entries: GlossaryEntries = { term: targetLang }): NewDictionary {
  return { dictionaryId: newId(), sourceLang, targetLang, entries };
}

export function glossaryOf(teamId: string, ...dictionaries: NewDictionary[]): NewGlossary {
  return { glossaryId: newId(), teamId, name: 'Terms', dictionaries };
}

export function created(store: PluginStore, teamId: string, ...dictionaries: NewDictionary[]): Promise<GlossaryRecord> {
  return createdAs(store, glossaryOf(teamId, ...dictionaries));
}

export async function createdAs({ glossaries }: PluginStore, sent: NewGlossary): Promise<GlossaryRecord> {
  const creation = answered(await glossaries.create(sent));
  if (creation.kind !== 'created') throw new Error(`expected a glossary, got ${JSON.stringify(creation)}`);
  return creation.glossary;
}

/** Checks that the object and the JSON pieces, if the store provides them, are the same. */
export async function entriesIn(glossaries: GlossaryStore, teamId: string, dictionaryId: string): Promise<GlossaryEntries | undefined> {
  const found = answered(await glossaries.entries(teamId, dictionaryId));
  if (found?.pieces === undefined) return found?.entries;
  const whole = found.pieces.map((piece) => Buffer.from(piece).toString()).join(',');
  if (`{${whole}}` !== JSON.stringify(found.entries))
    throw new Error(`the pieces of a dictionary are not its entries: ${whole.slice(0, 200)}`);
  for (const piece of found.pieces) JSON.parse(`{${Buffer.from(piece).toString()}}`);
  return found.entries;
}

export function changeOf(teamId: string, { glossaryId, name, revision }: GlossaryRecord, dictionaries: GlossaryChange['dictionaries']) {
  return { teamId, glossaryId, name, revision, dictionaries };
}

export function recordOf({ entries, ...named }: NewDictionary) {
  return { ...named, entryCount: Object.keys(entries).length };
}

/** What an admission reports about the glossary. */
export async function served(team: TeamUnderTest, reference: GlossaryReference, store?: PluginStore): Promise<string | undefined> {
  const admission = await team.admit({ glossary: reference }, store);
  return admission.kind === 'admitted' ? admission.dictionaryId : admission.kind;
}

export const DE: Pair = ['EN', 'DE'];
export const FR: Pair = ['EN', 'FR'];
export const IT: Pair = ['EN', 'IT'];
