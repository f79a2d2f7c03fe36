// Events about usage in a plugin's store, which the sender finds: each threshold, period and day once, whoever sends, and whatever ended
// in between.
import { beforeEach, expect, test } from 'vitest';
import { ReferenceData, referenceStore } from '../../../support/reference-store.ts';
import { eventRules } from '../../../../src/domain/event-rules.ts';
import { toMicro } from '../../../../src/domain/money.ts';
import { DAY_MS, dayOf } from '../../../../src/domain/period.ts';
import { SHARED_RECORDS } from '../../../../src/domain/shared-records.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { Ledger } from '../../../../src/ports/ledger.ts';
import type { EventFacts, Outbox, OutboxEvent } from '../../../../src/ports/outbox.ts';
import type { RecordSpace } from '../../../../src/ports/record-space.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { openStore } from '../../../../src/stores/open.ts';
import { newEvent } from '../../../../src/stores/records/event-record.ts';
import { forgetTeam } from '../../../../src/stores/records/over-records.ts';
import { UsageEvents } from '../../../../src/stores/records/usage-events.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { newId, PREPAID, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';

const RULES = eventRules([80, 100], [1000, 0]);
const HOUR_MS = 3_600_000;
/** How many calls find all teams of a test. */
const CALLS = 4;

let data: ReferenceData;
let clock: MovableClock;
let store: Store;

beforeEach(async () => {
  [data, clock] = [new ReferenceData(), new MovableClock()];
  store = await opened();
});

/** A process that sends events. */
function opened(): Promise<Store> {
  return openStore('memory:here', {
    log: SILENT,
    clock,
    events: RULES,
    others: new Map([['memory', async () => referenceStore(clock, data)]]),
  });
}

/** What is reported now, and delivered. */
async function reported(sender = store): Promise<readonly OutboxEvent[]> {
  const events: OutboxEvent[] = [];
  for (let i = 0; i < CALLS; i++) {
    clock.step(5000);
    for (const event of answered(await sender.outbox.due(1000))) {
      events.push(answered(await sender.outbox.read(event))!);
      expect(await sender.outbox.remove(event)).toBeUndefined();
    }
  }
  // Those of one moment come in any order.
  const usage = events.filter(({ facts }) => !/^(?:team|key)_/.test(facts.kind));
  return usage.toSorted((one, other) => one.atMs - other.atMs || (one.id < other.id ? 1 : -1));
}

async function factsOf<Kind extends EventFacts['kind']>(kind: Kind): Promise<Extract<EventFacts, { kind: Kind }>[]> {
  return (await reported()).map(({ facts }) => facts).filter((facts): facts is Extract<EventFacts, { kind: Kind }> => facts.kind === kind);
}

const teamOf = (...terms: Parameters<typeof teamUnderTest> extends [unknown, ...infer Rest] ? Rest : never): Promise<TeamUnderTest> =>
  teamUnderTest(promisedStore(store), ...terms);

test('each percentage of a quota is told once in a period, with the usage, by whoever sends', async () => {
  const team = await teamOf({ characterLimit: 100, overageCharacters: 100, period: 'P1D' });
  await team.use(79);
  expect(await reported()).toEqual([]);
  await team.use(1);
  const [first, ...others] = await reported();
  expect(others).toEqual([]);
  expect(first?.facts).toMatchObject({ kind: 'quota_threshold', percent: 80, usage: { characters: 80, keys: [{ characters: 80 }] } });
  const next = await opened();
  expect(await reported(next)).toEqual([]);
  await team.use(60);
  expect((await reported(next)).map(({ facts }) => facts)).toMatchObject([{ percent: 100 }]);
  clock.step(DAY_MS);
  await team.use(85);
  expect((await factsOf('quota_threshold')).map(({ percent }) => percent)).toEqual([80]);
});

test('a limit that was raised and reached again tells nothing twice, and a lowered one is reached at once', async () => {
  const team = await teamOf({ characterLimit: 100 });
  await team.use(85);
  expect(await reported()).toHaveLength(1);
  await team.setLimits({ characterLimit: 200 });
  await team.use(80);
  expect(await reported()).toEqual([]);
  await team.setLimits({ characterLimit: 165 });
  expect((await factsOf('quota_threshold')).map(({ percent }) => percent)).toEqual([100]);
});

test('what a period has reached after it was last looked at is told when it has closed, with the period itself', async () => {
  const team = await teamOf({ characterLimit: 100, period: 'PT1H' });
  await team.use(50);
  expect(await reported()).toEqual([]);
  clock.step(HOUR_MS - 40_000);
  const delayed = await team.reserve(35);
  clock.step(20_000);
  await team.use(10);
  expect(await reported()).toEqual([]);
  await team.commit(delayed.requestId);
  const events = await reported();
  expect(events.map(({ facts }) => facts)).toMatchObject([
    { kind: 'quota_threshold', percent: 80, usage: { characters: 85, keys: [] } },
    { kind: 'period_closed', period: { number: 1, closed: true, characters: 85 } },
  ]);
  expect(await reported()).toEqual([]);
});

test('a balance that falls to a threshold is told, from the credit that a team was given, and again after it was above', async () => {
  const team = await teamOf({ ...PREPAID, minorPerMillion: 1_000_000 }, toMicro(1005));
  await team.use(5);
  const fallen = async (): Promise<unknown> =>
    (await factsOf('credit_threshold')).map(({ thresholdMinor, balanceMicro }) => [thresholdMinor, balanceMicro]);
  expect(await fallen()).toEqual([[1000, toMicro(1000)]]);
  answered(await store.teams.updateTeam(team.teamId, { addMicro: toMicro(1) }));
  expect(await fallen()).toEqual([]);
  await team.use(1001);
  expect(await fallen()).toEqual([
    [1000, 0],
    [0, 0],
  ]);
});

test('a finished day with use is told once, with the sums over its keys; what ended before anything was sent is not told', async () => {
  const team = await teamOf({ period: 'P1D' });
  await team.use(5);
  // Nobody sends.
  clock.step(DAY_MS);
  expect(await reported()).toEqual([]);
  await team.use(7);
  await team.withKey((await team.newKey('other', 'live')).keyId).use(3);
  const day = dayOf(clock.nowMs());
  expect(await reported()).toEqual([]);
  clock.step(2 * DAY_MS);
  const events = (await reported()).map(({ facts }) => facts);
  expect(events.filter(({ kind }) => kind === 'usage_day')).toEqual([{ kind: 'usage_day', day, characters: 10, requests: 2 }]);
  expect(events.filter(({ kind }) => kind === 'period_closed')).toMatchObject([{ period: { characters: 10 } }]);
  expect(await reported()).toEqual([]);
});

test('what ended more than a week ago, while nobody sent, is not told', async () => {
  const team = await teamOf({ period: 'P1D', characterLimit: 100 });
  expect(await reported()).toEqual([]);
  await team.use(85);
  clock.step(10 * DAY_MS);
  expect(await reported()).toEqual([]);
  await team.use(80);
  expect((await reported()).map(({ facts }) => facts.kind)).toEqual(['quota_threshold']);
});

test('teams beyond the first page are found, and a deleted team leaves nothing of what was told', async () => {
  const teams: TeamUnderTest[] = [];
  for (let i = 0; i < 45; i++) teams.push(await teamOf({ characterLimit: 100 }));
  for (const team of teams) await team.use(80);
  expect(new Set((await reported()).map(({ teamId }) => teamId))).toEqual(new Set(teams.map(({ teamId }) => teamId)));
  for (const { teamId } of teams) answered(await store.teams.deleteTeam(teamId, { keepUsage: false }));
  await reported();
  expect([...data.shared.tables].filter(([, { size }]) => size > 0).map(([table]) => table)).toEqual(['senders']);
});

test('a threshold that a charge reaches is found by the gateway that has charged it, without going through all teams', async () => {
  const subject = await teamUnderTest(promisedStore(store), { characterLimit: 100 });
  // The team is known.
  await reported();
  expect(answered(await store.outbox.pending())).toBe(0);
  const { requestId } = await subject.reserve(85);
  await subject.commit(requestId);
  await expect.poll(async () => answered(await store.outbox.pending()), { timeout: 5000 }).toBe(1);
});

test('what is reported of a team while it is forgotten does not stay', async () => {
  const team = await teamOf({ characterLimit: 100 });
  await team.use(85);
  expect(await reported()).toHaveLength(1);
  const { teamId } = team;
  const name = { table: 'reported', id: teamId } as const;
  const [before] = answered(await store.records.read(SHARED_RECORDS, [name]));
  const delayed = newEvent({ id: 'late', teamId, atMs: clock.nowMs(), facts: { kind: 'key_created', key: (await team.usage()).keys[0]! } });
  const write = () =>
    store.records.change(SHARED_RECORDS, [name], ([now]) => (now === before ? { result: true, ...delayed } : { result: false }));
  const records: RecordSpace = {
    ...store.records,
    async list(group, table) {
      const found = await store.records.list(group, table);
      await write();
      return found;
    },
  };
  expect(await forgetTeam(teamId, false, { ...store, records })).toBeUndefined();
  const left = answered(await store.records.list(SHARED_RECORDS, 'events'));
  expect([...left.keys()].filter((id) => id.startsWith(teamId))).toEqual([]);
});

test('a refusal of the last moment of a window is told once, even if another process tells it after the window', async () => {
  const team = await teamOf();
  await reported();
  clock.step(119_900 - (clock.nowMs() % 60_000));
  const refuse: (() => void)[] = [];
  const ledger: Ledger = {
    admit: (request) => {
      const window = { per: 'minute', counts: 'requests' } as const;
      refuse.push(() => request.answered({ kind: 'rate_limited', limit: 1, retryAfterMs: 100, fullForMs: 0, window }));
    },
    check: () => undefined,
    resolve: () => undefined,
  };
  const senders = [1, 2].map(() => new UsageEvents({ ...store, rules: RULES, nowMs: () => clock.nowMs() }));
  const asked = { requestId: newId(), teamId: team.teamId, keyId: team.keyId, characters: 1, reserve: true, leaseMs: 1000 };
  for (const sender of senders)
    sender.watched(ledger).admit({ ...asked, glossary: undefined, answered: () => undefined, failed: () => undefined });
  const found: string[] = [];
  for (const [i, sender] of senders.entries()) {
    refuse[i]!();
    const outbox = sender.before(store.outbox);
    for (const event of answered(await outbox.due(100))) {
      if (event.id.includes('limit')) found.push(event.id);
      await outbox.remove(event);
    }
    clock.step(5000);
    await store.outbox.due(1);
  }
  expect(found).toHaveLength(1);
});

test("the outbox of a plugin's store may have its methods from a class", async () => {
  const plain = referenceStore(clock, data);
  const outbox = Object.create(plain.outbox) as Outbox;
  const others = new Map([['memory', () => Promise.resolve({ ...plain, outbox })]]);
  const sender = await openStore('memory:here', { log: SILENT, clock, events: RULES, others });
  expect(await sender.outbox.lease('a', 1000)).toBe(true);
  expect(await sender.outbox.release('a')).toBeUndefined();
  const pending = answered(await sender.outbox.pending());
  const event = newEvent({ id: 'e', teamId: newId(), atMs: clock.nowMs(), facts: { kind: 'team_created', name: 'T', plan: 'p' } as never });
  answered(await sender.records.change(SHARED_RECORDS, [], () => ({ result: true, ...event })));
  expect(await sender.outbox.pending()).toBe(pending + 1);
  const due = answered(await sender.outbox.due(1000)).at(-1)!;
  expect(await sender.outbox.read(due)).toMatchObject({ id: due.id });
  expect(await sender.outbox.postpone(due, 0)).toBeUndefined();
  expect(await sender.outbox.remove(due)).toBeUndefined();
  expect(await sender.outbox.pending()).toBe(pending);
});
