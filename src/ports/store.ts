// A store: one backing service behind all of the ports that keep something.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { AuditLog } from './audit-log.ts';
import type { GatewayRecords } from './gateway-records.ts';
import type { GlossaryStore } from './glossary-store.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { Ledger } from './ledger.ts';
import type { Outbox } from './outbox.ts';
import type { TeamRegistry } from './team-registry.ts';
import type { UsageHistory } from './usage-history.ts';

/** What keeps a store, or a part of it, from serving. */
export interface StoreFault extends StoreUnavailable {
  /** Others of its servers take writes: their teams are served. */
  readonly partly?: boolean;
  /** The server, where the store has several. */
  readonly server?: string;
}

/** What was done to data of an older version. */
export interface StoreMigration {
  /** Versions of its schema; 0 for a place without data. */
  readonly from: number;
  readonly to: number;
  /** Where the data lies as it was before; `undefined` where nothing was there to copy. */
  readonly copy: string | undefined;
}

/** What becomes of a place that holds no data of ours yet, or data of an older version. */
export interface StoreCreation {
  /** `false`: opening it rejects with a `NoStoreError`, and nothing is written. By default it is made. */
  readonly mayCreate?: boolean;
  /** Called by the one process that has made it, with the place as a person would look for it. */
  readonly onCreated?: ((place: string) => void) | undefined;
  /** `false`: opening data that has to be migrated first rejects with a `StoreError`. By default it is copied and migrated. */
  readonly mayMigrate?: boolean;
  /** Called by the one process that has migrated it. */
  readonly onMigrated?: ((place: string, migration: StoreMigration) => void) | undefined;
}

export interface Store {
  readonly keys: KeyDirectory;
  readonly ledger: Ledger;
  readonly teams: TeamRegistry;
  readonly glossaries: GlossaryStore;
  /** A store that keeps none cannot tell of a plan that is applied by the wrong configuration. */
  readonly gateways?: GatewayRecords;
  /** A store that keeps none has the running period's counts only. */
  readonly history?: UsageHistory;
  /** A store that keeps none tells of nothing. */
  readonly outbox?: Outbox;
  /** A store that keeps none makes changes all the same. */
  readonly audit?: AuditLog;
  /** Writes something small, wherever admissions are written. `undefined` when that was taken: reading alone proves nothing. */
  ping(): Promise<StoreFault | undefined>;
  /** Lets running operations end, then closes. */
  close(): Promise<void>;
}
