// Redis for the tests of one file: servers, clients and stores that are closed after it, even if a test fails half-way.
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import type { PluginStore } from '../../src/ports/plugin.ts';
import { openRedisStore } from './door/stores.ts';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-store.ts';
import { promisedStore } from './promised-store.ts';
import { startRedis } from './redis.ts';
import type { RedisServer } from './redis.ts';
import { SILENT } from './silent-log.ts';

/** A busy machine may stand still for longer than the default deadline; tests of deadlines set their own. */
const PATIENCE_MS = 5000;

interface RedisOfFile {
  /** A server with these arguments for redis-server, which come last, or with this configuration file. */
  readonly redisServer: (args?: readonly string[], file?: string) => Promise<RedisServer>;
  /** A client for the test itself, with the library's defaults. */
  readonly plainClient: (port: number) => Redis;
}

/** Call it in a file or a group; everything started this way is closed after its tests. */
export function redisOfFile(): RedisOfFile {
  const servers: RedisServer[] = [];
  const clients: Redis[] = [];

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  });

  const redisServer = async (args: readonly string[] = [], file?: string): Promise<RedisServer> => {
    const server = await startRedis(args, file);
    servers.push(server);
    return server;
  };
  const plainClient = (port: number): Redis => {
    const client = new Redis(port, '127.0.0.1', { protocol: 2 });
    // A server that is stopped before its client is expected.
    client.on('error', () => undefined);
    clients.push(client);
    return client;
  };
  return {
    redisServer,
    plainClient,
  };
}

/** Assigns all slots to a server that was started in cluster mode. */
export async function ownAllSlots(client: Redis): Promise<void> {
  await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await vi.waitUntil(async () => String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok'), 30_000);
}

interface EmptyRedis {
  readonly server: RedisServer;
  /** A client for the test itself. */
  readonly client: Redis;
  /** A silent store on this server, closed after the test. */
  open(options?: Partial<RedisStoreOptions>): Promise<PluginStore>;
}

/** One server for the tests of a file or a group, emptied before each of them. */
export function emptyRedis(): EmptyRedis {
  const { redisServer, plainClient } = redisOfFile();
  let server: RedisServer;
  let client: Redis;
  const stores: PluginStore[] = [];

  beforeAll(async () => {
    server = await redisServer();
    client = plainClient(server.port);
  });

  beforeEach(async () => {
    await client.flushall();
  });

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  return {
    get server() {
      return server;
    },
    get client() {
      return client;
    },
    async open(options = {}) {
      const store = promisedStore(await openRedisStore({ url: server.url, log: SILENT, commandTimeoutMs: PATIENCE_MS, ...options }));
      stores.push(store);
      return store;
    },
  };
}
