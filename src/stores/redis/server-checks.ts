// Checks before a Redis server is used as the store: version, eviction policy, persistence.
import type { Redis } from 'ioredis';
import { StoreError } from '../../domain/store-unavailable.ts';
import type { Log } from '../../ports/log.ts';
import { causeOf } from './failure-cause.ts';

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
