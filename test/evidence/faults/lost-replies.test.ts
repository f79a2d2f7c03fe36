// Row 5: Redis has run an operation, and the reply is lost: every operation counts at most once, and nothing stays held.
import { afterEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/ports/store.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import type { FaultProxy, ProxyFault } from '../../support/fault-proxy.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import type { RedisCluster } from '../../support/redis-cluster.ts';
import { CHARACTERS_MIN, Callers } from './caller.ts';
import { startFleet } from './fleet.ts';
import { startDurableRedis } from './durable-redis.ts';
import { startMarkedEngine } from './marked-engine.ts';
import { closedLoop, lasting } from './pace.ts';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { seeded } from './seeded.ts';
import { expectGuarantees, openWitness, untilQuiet, watchedTeam } from './witness.ts';
import type { WatchedTeam } from './witness.ts';

const CUT_SHARE = 0.05;
const CALLS_MIN = sized(120, 5000, 50_000);
const LOST_MIN = sized(8, 250, 2500);
const PARALLEL = 8;
/** How long a caller who was told to retry waits: about as long as a gateway takes to reconnect. */
const BACK_OFF_MS = 30;
const QUIET_MS = 10_000;

interface Setting {
  /** Through the proxies, as in the gateways' configuration. */
  readonly url: string;
  readonly proxies: readonly FaultProxy[];
}

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function single(): Promise<Setting> {
  const redis = await startDurableRedis();
  closing.push(() => redis.stop());
  const proxy = await startFaultProxy(redis.port);
  closing.push(() => proxy.close());
  return { url: `redis://127.0.0.1:${proxy.port}`, proxies: [proxy] };
}

/** The nodes tell their clients to connect through the proxies. */
async function clustered(): Promise<Setting> {
  const cluster = await startRedisCluster({ masters: 3, replicasEach: 0 });
  closing.push(() => cluster.stop());
  const proxies = await Promise.all(cluster.nodes.map(({ port }) => startFaultProxy(port)));
  closing.push(() => Promise.all(proxies.map((proxy) => proxy.close())));
  await Promise.all(cluster.nodes.map(({ client }, i) => client.config('SET', 'cluster-announce-port', String(proxies[i]!.port))));
  await cluster.until('every node announces the proxies', () => announced(cluster, proxies));
  return { url: `redis+cluster://${proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')}`, proxies };
}

async function announced(cluster: RedisCluster, proxies: readonly FaultProxy[]): Promise<boolean> {
  const views = await Promise.all(cluster.nodes.map(({ client }) => client.cluster('SLOTS')));
  return views.every((view) => proxies.every(({ port }) => JSON.stringify(view).includes(`"127.0.0.1",${port},`)));
}

describe.each([
  ['one Redis', single],
  ['a Redis Cluster', clustered],
] as const)('of %s', (name, setUp) => {
  test(`${CUT_SHARE * 100} % of the replies are lost, and nothing runs twice or stays held`, { timeout: RUN_MS_MAX }, async () => {
    const random = seeded();
    const { url, proxies } = await setUp();
    const engine = await startMarkedEngine();
    closing.push(() => engine.close());
    const store = await openWitness(url);
    closing.push(() => store.close());
    // The lease is far longer than the run: what is released is released by id, not by time.
    const fleet = await startFleet({ store: url, engineUrl: engine.url, size: 2, leaseSeconds: 600 });
    closing.push(() => fleet.stop());
    const callers = new Callers();
    closing.push(() => Promise.resolve(callers.close()));
    const teams = await teamsOf(store);
    const set = (fault: ProxyFault) => Promise.all(proxies.map((proxy) => proxy.set(fault)));

    await set({ kind: 'cut_reply', draw: () => random.chance(CUT_SHARE) });
    const lost = () => proxies.reduce((sum, { cuts }) => sum + cuts, 0);
    await closedLoop(
      (index) => index < CALLS_MIN || lost() < LOST_MIN,
      PARALLEL,
      async (index) => {
        const team = teams[index % teams.length]!;
        const { seen } = await callers.translate(random.oneOf(fleet.living()), team, { characters: CHARACTERS_MIN + index, marks: [0, 0] });
        if (seen.result.kind === 'fail') await lasting(BACK_OFF_MS);
      },
    );
    const replies = lost();
    await set({ kind: 'none' });
    await untilQuiet(store, teams, QUIET_MS);

    const figures = await expectGuarantees({ store, teams, seen: callers.seen });
    expect(new Set(callers.seen.map(({ result }) => (result.kind === 'fail' ? result.code : result.kind)))).toEqual(
      new Set(['ok', 'service_unavailable']),
    );
    expect(figures.uncharged).toBe(0);
    report({
      row: 5,
      figure: `lost replies, ${CUT_SHARE * 100} % cut behind the request, ${name}`,
      measured: `${replies} replies lost in ${callers.seen.length} calls: no id ran twice, ${figures.uncharged} of ${figures.ok} uncharged, ${figures.failed} answered 503, of these 0 charged and 0 held`,
      counts: { requestsChecked: callers.seen.length, faults: replies },
    });
  });
});

function teamsOf(store: Store): Promise<WatchedTeam[]> {
  const plan = { max_characters_per_request: 100_000, requests_per_second: 10_000 };
  return Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      index % 2 === 0
        ? watchedTeam(store, { ...QUOTA_PLAN, ...plan, characters: 1_000_000_000 })
        : watchedTeam(store, { ...CREDIT_PLAN, ...plan }, 1_000_000),
    ),
  );
}
