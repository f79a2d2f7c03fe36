// A store with something of everything that a store keeps, made by its own operations, for the contract of whole stores.
import { NO_REFUSALS } from '../../domain/usage-days.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Audited } from '../../domain/audit-entry.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import type { NewKey } from '../../ports/team-registry.ts';
import { recordRefusals } from '../../stores/records/record-refusals.ts';
import { expect } from '../expect.ts';
import type { MovableClock } from '../movable-clock.ts';
import { created, DE, dictionary, FR } from './dictionaries-under-test.ts';
import { freshKey, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { TeamUnderTest } from './team-under-test.ts';

const DAY_MS = 86_400_000;
const BY: Audited = { actor: 'cli:ada@host', action: 'updateTeam', reason: 'the contract' };
export const TAGGED = { tag: { name: 'acme', distinctMax: 1000 } };
export const CHANGE = { once: { id: 'change1', request: 'the first' } };

export interface Filled {
  /** With limits of every kind, tags and glossaries; a reservation is open in its last period, and others in the current one. */
  readonly quota: TeamUnderTest;
  readonly prepaid: TeamUnderTest;
  readonly limited: NewKey;
  /** Deleted, with its usage left. */
  readonly gone: TeamUnderTest;
  readonly delayedId: string;
  readonly openId: string;
  readonly dictionaryId: string;
}

export async function fillStore(store: PluginStore, clock: MovableClock): Promise<Filled> {
  expect(await store.outbox.lease('contract', 1000)).toBe(true);
  const gone = await teamUnderTest(store, { period: 'P1D' });
  await gone.use(70);
  const windows = 'characters=50000/day requests=500/month';
  const quota = await teamUnderTest(store, { windows, period: 'P7D', testAllowance: 100, requestsPerSecond: 5 });
  const { teamId } = quota;
  const limits = { characters: 500, requestsPerSecond: 2, windows: 'requests=50/minute', scopes: ['translate:text' as const] };
  const limited = { ...freshKey(teamId, 'limited'), limits };
  answered(await store.teams.createKey(limited, { ...BY, action: 'createKey' }));
  answered(await store.tagSettings.set(teamId, 'acme', { disabled: false, characters: 5000, windows: 'requests=90/day' }, 1000, BY));
  const tests = quota.withKey((await quota.newKey('tests', 'test')).keyId);
  const ended = await quota.newKey('ended');
  for (const characters of [10, 20]) await quota.use(characters, TAGGED);
  await tests.use(30);
  await quota.withKey(ended.keyId).use(5);
  await quota.revoke(ended.keyId);
  clock.step(DAY_MS);
  await quota.use(40, TAGGED);
  expect(await recordRefusals(store.records, 400).add(teamId, { ...NO_REFUSALS, quota_exceeded: 3 }, clock.nowMs())).toBeUndefined();
  const { dictionaries } = await created(store, teamId, dictionary(DE), dictionary(FR));
  clock.step(6 * DAY_MS - 10_000);
  const { requestId: delayedId } = await quota.reserve(50);
  const prepaid = await fillPrepaid(store);
  await gone.use(80);
  expect(answered(await store.teams.deleteTeam(gone.teamId, { keepUsage: true }, { ...BY, action: 'deleteTeam' }))).toBe(true);
  clock.step(15_000);
  await quota.use(7);
  await tests.use(8);
  await quota.withKey(limited.keyId).use(100, { ...TAGGED, scope: 'translate:text' });
  const { requestId: openId } = await quota.withKey(limited.keyId).reserve(60, { ...TAGGED, scope: 'translate:text' });
  await tests.reserve(9);
  return { quota, prepaid, limited, gone, delayedId, openId, dictionaryId: dictionaries[0]!.dictionaryId };
}

async function fillPrepaid(store: PluginStore): Promise<TeamUnderTest> {
  const prepaid = await teamUnderTest(store, { ...PREPAID, period: 'P7D' }, 5_000_000);
  const { teamId } = prepaid;
  await prepaid.use(100);
  await prepaid.withKey((await prepaid.newKey('other')).keyId).use(50);
  const nextPlan = { name: 'larger', limits: { ...PREPAID, minorPerMillion: 100 } };
  answered(await store.teams.updateTeam(teamId, { ...CHANGE, name: 'Press', reference: 'C-7', addMicro: -1_000_000, nextPlan }, BY));
  await prepaid.reserve(200);
  const claim = { id: 'contract', request: 'r', recordId: 'record1', holder: 'contract', leaseMs: 1000, teamId };
  expect((await store.idempotency.claim(claim)).kind).toBe('claimed');
  await store.idempotency.finish(claim, '{"status":200}', teamId);
  return prepaid;
}
