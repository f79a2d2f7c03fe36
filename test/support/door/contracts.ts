// What the contracts are made of and tests at the boundary use, too: behaviours of the scripted engine, teams, keys, glossaries.
import type { NewDictionary, NewGlossary } from '../../../src/ports/glossary-store.ts';

export { act } from '../../../src/testing/scripted-behaviours.ts';
export { formIn } from '../../../src/testing/scripted-files.ts';
export { dictionary } from '../../../src/testing/store/dictionaries-under-test.ts';
export { freshKey, GENEROUS_QUOTA, newId, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';

/** A glossary with one dictionary that has the glossary's own id, as POST /v1/glossaries creates it. */
export function singleGlossary({
  glossaryId,
  teamId,
  name,
  ...only
}: Omit<NewGlossary, 'dictionaries'> & Omit<NewDictionary, 'dictionaryId' | 'written'>): NewGlossary {
  return { glossaryId, teamId, name, dictionaries: [{ dictionaryId: glossaryId, ...only }] };
}
