// Gateway records in Redis: a single hash, in a cluster on the node that owns its slot.
import { answering } from '../../domain/store-unavailable.ts';
import type { GatewayRecord, GatewayRecords } from '../../ports/gateway-records.ts';
import { GATEWAYS_KEY } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/** Older records belong to gateways that no longer exist. */
const RECORD_KEPT_MS = 86_400_000;

/** A record as stored in the hash, whose fields combine host and file. */
export interface KeptRecord extends GatewayRecord {
  readonly seenAtMs: number;
}

export function redisGatewayRecords(link: RedisLink): GatewayRecords {
  const all = async (): Promise<readonly KeptRecord[]> => {
    const values = await link.ask(({ redis }) => redis.hvals(GATEWAYS_KEY));
    return values.map((value) => JSON.parse(value) as KeptRecord);
  };
  return {
    leave: ({ host, file, plans }) =>
      answering(async () => {
        const kept: KeptRecord = { host, file, plans, seenAtMs: await link.now() };
        await link.ask(({ redis }) => redis.hset(GATEWAYS_KEY, fieldOf(kept), JSON.stringify(kept)));
        const old = (await all()).filter(({ seenAtMs }) => seenAtMs < kept.seenAtMs - RECORD_KEPT_MS).map(fieldOf);
        if (old.length > 0) await link.ask(({ redis }) => redis.hdel(GATEWAYS_KEY, ...old));
        return undefined;
      }),
    recent: (withinMs) =>
      answering(async () => {
        const sinceMs = (await link.now()) - withinMs;
        return (await all())
          .filter(({ seenAtMs }) => seenAtMs >= sinceMs)
          .toSorted((one, other) => (fieldOf(one) < fieldOf(other) ? -1 : 1))
          .map(({ host, file, plans }) => ({ host, file, plans }));
      }),
  };
}

/** Neither host names nor paths contain NUL. */
function fieldOf({ host, file }: GatewayRecord): string {
  return `${host}\0${file}`;
}
