// Whether servers may be used as the store, which is looked at when it is opened; whether they take writes; and whether a replica has one.
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { answering, isUnavailable, NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import type { Log } from '../../ports/log.ts';
import type { StoreCreation, StoreFault } from '../../ports/store.ts';
import { isForbidden, mastersOf, nameOf, within } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { LAYOUT_KEY, markKey, probeKey, TEAMS_KEY, teamSlot } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

// At the start

const VERSION_MIN = 7;

/** Throws a `StoreError` if the server must not be used; logs warnings about risky settings. */
export async function checkServer(node: Redis, shown: string, log: Log): Promise<void> {
  const warn = (message: string): void => log.warn(message, { store: shown });
  const info = (await optional(node.info())) ?? '';
  const version = member(info, 'redis_version');
  if (version === '') warn('the store does not report its version: check that it is Redis 7.0 or newer');
  else if (Number.parseInt(version, 10) < VERSION_MIN)
    throw new StoreError(`the store ${shown} is Redis ${/^\d+\.\d+/.exec(version)?.[0]}: use 7.0 or newer, or Valkey`);
  const found = await optional(node.call('CONFIG', 'GET', 'maxmemory-policy', 'appendonly', 'save', 'cluster-require-full-coverage'));
  if (found === undefined) {
    return warn('the store does not permit CONFIG: check that maxmemory-policy is noeviction and that the data is persisted');
  }
  const words = found as readonly string[];
  const setting = (name: string): string | undefined => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
  const policy = setting('maxmemory-policy') ?? 'noeviction';
  if (policy !== 'noeviction')
    throw new StoreError(`the store ${shown} may evict the ledger (maxmemory-policy ${policy}): set it to noeviction`);
  if (setting('appendonly') === 'no' && setting('save') === '') warn('the store keeps nothing across a restart: set appendonly yes');
  if (member(info, 'cluster_enabled') === '1' && setting('cluster-require-full-coverage') === 'yes')
    warn('the cluster stops altogether when one master is down: set cluster-require-full-coverage no');
}

/** `undefined` if the server forbids or does not know the command; throws other errors. */
async function optional<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** Of what INFO answers; '' if it is not there. */
function member(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
}

export const LAYOUT = '12';

/** Marks the data as Lingate's. Rejects with a `StoreError` if it is of another layout, before anything is written. */
export async function checkLayout(redis: RedisConnection, shown: string, { mayCreate = true, onCreated }: StoreCreation): Promise<void> {
  // A server may have lost the mark and not its teams.
  const layout = (await redis.get(LAYOUT_KEY)) ?? ((await redis.exists(TEAMS_KEY)) === 1 ? LAYOUT : undefined);
  if (layout !== undefined && layout !== LAYOUT) {
    throw new StoreError(
      `the store ${shown} holds data of layout ${layout}, and this version reads layout ${LAYOUT}: run the version that wrote it, or name another store`,
    );
  }
  if (layout === undefined && !mayCreate) throw new NoStoreError(shown);
  // A full server or a replica refuses the write, but its data can still be read.
  const set = await redis.set(LAYOUT_KEY, LAYOUT, 'NX').catch(() => undefined);
  if (layout === undefined && set === 'OK') onCreated?.(shown);
}

// While it runs

/** Expires soon after its gateway has stopped. */
const PROBE_LASTS_MS = 10_000;

/** Sets a small key on every master. Each process has its own, so that a probe never depends on the write of another process. */
export function writeProbe(link: RedisLink): () => Promise<StoreFault | undefined> {
  const name = randomBytes(6).toString('hex');
  const write = async ([server, tag]: readonly [server: string | undefined, tag: string]): Promise<StoreFault | undefined> => {
    const reply = await answering(() => link.ask((redis) => redis.set(probeKey(tag, name), '', 'PX', PROBE_LASTS_MS)));
    if (!isUnavailable(reply)) return undefined;
    const cause = reply.cause === 'closed' ? (link.lastCause ?? reply.cause) : reply.cause;
    return { ...reply, cause, ...(server === undefined ? {} : { server }) };
  };
  return async () => {
    const found = await Promise.all([...tagsOf(link)].map(write));
    const fault = found.find((one) => one !== undefined);
    return fault !== undefined && found.includes(undefined) ? { ...fault, partly: true } : fault;
  };
}

/** Each master, with a hash tag that it owns: a number. */
function tagsOf({ redis }: RedisLink): ReadonlyMap<string | undefined, string> {
  const tags = new Map<string | undefined, string>();
  if (!('slots' in redis)) return tags.set(undefined, '0');
  const masters = new Set(redis.slots.map((nodes) => nodes?.[0]).filter((node) => node !== undefined));
  for (let i = 0; tags.size < masters.size && i < redis.slots.length; i++) {
    const server = redis.slots[teamSlot(String(i))]?.[0];
    if (server !== undefined && !tags.has(server)) tags.set(server, String(i));
  }
  return tags.size === 0 ? tags.set(undefined, '0') : tags;
}

const REPLICAS = 1;
const WAIT_MS = 1000;
const MARK_LASTS_MS = 1000;

/** Whether a replica has the latest writes to these teams, as `TeamRegistry.replicated`: `false` also if it cannot be determined. */
export async function isReplicated(link: RedisLink, teamIds: readonly string[]): Promise<boolean | undefined> {
  // One team of each master is enough: a replica that has a write has all earlier writes of its master.
  const teams = new Map(teamIds.map((teamId) => [link.nodeOf(teamId), teamId]));
  const found = await Promise.all([...teams].map(([node, teamId]) => hasReplica(link, node, teamId).catch(() => false)));
  if (found.includes(false)) return false;
  return found.includes(true) ? true : undefined;
}

/** Waits on a separate connection, because WAIT blocks every command behind it, and covers only writes of its own connection. */
async function hasReplica(link: RedisLink, node: string, teamId: string): Promise<boolean | undefined> {
  const server = mastersOf(link.redis).find((master) => node === '' || nameOf(master) === node);
  if (server === undefined) return false;
  const { runId, hasReplicas } = await readReplication(server);
  if (!hasReplicas) return undefined;
  const commandTimeout = link.timeoutMs + WAIT_MS;
  const once = { retryStrategy: () => null, enableOfflineQueue: false, lazyConnect: true, failoverDetector: false, commandTimeout };
  const own = server.duplicate(once);
  own.on('error', () => undefined);
  const waited = async (): Promise<boolean> => {
    await own.connect();
    // Another server than the one that was written to may lack the write altogether.
    if ((await readReplication(own)).runId !== runId) return false;
    await own.set(markKey(teamId), '', 'PX', MARK_LASTS_MS);
    const confirmed = Number(await own.call('WAIT', REPLICAS, WAIT_MS)) >= REPLICAS;
    // Now, because its name has the team's id, and the team may have been deleted.
    await own.unlink(markKey(teamId));
    return confirmed;
  };
  try {
    return await within(waited(), link.timeoutMs + commandTimeout);
  } finally {
    own.disconnect();
  }
}

/** The process of a server, and whether it has replicas, or had one within `repl-backlog-ttl` (an hour); neither if INFO is not permitted. */
async function readReplication(server: Redis): Promise<{ readonly runId: string; readonly hasReplicas: boolean }> {
  const info = (await optional(server.info('server', 'replication'))) ?? '';
  const hasReplicas = Number(member(info, 'connected_slaves')) > 0 || member(info, 'repl_backlog_active') === '1';
  return { runId: member(info, 'run_id'), hasReplicas };
}
