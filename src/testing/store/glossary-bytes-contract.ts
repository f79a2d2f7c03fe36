// Part of the store contract: the limit on the bytes of a team's glossaries, and large dictionaries.
import { expect } from '../expect.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { writeEntries, writtenEntries } from '../../domain/entries-text.ts';
import type { GlossaryEntries, NewGlossary } from '../../ports/glossary-store.ts';
import { changeOf, created, DE, dictionary, entriesIn, FR, glossaryOf, served } from './dictionaries-under-test.ts';
import { teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase } from './team-under-test.ts';

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
      bytes += writtenEntries((await entriesIn(again.glossaries, teamId, dictionaryId))!).bytes;
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
    const reference = { glossaryId: before.glossaryId, sourceLang: 'EN', targetLang: 'DE' };
    expect(await served(team, reference)).toBe(second.dictionaryId);
    expect(await store.glossaries.create(glossaryOf(teamId, dictionary(FR, { a: 'b' })), written.bytes + 1)).toEqual(REACHED);
    answered(await store.glossaries.remove(teamId, before.glossaryId));
    expect(await again.glossaries.entries(teamId, second.dictionaryId)).toBeUndefined();
    expect(await store.glossaries.create(glossaryOf(teamId, dictionary(FR, { a: 'b' })), 2)).toMatchObject({ kind: 'created' });
  });
}
