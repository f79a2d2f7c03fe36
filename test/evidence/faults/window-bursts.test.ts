// Limits by minute to month in bursts over the ends of windows: exact over two instances of each store, which are closed and opened
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { windowAt } from '../../../src/index.ts';
import { WINDOWS, writtenWindows } from '../../support/door/terms.ts';
import { MovableClock } from '../../../src/testing.ts';
import type { WindowName } from '../../../src/domain/window-limits.ts';
import { redisBacking, sqliteBacking } from '../../support/backings.ts';
import type { Backing } from '../../support/backings.ts';
import { COMMAND_VARIABLE } from '../../support/start-program.ts';
import { Bursts } from './bursts.ts';
import { seeded } from './seeded.ts';
import type { Seeded } from './seeded.ts';

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
