// Row 6: a master of a real Redis Cluster dies, another freezes: only its own teams are affected, nothing counts twice, losses are reported.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { teamSlot } from '../../support/door/stores.ts';
import { figuresOf, findings } from '../../support/auditor/witnessed.ts';
import type { Crash, Finding, Seen } from '../../support/auditor/witnessed.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import type { ClusterNode, RedisCluster } from '../../support/redis-cluster.ts';
import { CHARACTERS_MIN, Callers } from './caller.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { DURABLE } from './durable-redis.ts';
import { startMarkedEngine } from './marked-engine.ts';
import type { MarkedEngine } from './marked-engine.ts';
import { lasting, openLoop } from './pace.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, TIMES_JUDGED, sized } from '../scorecard/size.ts';
import { seeded } from './seeded.ts';
import { MOMENT_MS, watchStalls } from './stall.ts';
import { openWitness, runOf, untilQuiet, watchedTeam } from './witness.ts';
import type { WatchedTeam } from './witness.ts';

const MASTERS = 3;
const TEAMS_EACH = 3;
const PER_SECOND = 120;
/** A gateway that has waited this long for a master asks the other nodes who took over. */
const STORE_MS = sized(1000, 500);
/** Elections take time, and longer on cores that are shared with other tests. */
const OUTAGE_MS_MAX = sized(6000, 5000);
/** The target on dedicated cores. */
const TARGET_MS = 3000;
const SERVED_AGAIN_MS_MAX = 20_000;
/** One that kills, and those that freeze. */
const FAULTS = sized(2, 3);
const QUIET_MS = 10_000;
/** The load continues this long before the fault and after its end. */
const AROUND_MS = 500;

interface Outcome {
  /** From the fault to the start of the last request that failed. */
  readonly outageMs: number;
  /** How many teams were affected, of how many. */
  readonly hit: number;
  readonly teams: number;
  /** Acknowledged to a caller, and lost. */
  readonly lost: number;
  /** Teams that lost what was not even in flight when the master died, froze or thawed. */
  readonly unexplained: readonly Finding[];
  readonly delivered: number;
}

describe('a Redis Cluster of three masters with replicas', () => {
  let cluster: RedisCluster;
  let engine: MarkedEngine;
  let store: Store;
  let fleet: Fleet;
  const random = seeded();
  const measured: string[] = [];
  /** Whether all figures met their target; losses without the safeguard are reported, not judged. */
  let met = true;
  let requests = 0;

  beforeAll(async () => {
    cluster = await startRedisCluster({ masters: MASTERS, replicasEach: 1, args: DURABLE });
    engine = await startMarkedEngine();
    const { url } = cluster;
    store = await openWitness(url);
    fleet = await startFleet({ store: url, engineUrl: engine.url, size: 2, leaseSeconds: 600, storeMs: STORE_MS });
  });

  afterAll(async () => {
    await fleet.stop();
    await store.close();
    await engine.close();
    await cluster.stop();
    report({
      row: 6,
      figure: `cluster failover, ${MASTERS} masters with a replica each, ${PER_SECOND} requests/s`,
      measured: measured.join('; '),
      met: met && measured.length === FAULTS,
      counts: { faults: measured.length, requestsChecked: requests },
    });
  });

  /** The same number of teams on each master; a team's master depends on its id. */
  async function teamsOnEach(): Promise<Map<ClusterNode, WatchedTeam[]>> {
    const plan = { max_characters_per_request: 100_000, requests_per_second: 10_000 };
    const found = new Map<ClusterNode, WatchedTeam[]>();
    for (let i = 0; [...found.values()].flat().length < MASTERS * TEAMS_EACH; i++) {
      const quota = { ...QUOTA_PLAN, ...plan, characters: 1_000_000_000 };
      const team = await (i % 2 === 0 ? watchedTeam(store, quota) : watchedTeam(store, { ...CREDIT_PLAN, ...plan }, 1_000_000));
      const master = (await cluster.masters())(teamSlot(team.teamId));
      const there = found.get(master) ?? [];
      if (there.length < TEAMS_EACH) found.set(master, [...there, team]);
    }
    return found;
  }

  /** Applies a fault to a master under load until its teams are served again; every invariant but losses must hold. */
  async function during(master: ClusterNode, fault: (servedAgain: () => Promise<void>) => Promise<Crash[]>): Promise<Outcome> {
    // The test's own connection, too, has learned of the masters that the fault before has made.
    await expect.poll(() => store.ping()).toBeUndefined();
    const placed = await teamsOnEach();
    const teams = [...placed.values()].flat();
    const hit = new Set(placed.get(master)!.map(({ teamId }) => teamId));
    const callers = new Callers();
    const { seen } = callers;
    const state = { ended: false };
    const loading = openLoop(
      PER_SECOND,
      () => !state.ended,
      (index) =>
        callers.translate(random.oneOf(fleet.living()), teams[index % teams.length]!, {
          characters: CHARACTERS_MIN + index,
          marks: [0, 0],
        }),
    );
    // A gateway that knows a key's team need not ask; one that does not may have to ask the very master that is down.
    for (const target of fleet.living()) for (const team of teams) await callers.languages(target, team);
    await lasting(AROUND_MS);
    const faultAtMs = Date.now();
    const servedAgain = async (): Promise<void> => {
      await expect.poll(() => areServedAgain(seen, hit, fleet.living().length), { timeout: SERVED_AGAIN_MS_MAX }).toBe(true);
    };
    const underFault = async (): Promise<Crash[]> => {
      const crashes = await fault(servedAgain);
      await lasting(AROUND_MS);
      await servedAgain();
      return crashes;
    };
    const crashes = await underFault().finally(() => (state.ended = true));
    await loading;
    callers.close();

    requests += seen.length;
    const failures = seen.filter(({ result }) => result.kind !== 'ok');
    expect(failures.filter(({ teamId }) => !hit.has(teamId))).toEqual([]);
    expect(new Set(failures.map(({ result }) => (result.kind === 'fail' ? result.code : result.kind)))).toEqual(
      new Set(['service_unavailable']),
    );
    await untilQuiet(store, teams, QUIET_MS);
    const run = await runOf({ store, teams, seen, crashes });
    const broken = findings(run);
    expect(broken.filter(({ guarantee }) => guarantee !== 'L2')).toEqual([]);
    const outageMs = Math.max(...failures.map(({ startedAtMs }) => startedAtMs)) - faultAtMs;
    return {
      outageMs,
      hit: hit.size,
      teams: teams.length,
      lost: figuresOf(run).uncharged,
      unexplained: broken,
      delivered: seen.length - failures.length,
    };
  }

  /** Thaws it only when another serves its teams: it then finds that the cluster has replaced it. */
  function freeze(master: ClusterNode): Promise<Outcome> {
    return during(master, async (servedAgain) => {
      const froze = hitBy(master, 'SIGSTOP');
      await servedAgain();
      return [froze, hitBy(master, 'SIGCONT')];
    });
  }

  const tell = (what: string, { outageMs, hit, teams, lost, unexplained, delivered }: Outcome, mayLose = false) => {
    met &&= outageMs <= TARGET_MS && (lost === 0 || mayLose);
    const outage = `${hit} of ${teams} teams away for ${(outageMs / 1000).toFixed(1)} s, the others without an error`;
    const loss = `${lost} of ${delivered} delivered and uncharged (for ${unexplained.length} keys more than was in flight at that instant)`;
    measured.push(`${what}: ${outage}, ${loss}, 0 double`);
  };

  test(
    'loses a master: its teams are down for seconds, all others are unaffected, nothing counts twice',
    { timeout: RUN_MS_MAX },
    async () => {
      const stalls = watchStalls();
      const [master] = cluster.nodes;
      const outcome = await during(master!, () => Promise.resolve([hitBy(master!, 'SIGKILL')]));
      stalls.stop();
      expect(outcome.hit).toBeGreaterThan(0);
      if (TIMES_JUDGED) expect(outcome.outageMs).toBeLessThanOrEqual(OUTAGE_MS_MAX + 3 * stalls.longestMs());
      tell('SIGKILL', outcome);
    },
  );

  const safeguards = [
    { replicasMin: '1', unexplained: [] },
    { replicasMin: '0', unexplained: expect.any(Array) as unknown },
  ];

  // The second master freezes with its safeguard, the third without: its losses are reported, and cannot be prevented.
  test.each(safeguards.slice(0, FAULTS - 1))(
    'has a master frozen with min-replicas-to-write $replicasMin: it is replaced before it thaws',
    { timeout: RUN_MS_MAX },
    async ({ replicasMin, unexplained }) => {
      const master = cluster.nodes[replicasMin === '1' ? 1 : 2]!;
      await master.client.config('SET', 'min-replicas-max-lag', '1');
      await master.client.config('SET', 'min-replicas-to-write', replicasMin);
      const outcome = await freeze(master);
      expect(outcome.unexplained).toEqual(unexplained);
      tell(`frozen with min-replicas-to-write ${replicasMin}`, outcome, replicasMin === '0');
    },
  );
});

/** A moment of the store's: what was in flight then may be delivered uncharged. */
function hitBy(master: ClusterNode, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Crash {
  const atMs = Date.now();
  master.server.process.kill(signal);
  return { via: 'store', atMs, underWayMs: MOMENT_MS };
}

/** Whether every gateway has served each of the teams since its last failure. */
function areServedAgain(seen: readonly Seen[], teamIds: ReadonlySet<string>, gateways: number): boolean {
  const own = seen.filter(({ teamId }) => teamIds.has(teamId));
  const failures = own.filter(({ result }) => result.kind !== 'ok');
  const lastFailureMs = Math.max(...failures.map(({ startedAtMs }) => startedAtMs));
  const since = own.filter(({ startedAtMs, result }) => startedAtMs > lastFailureMs && result.kind === 'ok');
  return failures.length > 0 && new Set(since.map(({ teamId, via }) => `${teamId} ${via}`)).size === teamIds.size * gateways;
}
