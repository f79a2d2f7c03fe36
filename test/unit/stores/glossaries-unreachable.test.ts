// What glossaries say when their store does not answer: a StoreError, in time, for each of its methods.
import { afterEach, expect, test } from 'vitest';
import { StoreError } from '../../../src/domain/store-error.ts';
import type { GlossaryStore } from '../../../src/ports/glossary-store.ts';
import { openStore } from '../../../src/stores/open.ts';
import type { Store } from '../../../src/ports/store.ts';
import { startRedis } from '../../support/redis.ts';
import { SILENT, sqliteFile } from './sqlite/sqlite-file.ts';

const TEAM = '01JTEAM0000000000000000000';
const CALLS: readonly ((glossaries: GlossaryStore) => Promise<unknown>)[] = [
  (glossaries) => glossaries.create({ glossaryId: 'G', teamId: TEAM, name: 'n', dictionaries: [] }),
  (glossaries) => glossaries.list(TEAM),
  (glossaries) => glossaries.find(TEAM, 'G'),
  (glossaries) => glossaries.entries(TEAM, 'G'),
  (glossaries) => glossaries.change({ glossaryId: 'G', teamId: TEAM, name: 'n', revision: 1, dictionaries: [] }),
  (glossaries) => glossaries.remove(TEAM, 'G'),
];

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const clock = { nowMs: () => Date.now() };

async function expectStoreErrors(store: Store): Promise<void> {
  for (const call of CALLS) await expect(call(store.glossaries)).rejects.toThrow(StoreError);
}

test('Redis that is gone, and a store that is closed', async () => {
  const server = await startRedis();
  const store = await openStore(server.url, { log: SILENT, clock, commandTimeoutMs: 300 });
  cleanUps.push(() => store.close());
  expect(await store.glossaries.list(TEAM)).toEqual([]);
  await server.stop();
  await expectStoreErrors(store);
  await store.close();
  await expectStoreErrors(store);
});

test('SQLite whose lock another process holds, and a store that is closed', async () => {
  const file = sqliteFile();
  cleanUps.push(() => file.remove());
  const store = await file.open({ busyTimeoutMs: 100 });
  expect(await store.glossaries.list(TEAM)).toEqual([]);
  const holder = file.child('lock-holder.ts');
  expect(await holder.nextLine()).toBe('locked');
  await expectStoreErrors(store);
  holder.go();
  expect(await holder.nextLine()).toBe('free');
  expect(await store.glossaries.list(TEAM)).toEqual([]);
  await store.close();
  await expectStoreErrors(store);
});
