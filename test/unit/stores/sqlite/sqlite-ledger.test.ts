// The SQLite ledger's callbacks: each is called once, after the call has returned, and a bug fails only its own operation.
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

type Outcome = Admission['kind'] | Resolution['kind'] | 'failed';

/** Collects the outcomes of operations, in order. Those of one tick share a transaction. */
class Caller {
  readonly outcomes: Outcome[] = [];

  admit(requestId = ulid(), characters = 10, then: () => void = () => undefined): void {
    const { teamId, keyId } = team;
    const request: AdmissionRequest = { requestId, teamId, keyId, characters, reserve: true, leaseMs: LEASE_MS, glossary: undefined };
    store.ledger.admit({ ...request, ...this.#listener(then) });
  }

  commit(requestId: string): void {
    store.ledger.resolve({ teamId: team.teamId, requestId, verdict: 'commit', ...this.#listener() });
  }

  #listener(then: () => void = () => undefined): { answered(answer: Admission | Resolution): void; failed(): void } {
    const add = (what: Outcome): void => {
      this.outcomes.push(what);
      then();
    };
    return { answered: ({ kind }) => add(kind), failed: () => add('failed') };
  }

  async until(count: number): Promise<readonly Outcome[]> {
    await vi.waitUntil(() => this.outcomes.length >= count, 60_000);
    return this.outcomes;
  }
}

test('callbacks are called after the call has returned, in order, from one transaction', async () => {
  const caller = new Caller();
  const requestId = ulid();
  const before = commitsInWal(file.path);
  caller.admit(requestId);
  caller.commit(requestId);
  caller.admit(requestId);
  caller.commit(ulid());
  expect(caller.outcomes).toEqual([]);
  expect(await caller.until(4)).toEqual(['admitted', 'committed', 'repeated', 'absent']);
  expect(commitsInWal(file.path)).toBe(before + 1);
});

test('a closed store also calls back only after the call has returned', async () => {
  await store.close();
  const caller = new Caller();
  caller.admit();
  caller.commit(ulid());
  expect(caller.outcomes).toEqual([]);
  expect(await caller.until(2)).toEqual(['unavailable', 'unavailable']);
});

test('operations that a callback starts run in a transaction of their own', async () => {
  const caller = new Caller();
  const [first, second] = [ulid(), ulid()];
  const before = commitsInWal(file.path);
  caller.admit(first, 10, () => caller.admit(second, 10, () => caller.commit(second)));
  expect(await caller.until(3)).toEqual(['admitted', 'admitted', 'committed']);
  expect(commitsInWal(file.path)).toBe(before + 3);
});
