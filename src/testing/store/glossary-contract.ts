// Part of the store contract: glossaries as they are created, found, listed and removed, and as admissions use them.
import { expect } from '../expect.ts';
import type { GlossaryReference } from '../../domain/slots.ts';
import { createdAs, entriesIn, singleGlossary } from './dictionaries-under-test.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { GlossaryRecord, NewGlossary } from '../../ports/glossary-store.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import type { SingleGlossary } from './dictionaries-under-test.ts';
import { newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

/** Entries that a store might stumble over. */
const ENTRIES = JSON.parse(
  '{"gateway":"Tor","10":"zehn","2":"zwei","__proto__":"Prototyp","\u00e9t\u00e9 👍":"Sommer “x”","a\'b\\\\":"%s $1"}',
) as Readonly<Record<string, string>>;

function glossary(teamId: string, change: Partial<SingleGlossary> = {}): NewGlossary {
  const terms = { sourceLang: 'EN', targetLang: 'DE', entries: { term: 'Begriff' } };
  return singleGlossary({ glossaryId: newId(), teamId, name: 'Terms', ...terms, ...change });
}

function used({ glossaryId }: GlossaryRecord, change: Partial<GlossaryReference> = {}): GlossaryReference {
  return { glossaryId, sourceLang: 'EN', targetLang: 'DE', ...change };
}

export function glossaryContract(it: AddStoreCase, subject: Subject): void {
  it('a glossary, created by the store clock, is returned as created; its entries are read separately', async ({ store, again, clock }) => {
    const { teamId } = await teamUnderTest(store);
    const wanted = glossary(teamId, { name: 'Pläne, “7” | EN', sourceLang: 'PT', targetLang: 'PT-BR', entries: ENTRIES });
    const { glossaryId, name } = wanted;
    const dictionaries = [{ dictionaryId: glossaryId, sourceLang: 'PT', targetLang: 'PT-BR', entryCount: 6 }];
    const record = { glossaryId, name, revision: 1, dictionaries, createdAtMs: clock.nowMs() };
    expect(await store.glossaries.create(wanted)).toEqual({ kind: 'created', glossary: record });
    clock.step(5000);
    for (const { glossaries } of [store, again]) {
      expect(await glossaries.find(teamId, glossaryId)).toEqual(record);
      expect(await glossaries.list(teamId)).toEqual([record]);
      expect(JSON.stringify(await entriesIn(glossaries, teamId, glossaryId))).toBe(JSON.stringify(ENTRIES));
    }
  });

  it.team('a large glossary is returned completely', async ({ teamId }) => {
    const entries = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`term ${i} ${'x'.repeat(100)}`, `Begriff ${i}`]));
    const { glossaryId, dictionaries } = await createdAs(subject.store, glossary(teamId, { entries }));
    expect(dictionaries).toMatchObject([{ entryCount: 5000 }]);
    expect(await entriesIn(subject.again.glossaries, teamId, glossaryId)).toEqual(entries);
  });

  it.team('a team without glossaries has an empty list, and so does an unknown team', async ({ teamId }) => {
    for (const id of [teamId, newId()]) expect(await subject.store.glossaries.list(id)).toEqual([]);
    expect(await subject.store.glossaries.create(glossary(newId()))).toEqual({ kind: 'team_unknown' });
  });

  it('the list is in order of creation, even if ids and clock disagree, and after a deletion', async ({ store, clock }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 4 });
    const ids = Array.from({ length: 5 }, () => newId()).toReversed();
    for (const glossaryId of ids.slice(0, 3)) {
      await createdAs(store, glossary(teamId, { glossaryId }));
      clock.step(-60_000);
    }
    answered(await store.glossaries.remove(teamId, ids[0]!));
    for (const glossaryId of ids.slice(3)) await createdAs(store, glossary(teamId, { glossaryId }));
    expect(answered(await store.glossaries.list(teamId)).map((one) => one.glossaryId)).toEqual(ids.slice(1));
  });

  it('a team never sees, uses or removes another team’s glossary', async ({ store }) => {
    const owner = await teamUnderTest(store);
    const stranger = await teamUnderTest(store);
    const record = await createdAs(store, glossary(owner.teamId));
    const { glossaryId } = record;
    expect(await store.glossaries.find(stranger.teamId, glossaryId)).toBeUndefined();
    expect(await store.glossaries.entries(stranger.teamId, glossaryId)).toBeUndefined();
    expect(await store.glossaries.list(stranger.teamId)).toEqual([]);
    expect(await store.glossaries.remove(stranger.teamId, glossaryId)).toBe(false);
    expect(await stranger.admit({ glossary: used(record) })).toEqual({ kind: 'glossary_missing' });
    expect(await owner.admit({ glossary: used(record) })).toMatchObject({ kind: 'admitted' });
    expect(await store.glossaries.find(owner.teamId, glossaryId)).toEqual(record);
  });

  it.team('an admission requires a glossary for exactly its pair, or reserves nothing', async (team) => {
    const record = await createdAs(subject.store, glossary(team.teamId));
    expect(await team.admit({ glossary: used(record) })).toMatchObject({ kind: 'admitted', reservation: { characters: 10 } });
    for (const change of [{ targetLang: 'FR' }, { sourceLang: 'FR' }, { sourceLang: 'DE', targetLang: 'EN' }]) {
      expect(await team.admit({ glossary: used(record, change) }, subject.again)).toEqual({ kind: 'glossary_mismatch' });
    }
    expect(await team.admit({ glossary: used(record, { glossaryId: newId() }) })).toEqual({ kind: 'glossary_missing' });
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, openReservations: 1 });
  });

  it.team('a removed glossary is gone at the next request on every instance, and is removed once', async (team, { store, again }) => {
    const record = await createdAs(store, glossary(team.teamId));
    const { glossaryId } = record;
    expect(await again.glossaries.remove(team.teamId, glossaryId)).toBe(true);
    expect(await team.admit({ glossary: used(record) })).toEqual({ kind: 'glossary_missing' });
    for (const { glossaries } of [store, again]) {
      expect(await glossaries.remove(team.teamId, glossaryId)).toBe(false);
      expect(await glossaries.find(team.teamId, glossaryId)).toBeUndefined();
      expect(await glossaries.entries(team.teamId, glossaryId)).toBeUndefined();
      expect(await glossaries.list(team.teamId)).toEqual([]);
    }
  });

  it('a team may have as many as its record allows, and one more after a deletion', async ({ store }) => {
    const { teamId } = await teamUnderTest(store, { maxGlossaries: 2 });
    const { glossaryId } = await createdAs(store, glossary(teamId));
    await createdAs(store, glossary(teamId));
    expect(await store.glossaries.create(glossary(teamId))).toEqual({ kind: 'limit_reached', maxGlossaries: 2 });
    answered(await store.glossaries.remove(teamId, glossaryId));
    await createdAs(store, glossary(teamId));
    expect(await store.glossaries.create(glossary(teamId))).toEqual({ kind: 'limit_reached', maxGlossaries: 2 });
    expect(await store.glossaries.list(teamId)).toHaveLength(2);
  });

  it('a changed limit applies to the next creation; glossaries above a lowered limit are kept and usable', async ({ store }) => {
    const team = await teamUnderTest(store, { maxGlossaries: 1 });
    const first = await createdAs(store, glossary(team.teamId));
    await team.setLimits({ maxGlossaries: 2 });
    await createdAs(store, glossary(team.teamId));
    await team.setLimits({ maxGlossaries: 1 });
    expect(await store.glossaries.create(glossary(team.teamId))).toEqual({ kind: 'limit_reached', maxGlossaries: 1 });
    expect(await store.glossaries.list(team.teamId)).toHaveLength(2);
    expect(await team.admit({ glossary: used(first) })).toMatchObject({ kind: 'admitted' });
    answered(await store.glossaries.remove(team.teamId, first.glossaryId));
    expect(await store.glossaries.create(glossary(team.teamId))).toEqual({ kind: 'limit_reached', maxGlossaries: 1 });
  });

  it.each([1, 7])('50 concurrent creations over two instances: a limit of %i creates exactly that many', async (maxGlossaries) => {
    const { store, again } = subject;
    const { teamId } = await teamUnderTest(store, { maxGlossaries });
    const kinds = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => (await (i % 2 === 0 ? store : again).glossaries.create(glossary(teamId))).kind),
    );
    expect(kinds.filter((kind) => kind === 'created')).toHaveLength(maxGlossaries);
    expect(await again.glossaries.list(teamId)).toHaveLength(maxGlossaries);
  });

  it('50 concurrent removals of one glossary remove it once, and make room for one', async ({ store, again }) => {
    const team = await teamUnderTest(store, { maxGlossaries: 1 });
    const { glossaryId } = await createdAs(store, glossary(team.teamId));
    const removed = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? store : again).glossaries.remove(team.teamId, glossaryId)),
    );
    expect(removed.filter(Boolean)).toHaveLength(1);
    expect(await roomFor(team, store)).toBe(1);
  });
}

/** Creates glossaries until the limit is reached. */
async function roomFor({ teamId }: TeamUnderTest, { glossaries }: PluginStore): Promise<number> {
  let room = 0;
  while (answered(await glossaries.create(glossary(teamId))).kind === 'created') room++;
  return room;
}
