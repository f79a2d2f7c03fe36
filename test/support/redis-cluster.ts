// A real Redis Cluster for tests: masters with replicas on free ports, complete when it is returned.
import { Redis } from 'ioredis';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startRedis } from './redis.ts';
import type { RedisServer } from './redis.ts';

export interface ClusterNode {
  readonly server: RedisServer;
  readonly port: number;
  /** Removed with the cluster. */
  readonly directory: string;
  /** Its id in the cluster. */
  readonly id: string;
  /** A client for the test itself, for commands to this node alone. */
  readonly client: Redis;
}

export interface RedisCluster {
  readonly nodes: readonly ClusterNode[];
  /** As in a gateway's configuration: `redis+cluster://…`. */
  readonly url: string;
  /** Finds out once which node is master of which slot; the returned function throws for a slot that no node serves. */
  masters(): Promise<(slot: number) => ClusterNode>;
  /** Resolves when the condition holds; rejects after half a minute. */
  until(what: string, condition: () => Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

interface RedisClusterOptions {
  /** At least three: fewer cannot form a majority. */
  readonly masters?: number;
  readonly replicasEach?: number;
  /** Further arguments for every server. */
  readonly args?: readonly string[];
}

const SLOTS = 16_384;
const WAIT_MS_MAX = 30_000;
/** A node counts as down after this long without a word. */
const NODE_TIMEOUT_MS = 1000;
const LOOK_EVERY_MS = 20;

/** Resolves when every node agrees on the slots and every replica has its master's data. */
export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicasEach = 1 } = options;
  const count = masters * (1 + replicasEach);
  const nodes: ClusterNode[] = [];
  const cluster = new Cluster(nodes);
  try {
    for (let i = 0; i < count; i++) nodes.push(await startNode(options));
    await joinNodes(cluster, masters);
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function startNode({ args = [] }: RedisClusterOptions): Promise<ClusterNode> {
  // In memory with this suite: every node syncs a change of the cluster before it goes on, and a busy disk would look like an outage.
  const directory = await mkdtemp(join(tmpdir(), 'lingate-cluster-'));
  const settings = [
    `--dir ${directory} --cluster-enabled yes --cluster-announce-ip 127.0.0.1`,
    `--cluster-node-timeout ${NODE_TIMEOUT_MS} --cluster-require-full-coverage no`,
    // By default a replica gets its data only seconds after it has joined, and one without data is never promoted.
    '--repl-diskless-sync-delay 0',
  ];
  const server = await startRedis([...settings.flatMap((words) => words.split(' ')), ...args]);
  const { port } = server;
  // A dead or frozen node is not waited for.
  const impatient = { enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: 300, retryStrategy: () => 50 };
  const client = new Redis(port, '127.0.0.1', { protocol: 2, lazyConnect: true, ...impatient });
  client.on('error', () => undefined);
  await client.connect();
  return { server, port, directory, client, id: await client.cluster('MYID') };
}

/** The first `masters` nodes share the slots; the others become their replicas, in turn. */
async function joinNodes(cluster: Cluster, masters: number): Promise<void> {
  const { nodes } = cluster;
  const [first] = nodes;
  for (let i = 0; i < masters; i++) {
    const { client } = nodes[i]!;
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1));
    await client.call('CLUSTER', 'ADDSLOTSRANGE', String(firstSlot(i, masters)), String(firstSlot(i + 1, masters) - 1));
  }
  for (const { client } of nodes.slice(1)) await client.call('CLUSTER', 'MEET', '127.0.0.1', String(first!.port));
  const replicas = nodes.slice(masters);
  await cluster.until('all nodes know each other', () => every(nodes, async ({ client }) => (await knownNodes(client)) === nodes.length));
  for (const [i, { client }] of replicas.entries()) await client.call('CLUSTER', 'REPLICATE', nodes[i % masters]!.id);
  await cluster.until('the cluster is whole', () =>
    every(nodes, async ({ client }) => (await clusterInfo(client)).includes('cluster_state:ok')),
  );
  await cluster.until('replicas have their data', () =>
    every(replicas, async ({ client }) => (await client.info('replication')).includes('master_link_status:up')),
  );
  await cluster.until('all nodes know the replicas', () =>
    every(nodes, async ({ client }) => (await nodeLines(client)).filter((line) => line.includes('slave')).length === replicas.length),
  );
}

function firstSlot(index: number, masters: number): number {
  return Math.floor((index * SLOTS) / masters);
}

async function clusterInfo(client: Redis): Promise<string> {
  return String(await client.call('CLUSTER', 'INFO'));
}

async function nodeLines(client: Redis): Promise<string[]> {
  return String(await client.call('CLUSTER', 'NODES'))
    .trim()
    .split('\n');
}

async function knownNodes(client: Redis): Promise<number> {
  return (await nodeLines(client)).filter((line) => !line.includes('handshake')).length;
}

async function every(nodes: readonly ClusterNode[], holds: (node: ClusterNode) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(nodes.map(holds))).every(Boolean);
}

class Cluster implements RedisCluster {
  readonly nodes: readonly ClusterNode[];

  constructor(nodes: readonly ClusterNode[]) {
    this.nodes = nodes;
  }

  get url(): string {
    return `redis+cluster://${this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  async masters(): Promise<(slot: number) => ClusterNode> {
    const views = await Promise.all(this.nodes.map(({ client }) => nodeLines(client).catch(() => [])));
    const claims = views.flat().filter((line) => line.includes('myself,master'));
    return (slot) => {
      // A node that was away may still have the old assignment: the highest epoch is the newest claim.
      const newest = claims.filter((line) => serves(line, slot)).toSorted((a, b) => epoch(b) - epoch(a))[0];
      const node = this.nodes.find(({ id }) => newest?.startsWith(id) === true);
      if (node === undefined) throw new Error(`no node serves slot ${slot}`);
      return node;
    };
  }

  async until(what: string, condition: () => Promise<boolean>): Promise<void> {
    const endMs = performance.now() + WAIT_MS_MAX;
    while (!(await condition().catch(() => false))) {
      if (performance.now() > endMs) throw new Error(`timed out waiting until ${what}`);
      await delay(LOOK_EVERY_MS);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.nodes.map(async ({ client, server, directory }) => {
        client.disconnect();
        await server.stop();
        await rm(directory, { recursive: true, force: true });
      }),
    );
  }
}

function epoch(line: string): number {
  return Number(line.split(' ')[6]);
}

function serves(line: string, slot: number): boolean {
  return line
    .split(' ')
    .slice(8)
    .some((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return first !== undefined && last !== undefined && first <= slot && slot <= last;
    });
}
