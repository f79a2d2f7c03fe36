// The glossary cache in front of the store: cached dictionaries are returned at once, and it never exceeds its limit.
import { describe, expect, test } from 'vitest';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { writtenEntries } from '../../../src/domain/entries-text.ts';
import type { EngineGlossary } from '../../../src/domain/translation-options.ts';
import type {
  FoundEntries,
  GlossaryChange,
  GlossaryChanged,
  GlossaryCreation,
  GlossaryEntries,
  GlossaryRecord,
  NewGlossary,
} from '../../../src/ports/glossary-store.ts';
import { boundedGlossaries, LruGlossaryCache } from '../../../src/runtime/glossary-cache.ts';

type Found = FoundEntries | undefined | StoreUnavailable;

/** A store with these glossaries whose entries are returned when the test resolves them. */
function store(...records: GlossaryRecord[]) {
  const asked: string[] = [];
  const open: PromiseWithResolvers<Found>[] = [];
  return {
    asked,
    open,
    records,
    entries(teamId: string, dictionaryId: string): Promise<Found> {
      asked.push(`${teamId} ${dictionaryId}`);
      const answer = Promise.withResolvers<Found>();
      open.push(answer);
      return answer.promise;
    },
    async find(_teamId: string, glossaryId: string) {
      asked.push(`record of ${glossaryId}`);
      return records.find((record) => record.glossaryId === glossaryId);
    },
  };
}

const ENTRIES = { a: 'b' };
const REFERENCE = { glossaryId: 'G', sourceLang: 'EN', targetLang: 'DE' };

function holding(...dictionaryIds: string[]): GlossaryRecord {
  const dictionaries = dictionaryIds.map((dictionaryId) => ({ dictionaryId, sourceLang: 'EN', targetLang: 'DE', entryCount: 1 }));
  return { glossaryId: 'G', name: 'n', revision: 1, dictionaries, createdAtMs: 0 };
}

async function remembered(
  glossaries: LruGlossaryCache,
  source: ReturnType<typeof store>,
  id: string,
  entries: GlossaryEntries | undefined,
) {
  const answer = glossaries.dictionary('T', REFERENCE, id);
  source.open.at(-1)!.resolve(entries && { entries });
  expect(await answer).toEqual(entries && { id, entries });
}

describe('the cache of dictionaries', () => {
  test('asks the store once, then answers without a promise', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    await remembered(glossaries, source, 'D1', ENTRIES);
    expect(glossaries.dictionary('T', REFERENCE, 'D1')).toEqual({ id: 'D1', entries: ENTRIES });
    expect(glossaries.dictionary('T', REFERENCE, 'D1')).toBe(glossaries.dictionary('T', REFERENCE, 'D1'));
    expect(source.asked).toEqual(['T D1']);
  });

  test('asks the store once for many concurrent requests', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    const answers = Promise.all(Array.from({ length: 50 }, async () => glossaries.dictionary('T', REFERENCE, 'D1')));
    source.open[0]!.resolve({ entries: ENTRIES });
    expect(new Set(await answers).size).toBe(1);
    expect(source.asked).toHaveLength(1);
  });

  test('never gives one team a cached dictionary of another', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    await remembered(glossaries, source, 'D1', ENTRIES);
    const other = glossaries.dictionary('U', REFERENCE, 'D1');
    source.open.at(-1)!.resolve(undefined);
    expect(await other).toBeUndefined();
    expect(source.asked).toEqual(['T D1', 'U D1', 'record of G']);
  });

  test('does not cache the absence of a dictionary', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    await remembered(glossaries, source, 'D1', undefined);
    await remembered(glossaries, source, 'D1', ENTRIES);
    expect(source.asked).toEqual(['T D1', 'record of G', 'T D1']);
  });

  test('passes a failure to every waiting request, and asks again afterwards', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    const away = { kind: 'unavailable', cause: 'away' } as const;
    const answers = Promise.all([1, 2, 3].map(async () => glossaries.dictionary('T', REFERENCE, 'D1')));
    source.open[0]!.resolve(away);
    expect(await answers).toEqual([away, away, away]);
    await remembered(glossaries, source, 'D1', ENTRIES);
  });

  test('passes a bug to every waiting request, and asks again afterwards', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    const answers = Promise.allSettled([1, 2, 3].map(async () => glossaries.dictionary('T', REFERENCE, 'D1')));
    source.open[0]!.reject(new Error('a bug'));
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await remembered(glossaries, source, 'D1', ENTRIES);
  });

  test('evicts the least recently used one when the total would exceed the limit', async () => {
    const source = store();
    // Each takes 500 bytes: a hundred, another hundred for its entry, and two for each of its 150 characters.
    const entries = { ['t'.repeat(50)]: 'x'.repeat(100) };
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 1500 });
    const kept = (id: string) => expect(glossaries.dictionary('T', REFERENCE, id)).toEqual({ id, entries });
    for (const id of ['D1', 'D2', 'D3']) await remembered(glossaries, source, id, entries);
    kept('D1');
    await remembered(glossaries, source, 'D4', entries);
    for (const id of ['D1', 'D3', 'D4']) kept(id);
    await remembered(glossaries, source, 'D2', entries);
    expect(source.asked).toEqual(['T D1', 'T D2', 'T D3', 'T D4', 'T D2']);
  });

  test('returns a dictionary that is larger than the limit without caching it, and keeps the others', async () => {
    const source = store();
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 1000 });
    await remembered(glossaries, source, 'D1', ENTRIES);
    const large = { a: 'x'.repeat(1000) };
    for (let i = 0; i < 2; i++) await remembered(glossaries, source, 'D2', large);
    expect(glossaries.dictionary('T', REFERENCE, 'D1')).toEqual({ id: 'D1', entries: ENTRIES });
    expect(source.asked).toEqual(['T D1', 'T D2', 'T D2']);
  });
});

describe('a dictionary that was replaced after the admission', () => {
  test('gives the new one, complete', async () => {
    const source = store(holding('D2'));
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    const answer = Promise.resolve(glossaries.dictionary('T', REFERENCE, 'D1'));
    source.open[0]!.resolve(undefined);
    await expect.poll(() => source.open).toHaveLength(2);
    source.open[1]!.resolve({ entries: ENTRIES });
    expect(await answer).toEqual({ id: 'D2', entries: ENTRIES });
    expect(source.asked).toEqual(['T D1', 'record of G', 'T D2']);
  });

  test('gives none if the glossary no longer has one for the pair', async () => {
    const source = store(holding());
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    await remembered(glossaries, source, 'D1', undefined);
    expect(source.asked).toEqual(['T D1', 'record of G']);
  });

  test('gives none if it is replaced again and again', async () => {
    const source = store(holding('D2'));
    const glossaries = new LruGlossaryCache({ store: { ...source, entries: async () => undefined }, bytesMax: 10_000 });
    expect(await glossaries.dictionary('T', REFERENCE, 'D1')).toBeUndefined();
  });

  test('is looked up if the admission named none, because it was repeated', async () => {
    const source = store(holding('D2'));
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 10_000 });
    const answer = Promise.resolve(glossaries.dictionary('T', REFERENCE, undefined));
    await expect.poll(() => source.open).toHaveLength(1);
    source.open[0]!.resolve({ entries: ENTRIES });
    expect(await answer).toEqual({ id: 'D2', entries: ENTRIES });
  });
});

describe('several dictionaries as one', () => {
  function entriesOf(dictionaries: Readonly<Record<string, GlossaryEntries>>) {
    const asked: string[] = [];
    return {
      asked,
      async entries(_teamId: string, id: string): Promise<Found> {
        asked.push(id);
        const entries = dictionaries[id];
        return entries && { entries, pieces: writtenEntries(entries).pieces };
      },
      find: async () => undefined,
    };
  }

  test('the first with a term takes precedence; they are read and merged once for many requests', async () => {
    const source = entriesOf({ A: { x: '1', y: '1' }, B: { y: '2', z: '2' } });
    const glossaries = new LruGlossaryCache({ store: source, bytesMax: 100_000 });
    const all = await Promise.all(Array.from({ length: 20 }, () => glossaries.merged('T', ['A', 'B'])));
    expect(new Set(all).size).toBe(1);
    expect(await glossaries.merged('T', ['A', 'B'])).toBe(all[0]);
    expect(source.asked).toEqual(['A', 'B']);
    const merged = all[0] as EngineGlossary;
    expect([merged.id, merged.entries]).toEqual(['A+B', { x: '1', y: '1', z: '2' }]);
    expect(((await glossaries.merged('T', ['B', 'A'])) as EngineGlossary).entries).toEqual({ y: '2', z: '2', x: '1' });
  });

  test('there is none if one of them is gone', async () => {
    const glossaries = new LruGlossaryCache({ store: entriesOf({ A: ENTRIES }), bytesMax: 100_000 });
    expect(await glossaries.merged('T', ['A', 'B'])).toBeUndefined();
  });
});

describe("a team's glossaries for routes", () => {
  test('are created and changed within the limit, with their entries; and a dictionary is read once for all requests', async () => {
    const source = store();
    const given: unknown[] = [];
    const backing = {
      ...source,
      list: async () => [],
      ownerOf: async () => undefined,
      remove: async () => true,
      create: async (glossary: NewGlossary, bytesMax?: number): Promise<GlossaryCreation> => (
        given.push(glossary, bytesMax),
        { kind: 'team_unknown' }
      ),
      change: async (change: GlossaryChange, bytesMax?: number): Promise<GlossaryChanged> => (
        given.push(change, bytesMax),
        { kind: 'missing' }
      ),
    };
    const glossaries = boundedGlossaries(backing, new LruGlossaryCache({ store: source, bytesMax: 10_000 }), 77);
    const dictionary = { dictionaryId: 'D', sourceLang: 'EN', targetLang: 'DE', entries: ENTRIES };
    await glossaries.create({ glossaryId: 'G', teamId: 'T', name: 'n', dictionaries: [dictionary] });
    await glossaries.change({
      glossaryId: 'G',
      teamId: 'T',
      name: 'n',
      revision: 1,
      dictionaries: [dictionary, ...holding('E').dictionaries],
    });
    const written = { ...dictionary, written: writtenEntries(ENTRIES) };
    expect(given).toMatchObject([{ dictionaries: [written] }, 77, { dictionaries: [written, ...holding('E').dictionaries] }, 77]);
    const reads = [glossaries.entries('T', 'D'), glossaries.entries('T', 'D')];
    source.open.at(-1)!.resolve({ entries: ENTRIES });
    expect(await Promise.all(reads)).toEqual([
      { id: 'D', entries: ENTRIES },
      { id: 'D', entries: ENTRIES },
    ]);
    expect(source.asked).toEqual(['T D']);
  });
});
