// Whether Redis accepts writes: sets a small key with an expiry on every master of a cluster.
import { randomBytes } from 'node:crypto';
import { answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreFault } from '../../ports/store.ts';
import { probeKey, teamSlot } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/** Expires soon after its gateway has stopped. */
const KEPT_MS = 10_000;

/** Each process has its own key, so that a probe never depends on the write of another process. */
export function writeProbe(link: RedisLink): () => Promise<StoreFault | undefined> {
  const name = randomBytes(6).toString('hex');
  const write = async ({ server, tag }: Probed): Promise<StoreFault | undefined> => {
    const reply = await answering(() => link.ask((redis) => redis.set(probeKey(tag, name), '', 'PX', KEPT_MS)));
    if (!isUnavailable(reply)) return undefined;
    const cause = reply.cause === 'closed' ? (link.lastCause ?? reply.cause) : reply.cause;
    return { ...reply, cause, ...(server === undefined ? {} : { server }) };
  };
  return async () => {
    const found = await Promise.all(serversOf(link).map(write));
    const fault = found.find((one) => one !== undefined);
    return fault !== undefined && found.includes(undefined) ? { ...fault, partly: true } : fault;
  };
}

interface Probed {
  readonly server: string | undefined;
  readonly tag: string;
}

/** Each master with a hash tag that it owns: the lowest number whose slot is on the master. */
function serversOf({ redis }: RedisLink): Probed[] {
  const missing = new Set('slots' in redis ? redis.slots.map((nodes) => nodes?.[0]).filter((node) => node !== undefined) : []);
  if (!('slots' in redis) || missing.size === 0) return [{ server: undefined, tag: '0' }];
  const found = [];
  for (let i = 0; missing.size > 0 && i < redis.slots.length; i++) {
    const server = redis.slots[teamSlot(String(i))]?.[0];
    if (server !== undefined && missing.delete(server)) found.push({ server, tag: String(i) });
  }
  return found;
}
