// A database whose file was moved, replaced or made read-only takes no writes until that is undone, because they would be lost.
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../../src/ports/store.ts';
import { openSqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { storePlace } from '../../../support/store-place.ts';
import type { StorePlace } from '../../../support/store-place.ts';

let place: StorePlace;
let path: string;
let store: Store;

beforeEach(async () => {
  place = await storePlace('sqlite');
  path = place.url.slice('sqlite:'.length);
  store = await openSqliteStore({ path, log: SILENT, clock: { nowMs: () => Date.now() }, commandTimeoutMs: 5000 });
});

afterEach(async () => {
  await store.close();
  await place.remove();
});

test.each([
  ['vanished', () => renameSync(path, `${path}.away`), () => renameSync(`${path}.away`, path)],
  [
    'replaced',
    () => {
      renameSync(path, `${path}.away`);
      writeFileSync(path, '');
    },
    () => renameSync(`${path}.away`, path),
  ],
  ['read_only', () => chmodSync(path, 0o400), () => chmodSync(path, 0o600)],
] as const)('%s: nothing is run until it is undone', async (cause, damage, mend) => {
  expect(await store.ping()).toBeUndefined();
  damage();
  expect(await store.ping()).toMatchObject({ kind: 'unavailable', cause, advice: expect.stringContaining(path) as string });
  expect(await store.teams.listTeams()).toMatchObject({ cause });
  mend();
  expect(await store.ping()).toBeUndefined();
  expect(await store.teams.listTeams()).toEqual([]);
});

test('deleted: nothing is run again, even if there is a new file', async () => {
  rmSync(path);
  expect(await store.ping()).toMatchObject({ cause: 'vanished' });
  writeFileSync(path, '');
  expect(await store.ping()).toMatchObject({ cause: 'replaced' });
});

test('the probe commits a write', async () => {
  const { DatabaseSync } = await import('node:sqlite');
  const beside = new DatabaseSync(path);
  const version = () => beside.prepare('PRAGMA user_version').get();
  const changes = () => Number(Object.values(beside.prepare('PRAGMA data_version').get()!)[0]);
  const [before, was] = [version(), changes()];
  expect(await store.ping()).toBeUndefined();
  // Only another connection's commit changes this connection's data_version.
  expect(changes()).not.toBe(was);
  expect(version()).toEqual(before);
  beside.close();
});
