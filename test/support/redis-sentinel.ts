// A real Redis with a replica and a sentinel that promotes it, for tests; and a way to stop replication unnoticed.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startFaultProxy } from './fault-proxy.ts';
import { startRedis } from './redis.ts';
import type { RedisServer } from './redis.ts';

interface SentinelSet {
  /** As in a gateway's configuration: `redis+sentinel://…/main`. */
  readonly url: string;
  readonly master: ReplicatedServer;
  readonly replica: ReplicatedServer;
  /** Tells the sentinel to promote the replica now, whatever the master does meanwhile. */
  failOver(): Promise<unknown>;
  /** From now on nothing of what is replicated arrives, and neither side is told. Only for a set that was started for it. */
  silence(): Promise<void>;
  stop(): Promise<void>;
}

interface ReplicatedServer {
  readonly server: RedisServer;
  /** A client for the test itself. */
  readonly client: Redis;
}

const WAIT_MS_MAX = 30_000;
/** Long enough for a busy machine: a replica that seems to be down is not promoted. */
const DOWN_AFTER_MS = 1000;
/** A failover that finds no suitable replica is retried after twice as long. */
const FAILOVER_MS = 1000;
/** A sentinel that finds a replica with another master, such as a proxy, corrects it after this long: not within a test. */
const FAILOVER_LONG_MS = 1_800_000;

/** Resolves when the sentinel knows the replica, and the replica has the primary's data. `isSilenced`: `silence` will be called. */
export async function startSentinelSet({ isSilenced = false } = {}): Promise<SentinelSet> {
  const folder = await mkdtemp(join(tmpdir(), 'lingate-sentinel-'));
  const master = await startReplicated();
  const proxy = isSilenced ? await startFaultProxy(master.server.port) : undefined;
  const replica = await startReplicated(['--replicaof', '127.0.0.1', String(proxy?.port ?? master.server.port)]);
  await until('the replica has its data', async () => (await replica.client.info('replication')).includes('master_link_status:up'));
  const file = join(folder, 'sentinel.conf');
  const monitor = `sentinel monitor main 127.0.0.1 ${master.server.port} 1`;
  await writeFile(
    file,
    `${monitor}\nsentinel down-after-milliseconds main ${DOWN_AFTER_MS}\nsentinel failover-timeout main ${isSilenced ? FAILOVER_LONG_MS : FAILOVER_MS}\n`,
  );
  const sentinel = await startRedis(['--sentinel'], file);
  const client = clientOf(sentinel.port);
  await until('the sentinel knows the replica', async () => {
    const replicas = (await client.call('SENTINEL', 'replicas', 'main')) as string[][];
    const told = replicas.length === 1 ? replicas[0]! : [];
    return told[told.indexOf('flags') + 1] === 'slave' && told[told.indexOf('master-link-status') + 1] === 'ok';
  });
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/main`,
    master,
    replica,
    failOver: () => client.call('SENTINEL', 'FAILOVER', 'main'),
    async silence() {
      await proxy!.set({ kind: 'blackhole' });
    },
    async stop() {
      for (const one of [client, master.client, replica.client]) one.disconnect();
      proxy?.cut();
      await proxy?.close();
      await Promise.all([sentinel, master.server, replica.server].map((server) => server.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startReplicated(args: readonly string[] = []): Promise<ReplicatedServer> {
  // By default a replica gets its data only seconds after it has joined.
  const server = await startRedis(['--repl-diskless-sync-delay', '0', ...args]);
  return { server, client: clientOf(server.port) };
}

function clientOf(port: number): Redis {
  const client = new Redis(port, '127.0.0.1', { protocol: 2 });
  client.on('error', () => undefined);
  return client;
}

/** Once this resolves, the replica receives nothing more, and believes that its primary is about to return. */
export async function cutReplication(master: Redis, replica: Redis): Promise<void> {
  // With a password that the primary does not require, it cannot log in again.
  await replica.config('SET', 'masterauth', 'wrong');
  await master.call('CLIENT', 'KILL', 'TYPE', 'replica');
  await until('the replica is cut off', async () => (await replica.info('replication')).includes('master_link_status:down'));
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WAIT_MS_MAX;
  while (!(await condition().catch(() => false))) {
    if (performance.now() > endMs) throw new Error(`timed out waiting until ${what}`);
    await delay(20);
  }
}
