// Records of gateways about themselves, so that no command takes a store away from them.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

/** One per host and configuration file: a restart replaces it. */
export interface GatewayRecord {
  readonly host: string;
  /** Absolute path of the configuration file. */
  readonly file: string;
}

export interface GatewayRecords {
  /** The record of this host and file, with the store's time. Deletes those older than a day. */
  leave(record: GatewayRecord): Promise<StoreUnavailable | undefined>;
  /** Those of the last `withinMs` by the store's clock, ordered by host and file. */
  recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable>;
}
