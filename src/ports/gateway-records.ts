// Records that gateways keep in the store about themselves, so that a command run with a different configuration is noticed
// before it does harm.
import type { TeamLimits } from '../domain/plan.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

/** One per host and configuration file: a restart replaces it. */
export interface GatewayRecord {
  readonly host: string;
  /** Absolute path of the configuration file. */
  readonly file: string;
  /** The numbers of each plan, keyed by plan name. */
  readonly plans: Readonly<Record<string, TeamLimits>>;
}

export interface GatewayRecords {
  /** Writes or replaces the record of this host and file, stamped with the store's time. Deletes records older than a day. */
  leave(record: GatewayRecord): Promise<StoreUnavailable | undefined>;
  /** The records written within the last `withinMs` by the store's clock, ordered by host and file. */
  recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable>;
}
