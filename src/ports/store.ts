// A store: one backing service that implements all persistent ports.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { AuditLog } from './audit-log.ts';
import type { StoreClock } from './clock.ts';
import type { EngineUse } from './engine-use.ts';
import type { GatewayRecords } from './gateway-records.ts';
import type { GlossaryStore } from './glossary-store.ts';
import type { IdempotencyRecords } from './idempotency-records.ts';
import type { KeyDirectory } from './key-directory.ts';
import type { Ledger } from './ledger.ts';
import type { Outbox } from './outbox.ts';
import type { RecordSpace } from './record-space.ts';
import type { SharedSecrets } from './shared-secrets.ts';
import type { TagHistory } from './tag-history.ts';
import type { TagRegistry } from './tag-registry.ts';
import type { TeamRegistry } from './team-registry.ts';
import type { UsageHistory } from './usage-history.ts';

/** What prevents a store, or a part of it, from serving. */
export interface StoreFault extends StoreUnavailable {
  /** Some of its servers still accept writes: their teams are served. */
  readonly partly?: boolean;
  /** The affected server, if the store has several. */
  readonly server?: string;
}

/** How to handle a location that holds no data of ours. */
export interface StoreCreation {
  /** `false`: opening fails with a `NoStoreError`. By default the store is created. */
  readonly mayCreate?: boolean;
  /** By the one process that created it, with its location as people find it. */
  readonly onCreated?: ((place: string) => void) | undefined;
}

export interface Store {
  readonly keys: KeyDirectory;
  readonly ledger: Ledger;
  readonly teams: TeamRegistry;
  readonly records: RecordSpace;
  /** These are written over the record space (stores/records/over-records.ts). */
  readonly glossaries: GlossaryStore;
  readonly gateways: GatewayRecords;
  readonly idempotency: IdempotencyRecords;
  readonly secrets: SharedSecrets;
  readonly engineUse: EngineUse;
  readonly tags: TagHistory;
  readonly tagSettings: TagRegistry;
  readonly history: UsageHistory;
  readonly outbox: Outbox;
  readonly audit: AuditLog;
  readonly clock: StoreClock;
  /** A small write to every server that takes admissions: a read would not prove it. */
  ping(): Promise<StoreFault | undefined>;
  /** Waits for running operations, then closes. */
  close(): Promise<void>;
}
