// Rows 7 and 8: over four processes a limit is exact in both directions, and a revoked key is refused from the reply on.
import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { digestOf, displayOf, newKey } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import type { Store } from '../../../src/ports/store.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { Seen } from '../../support/auditor/witnessed.ts';
import { Callers } from './caller.ts';
import type { KeyInUse } from './caller.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { startDurableRedis } from './durable-redis.ts';
import type { DurableRedis } from './durable-redis.ts';
import { closedLoop, forMs, lasting, openLoop, times } from './pace.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { seeded } from './seeded.ts';
import { expectGuarantees, openWitness, watchedTeam } from './witness.ts';
import type { WatchedTeam } from './witness.ts';

const PROCESSES = 4;
const LIMITS = [1, 5, 50, 500];
/** How much more is sent than is allowed. */
const PRESSURE = 3;

describe('four processes on redis', () => {
  let redis: DurableRedis;
  let store: Store;
  let fleet: Fleet;
  let callers: Callers;

  beforeAll(async () => {
    redis = await startDurableRedis();
    store = await openWitness(redis.url);
    // No request of this file gets as far as an engine.
    fleet = await startFleet({ store: redis.url, engineUrl: 'http://127.0.0.1:9', size: PROCESSES });
  });

  beforeEach(() => {
    callers = new Callers();
  });

  afterEach(() => callers.close());

  afterAll(async () => {
    await fleet.stop();
    await store.close();
    await redis.stop();
  });

  /** Each of the gateways in turn. */
  const target = (index: number) => fleet.living()[index % PROCESSES]!;

  test(`admit exactly ${LIMITS.join(', ')} a second of three times as many`, { timeout: RUN_MS_MAX }, async () => {
    const teams = await Promise.all(LIMITS.map((limit) => watchedTeam(store, { ...QUOTA_PLAN, requests_per_second: limit })));
    const goesOn = forMs(sized(2500, 30_000, 300_000));
    await Promise.all(teams.map((team, i) => openLoop(LIMITS[i]! * PRESSURE, goesOn, (index) => callers.languages(target(index), team))));

    await expectGuarantees({ store, teams, seen: callers.seen });
    for (const { teamId } of teams) {
      const answers = callers.seen
        .filter((seen) => seen.teamId === teamId)
        .map(({ result }) => (result.kind === 'fail' ? result.code : result.kind));
      // Both outcomes occurred.
      expect(new Set(answers)).toEqual(new Set(['ok', 'rate_limited']));
    }
    const passed = callers.seen.filter(({ result }) => result.kind === 'ok').length;
    report({
      row: 7,
      figure: `limiter exactness, ${PROCESSES} processes, limits ${LIMITS.join('/')}, open loop at ${PRESSURE} times the limit`,
      measured: `0 violations in either direction, of ${callers.seen.length} requests (${passed} passed, ${callers.seen.length - passed} turned away)`,
      counts: { requestsChecked: callers.seen.length },
    });
  });

  test('refuse a revoked key from the reply on, and rotating keys loses nothing', { timeout: RUN_MS_MAX }, async () => {
    const random = seeded();
    const rounds = sized(20, 500, 5000);
    const team = await watchedTeam(store, { ...QUOTA_PLAN, requests_per_second: 100_000 });
    const premature: Seen[] = [];
    await closedLoop(times(rounds), 4, async () => {
      const [old, next] = [await freshKey(store, team), await freshKey(store, team)];
      const state = { revoking: false, overMs: Infinity };
      const use = async (index: number): Promise<void> => {
        // Continues for a moment after the reply, when nothing may be accepted any more.
        while (performance.now() < state.overMs) {
          const before = !state.revoking;
          const [withOld, withNext] = await Promise.all([old, next].map((key) => callers.languages(target(index), key)));
          if (before && !state.revoking && withOld!.seen.result.kind !== 'ok') premature.push(withOld!.seen);
          if (withNext!.seen.result.kind !== 'ok') premature.push(withNext!.seen);
        }
      };
      const revoke = async (): Promise<void> => {
        await lasting(random.between(10, 60));
        state.revoking = true;
        answered(await store.teams.revokeKey(old.keyId));
        callers.revoked(old.keyId);
        state.overMs = performance.now() + 20;
      };
      await Promise.all([revoke(), ...Array.from({ length: PROCESSES }, (_, index) => use(index))]);
      for (let index = 0; index < PROCESSES; index++) await callers.languages(target(index), old);
    });

    await expectGuarantees({ store, teams: [team], seen: callers.seen });
    expect(premature).toEqual([]);
    const after = callers.seen.filter(({ afterRevocation }) => afterRevocation);
    expect(after.length).toBeGreaterThanOrEqual(rounds * PROCESSES);
    report({
      row: 8,
      figure: `revocation and rotation, ${rounds} revocations under load from ${PROCESSES} processes`,
      measured: `0 accepted of ${after.length} sent after the reply; 0 of ${callers.seen.length - after.length} lost while old and new key overlap`,
      counts: { requestsChecked: callers.seen.length },
    });
  });
});

async function freshKey(store: Store, { teamId }: WatchedTeam): Promise<KeyInUse> {
  const [keyId, key] = [ulid(), newKey('live', randomBytes)];
  answered(await store.teams.createKey({ keyId, teamId, digest: digestOf(key), display: displayOf(key), label: 'rotated', mode: 'live' }));
  return { teamId, keyId, key };
}
