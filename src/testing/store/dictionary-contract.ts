// Part of the store contract: glossaries with several dictionaries, how they are changed, and which dictionary serves a; concurrent changes to
// them, and reads during changes.
import { expect } from '../expect.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { changeOf, created, DE, dictionary, entriesIn, FR, glossaryOf, IT, recordOf, served } from './dictionaries-under-test.ts';
import { newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';
import type { GlossaryChanged, GlossaryEntries } from '../../ports/glossary-store.ts';
import type { PluginStore } from '../../ports/plugin.ts';

export function dictionaryContract(it: AddStoreCase, subject: Subject): void {
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
    const third = glossaryOf(teamId);
    expect(await store.glossaries.create(third)).toEqual({ kind: 'limit_reached', maxGlossaries: 2 });
  });

  it('a change is atomic: kept dictionaries keep their entries, removed ones are gone, the new order applies', async ({ store, again }) => {
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
    const second = glossaryOf(teamId);
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

  it.team('a removed glossary leaves no entries behind', async ({ teamId }, { store, again }) => {
    const several = [dictionary(DE), dictionary(FR)];
    const { glossaryId } = await created(store, teamId, ...several);
    expect(await store.glossaries.remove(teamId, glossaryId)).toBe(true);
    for (const { dictionaryId } of several) expect(await again.glossaries.entries(teamId, dictionaryId)).toBeUndefined();
  });

  it.team('an admission finds the current dictionary for exactly its pair, on every instance', async (team, { store, again }) => {
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

  it('with `byBase` an exact pair is preferred, then the first with its bases; without it the region must match', async ({ store }) => {
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

  it.team('an admission without a reservation, or a repeated one, names no dictionary', async (team) => {
    const { glossaryId } = await created(subject.store, team.teamId, dictionary(DE));
    const glossary = { glossaryId, sourceLang: 'EN', targetLang: 'DE' };
    expect(await team.admit({ glossary, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined });
    const reservation = await team.reserve(10, { glossary });
    expect(await team.admit({ glossary, requestId: reservation.requestId })).toEqual({ kind: 'admitted', reservation });
  });
}

/** Read, modify, write, repeated until no other change interfered. */
async function merge({ glossaries }: PluginStore, teamId: string, glossaryId: string, entries: GlossaryEntries): Promise<void> {
  let changed: GlossaryChanged | undefined;
  do {
    const record = answered(await glossaries.find(teamId, glossaryId));
    const [first, ...others] = record?.dictionaries ?? [];
    if (record === undefined || first === undefined) throw new Error('the glossary is gone');
    const before = answered(await glossaries.entries(teamId, first.dictionaryId));
    // Replaced meanwhile: read again.
    if (before === undefined) continue;
    const merged = dictionary([first.sourceLang, first.targetLang], { ...before.entries, ...entries });
    changed = answered(await glossaries.change(changeOf(teamId, record, [merged, ...others])));
  } while (changed?.kind !== 'changed');
}

export function dictionaryConcurrencyContract(it: AddStoreCase): void {
  it.team('of 50 concurrent changes based on the same record, one succeeds', async ({ teamId }, { store, again }) => {
    const record = await created(store, teamId, dictionary(DE));
    const dictionaries = Array.from({ length: 50 }, () => dictionary(FR));
    const kinds = await Promise.all(
      dictionaries.map(async (one, i) => (await (i % 2 === 0 ? store : again).glossaries.change(changeOf(teamId, record, [one]))).kind),
    );
    expect(kinds.toSorted()).toEqual(['changed', ...Array.from({ length: 49 }, () => 'outdated')]);
    const winner = dictionaries[kinds.indexOf('changed')]!;
    expect(await store.glossaries.find(teamId, record.glossaryId)).toMatchObject({ revision: 2, dictionaries: [recordOf(winner)] });
    for (const one of dictionaries.filter((other) => other !== winner)) {
      expect(await store.glossaries.entries(teamId, one.dictionaryId)).toBeUndefined();
    }
  });

  it.team('20 concurrent additions of a term over two instances are all kept', async ({ teamId }, { store, again }) => {
    const { glossaryId } = await created(store, teamId, dictionary(DE, { first: '0' }));
    const terms = Array.from({ length: 20 }, (_, i) => `term ${i}`);
    await Promise.all(terms.map((term, i) => merge(i % 2 === 0 ? store : again, teamId, glossaryId, { [term]: 'x' })));
    const record = answered(await again.glossaries.find(teamId, glossaryId));
    expect(record).toMatchObject({ revision: 21, dictionaries: [{ entryCount: 21 }] });
    const found = answered(await again.glossaries.entries(teamId, record!.dictionaries[0]!.dictionaryId));
    expect(Object.keys(found?.entries ?? {}).toSorted()).toEqual(['first', ...terms].toSorted());
  });

  it.team('a read during a change returns a complete dictionary, either the old or the new one', async (team, { store, again }) => {
    const { teamId } = team;
    const made = (n: number) => dictionary(DE, Object.fromEntries(Array.from({ length: n + 1 }, (_, i) => [`term ${i}`, `of ${n}`])));
    let record = await created(store, teamId, made(0));
    const reference = { glossaryId: record.glossaryId, sourceLang: 'EN', targetLang: 'DE' };
    const reading = { on: true };
    const read = async (from: PluginStore): Promise<void> => {
      while (reading.on) {
        const found = answered(await from.glossaries.entries(teamId, (await served(team, reference, from))!));
        // Already replaced: the next admission returns the new one.
        if (found === undefined) continue;
        const { entries } = found;
        const texts = new Set(Object.values(entries));
        expect(texts).toEqual(new Set([`of ${Object.keys(entries).length - 1}`]));
      }
    };
    const readers = Promise.all([store, again, store, again].map(read));
    for (let n = 1; n <= 25; n++) {
      const changed = await store.glossaries.change(changeOf(teamId, record, [made(n)]));
      if (changed.kind !== 'changed') throw new Error(`expected a change, got ${changed.kind}`);
      record = changed.glossary;
    }
    reading.on = false;
    await readers;
  });
}
