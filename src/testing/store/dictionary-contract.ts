// Part of the store contract: glossaries with several dictionaries, how they are changed, and which dictionary serves a
// request.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { changeOf, created, DE, dictionary, entriesIn, FR, IT, recordOf, served } from './dictionaries-under-test.ts';
import type { Subject } from './subject.ts';
import { newId, teamUnderTest } from './team-under-test.ts';

export function dictionaryContract(it: AddCase<Subject>, subject: Subject): void {
  it('a glossary with several dictionaries is returned as created, in order, and counts as one', async ({ store, again, clock }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 2 });
    const several = [dictionary(FR), dictionary(['DE', 'EN'], { eins: 'one', zwei: 'two' }), dictionary(DE)];
    const { glossaryId } = await created(store, teamId, ...several);
    const record = { glossaryId, name: 'Terms', revision: 1, dictionaries: several.map(recordOf), createdAtMs: clock.nowMs() };
    await created(store, teamId, dictionary(DE));
    for (const { glossaries } of [store, again]) {
      expect(await glossaries.find(teamId, glossaryId)).toEqual(record);
      expect(answered(await glossaries.list(teamId))[0]).toEqual(record);
      for (const { dictionaryId, entries } of several) expect(await entriesIn(glossaries, teamId, dictionaryId)).toEqual(entries);
    }
    const third = { glossaryId: newId(), teamId, name: 'Terms', dictionaries: [] };
    expect(await store.glossaries.create(third)).toEqual({ kind: 'limit_reached', maxGlossaries: 2 });
  });

  it('a change is atomic: kept dictionaries keep their entries, removed ones are gone, and the new order applies', async ({
    store,
    again,
  }) => {
    const { teamId } = await teamUnderTest(store);
    const [de, fr, it2, newFr] = [dictionary(DE), dictionary(FR), dictionary(IT), dictionary(FR, { a: '1', b: '2' })];
    const before = await created(store, teamId, de, fr);
    const { glossaryId } = before;
    const change = { ...changeOf(teamId, before, [it2, newFr, recordOf(de)]), name: 'Other' };
    const record = { ...before, name: 'Other', revision: 2, dictionaries: [it2, newFr, de].map(recordOf) };
    expect(await again.glossaries.change(change)).toEqual({ kind: 'changed', glossary: record });
    for (const { glossaries } of [store, again]) {
      expect(await glossaries.find(teamId, glossaryId)).toEqual(record);
      expect(await glossaries.entries(teamId, fr.dictionaryId)).toBeUndefined();
      for (const { dictionaryId, entries } of [de, it2, newFr]) expect(await entriesIn(glossaries, teamId, dictionaryId)).toEqual(entries);
    }
  });

  it('a glossary may lose its last dictionary and get another; it counts all the time', async ({ store }) => {
    const team = await teamUnderTest(store, { maxGlossaries: 1 });
    const { teamId } = team;
    const first = await created(store, teamId, dictionary(DE));
    const reference = { glossaryId: first.glossaryId, sourceLang: 'EN', targetLang: 'DE' };
    const emptied = { ...first, revision: 2, dictionaries: [] };
    expect(await store.glossaries.change(changeOf(teamId, first, []))).toEqual({ kind: 'changed', glossary: emptied });
    expect(await store.glossaries.list(teamId)).toEqual([emptied]);
    expect(await served(team, reference)).toBe('glossary_mismatch');
    const second = { glossaryId: newId(), teamId, name: 'Terms', dictionaries: [] };
    expect(await store.glossaries.create(second)).toEqual({ kind: 'limit_reached', maxGlossaries: 1 });
    const next = dictionary(DE);
    await store.glossaries.change(changeOf(teamId, emptied, [next]));
    expect(await served(team, reference)).toBe(next.dictionaryId);
  });

  it('a change based on an outdated record has no effect, nor does one to a glossary that the team does not have', async ({ store }) => {
    const { teamId } = await teamUnderTest(store);
    const stranger = await teamUnderTest(store);
    const first = await created(store, teamId, dictionary(DE));
    await store.glossaries.change({ ...changeOf(teamId, first, first.dictionaries), name: 'Renamed' });
    const lost = dictionary(FR);
    for (const revision of [1, 3]) {
      expect(await store.glossaries.change({ ...changeOf(teamId, first, [lost]), revision })).toEqual({ kind: 'outdated' });
    }
    expect(await store.glossaries.change({ ...changeOf(teamId, first, [lost]), glossaryId: newId() })).toEqual({ kind: 'missing' });
    expect(await store.glossaries.change({ ...changeOf(stranger.teamId, first, [lost]), revision: 2 })).toEqual({ kind: 'missing' });
    expect(await store.glossaries.list(teamId)).toEqual([{ ...first, name: 'Renamed', revision: 2 }]);
    expect(await store.glossaries.entries(teamId, lost.dictionaryId)).toBeUndefined();
    expect(await store.glossaries.entries(stranger.teamId, first.dictionaries[0]!.dictionaryId)).toBeUndefined();
  });

  it('a removed glossary leaves no entries behind', async ({ store, again }) => {
    const { teamId } = await teamUnderTest(store);
    const several = [dictionary(DE), dictionary(FR)];
    const { glossaryId } = await created(store, teamId, ...several);
    expect(await store.glossaries.remove(teamId, glossaryId)).toBe(true);
    for (const { dictionaryId } of several) expect(await again.glossaries.entries(teamId, dictionaryId)).toBeUndefined();
  });

  it('an admission finds the current dictionary for exactly its pair, on every instance', async ({ store, again }) => {
    const team = await teamUnderTest(store);
    const [de, fr, newer] = [dictionary(DE), dictionary(FR), dictionary(DE)];
    const record = await created(store, team.teamId, de, fr);
    const { glossaryId } = record;
    expect(await served(team, { glossaryId, sourceLang: 'EN', targetLang: 'DE' })).toBe(de.dictionaryId);
    expect(await served(team, { glossaryId, sourceLang: 'EN', targetLang: 'FR' }, again)).toBe(fr.dictionaryId);
    expect(await served(team, { glossaryId, sourceLang: 'DE', targetLang: 'EN' })).toBe('glossary_mismatch');
    await again.glossaries.change(changeOf(team.teamId, record, [newer, recordOf(fr)]));
    expect(await served(team, { glossaryId, sourceLang: 'EN', targetLang: 'DE' })).toBe(newer.dictionaryId);
    expect(await team.standing()).toMatchObject({ openReservations: 3 });
  });

  it('with `byBase` an exact pair is preferred, then the first with the same bases; without it the region must match', async ({
    store,
  }) => {
    const team = await teamUnderTest(store, { maxGlossaries: 9 });
    const [gb, us, plain] = [dictionary(['DE', 'EN-GB']), dictionary(['DE', 'EN-US']), dictionary(['DE', 'EN'])];
    const { glossaryId } = await created(store, team.teamId, gb, us, plain);
    const asks = async (targetLang: string, byBase: boolean) => served(team, { glossaryId, sourceLang: 'DE', targetLang, byBase });
    expect(await asks('EN-US', true)).toBe(us.dictionaryId);
    expect(await asks('EN', true)).toBe(plain.dictionaryId);
    expect(await asks('EN-AU', true)).toBe(gb.dictionaryId);
    expect(await asks('EN-AU', false)).toBe('glossary_mismatch');
    expect(await asks('ENG', true)).toBe('glossary_mismatch');
    expect(await asks('E', true)).toBe('glossary_mismatch');
    expect(await served(team, { glossaryId, sourceLang: 'EN', targetLang: 'DE', byBase: true })).toBe('glossary_mismatch');
  });

  it('an admission without a reservation, or a repeated one, names no dictionary', async () => {
    const team = await teamUnderTest(subject.store);
    const { glossaryId } = await created(subject.store, team.teamId, dictionary(DE));
    const glossary = { glossaryId, sourceLang: 'EN', targetLang: 'DE' };
    expect(await team.admit({ glossary, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined });
    const reservation = await team.reserve(10, { glossary });
    expect(await team.admit({ glossary, requestId: reservation.requestId })).toEqual({ kind: 'admitted', reservation });
  });
}
