// Blobs in the file: written as pieces in several transactions, never visible in part, and deleted when no glossary has them.
import { writtenEntries } from '../../../../src/domain/entries-text.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { changeOf, created, DE, dictionary, entriesIn } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { commitsInWal, sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

const LARGE = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`term ${i}`, 'x'.repeat(1000)]));
const clock = new MovableClock();
let file: SqliteFile;
let store: PluginStore;

beforeEach(async () => {
  file = sqliteFile();
  store = await file.open({ clock });
});

afterEach(() => file.remove());

function rows(): unknown {
  return file.query('SELECT (SELECT count(*) FROM pieces) AS pieces, (SELECT count(*) FROM blobs WHERE gone_ms IS NOT NULL) AS unheld')[0];
}

test('a large one is written in several transactions and read back unchanged; after a change and a deletion nothing of it remains', async () => {
  const { teamId } = await teamUnderTest(store);
  const before = commitsInWal(file.path);
  const record = await created(store, teamId, dictionary(DE, LARGE));
  expect(commitsInWal(file.path) - before).toBeGreaterThan(3);
  expect(rows()).toEqual({ pieces: 7, unheld: 0 });
  expect(await entriesIn(store.glossaries, teamId, record.dictionaries[0]!.dictionaryId)).toEqual(LARGE);
  answered(await store.glossaries.change(changeOf(teamId, record, [dictionary(DE, { a: 'b' })])));
  await expect.poll(rows).toEqual({ pieces: 1, unheld: 0 });
  answered(await store.glossaries.remove(teamId, record.glossaryId));
  await expect.poll(rows).toEqual({ pieces: 0, unheld: 0 });
});

test('one that is sure to be refused is not written first', async () => {
  const { teamId } = await teamUnderTest(store, { maxGlossaries: 1 });
  const large = { glossaryId: 'G', teamId, name: 'n', dictionaries: [dictionary(DE, LARGE)] };
  expect(await store.glossaries.create(large, 1000)).toMatchObject({ kind: 'bytes_reached' });
  expect(rows()).toEqual({ pieces: 0, unheld: 0 });
  await created(store, teamId, dictionary(DE));
  const before = commitsInWal(file.path);
  expect(await store.glossaries.create(large)).toMatchObject({ kind: 'limit_reached' });
  expect(commitsInWal(file.path) - before).toBeLessThanOrEqual(1);
});

test('one that another made too many, or whose process died, is deleted by the next change a minute later', async () => {
  const { teamId } = await teamUnderTest(store, { maxGlossaries: 5 });
  const large = (id: string) => ({ glossaryId: id, teamId, name: 'n', dictionaries: [{ ...dictionary(DE, LARGE), dictionaryId: id }] });
  const { bytes } = writtenEntries(LARGE);
  // Both find enough room before either is written.
  const both = await Promise.all([store.glossaries.create(large('A'), bytes), store.glossaries.create(large('B'), bytes)]);
  expect(both.map((one) => one.kind).toSorted()).toEqual(['bytes_reached', 'created']);
  expect(rows()).toEqual({ pieces: 14, unheld: 1 });
  clock.step(60_001);
  const { glossaryId } = await created(store, teamId, dictionary(DE));
  answered(await store.glossaries.remove(teamId, glossaryId));
  await expect.poll(rows).toEqual({ pieces: 7, unheld: 0 });
});

test('a store that is closed during a read answers unavailable', async () => {
  const { teamId } = await teamUnderTest(store);
  const record = await created(store, teamId, dictionary(DE, LARGE));
  const reading = store.glossaries.entries(teamId, record.dictionaries[0]!.dictionaryId);
  await store.close();
  const found = await reading;
  expect(found === undefined ? 'none' : 'kind' in found ? found.kind : 'found').toBe('unavailable');
});
