// Gateways' records in Redis: one hash, which on a cluster lies on whichever node has its slot.
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GatewayRecord, GatewayRecords } from '../../ports/gateway-records.ts';
import { GATEWAYS_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import { serverTime } from './store-time.ts';

/** Older records are of gateways that are gone. */
const RECORD_KEPT_MS = 86_400_000;

/** As it lies in the hash, whose fields are made of host and file. */
interface KeptRecord extends GatewayRecord {
  readonly seenAtMs: number;
}

export class RedisGatewayRecords implements GatewayRecords {
  readonly #link: RedisLink;
  readonly #clock: Clock | undefined;

  /** `clock` replaces the servers' own: for tests that move time. */
  constructor(link: RedisLink, clock?: Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  async leave({ host, file, plans }: GatewayRecord): Promise<StoreUnavailable | undefined> {
    const nowMs = await this.#now();
    if (isUnavailable(nowMs)) return nowMs;
    const kept: KeptRecord = { host, file, plans, seenAtMs: nowMs };
    const put = await this.#link.ask(({ redis }) => redis.hset(GATEWAYS_KEY, fieldOf(kept), JSON.stringify(kept)));
    if (isUnavailable(put)) return put;
    const all = await this.#all();
    if (isUnavailable(all)) return all;
    const old = all.filter(({ seenAtMs }) => seenAtMs < nowMs - RECORD_KEPT_MS).map(fieldOf);
    const forgotten = old.length === 0 ? 0 : await this.#link.ask(({ redis }) => redis.hdel(GATEWAYS_KEY, ...old));
    return isUnavailable(forgotten) ? forgotten : undefined;
  }

  async recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable> {
    const nowMs = await this.#now();
    if (isUnavailable(nowMs)) return nowMs;
    const all = await this.#all();
    if (isUnavailable(all)) return all;
    return all
      .filter(({ seenAtMs }) => seenAtMs >= nowMs - withinMs)
      .toSorted((one, other) => (fieldOf(one) < fieldOf(other) ? -1 : 1))
      .map(({ host, file, plans }) => ({ host, file, plans }));
  }

  async #now(): Promise<number | StoreUnavailable> {
    if (this.#clock !== undefined) return this.#clock.nowMs();
    return this.#link.ask(({ redis }) => serverTime(redis));
  }

  async #all(): Promise<readonly KeptRecord[] | StoreUnavailable> {
    const values = await this.#link.ask(({ redis }) => redis.hvals(GATEWAYS_KEY));
    return isUnavailable(values) ? values : values.map((value) => JSON.parse(value) as KeptRecord);
  }
}

/** Neither a host's name nor a path holds a NUL. */
function fieldOf({ host, file }: GatewayRecord): string {
  return `${host}\0${file}`;
}
