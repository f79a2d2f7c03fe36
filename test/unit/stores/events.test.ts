// Events about usage are recorded in Redis by the operation that causes them, each threshold once, across two instances of a store, and only if
// there are rules. Those of operators, and the outbox, are in the store contract.
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { eventRules } from '../../../src/domain/event-rules.ts';
import type { EventRules } from '../../../src/domain/event-rules.ts';
import { toMicro } from '../../../src/domain/money.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { DueEvent, KeptEvent, Outbox } from '../../../src/ports/outbox.ts';
import type { Store } from '../../../src/ports/store.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { PREPAID, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { startRedis } from '../../support/redis.ts';
import { SILENT } from '../../support/silent-log.ts';

const RULES = eventRules([80, 95, 100], [1000, 0]);

interface Kind {
  readonly name: string;
  readonly open: (clock: Clock, rules: EventRules | undefined) => Promise<Store>;
}

const removals: (() => unknown)[] = [];
afterAll(async () => {
  for (const remove of removals) await remove();
});

async function redisKind(): Promise<Kind> {
  const server = await startRedis();
  removals.push(() => server.stop());
  const open: Kind['open'] = (clock, events) => openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: 5000, events });
  return { name: 'Redis', open };
}

const KINDS = [await redisKind()];

describe.each(KINDS)('$name', ({ open }) => {
  const clock = new MovableClock();
  const opened = Promise.all([open(clock, RULES), open(clock, RULES)]);
  removals.unshift(async () => {
    for (const store of await opened) await store.close();
  });

  /** A team on two instances that record events. */
  async function scene(...args: Parameters<typeof teamUnderTest> extends [unknown, ...infer Rest] ? Rest : never) {
    const [store, again] = await opened;
    const team = await teamUnderTest(promisedStore(store), ...args);
    const stores = { here: promisedStore(store), there: promisedStore(again) };
    const charge = async (characters: number, where: keyof typeof stores = 'here', reserved = characters): Promise<void> => {
      const { requestId } = await team.reserve(reserved);
      expect(await team.commitPart(requestId, characters, stores[where])).toEqual({ kind: 'committed' });
      // Events of charges are listed after them, on the same connection.
      for (let i = 0; i < 3; i++) await stores[where].teams.findTeam(team.teamId);
      clock.step(1);
    };
    const outbox = store.outbox;
    return { team, store, outbox, stores, charge, recorded: () => eventsOf(outbox, team.teamId) };
  }

  test('a balance that falls to a threshold twice within a millisecond is two events', async () => {
    const { team, store, recorded } = await scene(PREPAID, toMicro(1001));
    for (const minor of [-1, 1, -1]) answered(await store.teams.updateTeam(team.teamId, { addMicro: toMicro(minor) }));
    const reached = (await recorded()).filter(({ facts }) => facts.kind === 'credit_threshold');
    expect(new Set(reached.map(({ id }) => id)).size).toBe(2);
  });

  test('periods that begin within a millisecond have events of their own', async () => {
    const { team, charge, recorded, store } = await scene({ characterLimit: 100, period: 'P1D' });
    const atMs = clock.nowMs();
    for (const period of ['PT6H', 'PT7H', 'PT8H']) {
      await team.setLimits({ characterLimit: 100, period });
      await charge(85);
      clock.step(-1);
    }
    expect(clock.nowMs()).toBe(atMs);
    clock.step(86_400_000);
    answered(await store.history.periods(team.teamId));
    const events = (await recorded()).filter(({ facts }) => facts.kind === 'period_closed' || facts.kind === 'quota_threshold');
    expect(events.map(({ facts }) => facts.kind).toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'period_closed'),
      ...Array.from({ length: 3 }, () => 'quota_threshold'),
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(6);
  });

  test('each percentage of a quota is recorded by the commit that reaches it, on either instance, with the usage at that time', async () => {
    const { charge, recorded, team } = await scene({ characterLimit: 100, overageCharacters: 100 });
    const percents = async (): Promise<unknown[]> => quotaOf(await recorded()).map(({ percent }) => percent);
    await charge(79);
    expect(await percents()).toEqual([]);
    await charge(1, 'there');
    expect(await percents()).toEqual([80]);
    const [first] = quotaOf(await recorded());
    expect(first?.usage).toMatchObject({
      characters: 80,
      team: { teamId: team.teamId, limits: { characterLimit: 100 } },
      keys: [{ keyId: team.keyId, characters: 80, requests: 2 }],
    });
    await charge(14, 'there');
    expect(await percents()).toEqual([80]);
    await charge(30);
    expect(await percents()).toEqual([80, 95, 100]);
    await charge(30, 'there');
    expect(await percents()).toEqual([80, 95, 100]);
  });

  test('delivered percentages are not recorded again by later charges in the period, on either instance', async () => {
    const { charge, recorded, team, outbox } = await scene({ characterLimit: 100, overageCharacters: 100 });
    const deliverAll = async (): Promise<unknown[]> => {
      const percents = quotaOf(await recorded()).map(({ percent }) => percent);
      for (const event of await dueOf(outbox)) if (event.teamId === team.teamId) expect(await outbox.remove(event)).toBeUndefined();
      return percents;
    };
    await charge(85);
    expect(await deliverAll()).toEqual([80]);
    await charge(5, 'there');
    expect(await deliverAll()).toEqual([]);
    await charge(8);
    expect(await deliverAll()).toEqual([95]);
    await charge(50, 'there');
    await charge(1);
    expect(await deliverAll()).toEqual([100]);
    await charge(40);
    expect(await deliverAll()).toEqual([]);
  });

  test('in the next period percentages are recorded again, under other ids', async () => {
    const { charge, recorded } = await scene({ characterLimit: 100, period: 'PT1H' });
    await charge(85);
    clock.step(3_600_000);
    await charge(79);
    expect(quotaOf(await recorded()).map(({ percent }) => percent)).toEqual([80]);
    await charge(1);
    const events = await recorded();
    expect(quotaOf(events).map(({ percent }) => percent)).toEqual([80, 80]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  test('raising a limit and reaching it again records nothing twice; a lowered limit is recorded at the next commit', async () => {
    const { charge, recorded, team } = await scene({ characterLimit: 100 });
    const percents = async (): Promise<unknown[]> => quotaOf(await recorded()).map(({ percent }) => percent);
    await charge(85);
    await team.setLimits({ characterLimit: 200 });
    await charge(80);
    expect(await percents()).toEqual([80]);
    await team.setLimits({ characterLimit: 167 });
    await charge(1);
    expect(await percents()).toEqual([80, 95]);
  });

  test('only the charged part of a reservation counts towards a threshold', async () => {
    const quota = await scene({ characterLimit: 100 });
    await quota.charge(79, 'here', 100);
    await quota.charge(0, 'there', 21);
    expect(quotaOf(await quota.recorded())).toEqual([]);
    await quota.charge(1, 'here', 21);
    expect(quotaOf(await quota.recorded()).map(({ percent }) => percent)).toEqual([80]);
    const credit = await scene({ ...PREPAID, minorPerMillion: 1_000_000 }, toMicro(1005));
    await credit.charge(4, 'here', 1000);
    expect(creditOf(await credit.recorded())).toEqual([]);
    await credit.charge(1, 'there', 1001);
    expect(creditOf(await credit.recorded())).toMatchObject([{ thresholdMinor: 1000, balanceMicro: toMicro(1000) }]);
  });

  test('a period without charges is not recorded, whatever day its requests were counted on', async () => {
    const { charge, recorded, team, store } = await scene({ characterLimit: 100, period: 'P1D' });
    await charge(0, 'here', 50);
    clock.step(86_400_000);
    await charge(5, 'there', 50);
    clock.step(86_400_000);
    answered(await store.history.periods(team.teamId));
    const closed = (await recorded()).filter(({ facts }) => facts.kind === 'period_closed');
    expect(closed).toMatchObject([{ facts: { period: { characters: 5 } } }]);
  });

  test('a limit of 0 has no percentages, and a release records nothing', async () => {
    const free = await scene({ characterLimit: 0, overageCharacters: 100 });
    await free.charge(50);
    expect(quotaOf(await free.recorded())).toEqual([]);
    const released = await scene({ characterLimit: 100 });
    await released.team.release((await released.team.reserve(90)).requestId);
    expect(quotaOf(await released.recorded())).toEqual([]);
  });

  test('a balance that falls to a threshold is recorded once, and again after it was above it', async () => {
    // A minor unit per character.
    const { charge, recorded, team, store } = await scene({ ...PREPAID, minorPerMillion: 1_000_000 }, toMicro(1005));
    const credit = async (): Promise<unknown[]> =>
      creditOf(await recorded()).map(({ thresholdMinor, balanceMicro }) => [thresholdMinor, balanceMicro]);
    await charge(4);
    expect(await credit()).toEqual([]);
    await charge(1, 'there');
    await charge(1);
    expect(await credit()).toEqual([[1000, toMicro(1000)]]);
    answered(await store.teams.updateTeam(team.teamId, { addMicro: toMicro(1) }));
    await charge(1, 'there');
    expect(await credit()).toEqual([[1000, toMicro(1000)]]);
    answered(await store.teams.updateTeam(team.teamId, { addMicro: toMicro(2) }));
    await charge(1001, 'there');
    expect(await credit()).toEqual([
      [1000, toMicro(1000)],
      [1000, 0],
      [0, 0],
    ]);
  });

  test('a balance below one minor unit counts as 0, as it is shown', async () => {
    const { charge, recorded } = await scene({ ...PREPAID, minorPerMillion: 1_000_000 }, toMicro(2) + 400_000);
    await charge(1);
    expect(creditOf(await recorded())).toEqual([]);
    await charge(1);
    expect(creditOf(await recorded())).toMatchObject([{ thresholdMinor: 0, balanceMicro: 400_000, currency: 'EUR' }]);
  });

  test('a store without rules records nothing, and what it passed is recorded by the next one with rules', async () => {
    const { store, recorded, charge, team } = await scene({ characterLimit: 100 });
    // Opened only briefly: its janitor closes periods of other tests' teams without recording them.
    const silent = await open(clock, undefined);
    const before = (await recorded()).length;
    answered(await silent.teams.updateTeam(team.teamId, { name: 'Unheard' }));
    const { requestId } = await team.reserve(85);
    expect(await team.commit(requestId, promisedStore(silent))).toEqual({ kind: 'committed' });
    expect(await recorded()).toHaveLength(before);
    expect(answered(await silent.outbox.pending())).toBe(answered(await store.outbox.pending()));
    expect(await team.standing(promisedStore(silent))).toMatchObject({ usedCharacters: 85 });
    await silent.close();
    await charge(1);
    expect(quotaOf(await recorded()).map(({ percent }) => percent)).toEqual([80]);
  });

  test.each([true, false])(
    'a deleted team is recorded once, and no event has its name or labels any more (keeping usage: %s)',
    async (keepUsage) => {
      const { team, store, charge, recorded } = await scene({ ...PREPAID, minorPerMillion: 1_000_000 }, toMicro(1002));
      await charge(5);
      for (const _ of [1, 2]) answered(await store.teams.deleteTeam(team.teamId, { keepUsage }));
      const kinds = (await recorded()).map(({ facts }) => facts.kind);
      expect(kinds.toSorted()).toEqual([...(keepUsage ? ['period_closed', 'credit_threshold'] : []), 'team_deleted'].toSorted());
      expect(JSON.stringify(await recorded())).not.toMatch(/Team under test|backend|la_live_/);
    },
  );

  test('a process without rules follows those of a gateway that sends events, or did within a day', async () => {
    const { team, outbox, recorded } = await scene();
    expect(await outbox.lease('gateway', 1000)).toBe(true);
    const rename = async (name: string): Promise<number> => {
      const command = await open(clock, undefined);
      clock.step(1);
      answered(await command.teams.updateTeam(team.teamId, { name }));
      await command.close();
      return (await recorded()).length;
    };
    const before = (await recorded()).length;
    expect(await rename('While it runs')).toBe(before + 1);
    expect(await outbox.release('gateway')).toBeUndefined();
    clock.step(86_000_000);
    expect(await rename('On the next day')).toBe(before + 2);
    clock.step(500_000);
    expect(await rename('Later')).toBe(before + 2);
  });

  test('a period is recorded once it can no longer change, with the percentages that only late commits have reached', async () => {
    const { team, store, recorded, charge } = await scene({ characterLimit: 100, overageCharacters: 100, period: 'PT1H' });
    const percents = async () => quotaOf(await recorded()).map(({ percent }) => percent);
    const closed = async () => (await recorded()).flatMap(({ facts }) => (facts.kind === 'period_closed' ? [facts.period] : []));
    await charge(70);
    clock.step(3_600_000 - 30_000);
    const late = await team.reserve(30);
    const last = await team.reserve(1);
    clock.step(30_000);
    await charge(5);
    await team.commit(late.requestId);
    answered(await store.history.periods(team.teamId));
    expect([await closed(), await percents()]).toEqual([[], []]);
    await team.release(last.requestId);
    for (const _ of [1, 2]) answered(await store.history.periods(team.teamId));
    const [period, ...others] = await closed();
    expect(others).toEqual([]);
    expect(period).toEqual(answered(await store.history.periods(team.teamId))!.at(-1));
    expect(period).toMatchObject({ characters: 100, closed: true });
    expect(await percents()).toEqual([80, 95, 100]);
    expect(quotaOf(await recorded())[0]?.usage).toMatchObject({ characters: 100, team: { plan: 'test', limits: { characterLimit: 100 } } });
  });

  test('in random histories exactly the percentages that a period reaches are recorded, each under one id', async () => {
    const HOUR_MS = 3_600_000;
    const characters = fc.integer({ min: 1, max: 60 });
    const where = fc.constantFrom('here' as const, 'there' as const);
    const move = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('charge' as const), characters, where }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), characters, where }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('across' as const), characters, where }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1000, HOUR_MS / 2, HOUR_MS, 3 * HOUR_MS) }),
      },
    );
    const history = fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 25 }), async (moves) => {
      const { team, stores, recorded } = await scene({ characterLimit: 100, overageCharacters: 1_000_000, period: 'PT1H' });
      const { createdAtMs } = answered(await stores.here.teams.findTeam(team.teamId))!;
      const used = new Map<number, number>();
      const startOfPeriod = (): number => clock.nowMs() - ((clock.nowMs() - createdAtMs) % HOUR_MS);
      for (const one of moves) {
        if (one.kind === 'wait') {
          clock.step(one.ms);
          continue;
        }
        // Reserved in one period and committed in the next.
        if (one.kind === 'across') clock.step(Math.max(0, startOfPeriod() + HOUR_MS - 5000 - clock.nowMs()));
        const start = startOfPeriod();
        const { requestId } = await team.reserve(one.characters);
        if (one.kind === 'across') clock.step(10_000);
        if (one.kind === 'fail') await team.release(requestId);
        else {
          // An answer may be lost, and the commit repeated elsewhere.
          for (const store of [stores[one.where], stores.here]) expect(await team.commit(requestId, store)).toEqual({ kind: 'committed' });
          used.set(start, (used.get(start) ?? 0) + one.characters);
        }
      }
      clock.step(2 * HOUR_MS);
      for (const store of [stores.there, stores.here, stores.here]) {
        answered(await store.history.periods(team.teamId));
        answered(await store.teams.findTeam(team.teamId));
      }
      const events = (await recorded()).flatMap(({ id, facts }) => (facts.kind === 'quota_threshold' ? [{ id, facts }] : []));
      const seen = events.map(({ facts }) => `${facts.usage.periodStartMs} ${facts.percent}`);
      const due = [...used].flatMap(([start, sum]) =>
        [80, 95, 100].filter((percent) => sum >= percent).map((percent) => `${start} ${percent}`),
      );
      expect(seen.toSorted()).toEqual(due.toSorted());
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    });
    await fc.assert(history, { numRuns: 25 });
  });
});

const LOTS = 10_000;

async function dueOf(outbox: Outbox): Promise<readonly DueEvent[]> {
  return answered(await outbox.due(LOTS));
}

/** All recorded events of a team, in the order of time. */
async function eventsOf(outbox: Outbox, teamId: string): Promise<KeptEvent[]> {
  const mine = (await dueOf(outbox)).filter((event) => event.teamId === teamId);
  const kept: KeptEvent[] = [];
  for (const event of mine) kept.push(...[answered(await outbox.read(event))].filter((one) => one !== undefined));
  return kept;
}

function quotaOf(events: readonly KeptEvent[]) {
  const facts = events.flatMap((event) => (event.facts.kind === 'quota_threshold' ? [{ ...event.facts, atMs: event.atMs }] : []));
  return facts.toSorted((one, other) => one.atMs - other.atMs || one.percent - other.percent);
}

function creditOf(events: readonly KeptEvent[]) {
  const facts = events.flatMap((event) => (event.facts.kind === 'credit_threshold' ? [{ ...event.facts, atMs: event.atMs }] : []));
  return facts.toSorted((one, other) => one.atMs - other.atMs || other.thresholdMinor - one.thresholdMinor);
}
