// What a clock that was ahead for a while has begun is found by the check and undone by the repair, on both stores.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventRules } from '../../../src/domain/event-rules.ts';
import { DAY_MS, dayOf } from '../../../src/domain/period.ts';
import { answered, StoreError } from '../../../src/domain/store-unavailable.ts';
import { repairStoreAt } from '../../../src/app/store-upkeep.ts';
import type { RepairedTeam } from '../../../src/app/store-upkeep.ts';
import type { EventFacts, KeptEvent } from '../../../src/ports/outbox.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import type { Store } from '../../../src/ports/store.ts';
import { openMender, openReader } from '../../../src/stores/open-reader.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { planRepair, repairTeams } from '../../../src/stores/store-repair.ts';
import { teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { checkedStore } from '../../support/checked-store.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { SILENT } from '../../support/silent-log.ts';
import { storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import { untilOneDay } from '../../support/one-day.ts';

const HISTORY_DAYS = 400;
const LIMITS = { period: 'P1M', characterLimit: 1000 };

const onTeam = (): Promise<void> => Promise.resolve();

/** The real time, as the repair sees it, and a number of days more or less. */
class ShiftedClock {
  days = 0;
  nowMs(): number {
    return Date.now() + this.days * DAY_MS;
  }
}

await untilOneDay();

describe.each(['sqlite', 'redis'] as const)('on %s', (kind) => {
  let place: StorePlace;
  let opened: Store;
  let store: PluginStore;
  let clock: ShiftedClock;

  beforeEach(async () => {
    place = await storePlace(kind);
    clock = new ShiftedClock();
    opened = await open();
    store = promisedStore(opened);
  });
  afterEach(async () => {
    await opened.close();
    await place.remove();
  });

  /** By the test's clock, on Redis as well; with a janitor at work if `tendEveryMs` is given, on SQLite always. */
  const open = (tendEveryMs?: number): Promise<Store> => {
    const options = { log: SILENT, clock, historyDays: HISTORY_DAYS, events: eventRules([50, 80], []) };
    return kind === 'redis'
      ? openRedisStore({ ...options, url: place.url, commandTimeoutMs: 5000, ...(tendEveryMs === undefined ? {} : { tendEveryMs }) })
      : openSqliteStore({ ...options, path: `${place.folder}/lingate.db`, busyTimeoutMs: 5000 });
  };
  const repair = (): Promise<readonly RepairedTeam[]> =>
    repairStoreAt({ url: place.url, historyDays: HISTORY_DAYS, confirm: () => Promise.resolve(true), onTeam });
  const found = async (): Promise<string[]> => (await checkedStore(place.url, 0, Date.now())).findings.map(({ what }) => what);
  const usage = async (team: TeamUnderTest) => answered(await store.teams.usage(team.teamId))!;
  /** Those that have not been sent, due or not. */
  const events = async (kindOf: EventFacts['kind']): Promise<EventFacts[]> => {
    await opened.outbox.due(1);
    const reader = await openReader(place.url);
    const kept: KeptEvent[] = [];
    for await (const one of reader.loose(() => undefined))
      if (one.kind === 'event' && one.event.facts.kind === kindOf) kept.push(one.event);
    await reader.close();
    return kept.toSorted((one, other) => one.atMs - other.atMs).map(({ facts }) => facts);
  };
  const sumSince = async (team: TeamUnderTest, startMs: number): Promise<number> => {
    const { days } = answered(await store.history.days(team.teamId, { from: dayOf(startMs), to: dayOf(Date.now()) }))!;
    return days.reduce((sum, { characters }) => sum + characters, 0);
  };

  /** A team with a closed period, and 17 characters in the running one; the clock is right. */
  const usedTeam = async (limits = {}): Promise<TeamUnderTest> => {
    clock.days = -40;
    const team = await teamUnderTest(store, { ...LIMITS, ...limits });
    await team.use(100);
    clock.days = -3;
    await team.use(10);
    clock.days = 0;
    await team.use(7);
    return team;
  };

  const usedTeams = async (count: number, limits = {}): Promise<TeamUnderTest[]> => {
    const teams: TeamUnderTest[] = [];
    for (let i = 0; i < count; i++) teams.push(await usedTeam(limits));
    return teams;
  };

  test.each(['P1M', 'P1M@calendar', 'P7D@calendar', 'P1D', 'P1Y'])(
    'a period of %s that was closed too early runs again',
    async (period) => {
      const team = await usedTeam({ period });
      const other = await team.newKey();
      const before = await usage(team);
      clock.days = 370;
      await team.use(3);
      await team.withKey(other.keyId).use(20);
      answered(await store.history.periods(team.teamId));
      clock.days = 0;
      await team.use(2);
      expect(new Set(await found())).toEqual(new Set(['clock']));
      const [done] = await repair();
      expect(done).toMatchObject({ teamId: team.teamId, what: 'reopened', movedCharacters: 23, unknownCharacters: 0 });
      expect(await found()).toEqual([]);
      await team.use(1);
      const after = await usage(team);
      expect(after).toMatchObject({ periodStartMs: before.periodStartMs, periodEndMs: before.periodEndMs });
      expect(after.characters).toBe(before.characters + 26);
      expect(after.keys.map(({ characters }) => characters)).toEqual([before.characters + 6, 20]);
      expect(await sumSince(team, after.periodStartMs)).toBe(after.characters);
      expect((await usage(team)).keys.every(({ lastUsedAtMs = 0 }) => lastUsedAtMs <= Date.now())).toBe(true);
      const [running, ...past] = answered(await store.history.periods(team.teamId))!;
      expect(running).toMatchObject({ closed: false, characters: after.characters });
      expect(past.every(({ endMs, closed }) => closed && endMs <= Date.now())).toBe(true);
      expect(await found()).toEqual([]);
      expect(await repair()).toEqual([]);
    },
  );

  test('what a tag with settings has used counts in the period that runs again, with what is held', async () => {
    clock.days = -40;
    const team = await teamUnderTest(store, { ...LIMITS, period: 'P1Y' });
    clock.days = 0;
    const tag = { name: 'acme', distinctMax: 10 };
    const limited = await store.tagSettings.set(team.teamId, tag.name, { disabled: false, characters: 100 }, 10);
    expect(answered(limited).kind).toBe('set');
    await team.use(90, { tag });
    clock.days = 500;
    await team.use(3, { tag });
    await team.reserve(2, { tag });
    clock.days = 0;
    expect((await repair()).map(({ what }) => what)).toEqual(['reopened']);
    expect(await found()).toEqual([]);
    expect(answered(await store.tagSettings.find(team.teamId, tag.name))?.use.characters).toBe(95);
    expect(await team.admit({ characters: 6, reserve: true, tag })).toMatchObject({ kind: 'quota_exceeded' });
    expect(await team.admit({ characters: 5, reserve: true, tag })).toMatchObject({ kind: 'admitted' });
  });

  test('an idle team gets the period that contains the present', async () => {
    clock.days = -100;
    const team = await teamUnderTest(store, LIMITS);
    clock.days = 0;
    const before = await usage(team);
    clock.days = 500;
    await usage(team);
    clock.days = 0;
    expect(await found()).toEqual(['clock']);
    expect(await repair()).toMatchObject([{ what: 'begun', usedCharacters: 0 }]);
    expect(await found()).toEqual([]);
    expect(await usage(team)).toEqual(before);
    expect(await team.admit()).toMatchObject({ kind: 'admitted' });
  });

  test('the last day that was counted before is kept', async () => {
    clock.days = -40;
    const team = await teamUnderTest(store, { ...LIMITS, period: 'P1Y' });
    clock.days = -3;
    await team.use(10);
    clock.days = 500;
    await usage(team);
    clock.days = 0;
    await repair();
    expect(await found()).toEqual([]);
    expect(await usage(team)).toMatchObject({ characters: 10 });
    const range = { from: dayOf(Date.now()) - 3, to: dayOf(Date.now()) - 3 };
    expect(answered(await store.history.days(team.teamId, range))!.days).toMatchObject([{ characters: 10, requests: 1 }]);
  });

  test('steps of the clock by different lengths are undone together', async () => {
    const team = await usedTeam();
    const before = await usage(team);
    for (const days of [370, 372, 371, 400]) {
      clock.days = days;
      await team.use(3);
      clock.days = 0;
      await team.use(1);
    }
    await repair();
    expect(await found()).toEqual([]);
    const after = await usage(team);
    expect(after).toMatchObject({ periodStartMs: before.periodStartMs, characters: before.characters + 16 });
    expect(after.keys[0]).toMatchObject({ characters: after.characters });
    expect(await sumSince(team, after.periodStartMs)).toBe(after.characters);
  });

  test('what is reserved stays reserved, is charged to the running period, and is not held for years', async () => {
    const team = await usedTeam();
    const { keyId } = team;
    answered(await store.teams.updateKey(keyId, { limits: { characters: 500 } }));
    const [before, left] = [await usage(team), await team.reserve(5)];
    clock.days = 35;
    const [kept, lost] = [await team.reserve(30), await team.reserve(40)];
    clock.days = 0;
    await repair();
    expect(await found()).toEqual([]);
    expect(await team.standing()).toMatchObject({ usedCharacters: before.characters, heldCharacters: 70, openReservations: 2 });
    expect(await team.commit(kept.requestId)).toMatchObject({ kind: 'committed' });
    // Its lease ended while the clock was wrong.
    expect(await team.commit(left.requestId)).not.toMatchObject({ kind: 'committed' });
    expect(await usage(team)).toMatchObject({ characters: before.characters + 30 });
    expect(await found()).toEqual([]);
    clock.days = 1 / 24 + 0.001;
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
    expect(await team.commit(lost.requestId)).not.toMatchObject({ kind: 'committed' });
  });

  test('a period that a wrong clock has closed is told once, as it really ended, and thresholds that were told are not told again', async () => {
    const team = await usedTeam();
    await team.use(600);
    const { periodStartMs: startMs, periodEndMs: endMs } = await usage(team);
    const [early] = await events('quota_threshold');
    expect(early).toMatchObject({ percent: 50 });
    clock.days = 370;
    await team.use(10);
    await team.use(520);
    answered(await store.history.periods(team.teamId));
    clock.days = 0;
    await repair();
    expect((await events('period_closed')).map((facts) => facts.kind === 'period_closed' && facts.period.startMs)).not.toContain(startMs);
    expect(await events('quota_threshold')).toEqual([early]);
    expect(answered(await store.teams.usage(team.teamId))).toMatchObject({ characters: 1147 });
    answered(
      await store.teams.updateTeam(team.teamId, { plan: { name: 'test', limits: { ...(await limitsOf(team)), characterLimit: 1500 } } }),
    );
    await team.use(100);
    // 80 % of 1,500 is reached only by what both periods had together.
    const told = async () => (await events('quota_threshold')).map((facts) => facts.kind === 'quota_threshold' && facts.percent);
    await expect.poll(told).toEqual([50, 80]);
    clock.days = (endMs - Date.now()) / DAY_MS + 0.5;
    answered(await store.history.periods(team.teamId));
    const closed = async () =>
      (await events('period_closed')).filter((facts) => facts.kind === 'period_closed' && facts.period.startMs === startMs);
    await expect.poll(closed).toMatchObject([{ period: { startMs, endMs, characters: 1247 } }]);
  });

  const limitsOf = async (team: TeamUnderTest) => answered(await store.teams.findTeam(team.teamId))!.limits;

  test('a plan that was changed at the wrong time counts its periods from the end of the one that runs', async () => {
    const team = await usedTeam();
    const before = await usage(team);
    clock.days = 500;
    answered(await store.teams.updateTeam(team.teamId, { plan: { name: 'test', limits: { ...(await limitsOf(team)), period: 'P7D' } } }));
    await team.use(3);
    clock.days = 0;
    await repair();
    expect(await found()).toEqual([]);
    expect(await usage(team)).toMatchObject({ periodStartMs: before.periodStartMs, periodEndMs: before.periodEndMs, characters: 20 });
    clock.days = (before.periodEndMs - Date.now()) / DAY_MS + 1;
    expect(await usage(team)).toMatchObject({
      periodStartMs: before.periodEndMs,
      periodEndMs: before.periodEndMs + 7 * DAY_MS,
      characters: 0,
    });
  });

  test('a team that was created at the wrong time begins now', async () => {
    clock.days = 500;
    const team = await teamUnderTest(store, LIMITS);
    await team.use(5);
    clock.days = 0;
    await repair();
    expect(await found()).toEqual([]);
    const { periodStartMs, characters } = await usage(team);
    expect(Math.abs(Date.now() - periodStartMs)).toBeLessThan(60_000);
    expect(characters).toBe(5);
    expect(await team.admit()).toMatchObject({ kind: 'admitted' });
  });

  test('what the retention has deleted is said, and the rest is right', async () => {
    const team = await usedTeam();
    clock.days = 500;
    const tending = await open(10);
    await team.use(3);
    const range = { from: dayOf(Date.now()) - 50, to: dayOf(Date.now()) };
    // The days of a team are dropped by the janitor.
    await expect.poll(async () => (await openedDays(team, range)).length, { interval: 100 }).toBe(0);
    await tending.close();
    clock.days = 0;
    await team.use(2);
    const [done] = await repair();
    expect(done!.lostUntilDay).toBe(dayOf(Date.now()) - 1);
    expect(await found()).toEqual([]);
    const { characters, periodStartMs, periodEndMs } = await usage(team);
    // In Redis the sums of periods outlast their days.
    expect(characters).toBe(kind === 'redis' ? 22 : 5);
    expect(periodStartMs).toBeLessThanOrEqual(Date.now());
    expect(periodEndMs).toBeGreaterThan(Date.now());
  });

  /** As they are stored: a store leaves out what is older than its retention by its own clock. */
  const openedDays = async (team: TeamUnderTest, range: { from: number; to: number }) => {
    const mender = await openMender(place.url);
    const contents = await mender.reader.team(team.teamId, () => undefined);
    await mender.close();
    return contents!.days.filter(({ day }) => day >= range.from && day <= range.to);
  };

  test('while gateways serve, each charge is counted once', async () => {
    const teams = await usedTeams(6, { characterLimit: 1_000_000 });
    clock.days = 370;
    for (const team of teams) await team.use(1);
    clock.days = 0;
    const ending = new AbortController();
    const charged = teams.map(() => 18);
    const using = teams.map(async (team, i) => {
      while (!ending.signal.aborted) {
        await team.use(1);
        charged[i]!++;
        // As long as a caller would need, so that not every moment of the team is one of its requests.
        for (let turns = 0; turns < 20 * (i + 1); turns++) await nextTurn();
      }
    });
    await expect.poll(() => Math.min(...charged)).toBeGreaterThan(25);
    const done = await repair();
    const before = [...charged];
    await expect.poll(() => charged.every((count, i) => count > before[i]! + 5)).toBe(true);
    ending.abort();
    await Promise.all(using);
    expect(done).toHaveLength(teams.length);
    expect(await found()).toEqual([]);
    for (const [i, team] of teams.entries()) expect(await usage(team)).toMatchObject({ characters: charged[i] });
  });

  test('a repair that was interrupted is completed by the next one', async () => {
    const teams = await usedTeams(5);
    clock.days = 370;
    for (const team of teams) await team.use(1);
    clock.days = 0;
    const mender = await openMender(place.url);
    const plan = await planRepair(mender.reader, HISTORY_DAYS);
    expect(plan.teams).toHaveLength(teams.length);
    let count = 0;
    const stop = async (): Promise<void> => {
      if (++count === 2) throw new Error('stopped');
    };
    await expect(repairTeams(mender, plan, HISTORY_DAYS, stop)).rejects.toThrow('stopped');
    await mender.close();
    expect(await found()).not.toEqual([]);
    expect(await repair()).toHaveLength(3);
    expect(await found()).toEqual([]);
    for (const team of teams) expect(await usage(team)).toMatchObject({ characters: 18 });
  });

  test('a clock that is behind now repairs nothing, and says why', async () => {
    // Used every day until four days from now, by the real clock.
    clock.days = -40;
    const team = await teamUnderTest(store, { period: 'P7D' });
    for (clock.days = -3; clock.days <= 9; clock.days++) await team.use(1);
    await expect(repair()).rejects.toThrow(
      /it was used on 9 later days, from .* to .*: it seems to be behind now, and nothing was repaired/,
    );
    await expect(repair()).rejects.toThrow(StoreError);
    expect((await found()).length).toBeGreaterThan(0);
    clock.days = 9;
    expect(await usage(team)).toMatchObject({ characters: 1 });
  });

  test('a gateway that was seen later than now is a doubt as well', async () => {
    const team = await usedTeam();
    clock.days = 370;
    await team.use(1);
    answered(await opened.gateways.leave({ host: 'a', file: 'b', plans: {} }));
    clock.days = 0;
    await expect(repair()).rejects.toThrow(/a gateway was last seen at .*, later than the present time/);
    answered(await opened.gateways.leave({ host: 'a', file: 'b', plans: {} }));
    expect(await repair()).toHaveLength(1);
  });

  test('nothing is done unless it is confirmed', async () => {
    const team = await usedTeam();
    clock.days = 370;
    await team.use(1);
    clock.days = 0;
    const planned: number[] = [];
    const confirm = async ({ teams }: { teams: readonly unknown[] }): Promise<boolean> => {
      planned.push(teams.length);
      return false;
    };
    expect(await repairStoreAt({ url: place.url, historyDays: HISTORY_DAYS, confirm, onTeam })).toEqual([]);
    expect(planned).toEqual([1]);
    expect(await found()).toContain('clock');
  });
});
