// The cache in front of the store: what it remembers is answered at once, and it never grows beyond its bound.
import { describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/domain/store-error.ts';
import type { GlossaryEntries } from '../../../src/ports/glossary-store.ts';
import { LruGlossaryCache } from '../../../src/runtime/glossary-cache.ts';

type Found = GlossaryEntries | undefined;

/** A store whose answers wait until they are given. */
function store() {
  const asked: string[] = [];
  const open: PromiseWithResolvers<Found>[] = [];
  return {
    asked,
    open,
    entries(teamId: string, glossaryId: string): Promise<Found> {
      asked.push(`${teamId} ${glossaryId}`);
      const answer = Promise.withResolvers<Found>();
      open.push(answer);
      return answer.promise;
    },
  };
}

const ENTRIES = { a: 'b' };

async function remembered(glossaries: LruGlossaryCache, source: ReturnType<typeof store>, glossaryId: string, entries: Found) {
  const answer = glossaries.entries('T', glossaryId);
  source.open.at(-1)!.resolve(entries);
  expect(await answer).toEqual(entries);
}

describe('the memory of glossaries', () => {
  test('asks the store once, then answers without a promise', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    await remembered(glossaries, source, 'G1', ENTRIES);
    expect(glossaries.entries('T', 'G1')).toBe(ENTRIES);
    expect(source.asked).toEqual(['T G1']);
  });

  test('asks once for many who come at the same time', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    const answers = Promise.all(Array.from({ length: 50 }, async () => glossaries.entries('T', 'G1')));
    source.open[0]!.resolve(ENTRIES);
    expect(new Set(await answers)).toEqual(new Set([ENTRIES]));
    expect(source.asked).toHaveLength(1);
  });

  test('never answers one team with what it remembers of another', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    await remembered(glossaries, source, 'G1', ENTRIES);
    const other = glossaries.entries('U', 'G1');
    source.open.at(-1)!.resolve(undefined);
    expect(await other).toBeUndefined();
    expect(source.asked).toEqual(['T G1', 'U G1']);
  });

  test('does not remember that there was none', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    await remembered(glossaries, source, 'G1', undefined);
    await remembered(glossaries, source, 'G1', ENTRIES);
    expect(source.asked).toHaveLength(2);
  });

  test('tells everyone who waited of a failure, and asks again', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    const answers = Promise.allSettled([1, 2, 3].map(async () => glossaries.entries('T', 'G1')));
    source.open[0]!.reject(new StoreError('away'));
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await remembered(glossaries, source, 'G1', ENTRIES);
  });

  test('forgets the longest unused one when all together would be over the bound', async () => {
    const source = store();
    // Each takes a hundred bytes, a hundred for its entry, and two for each of its 150 characters: 500.
    const entries = { ['t'.repeat(50)]: 'x'.repeat(100) };
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 1500 });
    for (const id of ['G1', 'G2', 'G3']) await remembered(glossaries, source, id, entries);
    expect(glossaries.entries('T', 'G1')).toBe(entries);
    await remembered(glossaries, source, 'G4', entries);
    expect(['G1', 'G3', 'G4'].map((id) => glossaries.entries('T', id))).toEqual([entries, entries, entries]);
    await remembered(glossaries, source, 'G2', entries);
    expect(source.asked).toEqual(['T G1', 'T G2', 'T G3', 'T G4', 'T G2']);
  });

  test('passes on a glossary that is larger than all of it, and keeps what it had', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 1000 });
    await remembered(glossaries, source, 'G1', ENTRIES);
    const large = { a: 'x'.repeat(1000) };
    for (let i = 0; i < 2; i++) await remembered(glossaries, source, 'G2', large);
    expect(glossaries.entries('T', 'G1')).toBe(ENTRIES);
    expect(source.asked).toEqual(['T G1', 'T G2', 'T G2']);
  });
});
