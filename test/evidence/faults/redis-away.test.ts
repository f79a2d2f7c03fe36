// Rows 3 and 4: Redis dies and restarts, freezes and thaws: nothing acknowledged is lost, nothing overdue counts, no request hangs.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import type { Seen } from '../../support/auditor/witnessed.ts';
import { CHARACTERS_MIN, Callers } from './caller.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { startDurableRedis } from './durable-redis.ts';
import type { DurableRedis } from './durable-redis.ts';
import { startMarkedEngine } from './marked-engine.ts';
import type { MarkedEngine } from './marked-engine.ts';
import { lasting, openLoop } from './pace.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, SIZE, TIMES_JUDGED, sized } from '../scorecard/size.ts';
import { seeded } from './seeded.ts';
import type { Seeded } from './seeded.ts';
import { watchStalls } from './stall.ts';
import { expectGuarantees, openWitness, untilQuiet, watchedTeam } from './witness.ts';
import type { WatchedTeam } from './witness.ts';

const STORE_MS = 500;
const LEASE_MS = 600_000;
const ENGINE_SLOWEST_MS = 20;
/** An answer may take this much longer than the store's deadline and the engine's work. */
const SLACK_MS = 50;
const FIRST_ANSWER_MS = 1000;
const QUIET_MS = 5000;

describe('a Redis that is away', () => {
  let redis: DurableRedis;
  let engine: MarkedEngine;
  let store: Store;
  let fleet: Fleet;
  let callers: Callers;
  let teams: WatchedTeam[];
  let random: Seeded;
  let characters: number;

  beforeAll(async () => {
    redis = await startDurableRedis();
    engine = await startMarkedEngine();
    store = await openWitness(redis.url);
    // The lease is far longer than the run: what is released is released by id, not by time.
    fleet = await startFleet({ store: redis.url, engineUrl: engine.url, size: 2, storeMs: STORE_MS, leaseSeconds: LEASE_MS / 1000 });
  });

  beforeEach(async () => {
    random = seeded();
    characters = CHARACTERS_MIN;
    callers = new Callers();
    const plan = { max_characters_per_request: 100_000, requests_per_second: 10_000 };
    teams = [
      await watchedTeam(store, { ...QUOTA_PLAN, ...plan, characters: 1_000_000_000 }),
      await watchedTeam(store, { ...CREDIT_PLAN, ...plan }, 1_000_000),
    ];
    // Keys and connections are warm.
    for (const target of fleet.living()) for (const team of teams) await callers.translate(target, team, work());
  });

  afterEach(() => callers.close());

  afterAll(async () => {
    redis.thaw();
    await fleet.stop();
    await store.close();
    await engine.close();
    await redis.stop();
  });

  const work = () => {
    const slow = random.between(0, ENGINE_SLOWEST_MS);
    return { characters: characters++, marks: [slow, slow] } as const;
  };

  /** Applies the fault under a steady load, which starts a while before it and ends a while after it. */
  async function during(perSecond: number, fault: () => Promise<void>): Promise<void> {
    const state = { ended: false };
    const send = (index: number) => callers.translate(random.oneOf(fleet.living()), teams[index % 2]!, work());
    const loading = openLoop(perSecond, () => !state.ended, send);
    await lasting(random.between(100, 300));
    await fault();
    await lasting(300);
    state.ended = true;
    await loading;
  }

  test('because it was killed comes back with everything that it had acknowledged', { timeout: RUN_MS_MAX }, async () => {
    const kills = sized(2, 10, 100);
    const backAfterMs: number[] = [];
    for (let i = 0; i < kills; i++) {
      await during(sized(100, 300), async () => {
        await redis.kill();
        await lasting(random.between(50, 300));
        await redis.restart();
        const upAtMs = Date.now();
        await expect.poll(() => firstOk(callers.seen, upAtMs), { interval: 5 }).toBeDefined();
        backAfterMs.push(firstOk(callers.seen, upAtMs)! - upAtMs);
      });
    }
    await untilQuiet(store, teams, QUIET_MS);
    const figures = await expectGuarantees({
      store,
      teams,
      seen: callers.seen,
    });
    const codes = new Set(callers.seen.map(({ result }) => (result.kind === 'fail' ? result.code : result.kind)));
    expect([...codes].toSorted()).toEqual(['ok', 'service_unavailable']);
    if (TIMES_JUDGED) expect(Math.max(...backAfterMs)).toBeLessThanOrEqual(FIRST_ANSWER_MS);
    // Every commit is carried through: even losses in flight are not allowed, and no crash is an excuse here.
    expect(figures.uncharged).toBe(0);
    report({
      row: 3,
      figure: `Redis crash, ${kills} SIGKILLs with AOF everysec`,
      measured: `0 acknowledged lost and 0 uncharged of ${figures.ok}; all ${figures.failed} failures are 503 service_unavailable with Retry-After 5; first 200 at most ${Math.max(...backAfterMs)} ms after the restart`,
      met: Math.max(...backAfterMs) <= FIRST_ANSWER_MS,
      counts: { requestsChecked: callers.seen.length, faults: kills },
    });
  });

  test(
    'because it is frozen delays no answer beyond its deadline, and what it runs late counts for nothing',
    { timeout: RUN_MS_MAX },
    async () => {
      const freezesMs = SIZE !== 'short' ? [300, 1000, 3000, 6000] : [300, 1000, 3000];
      const stalls = watchStalls();
      for (const freezeMs of freezesMs) {
        await during(sized(60, 100), async () => {
          redis.freeze();
          await lasting(freezeMs);
          redis.thaw();
        });
      }
      stalls.stop();
      await untilQuiet(store, teams, QUIET_MS);
      const figures = await expectGuarantees({ store, teams, seen: callers.seen });
      const codes = new Set(callers.seen.map(({ result }) => (result.kind === 'fail' ? result.code : result.kind)));
      expect([...codes].toSorted()).toEqual(['ok', 'service_unavailable']);
      const slowestMs = Math.max(...callers.seen.map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs));
      // A request passes this process, where callers and engine live, three times; delays here are not the gateway's.
      if (TIMES_JUDGED) expect(slowestMs).toBeLessThanOrEqual(STORE_MS + ENGINE_SLOWEST_MS + SLACK_MS + 3 * stalls.longestMs());
      report({
        row: 4,
        figure: `Redis freeze, ${freezesMs.map((ms) => ms / 1000).join('/')} s`,
        measured: `slowest answer ${slowestMs} ms (deadline ${STORE_MS} ms, engine up to ${ENGINE_SLOWEST_MS} ms, this machine stalled up to ${stalls.longestMs()} ms); of ${figures.failed} refused 0 held, 0 charged; ${figures.uncharged} of ${figures.ok} uncharged`,
        met: slowestMs <= STORE_MS + ENGINE_SLOWEST_MS + SLACK_MS,
        counts: { requestsChecked: callers.seen.length, faults: freezesMs.length },
      });
    },
  );
});

/** When the first request sent after a moment succeeded. */
function firstOk(seen: readonly Seen[], atMs: number): number | undefined {
  return seen.find(({ startedAtMs, result }) => startedAtMs >= atMs && result.kind === 'ok')?.endedAtMs;
}
