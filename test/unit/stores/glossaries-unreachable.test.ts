// Every method of glossaries answers `unavailable` in time if the store does not answer, with advice that names the store.
import { afterEach, expect, test } from 'vitest';
import type { GlossaryStore } from '../../../src/ports/glossary-store.ts';
import { openStore } from '../../../src/stores/open.ts';
import type { Store } from '../../../src/ports/store.ts';
import { startRedis } from '../../support/redis.ts';
import { sqliteFile } from './sqlite/sqlite-file.ts';
import { SILENT } from '../../support/silent-log.ts';

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

async function expectUnavailable(store: Pick<Store, 'glossaries'>, advice: RegExp): Promise<void> {
  for (const call of CALLS) {
    expect(await call(store.glossaries)).toMatchObject({ kind: 'unavailable', advice: expect.stringMatching(advice) as string });
  }
}

test('Redis that is down, and a closed store', async () => {
  const server = await startRedis();
  const store = await openStore(server.url, { log: SILENT, clock, commandTimeoutMs: 300 });
  cleanUps.push(() => store.close());
  expect(await store.glossaries.list(TEAM)).toEqual([]);
  await server.stop();
  await expectUnavailable(store, /^the store redis:.* did not answer/);
  await store.close();
  await expectUnavailable(store, /^the store redis:.* did not answer/);
});

test('SQLite whose lock another process holds, and a closed store', async () => {
  const file = sqliteFile();
  cleanUps.push(() => file.remove());
  const store = await file.open({ busyTimeoutMs: 100 });
  expect(await store.glossaries.list(TEAM)).toEqual([]);
  const holder = file.child('lock-holder.ts');
  expect(await holder.nextLine()).toBe('locked');
  await expectUnavailable(store, /^sqlite:.* is busy/);
  holder.go();
  expect(await holder.nextLine()).toBe('free');
  expect(await store.glossaries.list(TEAM)).toEqual([]);
  await store.close();
  await expectUnavailable(store, /^sqlite:.* is closed/);
});
