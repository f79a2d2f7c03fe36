// Dictionaries for the store under test, and short words for what is made of them.
import type { GlossaryReference } from '../../domain/charge.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { GlossaryChange, GlossaryEntries, GlossaryRecord, NewDictionary } from '../../ports/glossary-store.ts';
import type { Store } from '../../ports/store.ts';
import { newId } from './team-under-test.ts';
import type { TeamUnderTest } from './team-under-test.ts';

export type Pair = readonly [sourceLang: string, targetLang: string];

export function dictionary([sourceLang, targetLang]: Pair, entries: GlossaryEntries = { term: targetLang }): NewDictionary {
  return { dictionaryId: newId(), sourceLang, targetLang, entries };
}

export async function created({ glossaries }: Store, teamId: string, ...dictionaries: NewDictionary[]): Promise<GlossaryRecord> {
  const creation = answered(await glossaries.create({ glossaryId: newId(), teamId, name: 'Terms', dictionaries }));
  if (creation.kind !== 'created') throw new Error(`expected a glossary, got ${JSON.stringify(creation)}`);
  return creation.glossary;
}

export function changeOf(
  teamId: string,
  { glossaryId, name, revision }: GlossaryRecord,
  dictionaries: GlossaryChange['dictionaries'],
): GlossaryChange {
  return { teamId, glossaryId, name, revision, dictionaries };
}

export function recordOf({ entries, ...named }: NewDictionary) {
  return { ...named, entryCount: Object.keys(entries).length };
}

/** What an admission says of the glossary. */
export async function served(team: TeamUnderTest, reference: GlossaryReference, store?: Store): Promise<string | undefined> {
  const admission = await team.admit({ glossary: reference }, store);
  return admission.kind === 'admitted' ? admission.dictionaryId : admission.kind;
}

export const DE: Pair = ['EN', 'DE'];
export const FR: Pair = ['EN', 'FR'];
export const IT: Pair = ['EN', 'IT'];
