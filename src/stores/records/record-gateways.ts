// What gateways say about themselves, as shared records: one per host and configuration file.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { GatewayRecord, GatewayRecords } from '../../ports/gateway-records.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';

/** Older records belong to gateways that no longer exist. */
const RECORD_KEPT_MS = 86_400_000;

/** A record as stored. */
interface KeptGateway extends GatewayRecord {
  readonly seenAtMs: number;
}

export class RecordGateways implements GatewayRecords {
  readonly #space: RecordSpace;

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  async leave({ host, file }: GatewayRecord): Promise<StoreUnavailable | undefined> {
    const known = await this.#all();
    if (isUnavailable(known)) return known;
    const own = nameOf({ host, file });
    const others = known.map(nameOf).filter(({ id }) => id !== own.id);
    return this.#space.change(SHARED_RECORDS, others, (values, { nowMs }) => {
      const kept: KeptGateway = { host, file, seenAtMs: nowMs };
      const isOld = (value: string | undefined): boolean => value !== undefined && readGateway(value).seenAtMs < nowMs - RECORD_KEPT_MS;
      const remove = others.filter((_, i) => isOld(values[i]));
      return { result: undefined, remove, put: [{ ...own, value: JSON.stringify(kept) }] };
    });
  }

  async recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable> {
    const [known, nowMs] = [await this.#all(), await this.#space.change(SHARED_RECORDS, [], (_, head) => ({ result: head.nowMs }))];
    if (isUnavailable(known)) return known;
    if (isUnavailable(nowMs)) return nowMs;
    return known
      .filter(({ seenAtMs }) => seenAtMs >= nowMs! - withinMs)
      .toSorted((one, other) => (nameOf(one).id < nameOf(other).id ? -1 : 1))
      .map(({ host, file }) => ({ host, file }));
  }

  async #all(): Promise<readonly KeptGateway[] | StoreUnavailable> {
    const found = await this.#space.list(SHARED_RECORDS, 'gateways');
    return isUnavailable(found) ? found : [...found.values()].map(readGateway);
  }
}

function readGateway(value: string): KeptGateway {
  return JSON.parse(value) as KeptGateway;
}

/** Host names contain no line feed. */
function nameOf({ host, file }: Pick<GatewayRecord, 'host' | 'file'>): RecordName {
  return { table: 'gateways', id: `${host}\n${file}` };
}
