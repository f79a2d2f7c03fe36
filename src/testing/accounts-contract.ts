// The guarantees of a plugin's store as a whole, as cases for any test runner: all of it is read, checked and copied.
import { DAY_MS, movedCredit } from '../domain/period.ts';
import { SHARED_RECORDS } from '../domain/shared-records.ts';
import { answered } from '../domain/store-unavailable.ts';
import type { Clock } from '../ports/clock.ts';
import type { WholePluginStore } from '../ports/plugin.ts';
import type { StoreFinding, WholeAccount } from '../ports/whole-accounts.ts';
import { isMarked } from '../stores/records/copy-mark.ts';
import { checkStore } from '../stores/store-check.ts';
import { copyStore } from '../stores/whole-copy.ts';
import type { StoreTally } from '../stores/whole-copy.ts';
import { beginCopy, WholeStore } from '../stores/whole-store.ts';
import { collector } from './cases.ts';
import type { ContractCase } from './cases.ts';
import { expect } from './expect.ts';
import { MovableClock, START_MS } from './movable-clock.ts';
import type { StoreContract } from './store-contract.ts';
import { CHANGE, fillStore, TAGGED } from './store/filled-store.ts';
import type { Filled } from './store/filled-store.ts';
import { newId, present } from './store/team-under-test.ts';

/** Opens another store with each call, of the kind under test and empty. */
export type OpenEmptyStore = (clock: Clock) => Promise<WholePluginStore>;

interface Scene {
  readonly clock: MovableClock;
  readonly openEmpty: () => Promise<WholePluginStore>;
}

/**
 * Beside `storeContract`, whose cases are about what gateways do.
 *
 * @example
 * const contract = accountsContract((clock) => openMyStore(newFile(), clock));
 * for (const { name, run } of contract.cases) test(name, run);
 * after(() => contract.close());
 */
export function accountsContract(openEmpty: OpenEmptyStore): StoreContract {
  const cases: ContractCase[] = [];
  const clock = new MovableClock();
  const opened: WholePluginStore[] = [];
  const scene: Scene = {
    clock,
    async openEmpty() {
      const store = await openEmpty(clock);
      opened.push(store);
      return store;
    },
  };
  const it = collector(cases, 'the whole store', scene, async () => clock.set(START_MS));
  it('everything in it is in a copy, and in the copy of that, and nothing is wrong with either', copiesAreEqual);
  it('a copy goes on as its source does', copyGoesOn);
  it('an incomplete copy is marked, and begun again with nothing of the first', copyIsMarked);
  it('accounts are read as they are, and replaced with all of their data but the blobs', accountsAreReplaced);
  it('the check finds what contradicts itself', faultsAreFound);
  return {
    cases,
    async close() {
      for (const store of opened) await store.close();
    },
  };
}

async function copied(source: WholePluginStore, target: WholePluginStore): Promise<StoreTally> {
  const writer = await beginCopy(target);
  expect(await isMarked(target.records)).toBe(true);
  const tally = await copyStore(new WholeStore(source), writer, { onProgress: () => undefined, stillAlone: () => Promise.resolve() });
  expect(await isMarked(target.records)).toBe(false);
  return tally;
}

async function findingsIn(store: WholePluginStore): Promise<StoreFinding[]> {
  const findings: StoreFinding[] = [];
  await checkStore(new WholeStore(store), (finding) => void findings.push(finding), { settleMs: 0 });
  return findings;
}

async function copiesAreEqual({ clock, openEmpty }: Scene): Promise<void> {
  const [source, first, second] = [await openEmpty(), await openEmpty(), await openEmpty()];
  await fillStore(source, clock);
  expect(await findingsIn(source)).toEqual([]);
  const tally = await copied(source, first);
  expect(tally).toMatchObject({ teams: 2, keys: 6, glossaries: 1, usagesOnly: 1, openReservations: 4, periods: 1 });
  for (const count of [tally.characters, tally.days, tally.auditEntries, tally.events, tally.allowanceUsed]) expect(count).toBeAtLeast(1);
  expect(await copied(first, second)).toEqual(tally);
  for (const store of [first, second]) expect(await findingsIn(store)).toEqual([]);
}

async function copyGoesOn({ clock, openEmpty }: Scene): Promise<void> {
  const stores = [await openEmpty(), await openEmpty()] as const;
  const filled = await fillStore(stores[0], clock);
  await copied(...stores);
  const moments = [(store: WholePluginStore) => firstAnswers(store, filled), (store: WholePluginStore) => laterAnswers(store, filled)];
  for (const moment of moments) {
    const [expected, found] = [await moment(stores[0]), await moment(stores[1])];
    expect(found).toEqual(expected);
    clock.step(8 * DAY_MS);
  }
}

async function firstAnswers(
  store: WholePluginStore,
  { quota, prepaid, limited, delayedId, openId, dictionaryId }: Filled,
): Promise<unknown[]> {
  const answers: unknown[] = [];
  const byKey = quota.withKey(limited.keyId);
  // The key has one slot left in this second, and room for 340 characters.
  for (const requestId of ['r1', 'r2']) answers.push(await byKey.admit({ ...TAGGED, requestId, scope: 'translate:text' }, store));
  answers.push(await quota.commit(delayedId, store), await quota.release(openId, store), await quota.commit(delayedId, store));
  answers.push(await store.teams.updateTeam(prepaid.teamId, { name: 'Other', once: { ...CHANGE.once, request: 'another' } }));
  answers.push(await store.keys.find(limited.digest), await store.records.readBlob(quota.teamId, dictionaryId));
  answers.push(await store.idempotency.claim({ id: 'contract', request: 'r', recordId: 'x', holder: 'h', leaseMs: 1, teamId: undefined }));
  return [...answers, ...(await laterAnswers(store, { quota, prepaid } as Filled))];
}

async function laterAnswers(store: WholePluginStore, { quota, prepaid }: Filled): Promise<unknown[]> {
  const answers: unknown[] = [await quota.admit({ requestId: newIdOf(quota.teamId), characters: 11, ...TAGGED }, store)];
  for (const team of [quota, prepaid]) {
    const { teamId } = team;
    answers.push(
      await team.standing(store),
      await team.usage(store),
      await store.tagSettings.list(teamId),
      await store.glossaries.list(teamId),
    );
    const periods = answered(await store.history.periods(teamId))!;
    answers.push(periods.filter(({ requests, credit }, i) => i === 0 || requests > 0 || movedCredit(credit)));
    answers.push(await store.history.days(teamId, { from: 0, to: 100_000 }), await store.teams.findTeam(teamId));
  }
  return answers;
}

/** The same for each store. */
function newIdOf(teamId: string): string {
  return `later-${teamId}`;
}

async function copyIsMarked({ clock, openEmpty }: Scene): Promise<void> {
  const [source, target] = [await openEmpty(), await openEmpty()];
  await fillStore(source, clock);
  const watch = { onProgress: () => undefined, stillAlone: () => Promise.reject(new Error('a gateway')) };
  const failed = copyStore(new WholeStore(source), await beginCopy(target), watch).catch((error: Error) => error.message);
  expect(await failed).toBe('a gateway');
  expect(await isMarked(target.records)).toBe(true);
  await beginCopy(target);
  expect(await target.teams.listTeams()).toEqual([]);
  expect(await target.history.pageDays({ after: undefined, limit: 9, search: undefined }, { from: 0, to: 1 })).toEqual([]);
  expect(await target.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 9 })).toEqual([]);
  expect(await target.outbox.pending()).toBe(0);
  expect(await copied(source, target)).toMatchObject({ teams: 2, usagesOnly: 1 });
}

async function accountIn(store: WholePluginStore, teamId: string): Promise<WholeAccount | undefined> {
  let found: WholeAccount | undefined;
  expect(await store.accounts.change(teamId, (account) => void (found = account))).toBeUndefined();
  return found;
}

async function replaceIn(store: WholePluginStore, teamId: string, change: (account: WholeAccount) => Partial<WholeAccount>): Promise<void> {
  expect(await store.accounts.change(teamId, (account) => ({ account: { ...account!, ...change(account!) } }))).toBeUndefined();
}

async function accountsAreReplaced({ clock, openEmpty }: Scene): Promise<void> {
  const store = await openEmpty();
  const { quota, openId, dictionaryId } = await fillStore(store, clock);
  const { teamId } = quota;
  const before = present(await accountIn(store, teamId));
  clock.step(30 * DAY_MS);
  expect(await accountIn(store, teamId)).toEqual(before);
  clock.step(-30 * DAY_MS);
  const usage = await quota.usage();
  await replaceIn(store, teamId, () => ({}));
  expect(await quota.usage()).toEqual(usage);
  expect(present(answered(await store.records.readBlob(teamId, dictionaryId)))).toHaveLength(1);
  await replaceIn(store, teamId, ({ requests }) => ({ requests: requests.filter(({ requestId }) => requestId !== openId) }));
  expect(await quota.commit(openId)).toEqual({ kind: 'absent' });
  expect(await accountIn(store, newId())).toBeUndefined();
}

/** What can be planted through the port in any store. */
async function faultsAreFound({ clock, openEmpty }: Scene): Promise<void> {
  const store = await openEmpty();
  const { quota, prepaid } = await fillStore(store, clock);
  await replaceIn(store, quota.teamId, ({ requests, records }) => ({
    requests: requests.map((one) => (one.tag === undefined ? { ...one, keyId: newId() } : one)),
    records: records.map((one) => (one.table === 'tag_counts' ? { ...one, value: one.value.replace('ers":', 'ers":9000') } : one)),
  }));
  await replaceIn(store, prepaid.teamId, ({ period }) => ({
    period: { ...period!, startMs: clock.nowMs() + DAY_MS, endMs: clock.nowMs() + 8 * DAY_MS },
  }));
  const name = { table: 'events', id: `${quota.teamId} lost` } as const;
  const value = JSON.stringify({ atMs: clock.nowMs(), dueMs: clock.nowMs(), tries: 0, facts: { kind: 'team_deleted' } });
  answered(await store.records.change(SHARED_RECORDS, [], () => ({ result: true, put: [{ ...name, value }] })));
  const found = (await findingsIn(store)).map(({ what, teamId }) => `${what} ${teamId === quota.teamId ? 'quota' : 'prepaid'}`);
  const planted = ['reservation quota', 'tag quota', 'clock prepaid', 'event quota'];
  expect(planted.filter((one) => !found.includes(one))).toEqual([]);
}
