// Whether Redis accepts writes: sets a small key with an expiry on every master of a cluster.
import { randomBytes } from 'node:crypto';
import { answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreFault } from '../../ports/store.ts';
import { probeKey, teamSlot } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/** Expires soon after its gateway has stopped. */
const KEPT_MS = 10_000;

export class WriteProbe {
  readonly #link: RedisLink;
  /** Each process has its own key, so that a probe never depends on the write of another process. */
  readonly #name = randomBytes(6).toString('hex');

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async ask(): Promise<StoreFault | undefined> {
    const servers = this.#servers();
    const found = await Promise.all(servers.map(({ server, tag }) => this.#write(server, tag)));
    const fault = found.find((one) => one !== undefined);
    return fault !== undefined && found.includes(undefined) ? { ...fault, partly: true } : fault;
  }

  async #write(server: string | undefined, tag: string): Promise<StoreFault | undefined> {
    const reply = await answering(() => this.#link.ask(({ redis }) => redis.set(probeKey(tag, this.#name), '', 'PX', KEPT_MS)));
    if (!isUnavailable(reply)) return undefined;
    const cause = reply.cause === 'closed' ? (this.#link.lastCause ?? reply.cause) : reply.cause;
    return { ...reply, cause, ...(server === undefined ? {} : { server }) };
  }

  /** Each master with a hash tag that it owns: the lowest number whose slot is on the master. */
  #servers(): { readonly server: string | undefined; readonly tag: string }[] {
    const { redis } = this.#link;
    const missing = new Set('slots' in redis ? redis.slots.map((nodes) => nodes?.[0]).filter((node) => node !== undefined) : []);
    if (!('slots' in redis) || missing.size === 0) return [{ server: undefined, tag: '0' }];
    const found = [];
    for (let i = 0; missing.size > 0 && i < redis.slots.length; i++) {
      const server = redis.slots[teamSlot(String(i))]?.[0];
      if (server !== undefined && missing.delete(server)) found.push({ server, tag: String(i) });
    }
    return found;
  }
}
