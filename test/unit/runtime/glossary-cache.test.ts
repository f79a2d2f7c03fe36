// The glossary cache in front of the store: cached dictionaries are returned at once, and it never exceeds its limit.
import { describe, expect, test } from 'vitest';
import type { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import type { FoundEntries, GlossaryEntries, GlossaryRecord } from '../../../src/ports/glossary-store.ts';
import { LruGlossaryCache } from '../../../src/runtime/glossary-cache.ts';

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

function cacheOf(...records: GlossaryRecord[]) {
  const source = store(...records);
  return { source, glossaries: new LruGlossaryCache({ store: source, bytesMax: 10_000 }) };
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
  test('asks the store once for many concurrent requests', async () => {
    const { source, glossaries } = cacheOf();
    const answers = Promise.all(Array.from({ length: 50 }, async () => glossaries.dictionary('T', REFERENCE, 'D1')));
    source.open[0]!.resolve({ entries: ENTRIES });
    expect(new Set(await answers).size).toBe(1);
    expect(source.asked).toHaveLength(1);
  });

  test('never gives one team a cached dictionary of another', async () => {
    const { source, glossaries } = cacheOf();
    await remembered(glossaries, source, 'D1', ENTRIES);
    const other = glossaries.dictionary('U', REFERENCE, 'D1');
    source.open.at(-1)!.resolve(undefined);
    expect(await other).toBeUndefined();
    expect(source.asked).toEqual(['T D1', 'U D1', 'record of G']);
  });
});

describe('a dictionary that was replaced after the admission', () => {
  test('gives the new one, complete', async () => {
    const { source, glossaries } = cacheOf(holding('D2'));
    const answer = Promise.resolve(glossaries.dictionary('T', REFERENCE, 'D1'));
    source.open[0]!.resolve(undefined);
    await expect.poll(() => source.open).toHaveLength(2);
    source.open[1]!.resolve({ entries: ENTRIES });
    expect(await answer).toEqual({ id: 'D2', entries: ENTRIES });
    expect(source.asked).toEqual(['T D1', 'record of G', 'T D2']);
  });

  test('gives none if the glossary no longer has one for the pair', async () => {
    const { source, glossaries } = cacheOf(holding());
    await remembered(glossaries, source, 'D1', undefined);
    expect(source.asked).toEqual(['T D1', 'record of G']);
  });

  test('gives none if it is replaced again and again', async () => {
    const source = store(holding('D2'));
    const glossaries = new LruGlossaryCache({ store: { ...source, entries: async () => undefined }, bytesMax: 10_000 });
    expect(await glossaries.dictionary('T', REFERENCE, 'D1')).toBeUndefined();
  });

  test('is looked up if the admission named none, because it was repeated', async () => {
    const { source, glossaries } = cacheOf(holding('D2'));
    const answer = Promise.resolve(glossaries.dictionary('T', REFERENCE, undefined));
    await expect.poll(() => source.open).toHaveLength(1);
    source.open[0]!.resolve({ entries: ENTRIES });
    expect(await answer).toEqual({ id: 'D2', entries: ENTRIES });
  });
});
