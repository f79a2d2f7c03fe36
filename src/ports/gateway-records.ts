// What gateways leave in the store about themselves, so that a command with another configuration is noticed before it does harm.
import type { TeamLimits } from '../domain/plan.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

/** One for each host and configuration file: a restart replaces it. */
export interface GatewayRecord {
  readonly host: string;
  /** Absolute path of the configuration file. */
  readonly file: string;
  /** The numbers of each plan, by its name. */
  readonly plans: Readonly<Record<string, TeamLimits>>;
}

export interface GatewayRecords {
  /** Leaves the record, or replaces that of the same host and file, with the store's time. Forgets those that are a day old. */
  leave(record: GatewayRecord): Promise<StoreUnavailable | undefined>;
  /** Those that were left within the last `withinMs` by the store's clock, in order of host and file. */
  recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable>;
}
