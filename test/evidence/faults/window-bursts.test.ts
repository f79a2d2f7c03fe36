// Limits by minute to month in bursts over the ends of windows: exact over two instances of each store, which are closed and opened
// again in between, and over two gateway processes of each store in real time, which are killed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { answered, windowAt } from '../../../src/index.ts';
import { WINDOWS, writtenWindows } from '../../support/door/terms.ts';
import { MovableClock } from '../../../src/testing.ts';
import type { WindowName } from '../../../src/domain/window-limits.ts';
import { redisBacking, sqliteBacking } from '../../support/backings.ts';
import type { Backing } from '../../support/backings.ts';
import { COMMAND_VARIABLE } from '../../support/start-program.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { Bursts } from './bursts.ts';
import { Callers } from './caller.ts';
import { startFleet } from './fleet.ts';
import { startJournalledRedis } from './journal/journalled-redis.ts';
import { closedLoop, lasting } from './pace.ts';
import { seeded } from './seeded.ts';
import type { Seeded } from './seeded.ts';
import { openWitness, watchedTeam } from './witness.ts';

const IS_LONG = process.env[COMMAND_VARIABLE] === 'test:long';
const REQUESTS = IS_LONG ? 100_000 : 4000;
const ROUNDS = 16;
/** Longer than all rounds of a team. */
const LONG_MS = 20 * 366 * 86_400_000;

/** Small enough to be reached by some, large enough for others. */
function drawnWindows(random: Seeded): string {
  return writtenWindows(
    Array.from({ length: random.between(1, 3) }, () => {
      const [requests, characters] = [random.between(15, 90), random.between(100, 1500)];
      const per = random.oneOf(WINDOWS);
      return random.oneOf([
        { per, requests },
        { per, characters },
        { per, requests, characters },
      ] as const);
    }),
  );
}

/** The store's clock goes to just before, at or after the end of a window, or a little on. */
function move(clock: MovableClock, random: Seeded): void {
  const nowMs = clock.nowMs();
  const per = random.oneOf([undefined, undefined, 'minute', ...WINDOWS] as const);
  clock.step(per === undefined ? random.between(0, 900) : Math.max(1, windowAt(per, nowMs).endMs - nowMs + random.between(-1, 1)));
}

describe.each([
  ['redis', () => redisBacking()],
  ['sqlite', () => sqliteBacking('normal')],
] as const)('two instances on %s', (_name, make) => {
  test(`${REQUESTS} requests over the ends of windows: none is admitted beyond a limit, none that fits is refused`, async () => {
    const [clock, random, backing]: [MovableClock, Seeded, Backing] = [new MovableClock(), seeded(), await make()];
    const stores = [await backing.open(clock), await backing.open(clock)];
    const total = { asked: 0, refused: 0, bursts: 0 };
    const ended = new Set<WindowName>();
    while (total.asked < REQUESTS) {
      const options = { requests: [10, 60], charactersMost: 40, leasesMs: [500, 90_000, LONG_MS] } as const;
      const limits = { requestsPerSecond: 100_000, characterLimit: 1_000_000_000, windows: drawnWindows(random) };
      const keys = [{ windows: drawnWindows(random) }];
      const burst = await Bursts.of({ ...options, stores: () => stores, random, limits, keys }, clock.nowMs());
      for (let round = 0; round < ROUNDS; round++) {
        move(clock, random);
        await burst.round(clock.nowMs());
        if (!random.chance(0.05)) continue;
        const again = random.between(0, 1);
        await stores[again]!.close();
        stores[again] = await backing.open(clock);
      }
      expect([...new Set(burst.violations)].slice(0, 5)).toEqual([]);
      total.asked += burst.asked;
      total.refused += burst.refused;
      total.bursts++;
      for (const [per] of burst.audited.windowsEnded()) ended.add(per);
    }
    for (const store of stores) await store.close();
    await backing.remove();
    process.stdout.write(`${total.asked} requests of ${total.bursts} teams, ${total.refused} refused\n`);
    // A run in which nothing is refused, and no window ends, would show nothing.
    expect(total.refused).toBeGreaterThan(REQUESTS / 20);
    expect([...ended].toSorted()).toEqual([...WINDOWS].toSorted());
  }, 900_000);
});

/** Windows of real time that are filled, and how many requests each takes: few enough for a machine that is busy with other things. */
const MINUTES = 3;
const PER_MINUTE = 1500;
const KILL_EVERY_MS = 4000;

interface Place {
  readonly url: string;
  /** Kills the store itself, and brings it back. */
  readonly strike?: () => Promise<void>;
  remove(): Promise<void>;
}

async function redisPlace(): Promise<Place> {
  const redis = await startJournalledRedis();
  const strike = async (): Promise<void> => {
    await redis.kill();
    await redis.restart();
  };
  return { url: redis.url, strike, remove: () => redis.stop() };
}

async function sqlitePlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-window-bursts-'));
  return { url: `sqlite:${join(folder, 'lingate.db')}`, remove: async () => rmSync(folder, { recursive: true }) };
}

// Minutes of real time end only once a minute: not for those who wait for the evidence.
const IN_REAL_TIME = [
  ['redis', redisPlace],
  ['sqlite', sqlitePlace],
] as const;

describe.each(IS_LONG ? IN_REAL_TIME : [])('two gateways on %s in real time', (_name, make) => {
  test(`killed over ${MINUTES} minutes: ${PER_MINUTE} requests of each are admitted`, { timeout: 900_000 }, async () => {
    const place = await make();
    const store = await openWitness(place.url);
    const fleet = await startFleet({ store: place.url, engineUrl: 'http://127.0.0.1:9', size: 2 });
    const callers = new Callers();
    const plan = { ...QUOTA_PLAN, requests_per_second: 100_000, limits: [{ per: 'minute', requests: PER_MINUTE }] } as const;
    const team = await watchedTeam(store, plan);
    const minuteOf = (atMs: number): number => Math.floor(atMs / 60_000);
    // A window that nearly ends might not be filled.
    while (minuteOf(Date.now()) !== minuteOf(Date.now() + 30_000)) await lasting(200);
    const first = minuteOf(Date.now());
    const full = new Set<number>();
    let kills = 0;
    const isOver = (): boolean => full.size >= MINUTES || minuteOf(Date.now()) > first + 2 * MINUTES;
    const kill = async (): Promise<void> => {
      for (; !isOver(); kills++) {
        await lasting(KILL_EVERY_MS);
        await fleet.kill(kills % 2);
        if (kills % 5 === 4) await place.strike?.();
        await fleet.replace(kills % 2);
      }
    };
    const load = closedLoop(
      () => !isOver(),
      12,
      async (index) => {
        const living = fleet.living();
        const { seen } = await callers.languages(living[index % living.length]!, team);
        const { result, startedAtMs, endedAtMs } = seen;
        const minute = minuteOf(startedAtMs);
        if (result.kind === 'fail' && result.code === 'rate_limited' && minute === minuteOf(endedAtMs)) full.add(minute);
      },
    );
    await Promise.all([kill(), load]);
    const results = callers.seen.map(({ result }) => (result.kind === 'fail' ? result.code : result.kind));
    const counted = (what: string): number => results.filter((one) => one === what).length;
    const [admitted, unknown] = [counted('ok'), counted('unknown') + counted('service_unavailable')];
    process.stdout.write(
      `${results.length} requests, ${admitted} admitted, ${counted('rate_limited')} refused, ${unknown} unknown, ${kills} kills\n`,
    );
    expect(admitted + counted('rate_limited') + unknown).toBe(results.length);
    // All of them one after the other; unknown ones may have been counted.
    expect([...full]).toEqual(Array.from({ length: MINUTES }, (_, i) => first + i));
    expect(admitted).toBeLessThanOrEqual(MINUTES * PER_MINUTE);
    expect(admitted + unknown).toBeGreaterThanOrEqual(MINUTES * PER_MINUTE);
    const usage = answered(await store.teams.usage(team.teamId))!;
    if (usage.windows![0]!.endMs === (first + MINUTES) * 60_000) expect(usage.windows![0]!.usedRequests).toBe(PER_MINUTE);
    await fleet.stop();
    callers.close();
    await store.close();
    await place.remove();
  });
});
