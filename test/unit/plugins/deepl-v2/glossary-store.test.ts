// Changes of glossaries: none is lost, whatever happens between reading and writing, and a change that is impossible is refused.
import { ulid } from 'ulid';
import { beforeEach, describe, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { addEntries, CHANGING, putDictionary } from '../../../../src/plugins/deepl-v2/glossary-store.ts';
import type { GlossaryPlace } from '../../../../src/plugins/deepl-v2/glossary-store.ts';
import type { GlossaryStore } from '../../../../src/ports/glossary-store.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { referenceStore } from '../../../support/reference-store.ts';

const draft = (targetLang: string, entries: Readonly<Record<string, string>>) => ({ sourceLang: 'EN', targetLang, entries });
const additions = (...dictionaries: readonly ReturnType<typeof draft>[]) => ({ name: undefined, dictionaries });

let store: GlossaryStore;
let teamId: string;
let glossaryId: string;

beforeEach(async () => {
  const home = referenceStore(new MovableClock());
  store = home.glossaries;
  ({ teamId } = await teamUnderTest(home));
  glossaryId = ulid();
  const dictionary = { dictionaryId: glossaryId, ...draft('PT-BR', { first: '0' }) };
  await store.create({ glossaryId, teamId, name: 'Terms', dictionaries: [dictionary] });
});

/** The glossary, for the changes of a process. */
const inProcess = (): GlossaryPlace => ({ glossaries: store, newId: ulid, teamId, glossaryId, running: new Map() });

/** The glossary's entries by pair. */
async function entriesByPair(): Promise<Readonly<Record<string, unknown>>> {
  const glossary = answered(await store.find(teamId, glossaryId));
  const pairs = (glossary?.dictionaries ?? []).map(async ({ dictionaryId, sourceLang, targetLang }) => {
    const found = answered(await store.entries(teamId, dictionaryId));
    return [`${sourceLang} ${targetLang}`, found?.entries] as const;
  });
  return Object.fromEntries(await Promise.all(pairs));
}

describe('many changes', () => {
  test('from two processes at once are all applied', async () => {
    const processes = [inProcess(), inProcess()];
    const terms = Array.from({ length: 60 }, (_, i) => `term ${i}`);
    const all = terms.map((term, i) => addEntries(processes[i % 2]!, additions(draft(i % 3 === 0 ? 'DE' : 'PT', { [term]: 'x' }))));
    for (const changed of await Promise.all(all)) expect(changed).not.toHaveProperty('problem');
    const { 'EN PT-BR': pt, 'EN DE': de } = await entriesByPair();
    expect(Object.keys({ ...(pt as object), ...(de as object) }).toSorted()).toEqual(['first', ...terms].toSorted());
  });

  test('within one process wait for each other, so that none has to be repeated', async () => {
    let written = 0;
    const write = store.change.bind(store);
    store.change = (change) => (written++, write(change));
    const one = inProcess();
    await Promise.all(Array.from({ length: 20 }, (_, i) => addEntries(one, additions(draft('PT', { [`term ${i}`]: 'x' })))));
    expect(written).toBe(20);
  });

  test('by others between every read and write make it give up after a while', async () => {
    let looks = 0;
    const find = store.find.bind(store);
    store.find = async (...glossary) => {
      const found = answered(await find(...glossary));
      looks++;
      if (found !== undefined) await store.change({ ...found, teamId, name: `Look ${looks}` });
      return found;
    };
    expect(await putDictionary(inProcess(), draft('DE', { a: 'b' }))).toBe(CHANGING);
    expect(looks).toBeLessThan(100);
    store.find = find;
    expect(await entriesByPair()).toEqual({ 'EN PT-BR': { first: '0' } });
  });
});
