// Row 2: gateways are killed at work: no failure is charged, and one lease later nothing is held.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import type { Crash } from '../../support/auditor/witnessed.ts';
import { CHARACTERS_MIN, Callers } from './caller.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { startDurableRedis } from './durable-redis.ts';
import type { DurableRedis } from './durable-redis.ts';
import { startMarkedEngine } from './marked-engine.ts';
import type { Mark, MarkedEngine } from './marked-engine.ts';
import { lasting, openLoop } from './pace.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { seeded } from './seeded.ts';
import { watchStalls } from './stall.ts';
import type { Seeded } from './seeded.ts';
import { closedCharacters, expectGuarantees, openWitness, untilQuiet, watchedTeam } from './witness.ts';
import type { WatchedTeam } from './witness.ts';

const LEASE_SECONDS = 2;
const ENGINE_MS = 400;
const KILLS = sized(3, 20, 300);
const PER_SECOND = sized(150, 300);
/** With quota and with credit. No two texts of a team have the same length: with few teams they would become long before the last kill. */
const TEAMS_EACH = 8;
/** A process starts, works for a while, and is killed at a random moment. */
const KILL_EVERY_MS = 600;

describe('gateways that are killed under load', () => {
  let redis: DurableRedis;
  let engine: MarkedEngine;
  let store: Store;
  let fleet: Fleet;
  const callers = new Callers();

  beforeAll(async () => {
    redis = await startDurableRedis();
    engine = await startMarkedEngine();
    store = await openWitness(redis.url);
    fleet = await startFleet({ store: redis.url, engineUrl: engine.url, size: 2, engineMs: ENGINE_MS, leaseSeconds: LEASE_SECONDS });
  });

  afterAll(async () => {
    await fleet.stop();
    callers.close();
    await store.close();
    await engine.close();
    await redis.stop();
  });

  test('charge no failure, and leave nothing held for longer than a lease', { timeout: RUN_MS_MAX }, async () => {
    const random = seeded();
    const plan = { max_characters_per_request: 100_000, requests_per_second: 10_000 };
    const teams: WatchedTeam[] = [];
    for (let i = 0; i < TEAMS_EACH; i++) {
      teams.push(await watchedTeam(store, { ...QUOTA_PLAN, ...plan, characters: 1_000_000_000 }));
      teams.push(await watchedTeam(store, { ...CREDIT_PLAN, ...plan }, 1_000_000));
    }
    const stalls = watchStalls();
    const killed: Omit<Crash, 'underWayMs'>[] = [];
    const kill = async (): Promise<void> => {
      for (let i = 0; i < KILLS; i++) {
        await lasting(random.between(KILL_EVERY_MS / 2, KILL_EVERY_MS));
        killed.push(await fleet.kill(i % 2));
        await fleet.replace(i % 2);
      }
    };
    const goesOn = () => killed.length < KILLS;
    const load = openLoop(PER_SECOND, goesOn, (index) =>
      callers.translate(random.oneOf(fleet.living()), teams[index % teams.length]!, {
        // No two of a team have the same length.
        characters: CHARACTERS_MIN + Math.floor(index / teams.length),
        marks: marksOf(random),
      }),
    );
    await Promise.all([kill(), load]);
    stalls.stop();
    const crashes = killed.map((crash) => ({ ...crash, underWayMs: stalls.momentMs() }));
    const quietFrom = Date.now();
    await untilQuiet(store, teams, LEASE_SECONDS * 1000 + 500);
    const strandedMs = Date.now() - quietFrom;

    const figures = await expectGuarantees({
      store,
      teams,
      seen: callers.seen,
      crashes,
    });
    expect(await closedCharacters(store, teams)).toBe(figures.chargedCharacters);
    expect(crashes).toHaveLength(KILLS);
    expect(figures.unknown).toBeGreaterThan(0);
    report({
      row: 2,
      figure: `gateway crash, ${KILLS} SIGKILLs at ${PER_SECOND} requests/s`,
      measured: `0 charged failures of ${figures.failed}; ${figures.uncharged} of ${figures.ok} deliveries uncharged (${figures.unknown} requests were cut off in flight); held 0 after ${strandedMs} ms, the lease being ${LEASE_SECONDS} s`,
      met: strandedMs <= LEASE_SECONDS * 1000,
      counts: { requestsChecked: callers.seen.length, faults: KILLS },
    });
  });
});

function marksOf(random: Seeded): [Mark, Mark] {
  const slow = random.between(0, 60);
  return random.chance(0.2) ? ['not_json', 'reset'] : [slow, slow];
}
