// Records that gateways keep in the store about themselves, so that no command takes a store away from them.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

/** One per host and configuration file: a restart replaces it. */
export interface GatewayRecord {
  readonly host: string;
  /** Absolute path of the configuration file. */
  readonly file: string;
}

export interface GatewayRecords {
  /** Writes or replaces the record of this host and file, stamped with the store's time. Deletes records older than a day. */
  leave(record: GatewayRecord): Promise<StoreUnavailable | undefined>;
  /** The records written within the last `withinMs` by the store's clock, ordered by host and file. */
  recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable>;
}
