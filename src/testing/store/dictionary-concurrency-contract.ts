// Part of the store contract: concurrent changes to glossaries, and reads during changes.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { GlossaryChanged, GlossaryEntries } from '../../ports/glossary-store.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import { changeOf, created, DE, dictionary, FR, recordOf, served } from './dictionaries-under-test.ts';
import type { Subject } from './subject.ts';
import { teamUnderTest } from './team-under-test.ts';

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

export function dictionaryConcurrencyContract(it: AddCase<Subject>): void {
  it('of 50 concurrent changes based on the same record, one succeeds', async ({ store, again }) => {
    const { teamId } = await teamUnderTest(store);
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

  it('20 concurrent additions of a term over two instances are all kept', async ({ store, again }) => {
    const { teamId } = await teamUnderTest(store);
    const { glossaryId } = await created(store, teamId, dictionary(DE, { first: '0' }));
    const terms = Array.from({ length: 20 }, (_, i) => `term ${i}`);
    await Promise.all(terms.map((term, i) => merge(i % 2 === 0 ? store : again, teamId, glossaryId, { [term]: 'x' })));
    const record = answered(await again.glossaries.find(teamId, glossaryId));
    expect(record).toMatchObject({ revision: 21, dictionaries: [{ entryCount: 21 }] });
    const found = answered(await again.glossaries.entries(teamId, record!.dictionaries[0]!.dictionaryId));
    expect(Object.keys(found?.entries ?? {}).toSorted()).toEqual(['first', ...terms].toSorted());
  });

  it('a read during a change returns a complete dictionary, either the old or the new one', async ({ store, again }) => {
    const team = await teamUnderTest(store);
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
