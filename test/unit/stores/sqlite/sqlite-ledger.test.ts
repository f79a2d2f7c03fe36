// The SQLite ledger for whoever is told its answer itself: once, after the asking has returned, and a bug tells of itself alone.
import { ulid } from 'ulid';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Admission, AdmissionRequest, Resolution } from '../../../../src/ports/ledger.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { openSqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';
import { LEASE_MS, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { commitsInWal, sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

let file: SqliteFile;
let store: Store;
let team: TeamUnderTest;

beforeEach(async () => {
  file = sqliteFile();
  store = await openSqliteStore({ path: file.path, log: SILENT, clock: { nowMs: () => Date.now() }, busyTimeoutMs: 5000 });
  team = await teamUnderTest(promisedStore(store));
});

afterEach(async () => {
  await store.close();
  await file.remove();
});

type Told = Admission['kind'] | Resolution['kind'] | 'failed';

/** What they are told, in order; those that are asked for in one turn share it. */
class Asking {
  readonly told: Told[] = [];

  admit(requestId = ulid(), characters = 10, then: () => void = () => undefined): void {
    const { teamId, keyId } = team;
    const request: AdmissionRequest = { requestId, teamId, keyId, characters, reserve: true, leaseMs: LEASE_MS, glossary: undefined };
    store.ledger.admit({ ...request, ...this.#listener(then) });
  }

  commit(requestId: string): void {
    store.ledger.resolve({ teamId: team.teamId, requestId, verdict: 'commit', ...this.#listener() });
  }

  #listener(then: () => void = () => undefined): { answered(answer: Admission | Resolution): void; failed(): void } {
    const tell = (what: Told): void => {
      this.told.push(what);
      then();
    };
    return { answered: ({ kind }) => tell(kind), failed: () => tell('failed') };
  }

  async until(count: number): Promise<readonly Told[]> {
    await vi.waitUntil(() => this.told.length >= count, 10_000);
    return this.told;
  }
}

test('answers come when the asking has returned, in order, from one transaction', async () => {
  const asking = new Asking();
  const requestId = ulid();
  const before = commitsInWal(file.path);
  asking.admit(requestId);
  asking.commit(requestId);
  asking.admit(requestId);
  asking.commit(ulid());
  expect(asking.told).toEqual([]);
  expect(await asking.until(4)).toEqual(['admitted', 'committed', 'repeated', 'absent']);
  expect(commitsInWal(file.path)).toBe(before + 1);
});

test('an admission that is a bug (no whole number) fails alone and leaves no trace', async () => {
  const asking = new Asking();
  asking.admit(ulid());
  asking.admit(ulid(), 0.5);
  asking.admit(ulid());
  expect(await asking.until(3)).toEqual(['admitted', 'failed', 'admitted']);
  expect(await team.standing()).toMatchObject({ openReservations: 2, heldCharacters: 20 });
});

test('a closed store is told of later, too', async () => {
  await store.close();
  const asking = new Asking();
  asking.admit();
  asking.commit(ulid());
  expect(asking.told).toEqual([]);
  expect(await asking.until(2)).toEqual(['unavailable', 'unavailable']);
});

test('what an answer makes its asker ask for is run in a transaction of its own', async () => {
  const asking = new Asking();
  const [first, second] = [ulid(), ulid()];
  const before = commitsInWal(file.path);
  asking.admit(first, 10, () => asking.admit(second, 10, () => asking.commit(second)));
  expect(await asking.until(3)).toEqual(['admitted', 'admitted', 'committed']);
  expect(commitsInWal(file.path)).toBe(before + 3);
});
