// Checks before a Redis server is used as the store: version, eviction policy, persistence, and the layout of its data: another one is
// refused in one line, before anything is written.
import type { Redis } from 'ioredis';
import { NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import type { Log } from '../../ports/log.ts';
import type { StoreCreation } from '../../ports/store.ts';
import { causeOf } from './failure-cause.ts';
import { LAYOUT_KEY, TEAMS_KEY } from './redis-keys.ts';
import type { RedisConnection } from './redis-connection.ts';

const VERSION_MIN = [7, 0] as const;

/** Throws a `StoreError` if the server must not be used; logs warnings about risky settings. */
export async function checkServer(node: Redis, shown: string, log: Log): Promise<void> {
  await checkVersion(node, shown, log);
  const settings = await readSettings(node, ['maxmemory-policy', 'appendonly', 'save', 'cluster-require-full-coverage']);
  if (settings === undefined) {
    const message = 'the store does not permit CONFIG: check that maxmemory-policy is noeviction and that the data is persisted';
    log.warn(message, { store: shown });
    return;
  }
  const policy = settings.get('maxmemory-policy') ?? 'noeviction';
  if (policy !== 'noeviction') {
    throw new StoreError(`the store ${shown} may evict the ledger (maxmemory-policy ${policy}): set it to noeviction`);
  }
  if (settings.get('appendonly') === 'no' && settings.get('save') === '') {
    log.warn('the store keeps nothing across a restart: set appendonly yes', { store: shown });
  }
  const clustered = (await optional(node.info('cluster')))?.includes('cluster_enabled:1') ?? false;
  if (clustered && settings.get('cluster-require-full-coverage') === 'yes') {
    const message = 'the cluster stops altogether when one master is down: set cluster-require-full-coverage no';
    log.warn(message, { store: shown });
  }
}

async function checkVersion(node: Redis, shown: string, log: Log): Promise<void> {
  const info = await optional(node.info('server'));
  const version = /^redis_version:(\d+)\.(\d+)/m.exec(info ?? '');
  if (version === null) {
    log.warn('the store does not report its version: check that it is Redis 7.0 or newer', { store: shown });
    return;
  }
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1])) {
    throw new StoreError(`the store ${shown} is Redis ${major}.${minor}: use 7.0 or newer, or Valkey`);
  }
}

/** `undefined` if the server does not permit reading its settings. */
async function readSettings(node: Redis, names: readonly string[]): Promise<ReadonlyMap<string, string> | undefined> {
  const reply = (await optional(node.call('CONFIG', 'GET', ...names))) as readonly string[] | undefined;
  return reply && new Map(Array.from({ length: reply.length / 2 }, (_, i) => [reply[2 * i]!, reply[2 * i + 1]!]));
}

/** `undefined` if the server forbids or does not know the command; throws other errors. */
async function optional<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (['noperm', 'refused'].includes(causeOf(error))) return undefined;
    throw error;
  }
}

export const LAYOUT = '10';

/** Marks the data as Lingate's. Rejects with a `StoreError` if it is of another layout. */
export async function checkLayout(redis: RedisConnection, shown: string, { mayCreate = true, onCreated }: StoreCreation): Promise<void> {
  const layout = await readLayout(redis, shown);
  if (layout === undefined && !mayCreate) throw new NoStoreError(shown);
  // A full server or a replica refuses the write, but its data can still be read.
  const set = await redis.set(LAYOUT_KEY, LAYOUT, 'NX').catch(() => undefined);
  if (layout === undefined && set === 'OK') onCreated?.(shown);
}

/** `undefined` if there is no data of Lingate's. */
async function readLayout(redis: RedisConnection, shown: string): Promise<string | undefined> {
  const mark = await redis.get(LAYOUT_KEY);
  // A server that has lost the mark and not its teams.
  const layout = mark ?? ((await redis.exists(TEAMS_KEY)) === 1 ? LAYOUT : undefined);
  if (layout === undefined || layout === LAYOUT) return layout;
  throw new StoreError(
    `the store ${shown} holds data of layout ${layout}, and this version reads layout ${LAYOUT}: run the version that wrote it, or name another store`,
  );
}
