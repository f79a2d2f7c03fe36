// What the contracts are made of and tests at the boundary use, too: behaviours of the scripted engine, teams, keys, glossaries.
export { act } from '../../../src/testing/scripted-behaviours.ts';
export { formIn } from '../../../src/testing/scripted-files.ts';
export { dictionary, singleGlossary } from '../../../src/testing/store/dictionaries-under-test.ts';
export { freshKey, GENEROUS_QUOTA, newId, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
