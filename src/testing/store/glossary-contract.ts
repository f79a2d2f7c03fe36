// Part of the store contract: glossaries and their dictionaries as they are created, found, listed, changed and removed, and as admissions use
// them; concurrent changes to them, reads during changes, and the limit on their bytes.
import { expect } from '../expect.ts';
import { writeEntries } from '../../domain/entries-text.ts';
import { answered } from '../../domain/store-unavailable.ts';
import {
  changeOf,
  created,
  createdAs,
  DE,
  dictionary,
  entriesIn,
  FR,
  glossaryOf,
  IT,
  recordOf,
  served,
} from './dictionaries-under-test.ts';
import type { GlossaryChanged, GlossaryEntries, NewGlossary } from '../../ports/glossary-store.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import { newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

/** Entries that a store might stumble over. */
const ENTRIES = JSON.parse(
  '{"gateway":"Tor","10":"zehn","2":"zwei","__proto__":"Prototyp","\u00e9t\u00e9 👍":"Sommer “x”","a\'b\\\\":"%s $1"}',
) as Readonly<Record<string, string>>;
const EN_DE = { sourceLang: 'EN', targetLang: 'DE' };

export function glossaryContract(it: AddStoreCase, subject: Subject): void {
  const refused = async ({ teamId }: TeamUnderTest, maxGlossaries: number): Promise<void> =>
    expect(await subject.store.glossaries.create(glossaryOf(teamId, dictionary(DE)))).toEqual({ kind: 'limit_reached', maxGlossaries });

  it('a glossary with several dictionaries is returned as created, by the store clock; entries are read separately', async ({
    store,
    again,
    clock,
  }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 2 });
    const several = [dictionary(FR), dictionary(['PT', 'PT-BR'], ENTRIES), dictionary(DE)];
    const sent = { ...glossaryOf(teamId, ...several), name: 'Pläne, “7” | EN' };
    const { glossaryId, name } = sent;
    const record = { glossaryId, name, revision: 1, dictionaries: several.map(recordOf), createdAtMs: clock.nowMs() };
    expect(await store.glossaries.create(sent)).toEqual({ kind: 'created', glossary: record });
    clock.step(5000);
    await created(store, teamId, dictionary(DE));
    for (const { glossaries } of [store, again]) {
      expect(await glossaries.find(teamId, glossaryId)).toEqual(record);
      expect(answered(await glossaries.list(teamId))[0]).toEqual(record);
      for (const { dictionaryId, entries } of several)
        expect(JSON.stringify(await entriesIn(glossaries, teamId, dictionaryId))).toBe(JSON.stringify(entries));
    }
  });

  it.team('a team without glossaries has an empty list, and so does an unknown team', async ({ teamId }) => {
    for (const id of [teamId, newId()]) expect(await subject.store.glossaries.list(id)).toEqual([]);
    expect(await subject.store.glossaries.create(glossaryOf(newId(), dictionary(DE)))).toEqual({ kind: 'team_unknown' });
  });

  it('the list is in order of creation, even if ids and clock disagree, and after a deletion', async ({ store, clock }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 4 });
    const ids = Array.from({ length: 5 }, () => newId()).toReversed();
    for (const glossaryId of ids.slice(0, 3)) {
      await createdAs(store, { ...glossaryOf(teamId, dictionary(DE)), glossaryId });
      clock.step(-60_000);
    }
    answered(await store.glossaries.remove(teamId, ids[0]!));
    for (const glossaryId of ids.slice(3)) await createdAs(store, { ...glossaryOf(teamId, dictionary(DE)), glossaryId });
    expect(answered(await store.glossaries.list(teamId)).map((one) => one.glossaryId)).toEqual(ids.slice(1));
  });

  it('a team never sees, uses or removes another team’s glossary', async ({ store }) => {
    const [owner, stranger] = [await teamUnderTest(store), await teamUnderTest(store)];
    const record = await created(store, owner.teamId, dictionary(DE));
    const { glossaryId, dictionaries } = record;
    expect(await store.glossaries.find(stranger.teamId, glossaryId)).toBeUndefined();
    expect(await store.glossaries.entries(stranger.teamId, dictionaries[0]!.dictionaryId)).toBeUndefined();
    expect(await store.glossaries.list(stranger.teamId)).toEqual([]);
    expect(await store.glossaries.remove(stranger.teamId, glossaryId)).toBe(false);
    expect(await served(stranger, { glossaryId, ...EN_DE })).toBe('glossary_missing');
    expect(await served(owner, { glossaryId, ...EN_DE })).toBe(dictionaries[0]!.dictionaryId);
    expect(await store.glossaries.find(owner.teamId, glossaryId)).toEqual(record);
  });

  it.team(
    'a removed glossary is gone at the next request on every instance, with its entries, and is removed once',
    async (team, { store, again }) => {
      const { glossaryId, dictionaries } = await created(store, team.teamId, dictionary(DE), dictionary(FR));
      expect(await again.glossaries.remove(team.teamId, glossaryId)).toBe(true);
      expect(await served(team, { glossaryId, ...EN_DE })).toBe('glossary_missing');
      for (const { glossaries } of [store, again]) {
        expect(await glossaries.remove(team.teamId, glossaryId)).toBe(false);
        expect(await glossaries.find(team.teamId, glossaryId)).toBeUndefined();
        for (const { dictionaryId } of dictionaries) expect(await glossaries.entries(team.teamId, dictionaryId)).toBeUndefined();
        expect(await glossaries.list(team.teamId)).toEqual([]);
      }
    },
  );

  it('a team may have as many as its record allows; those above a lowered limit stay and are usable', async ({ store }) => {
    const team = await teamUnderTest(store, { maxGlossaries: 1 });
    const { glossaryId } = await created(store, team.teamId, dictionary(DE));
    await refused(team, 1);
    await team.setLimits({ maxGlossaries: 2 });
    const second = await created(store, team.teamId, dictionary(DE));
    await refused(team, 2);
    await team.setLimits({ maxGlossaries: 1 });
    await refused(team, 1);
    expect(await store.glossaries.list(team.teamId)).toHaveLength(2);
    expect(await team.admit({ glossary: { glossaryId, ...EN_DE } })).toMatchObject({ kind: 'admitted' });
    answered(await store.glossaries.remove(team.teamId, glossaryId));
    await refused(team, 1);
    answered(await store.glossaries.remove(team.teamId, second.glossaryId));
    await created(store, team.teamId, dictionary(DE));
    await refused(team, 1);
  });

  it('50 concurrent creations over two instances: a limit of 7 creates exactly that many', async ({ store, again }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 7 });
    const asked = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? store : again).glossaries.create(glossaryOf(teamId, dictionary(DE))));
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'created')).toHaveLength(7);
    expect(await again.glossaries.list(teamId)).toHaveLength(7);
  });

  it('50 concurrent removals of one glossary remove it once, and make room for one', async ({ store, again }) => {
    const team = await teamUnderTest(store, { maxGlossaries: 1 });
    const { glossaryId } = await created(store, team.teamId, dictionary(DE));
    const asked = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? store : again).glossaries.remove(team.teamId, glossaryId));
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
    await created(store, team.teamId, dictionary(DE));
    await refused(team, 1);
  });
}

export function dictionaryContract(it: AddStoreCase, subject: Subject): void {
  it('a change is atomic: what stays keeps its entries, removed ones are gone, the new order applies', async ({ store, again }) => {
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
    const reference = { glossaryId: first.glossaryId, ...EN_DE };
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

  it.team('an admission finds the current dictionary for exactly its pair, on every instance', async (team, { store, again }) => {
    const [de, fr, newer] = [dictionary(DE), dictionary(FR), dictionary(DE)];
    const record = await created(store, team.teamId, de, fr);
    const { glossaryId } = record;
    expect(await served(team, { glossaryId, ...EN_DE })).toBe(de.dictionaryId);
    expect(await served(team, { glossaryId, sourceLang: 'EN', targetLang: 'FR' }, again)).toBe(fr.dictionaryId);
    for (const pair of [
      { sourceLang: 'DE', targetLang: 'EN' },
      { sourceLang: 'EN', targetLang: 'IT' },
      { sourceLang: 'FR', targetLang: 'DE' },
    ])
      expect(await served(team, { glossaryId, ...pair }, again)).toBe('glossary_mismatch');
    expect(await served(team, { glossaryId: newId(), ...EN_DE })).toBe('glossary_missing');
    await again.glossaries.change(changeOf(team.teamId, record, [newer, recordOf(fr)]));
    expect(await served(team, { glossaryId, ...EN_DE })).toBe(newer.dictionaryId);
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
    expect(await served(team, { glossaryId, ...EN_DE, byBase: true })).toBe('glossary_mismatch');
  });

  it.team('an admission without a reservation, or a repeated one, names no dictionary', async (team) => {
    const { glossaryId } = await created(subject.store, team.teamId, dictionary(DE));
    const glossary = { glossaryId, ...EN_DE };
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

  it.team('20 concurrent additions of a term over two instances all stay', async ({ teamId }, { store, again }) => {
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
    const reference = { glossaryId: record.glossaryId, ...EN_DE };
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

/** 10 bytes, in characters of one to three bytes. */
const TEN: GlossaryEntries = { aé: '€', b: 'xyz' };
const REACHED = { kind: 'bytes_reached', maxGlossaries: 100 };
const NO_TURN = async (): Promise<void> => undefined;

/** About 600 KB in pieces, with content that resembles the end of an entry. */
function large(mark: string): GlossaryEntries {
  const hard = ['",', '","', '\\', '\\"', '{', '}', '\\","', ':', '€', '😀'];
  return Object.fromEntries(
    Array.from({ length: 600 }, (_, i) => [`term ${i} ${hard[i % hard.length]!.repeat(1 + (i % 7))}`, `${mark}${'",\\"'.repeat(i % 400)}`]),
  );
}

export function glossaryBytesContract(it: AddStoreCase): void {
  it('exactly as many bytes as the limit are accepted; a deletion frees them', async ({ store, again }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 100 });
    const make = async (bytesMax: number, from = store) =>
      (await from.glossaries.create(glossaryOf(teamId, dictionary(DE, TEN)), bytesMax)).kind;
    expect(await make(9)).toBe('bytes_reached');
    expect(await make(10)).toBe('created');
    expect(await again.glossaries.create(glossaryOf(teamId, dictionary(DE, TEN)), 19)).toEqual(REACHED);
    expect(await make(20, again)).toBe('created');
    const [first] = answered(await store.glossaries.list(teamId));
    answered(await again.glossaries.remove(teamId, first!.glossaryId));
    expect(await make(19)).toBe('bytes_reached');
    expect(await make(20)).toBe('created');
    // Without a limit nothing is refused, but everything is counted.
    answered(await store.glossaries.create(glossaryOf(teamId, dictionary(DE, TEN), dictionary(FR, TEN))));
    expect(await make(49)).toBe('bytes_reached');
    expect(await make(50)).toBe('created');
  });

  it('a change counts by its difference in size; one that adds nothing succeeds whatever the limit', async ({ store }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 100 });
    const before = await created(store, teamId, dictionary(DE, TEN), dictionary(FR, TEN));
    const [de, fr] = before.dictionaries;
    const more = dictionary(FR, { ...TEN, '1': '2' });
    expect(await store.glossaries.change(changeOf(teamId, before, [de!, more]), 21)).toEqual(REACHED);
    expect(await store.glossaries.find(teamId, before.glossaryId)).toEqual(before);
    const renamed = answered(await store.glossaries.change({ ...changeOf(teamId, before, [de!, fr!]), name: 'Other' }, 5));
    if (renamed.kind !== 'changed') throw new Error(`expected a change, got ${renamed.kind}`);
    const smaller = changeOf(teamId, renamed.glossary, [dictionary(DE, { a: 'b' })]);
    expect(await store.glossaries.change(smaller, 1)).toMatchObject({ kind: 'changed' });
    const next = (): NewGlossary => glossaryOf(teamId, dictionary(DE, TEN));
    expect(await store.glossaries.create(next(), 11)).toEqual(REACHED);
    expect(await store.glossaries.create(next(), 12)).toMatchObject({ kind: 'created' });
  });

  it('40 concurrent creations and changes over two instances fill the limit and never exceed it', async ({ store, again }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 100 });
    const record = await created(store, teamId, dictionary(DE, TEN));
    const kinds = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const { glossaries } = i % 2 === 0 ? store : again;
        const grown = changeOf(teamId, record, [dictionary(DE, { ...TEN, c: 'd'.repeat(9) })]);
        return (await (i % 8 === 0 ? glossaries.change(grown, 75) : glossaries.create(glossaryOf(teamId, dictionary(FR, TEN)), 75))).kind;
      }),
    );
    const made = kinds.filter((kind) => kind === 'created' || kind === 'changed').length;
    expect(made).toBe(6);
    expect(kinds.some((kind) => kind === 'bytes_reached')).toBe(true);
    let bytes = 0;
    for (const { dictionaryId } of answered(await store.glossaries.list(teamId)).flatMap(({ dictionaries }) => dictionaries)) {
      bytes += (await writeEntries((await entriesIn(again.glossaries, teamId, dictionaryId))!, NO_TURN)).bytes;
    }
    expect(bytes).toBe(70);
    expect(await store.glossaries.create(glossaryOf(teamId, dictionary(FR, TEN)), 79)).toEqual(REACHED);
    expect(await again.glossaries.create(glossaryOf(teamId, dictionary(FR, TEN)), 80)).toMatchObject({ kind: 'created' });
  });

  it('a large dictionary is returned unchanged, can be replaced, serves requests, and goes with its glossary', async ({ store, again }) => {
    const team = await teamUnderTest(store, { maxGlossaries: 100 });
    const { teamId } = team;
    const [first, second] = [dictionary(DE, large('a')), dictionary(DE, large('b'))];
    const before = await created(store, teamId, first);
    expect(before.dictionaries).toMatchObject([{ entryCount: 600 }]);
    expect(await entriesIn(again.glossaries, teamId, first.dictionaryId)).toEqual(first.entries);
    // Serialized in pieces by the caller; the object is then not read.
    const written = await writeEntries(second.entries, NO_TURN);
    const change = changeOf(teamId, before, [{ ...second, written }]);
    expect(await again.glossaries.change(change, written.bytes)).toMatchObject({ kind: 'changed' });
    expect(await store.glossaries.entries(teamId, first.dictionaryId)).toBeUndefined();
    expect(await entriesIn(store.glossaries, teamId, second.dictionaryId)).toEqual(second.entries);
    const reference = { glossaryId: before.glossaryId, ...EN_DE };
    expect(await served(team, reference)).toBe(second.dictionaryId);
    expect(await store.glossaries.create(glossaryOf(teamId, dictionary(FR, { a: 'b' })), written.bytes + 1)).toEqual(REACHED);
    answered(await store.glossaries.remove(teamId, before.glossaryId));
    expect(await again.glossaries.entries(teamId, second.dictionaryId)).toBeUndefined();
    expect(await store.glossaries.create(glossaryOf(teamId, dictionary(FR, { a: 'b' })), 2)).toMatchObject({ kind: 'created' });
  });
}
